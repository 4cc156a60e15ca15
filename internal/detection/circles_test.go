package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// Who goes in a circle is known by it whatever changes around it by itself: clocks,
// counters, ids. Work that looks alike is left alone.
func TestCirclesWhateverCountsBesideThem(t *testing.T) {
	const rounds = 36
	words := func(i int) [2]string { // one content and the other, in turn
		return [...][2]string{{"circa", "c."}, {"c.", "circa"}}[i%2]
	}
	stuck := map[string]func(k *talk, i int){
		"pages behind the last one": func(k *talk, i int) {
			if i < 8 {
				k.does("fetch", fmt.Sprintf(`{"page":%d}`, i+1), fmt.Sprintf(`{"page":%d,"items":[{"id":%d,"name":%q},{"id":%d,"name":%q}]}`, i+1, 50*i, fresh(i), 50*i+1, fresh(i+100)))
				return
			}
			k.does("fetch", fmt.Sprintf(`{"page":%d}`, i+1), fmt.Sprintf(`<tool_result tool="fetch">`+"\n"+`{"page":%d,"items":[],"took_ms":%d}`+"\n</tool_result>", i+1, 20+i*7%30))
		},
		"parts of a list behind its end": func(k *talk, i int) {
			k.does("fetch", fmt.Sprintf(`{"input":"offset=%d limit=50"}`, 50*i), fmt.Sprintf("[] (%d ms)", 20+i*7%30))
		},
		"each takes back what the other wrote": func(k *talk, i int) {
			w := words(i)
			k.does("save_entry", fmt.Sprintf(`{"v":%d,"diff":"-%s 1935 +%s 1935"}`, i+3, w[0], w[1]), fmt.Sprintf("saved v%d at 14:%02d:26", i+3, i))
		},
		"a telephone menu that says how long one waits": func(k *talk, i int) {
			switch i % 4 {
			case 0:
				k.does("keypad", `{"input":"1"}`, "Please say the number of your meter.")
			case 1:
				k.does("keypad", `{"input":"7 7 4 1"}`, "Sorry, I did not understand you.")
			case 2:
				k.does("speak", `{"input":"774109"}`, "I am taking you to the main menu.")
			default:
				k.does("speak", `{"input":"wait"}`, fmt.Sprintf("Welcome. For your meter press one. Waiting time %d:%02d.", 1+i/8, 7*i%60))
			}
		},
		"restarts, while the log has an id in every line that fails": func(k *talk, i int) {
			force := []string{"true", "false"}[i*7/3%2]
			switch i % 3 {
			case 0:
				k.does("restart", `{"force":`+force+`,"service":"pricing"}`, fmt.Sprintf("rolled, pod %05d", 7919*i%99999))
			case 1:
				k.does("status", `{"force":`+force+`,"service":"pricing"}`, fmt.Sprintf("NAME READY STATUS\npricing 0/1 CrashLoopBackOff (restarts %d) 12m", i))
			default:
				k.does("logs", `{"force":`+force+`,"service":"pricing"}`, fmt.Sprintf("09:01:%02d INFO pricing starting, build 7.14.2\n09:01:%02d INFO binding 0.0.0.0:8080\n09:01:%02d FATAL missing license file [%05x]\n09:01:%02d INFO shutting down, exit code 1", i, i, i, 0x1b3d2+7919*i, i))
			}
		},
		"a gripper that fails in one of three ways": func(k *talk, i int) {
			if i%3 == 1 {
				k.does("arm.move", fmt.Sprintf(`{"x":%d,"y":%d,"z":%d}`, 294+i*i%11, 210+i*7%9, 38+i*5%7), fmt.Sprintf(`{"ok":true,"err_mm":0.%d}`, 11+i*37%53))
				return
			}
			why := []string{"slip detected", "no contact", "part is bolted to the crate: torque limit"}[i*i%7%3]
			k.does("gripper.close", fmt.Sprintf(`{"part":"bracket-9","force":%d}`, 5+i*i*3%14), fmt.Sprintf(`{"ok":false,"error":%q,"torque":7.%d}`, why, 11+i*53%83))
		},
		"a dialog that no click closes": func(k *talk, i int) {
			switch i % 3 {
			case 0:
				k.does("click", fmt.Sprintf(`{"x":%d,"y":%d}`, 703+i*7%19, 520+i*5%17), "ok")
			case 1:
				k.does("key", fmt.Sprintf(`{"k":%q}`, []string{"Escape", "alt+f", "ctrl+p"}[i*i%5%3]), "ok")
			default:
				k.does("screenshot", `{}`, fmt.Sprintf("[dialog] LedgerPro 8.1: Update required before you continue. [Update now] [Later] (window id %05x)", 0x2f3a9+7919*i))
			}
		},
		"checks that are counted": func(k *talk, i int) {
			k.does([]string{"verify", "control"}[i%2], fmt.Sprintf(`{"ref":"P%d"}`, 1+i%3), fmt.Sprintf("P%d: done, check %d OK (09:%02d:02)", 1+i%3, i, i))
		},
		"a list of tasks that is only put in another order": func(k *talk, i int) {
			tasks := []string{"sync the formula endpoint", "fetch the playlist model", "publish the order view", "validate the caption page", "format the comment box"}
			args, list := "", ""
			for n := range tasks {
				task := tasks[(n*(1+i%4)+i*i)%len(tasks)]
				state := []string{"pending", "in_progress"}[bitOf(n == i%3)]
				args += fmt.Sprintf(`,{"description":%q,"status":%q}`, task, state)
				list += fmt.Sprintf("\n%d. [%s] %s", n+1, state, task)
			}
			k.does("write_todos", `{"todos":[`+args[1:]+`]}`, "Updated the list. It is now:"+list)
		},
	}
	stuck["replies of dots, and a harness that asks for more in other words"] = func(k *talk, i int) {
		k.says([]string{"...", "…", "-", "--"}[i*i%4], []string{"Your reply was empty. Please go on with the task.", "There was no content in your message: call a tool.", "Go on with the task, please; your message was empty.", "No tool was called. Call a tool, or say that the task is done."}[i*i*3/2%4])
	}
	stuck["hosts that no name server knows"] = func(k *talk, i int) {
		url := fmt.Sprintf("https://%s.example.internal/%s", topics[i*7%len(topics)], topics[i*5%len(topics)])
		k.does("browser_navigate", fmt.Sprintf(`{"url":%q}`, url), fmt.Sprintf("Error: page.goto: net::ERR_NAME_NOT_RESOLVED at %s\nCall log:\n  - navigating to %q, waiting until \"load\"", url, url))
	}
	stuck["mails with another id that come back"] = func(k *talk, i int) {
		id := fmt.Sprintf("%05x", 0x1b3d2+7919*i)
		if i%2 == 0 {
			k.does("send_mail", `{"to":"billing@supplier.example","subject":"Re: your ticket","body":"Please send the invoice again."}`, fmt.Sprintf(`{"queued":"m-%s"}`, id))
			return
		}
		k.does("fetch_mail", `{"folder":"inbox"}`, fmt.Sprintf("From: billing@supplier.example\nMessage-ID: <%s%s@supplier.example>\nThank you for your message. Your ticket was opened and somebody will answer within two days.", id, id))
	}
	stuck["pages behind the last one, each of which is that"] = func(k *talk, i int) {
		page := min(i, 5)
		k.does("scrape", fmt.Sprintf(`{"url":"https://firms.example/plumbers/%d"}`, i+1), fmt.Sprintf(`{"hits":[{"name":%q,"phone":"%d"},{"name":%q,"phone":"%d"}],"town":%q}`, fresh(page), 563775104+617*page, fresh(page+50), 530757396+331*page, topics[page]))
	}
	stuck["taps all over a screen that stays as it is"] = func(k *talk, i int) {
		if i%2 == 0 {
			x, y := 120+i*7919%800, 1960+i*5%130
			k.does("tap", fmt.Sprintf(`{"x":%d,"y":%d}`, x, y), fmt.Sprintf("tapped (%d,%d)", x, y))
			return
		}
		k.does("dump_screen", `{}`, fmt.Sprintf("<node text=\"07:%02d\" id=\"clock\"/>\n<node text=%q/>\n<node text=%q/>\n<node text=\"Pay now\" enabled=\"false\"/>", 10+i/8, fresh(90), fresh(91)))
	}
	stuck["pages behind the last one, with a count of visitors"] = func(k *talk, i int) {
		page, items := min(i, 4), ""
		for n := range 6 {
			items += fmt.Sprintf("\n%s | %d.%02d EUR", fresh(6*page+n), 10+page*37+n*11, n*17)
		}
		k.does("fetch_page", fmt.Sprintf(`{"url":"https://shop.example/c/lamps?page=%d"}`, i+1), fmt.Sprintf("# Lamps%s\nrendered 12:%02d:41, %d are looking at this", items, 10+i, 60+i*7919%240))
	}
	stuck["parts of a document behind its last page, in words"] = func(k *talk, i int) {
		answer := "No content: the document has 80 pages."
		if i < 8 {
			answer = "Note " + fresh(i) + ".\n" + fresh(i+60) + "."
		}
		k.does("read_pages", fmt.Sprintf(`{"path":"report.pdf","start":%d,"end":%d}`, 10*i+1, 10*i+10), answer)
	}
	stuck["clicks around a dialog, known by the digest of the screen"] = func(k *talk, i int) {
		k.does("desktop", fmt.Sprintf(`{"type":"left_click","coordinate":[%d,%d]}`, 960+i*7%29, 560+i*5%13), `{"screenshot_sha":"ce31ca5c9fc96a1cfe8c","window":"LedgerPro"}`)
	}
	playAll(t, rounds, stuck, true)
	healthy := map[string]func(k *talk, i int){
		"letter after letter of a word, each guessed by halves": func(k *talk, i int) {
			word := []int{104, 51, 97, 122, 116, 57, 98}
			if i == 0 {
				k.does("http_request", `{"url":"http://web5.lab:4885/item?id=1"}`, "<h2>Tea Kettle</h2>")
			}
			low, high, n := 32, 126, 0
			for range i { // where the search is by now
				if middle := (low + high) / 2; word[n] > middle {
					low = middle
				} else {
					high = middle
				}
				if high-low <= 1 {
					low, high, n = 32, 126, n+1
				}
			}
			middle := (low + high) / 2
			answer := "<div class=item><h2>Tea Kettle</h2></div>"
			if word[n] <= middle {
				answer = "<div class=item>Nothing here</div>"
			}
			k.does("http_request", fmt.Sprintf(`{"url":"http://web5.lab:4885/item?id=1+AND+(SELECT+unicode(substr(f,%d,1))+FROM+flags)>%d"}`, 6+n, middle),
				fmt.Sprintf("HTTP/1.1 200 OK\nDate: Tue, 04 Mar 2025 09:12:%02d GMT\nX-Request-Id: %016x\n\n%s", 7+i, uint64(0x9e3779b97f4a7c15)*uint64(i+3), answer))
		},
		"a walk over a map that is drawn within a result": func(k *talk, i int) {
			glyphs := `\n   -----------\n   |....<....|\n   |.........|\n   ---.-------`
			for range i {
				glyphs += `\n      #`
			}
			k.does("step", `{"action":"south"}`, fmt.Sprintf(`{"message":"","glyphs":"%s\n      @\n","status":"Dlvl:1 HP:14(14) T:%d"}`, glyphs, i+2))
		},
		"steps to what is in sight, in small letters below a thought": func(k *talk, i int) {
			left := [][2]int{{1, 7}, {2, 7}, {3, 7}, {4, 7}, {5, 7}, {6, 7}, {5, 3}, {4, 3}, {3, 3}, {2, 3}, {1, 3}, {3, 5}, {2, 5}, {1, 5}, {4, 2}, {3, 2}, {2, 2}, {1, 2}, {5, 1}, {4, 1}, {3, 1}, {2, 1}, {1, 1}, {5, 6}, {4, 6}, {3, 6}, {2, 6}, {1, 6}, {4, 4}, {3, 4}, {2, 4}, {1, 4}, {5, 2}, {5, 5}, {4, 5}, {5, 4}}[i]
			k.says(fmt.Sprintf("I do not see the red key yet. %s\naction: go forward", []string{"On.", "Further.", "Looking for it."}[i*i%3]),
				fmt.Sprintf("a wall %d steps forward|a blue open door %d steps forward and %d steps right|a grey closed door %d steps forward and %d steps left", left[0], min(left[0]+1, 9), left[1], left[0], 9-left[1]))
		},
		"a rollout of which the pods become new, while some come and go": func(k *talk, i int) {
			k.bash("kubectl -n prod get deploy claim-api", fmt.Sprintf("<returncode>0</returncode>\n<output>\nNAME   READY   UP-TO-DATE   AVAILABLE   AGE\nclaim-api   %d/32   %d   31   87d\n</output>", 30+i*i*7%3, 2+i*3/4))
		},
		"people of a list, in tags, of whom hardly any is found": func(k *talk, i int) {
			name := []string{"Hanna", "Joanna", "Ewa", "Olga", "Anna"}[i%5] + " " + []string{"Kowalska", "Zięba", "Mazur", "Kamińska", "Lis", "Wróbel"}[i/5%6]
			if i == 0 {
				list := ""
				for n := range 30 {
					list += []string{"Hanna", "Joanna", "Ewa", "Olga", "Anna"}[n%5] + " " + []string{"Kowalska", "Zięba", "Mazur", "Kamińska", "Lis", "Wróbel"}[n/5%6] + "; "
				}
				k.does("read_list", `{}`, list)
			}
			k.says("<call tool=\"szukaj\">\n  <param name=\"pracownik\">"+name+"</param>\n</call>", "<result tool=\"szukaj\">\nBrak wyników dla: "+name+"\n</result>")
		},
		"taps after each of which the screen is another": func(k *talk, i int) {
			if i%2 == 0 {
				x, y := 120+i*7919%800, 1960+i*5%130
				k.does("tap", fmt.Sprintf(`{"x":%d,"y":%d}`, x, y), fmt.Sprintf("tapped (%d,%d)", x, y))
				return
			}
			k.does("dump_screen", `{}`, fmt.Sprintf("<node text=\"07:%02d\" id=\"clock\"/>\n<node text=%q/>\n<node text=%q/>\n<node text=\"Next\" enabled=\"true\"/>", 10+i/8, fresh(90), fresh(i)))
		},
		"days of which some have nothing": func(k *talk, i int) {
			answer := `{"items":[]}`
			if i%9 == 0 {
				answer = fmt.Sprintf(`{"items":[{"id":%d,"note":%q}]}`, i, fresh(i))
			}
			k.does("fetch", fmt.Sprintf(`{"start":"2026-03-%02d"}`, i+1), answer)
		},
		"days of a calendar, each with a list of its own": func(k *talk, i int) {
			answer := `{"data":[],"has_more":false}`
			if i%11 == 5 {
				answer = fmt.Sprintf(`{"data":[{"id":"ev_%d","title":%q}],"has_more":false}`, i, fresh(i))
			}
			k.does("calendar.list", fmt.Sprintf(`{"day":"2026-%02d-%02d"}`, 3+i/28, 1+i%28), answer)
		},
		"messages of a queue that look alike": func(k *talk, i int) {
			body := []string{"thank you", "any news?", "please call back"}[i/3*i%3]
			id := fmt.Sprintf("%04xa%05xb", 0x1b3d+7919*(i/3)%0xffff, 0x2f3a9+104729*(i/3)%0xfffff)
			switch i % 3 {
			case 0:
				k.does("receive", `{"queue":"replies","wait":20}`, fmt.Sprintf(`{"messages":[{"receipt":%q,"body":%q}]}`, id, body))
			case 1:
				k.does("set_label", fmt.Sprintf(`{"receipt":%q,"label":"reply"}`, id), "ok")
			default:
				k.does("delete_message", fmt.Sprintf(`{"receipt":%q}`, id), "{}")
			}
		},
		"crashes of a list, each of which is reproduced": func(k *talk, i int) {
			id := func(n int) string {
				return fmt.Sprintf("%016x%08x", 0x9e3779b97f4a7c15*uint64(n+1), 0x2545f491*uint32(n+7))
			}
			if i == 0 {
				list := ""
				for n := range rounds {
					list += "crash-" + id(n) + "\n"
				}
				k.does("Bash", `{"command":"ls crashes"}`, list)
				return
			}
			k.does("Bash", fmt.Sprintf(`{"command":"./fuzz_target crashes/crash-%s"}`, id(i)), fmt.Sprintf("Exit code 1\n==%d==ERROR: AddressSanitizer: SEGV on address 0x60%010x\n    #0 in merge_%s /src/%s.c:100", 40000+i*617, i*7919, topics[i%2], topics[i%2]))
		},
		"a lawn, field by field": func(k *talk, i int) {
			x, y := i/2%6, i/12
			if y%2 == 1 {
				x = 5 - x
			}
			if i%2 == 0 {
				k.does("drive", fmt.Sprintf(`{"x":%d,"y":%d}`, x, y), "arrived")
			} else {
				k.does("mow", `{"seconds":5}`, "done")
			}
		},
		"files that are moved, and a shell that is silent": func(k *talk, i int) {
			name := topics[i%len(topics)]
			command := fmt.Sprintf("mkdir -p src/%s && git mv src/%s_store.py src/%s/store.py", name[:1], name, name[:1])
			if i%2 == 1 {
				command = fmt.Sprintf("git grep -l '%s_store' | xargs sed -i 's#src/%s_store#src/%s/store#g'", topics[(i-1)%len(topics)], topics[(i-1)%len(topics)], topics[(i-1)%len(topics)][:1])
			}
			k.says("DISCUSSION\nThe next one.\n\n```\n"+command+"\n```", "Your command ran successfully and did not produce any output.\n(Open file: n/a)\n(Current directory: /shop)\nbash-$")
		},
		"events of a lift": func(k *talk, i int) {
			floor := i / 3 * 7 % 12
			event := []string{"arrive", "button", "timer"}[i%3]
			k.does([]string{"open_door", "hold", "close_door"}[i%3], fmt.Sprintf(`{"floor":%d}`, floor), "ok", fmt.Sprintf(`{"event":%q,"floor":%d,"load_kg":%d}`, event, floor, 40+i*617%480))
		},
		"a grid of numbers that a shell computes": func(k *talk, i int) {
			k.does("shell", fmt.Sprintf(`{"command":["bash","-lc","python simulate.py --price %d --shipping free --weeks 52 --seed 7"]}`, 20+i), fmt.Sprintf("profit %d.%02d EUR", 1800+37*i-i*i, i*37%100))
		},
		"each product of a list, and back to it": func(k *talk, i int) {
			if i%2 == 1 {
				list := "List of products"
				for n := range 18 {
					list += fmt.Sprintf("\n[%d] link '%s' %d.%d stars (%d)", 20+n, topics[n], 3+n%2, n%9, 300+617*n%2000)
				}
				k.does("browser.back", `{}`, list)
				return
			}
			page := fmt.Sprintf("%s Pro %d\nPrice %d.%02d\nIn stock", topics[i/2], 300+i*37, 90+i*53%400, i)
			for n := range 12 {
				page += fmt.Sprintf("\n%s – %s", []string{"Great value", "Works well", "Arrived late", "Sturdy", "A bit loud"}[(i+n*n)%5], []string{"Rosa", "Samir", "Ines", "Otto", "Yuki", "Tove", "Hugo"}[(i*i+n)%7])
			}
			k.does("browser.click", fmt.Sprintf(`{"ref":%d}`, 20+i/2), page)
		},
		"windows of a match": func(k *talk, i int) {
			seen := []string{"corner cleared", "long ball, offside", "throw-in, slow play", "free kick, saved", "yellow card shown"}[i*i%5]
			k.does("watch", fmt.Sprintf(`{"from":"%02d:00","to":"%02d:00"}`, 12+3*i%48, 15+3*i%48), fmt.Sprintf("%s | score bug visible, crowd %d dB, cuts %d, ball possession home %d%%", seen, 60+i*17%37, 4+i*5%19, 35+i*13%31))
		},
		"objects of a list, each with a number and a word of its own": func(k *talk, i int) {
			k.does("http_request", fmt.Sprintf(`{"method":"POST","url":"https://s3.example/audit/%s-%05d.gz?restore","json":{"Restore":{"Days":7,"Tier":"Bulk","Notify":"audit team","Reason":"yearly review of the archive"}}}`, fresh(i), 7919*i%99999), "204 No Content")
		},
		"work in an editor that speaks of itself now and then": func(k *talk, i int) {
			var notes []string
			if i*7%5 < 2 {
				notes = []string{fmt.Sprintf("<environment_details>\n# Visible Files\nsrc/shop.rb\n# Current Time\n2026-01-17 05:%02d:38\n# Context Window Usage\n%d / 200K tokens used\n# Current Mode\nACT MODE\n</environment_details>", i, 4000*i)}
			}
			switch i % 3 {
			case 0:
				k.does("read_file", `{"path":"legacy/policy"}`, fmt.Sprintf("%d | sub %s {\n%d |   return undef unless defined $opt{%s};\n%d | }", 31*i, fresh(i), 31*i+1, fresh(i+200), 31*i+2), notes...)
			case 1:
				k.does("replace_in_file", fmt.Sprintf(`{"path":"app/policy.rb","diff":"# PORT: next\n=======\ndef %s(scope)\n  scope.%s\nend"}`, fresh(i-1), fresh(i+300)), "The content was successfully saved to app/policy.rb.", notes...)
			default:
				k.does("execute_command", `{"command":"bundle exec rspec spec/policy_spec.rb"}`, fmt.Sprintf("Finished in %d.26 seconds\n%d examples, 0 failures", 1+i%7, 3*i), notes...)
			}
		},
	}
	playAll(t, rounds, healthy, false)
}

// playAll plays conversations of so many rounds, of which all are killed or none is.
func playAll(t *testing.T, rounds int, plays map[string]func(k *talk, i int), killed bool) {
	playAllWith(t, "Do what has to be done.", rounds, plays, killed)
}

// playAllWith is playAll with a task.
func playAllWith(t *testing.T, task string, rounds int, plays map[string]func(k *talk, i int), killed bool) {
	for name, play := range plays {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, task)
			for i := range rounds {
				play(k, i)
			}
			if got := k.highest() == haltd.LevelKill; got != killed {
				t.Errorf("killed: %v, want %v: %v\n%s", got, killed, k.levels, drawn(k))
			}
		})
	}
}

func bitOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Minutes and seconds are a clock as hours and minutes are; a line and a column of a
// file, an address and a score are not.
func TestStopwatches(t *testing.T) {
	for text, want := range map[string]bool{
		"1:48": true, "2:05:33": true, "waiting time 3:07.": true,
		"main.go:3:48": false, "3:481": false, "2:1": false, "1:75": false, "3:07:": false, "10.0.0.7:31": false,
	} {
		got := false
		for s := (scanner{text: text}); s.next(); {
			got = got || s.class == volatile
		}
		if got != want {
			t.Errorf("%q has a clock: %v, want %v", text, got, want)
		}
	}
}

// What does something to one name after the other is at work, however long and alike
// the answers are.
func TestOneAfterTheOther(t *testing.T) {
	k := newTalk(t, "Roll out the new network module.")
	for i := range 24 {
		name := topics[i] + "-eu"
		k.does("terraform_plan", fmt.Sprintf(`{"workspace":%q}`, name), fmt.Sprintf("Acquiring state lock. Refreshing state... [id=subnet-%x]\n\nTerraform will perform the following actions:\n  # module.vpc.aws_subnet.private[%d] will be updated in-place\n  ~ tags = { network: old to new }\nPlan: %d to add, %d to change, 0 to destroy.", 0x7b00c0e019f76+i*7919, i%4, i%3, 1+i%9))
		k.does("terraform_apply", fmt.Sprintf(`{"workspace":%q}`, name), fmt.Sprintf("module.vpc.aws_subnet.private[%d]: Modifying... [id=subnet-%x]\nmodule.vpc.aws_subnet.private: Modifications complete after %ds\n\nApply complete! Resources: %d added, %d changed, 0 destroyed.", i%4, 0x37af25764556b+i*7919, 1+i%9, i%3, 1+i%9))
	}
	if k.highest() >= haltd.LevelKill {
		t.Errorf("it is killed: %v\n%s", k.levels, drawn(k))
	}
}

// An answer that repeats a state which the act sets tells nobody to wait; one to an act
// that asks for that state does.
func TestWhoSetsAStateDoesNotWaitForIt(t *testing.T) {
	plan := `{"todos":[{"description":"sync the formula endpoint","status":"pending"},{"description":"fetch the playlist model","status":"pending"},{"description":"publish the order view","status":"pending"},{"description":"validate every caption page","status":"pending"}]}`
	for _, tc := range []struct {
		round haltd.Round
		want  bool
	}{
		{did("write_todos", plan, "The list is now:\n1. [pending] sync the formula endpoint\n2. [pending] fetch the playlist model"), false},
		{did("bash", `{"command":"gh run list --status queued"}`, "queued  build  main"), true},
		{did("job_status", `{"id":"6bdf"}`, `{"id":"6bdf","state":"queued"}`), true},
	} {
		if got := readRound(&tc.round, true).waiting; got != tc.want {
			t.Errorf("%+v waits: %v, want %v", tc.round.Calls, got, tc.want)
		}
	}
	for text, want := range map[string]bool{
		"<environment_details>\n# Current Mode\nACT MODE\n</environment_details>\n": true,
		"<environment_details>": false,
		"<environment_details>ACT MODE</environment_details>\nNow do the second one, please.": false,
	} {
		if got := isEditors(text); got != want {
			t.Errorf("%q is an editor's: %v, want %v", text, got, want)
		}
	}
}
