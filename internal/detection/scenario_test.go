package detection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// mustFire holds one loop each.
var mustFire = []struct {
	name   string
	stands string // the reported pattern
	family haltd.Family
	by     int // the round by which it is killed
	run    func(k *talk)
}{
	{"same call, same result", "identical call and result", haltd.FamilyRepeat, 12, func(k *talk) {
		for range 16 {
			k.does("read_file", `{"path":"/etc/x"}`, "the file holds a single line of text")
		}
	}},
	{"the same words of a user, at once", "chatter", haltd.FamilyChatter, 16, func(k *talk) {
		k.pause = 7 * time.Second
		for range 20 {
			k.says("Understood, I shall now begin with the slides.", "Go on, please.")
		}
	}},
	{"same call, same error", "identical call and result", haltd.FamilyRepeat, 6, func(k *talk) {
		for range 8 {
			k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
		}
	}},
	{"same result but for clock, address and process", "the same error with volatile text", haltd.FamilyRepeat, 6, func(k *talk) {
		for i := range 8 {
			k.does("start", `{"name":"db"}`, fmt.Sprintf("2026-01-0%dT10:0%d:00Z PGID: %d object at 0x7f%04x took 0.%d seconds and refused", i+1, i, 900+i, 77*i, i))
		}
	}},
	{"same call under a fresh id", "identical call and result", haltd.FamilyRepeat, 8, func(k *talk) {
		for i := range 12 {
			k.does("charge", fmt.Sprintf(`{"order":17,"request_id":"r%dk%dz%d"}`, 7*i+3, i, 31*i), "Error: the card was declined")
		}
	}},
	{"same click under reworded thoughts", "the same act in other words", haltd.FamilyRepeat, 12, func(k *talk) {
		for i := range 16 {
			k.does("click", fmt.Sprintf(`{"thought":"Let me %s the %s button to go on now.","id":4}`, topics[i], topics[i+1]), page("Checkout", 600+i, 40+7*i))
		}
	}},
	{"a harness counts the steps", "hook-injected user turns", haltd.FamilyRepeat, 8, func(k *talk) {
		for i := range 12 {
			k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied", fmt.Sprintf("You have used %d of 50 steps.", i+1))
		}
	}},
	{"the page comes after an empty result", "identical call and result", haltd.FamilyRepeat, 8, func(k *talk) {
		for range 12 {
			k.does("click", `{"id":4}`, "", "Error: the form cannot be sent while a field is empty")
		}
	}},
	{"cycle of two", "cycles of 2 or 3", haltd.FamilyCycle, 12, func(k *talk) {
		for i := range 14 {
			k.does([]string{"list", "read"}[i%2], `{}`, []string{"one file: notes.txt", "the notes are short and plain"}[i%2])
		}
	}},
	{"cycle of three", "cycles of 2 or 3", haltd.FamilyCycle, 16, func(k *talk) {
		for i := range 18 {
			k.does([]string{"a", "b", "c"}[i%3], `{"n":1}`, fmt.Sprint("result of ", []string{"alpha tool", "beta tool", "gamma tool"}[i%3]))
		}
	}},
	{"drifting arguments, same refusal", "the same target with drifting arguments", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does("read_file", fmt.Sprintf(`{"path":"big.bin","offset":%d}`, i*100), "Error: big.bin is a binary file and cannot be shown")
		}
	}},
	{"alternating tools, fresh arguments, nothing found", "alternating tools with fresh arguments", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does([]string{"grep", "find"}[i%2], fmt.Sprintf(`{"query":%q}`, topics[i]), "No matches found")
		}
	}},
	{"varied queries, same result", "varied queries with the same result", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does("search", fmt.Sprintf(`{"query":"birth cities list variant %d"}`, i%3+i), "1. Only hit: a page about capitals and rivers and the borders between them, last edited by nobody in particular")
		}
	}},
	{"nothing found for each argument", "the same error with varied arguments", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does("find_file", fmt.Sprintf(`{"name":"%s.java"}`, topics[i]), fmt.Sprintf(`No matches found for "%s.java" in the project`, topics[i]))
		}
	}},
	{"JSON error with a fresh id", "the same error with volatile text", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does("create_order", fmt.Sprintf(`{"sku":"%s"}`, topics[i]), fmt.Sprintf(`{"error":"sku unknown","request":"req_%08d"}`, 1000+i))
		}
	}},
	{"hopping to another tool after each refusal", "hopping to another tool after each refusal", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.does("tool_"+topics[i], `{"go":true}`, "Error: the account is locked")
		}
	}},
	{"the same patch applied again", `"successful" side effects repeated`, haltd.FamilyRepeat, 12, func(k *talk) {
		for range 16 {
			k.does("apply_patch", `{"patch":"@@ -1 +1 @@\n-a\n+b"}`, "Patch applied successfully")
		}
	}},
	{"the same payload, though the answer changes", `"successful" side effects repeated`, haltd.FamilyRepeat, 14, func(k *talk) {
		for i := range 18 {
			k.does("insert", `{"line":7,"text":"if ready {\n\tstart the motor and close the valve before the pump runs dry again tonight\n}"}`, fmt.Sprintf("inserted; file has now %d lines", 100+3*i))
		}
	}},
	{"the same call many times in one reply", "duplicates inside one reply", haltd.FamilyRepeat, 12, func(k *talk) {
		for n := range 16 {
			r := haltd.Round{}
			for i := range 6 {
				id := fmt.Sprintf("call_%d_%08d", n, i)
				r.Calls = append(r.Calls, haltd.ToolCall{ID: id, Name: "ping", Arguments: `{"host":"a"}`})
				r.Results = append(r.Results, haltd.ToolResult{CallID: id, Text: "host a is unreachable"})
			}
			k.judge(&r)
		}
	}},
	{"answers against an automatic Continue", "hook-injected user turns", haltd.FamilyChatter, 16, func(k *talk) {
		for i := range 18 {
			k.says([]string{"The answer is twenty, as shown.", "As shown before, the answer is twenty.", "I showed before: the answer is twenty."}[i%3], "Continue. Keep solving until you are done.")
		}
	}},
	{"empty replies against a reminder", "hook-injected user turns", haltd.FamilyChatter, 16, func(k *talk) {
		k.does("look", `{}`, "a room with two doors")
		for range 18 {
			k.says("", "<system-reminder>No tool was called. Use finish when you are done.</system-reminder>")
		}
	}},
	{"blocked, again and again", "hook-injected user turns", haltd.FamilyChatter, 16, func(k *talk) {
		k.does("look", `{}`, "a room with two doors")
		for i := range 18 {
			k.says([]string{"I am blocked and cannot continue.", "I cannot continue: I am blocked."}[i%2], "<system-reminder>No tool was called. Use finish when you are done.</system-reminder>")
		}
	}},
	{"two agents thank each other", "two agents thanking each other", haltd.FamilyChatter, 16, func(k *talk) {
		thanks := []string{"Thank you, great work team!", "Thank you team, great work!", "Great work, thank you team!"}
		for i := range 18 {
			k.says(thanks[i%3]+strings.Repeat(" ", i), thanks[(i+1)%3]+strings.Repeat(" ", i%5))
		}
	}},
	{"busy polling of one job", "busy waiting", haltd.FamilyWaiting, 56, func(k *talk) {
		for i := range 60 {
			k.does("job_output", `{"id":"b1"}`, fmt.Sprintf("status: running, checked at 2026-01-01T10:%02d:%02dZ", i/60, i%60))
		}
	}},
	{"the same command in plain text", "identical call and result", haltd.FamilyRepeat, 6, func(k *talk) {
		for range 8 {
			k.bash("make test", "<returncode>2</returncode>\n<output>\nmake: no rule to make target test\n</output>")
		}
	}},
	{"rewritten commands, same error, in plain text", "the same error with varied arguments", haltd.FamilyFutile, 14, func(k *talk) {
		for i := range 16 {
			k.bash("tar --exclude-"+topics[i]+" -cf a.tar .", "<returncode>64</returncode>\n<output>\ntar: unrecognized option '--exclude-"+topics[i]+"'\n</output>")
		}
	}},
}

func TestMustFire(t *testing.T) {
	for _, c := range mustFire {
		t.Run(c.name, func(t *testing.T) {
			k := newTalk(t, "Please do the task.")
			c.run(k)
			if k.killed == nil {
				t.Fatalf("%s: never killed; last verdict %+v\n%s", c.stands, k.last, drawn(k))
			}
			if at := slices.Index(k.levels, haltd.LevelKill); at > c.by {
				t.Errorf("%s: killed at round %d, want %d at most\n%s", c.stands, at, c.by, drawn(k))
			}
			if got := k.killed.Signals[0]; got.Family != c.family && got.Detector == haltd.DetectorStall {
				t.Errorf("%s: family %s, want %s\n%s", c.stands, got.Family, c.family, drawn(k))
			}
		})
	}
}

// mustNotFire holds healthy conversations that look like loops.
var mustNotFire = []struct {
	name   string
	stands string
	run    func(k *talk)
}{
	{"a poll whose percentage moves", "polling whose results change, if only in a number", func(k *talk) {
		for i := range 40 {
			k.does("job_status", `{"id":7}`, fmt.Sprintf("running, %d %% done", i*2))
		}
	}},
	{"a patient poll", "polling with equal results at long intervals", func(k *talk) {
		k.pause = 2 * time.Minute
		for range 40 {
			k.does("inbox", `{}`, "no new mail")
		}
	}},
	{"a dozen quick polls of a build", "polling", func(k *talk) {
		for range 12 {
			k.does("build_status", `{"id":3}`, "pending")
		}
		k.does("build_status", `{"id":3}`, "succeeded with 41 tests")
	}},
	{"paging", "paging and cursors", func(k *talk) {
		for i := range 40 {
			k.does("list_rows", fmt.Sprintf(`{"cursor":"c%d"}`, i), fresh(i))
		}
	}},
	{"read_output with equal arguments", "read_output that returns new data for equal arguments", func(k *talk) {
		for i := range 40 {
			k.does("read_output", `{"id":"sh1"}`, fresh(i))
		}
	}},
	{"edit, test, edit, test", "edit → test → edit → test", func(k *talk) {
		for i := range 12 {
			k.does("edit", fmt.Sprintf(`{"path":"a.go","new":%q}`, fresh(i)), "File edited successfully")
			k.does("run_tests", `{}`, fmt.Sprintf("1 failed: expected %d and got %d in case %s", i*3, i*5+1, topics[i]))
		}
	}},
	{"edit, test with the same failure, four times", "edit → test → edit → test", func(k *talk) {
		for i := range 4 {
			k.does("edit", fmt.Sprintf(`{"path":"a.go","new":%q}`, fresh(i)), "File edited successfully")
			k.does("run_tests", `{}`, "1 failed: the total is wrong")
		}
		k.does("run_tests", `{}`, "all 9 passed")
	}},
	{"edits in plain text that print nothing", "edit → test → edit → test", func(k *talk) {
		for i := range 12 {
			k.bash(fmt.Sprintf("cat > f%d.py <<'EOF'\n%s\nEOF", i, fresh(i)), "<returncode>0</returncode>\n<output>\n</output>")
		}
	}},
	{"the same template over many files", "batch work over many files or items with one template", func(k *talk) {
		for i := range 30 {
			k.does("convert", fmt.Sprintf(`{"file":"%s_%d.png"}`, topics[i], i), fmt.Sprintf("converted %s_%d.png", topics[i], i))
		}
	}},
	{"writing many items that are all acknowledged alike", "batch work over many files or items with one template", func(k *talk) {
		for i := range 30 {
			k.does("save", fmt.Sprintf(`{"name":"%s_%d","text":%q}`, topics[i], i, fresh(i)), "OK")
		}
	}},
	{"a walk over numbers with equal answers", "batch work over many files or items with one template", func(k *talk) {
		for i := range 40 {
			k.does("get_invoice", fmt.Sprintf(`{"number":%d}`, 4000+i), "paid")
		}
	}},
	{"pages of one shop", "paging and cursors", func(k *talk) {
		for i := range 20 {
			k.does("open", fmt.Sprintf(`{"url":"/%s"}`, topics[i]), page(topics[i], 600+i, 40+7*i)+fresh(i)+fresh(i+40))
		}
	}},
	{"parallel fan-out", "parallel fan-out; opening exploration", func(k *talk) {
		for n := range 6 {
			r := haltd.Round{}
			for i := range 8 {
				id := fmt.Sprintf("call_%d_%08d", n, i)
				r.Calls = append(r.Calls, haltd.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"path":"%d/%d"}`, n, i)})
				r.Results = append(r.Results, haltd.ToolResult{CallID: id, Text: fresh(n*8 + i)})
			}
			k.judge(&r)
		}
	}},
	{"opening exploration with misses", "parallel fan-out; opening exploration", func(k *talk) {
		k.does("ls", `{"path":"."}`, "src docs Makefile")
		k.does("read", `{"path":"README"}`, "Error: no such file: README")
		k.does("read", `{"path":"docs/README"}`, "Error: no such file: docs/README")
		k.does("ls", `{"path":"docs"}`, "intro.md guide.md")
		k.does("read", `{"path":"docs/intro.md"}`, fresh(1))
	}},
	{"a hundred different calls under one message", "long productive turns", func(k *talk) {
		for i := range 100 {
			k.does("read", fmt.Sprintf(`{"path":"f%d"}`, i), fresh(i))
		}
	}},
	{"git status now and then", "the same command far apart", func(k *talk) {
		for i := range 60 {
			if i%8 == 0 {
				k.does("bash", `{"command":"git status"}`, "nothing to commit, working tree clean")
				continue
			}
			k.does("bash", fmt.Sprintf(`{"command":"cat %s%d"}`, topics[i%len(topics)], i), fresh(i))
		}
	}},
	{"looking something up again", "repeated read-only recall", func(k *talk) {
		for i := range 10 {
			k.does("recall", `{"key":"style"}`, "use tabs and short names")
			k.does("write", fmt.Sprintf(`{"path":"p%d","text":%q}`, i, fresh(i)), "written")
			k.does("check", fmt.Sprintf(`{"path":"p%d"}`, i), fresh(i+50))
		}
	}},
	{"tools without arguments", "tools whose arguments are empty", func(k *talk) {
		for i := range 30 {
			k.does("next_item", "", fresh(i))
		}
	}},
	{"a person says continue", `a person who says "continue" or "try again"`, func(k *talk) {
		for i := range 12 {
			k.says(fmt.Sprintf("Chapter %d. %s. %s.", i, fresh(2*i), fresh(2*i+1)), "continue")
		}
	}},
	{"a person says try again and it works", `a person who says "continue" or "try again"`, func(k *talk) {
		k.does("deploy", `{}`, "Error: the server is restarting", "try again")
		k.does("deploy", `{}`, "Error: the server is restarting", "and again, please")
		k.does("deploy", `{}`, "deployed version 7")
	}},
	{"a person says try again, and again", `a person who says "continue" or "try again"`, func(k *talk) {
		k.pause = 20 * time.Second
		for range 8 {
			k.does("deploy", `{}`, "Error: the server is restarting")
			k.says("The deployment failed: the server is restarting.", "try again")
		}
	}},
	{"the same scaffolding at every turn of a dialogue", "the same command far apart", func(k *talk) {
		for i := range 8 {
			k.does("goto_node", `{"node":"START"}`, "ask for the order id")
			k.does("goto_node", `{"node":"AUTH"}`, "check the email")
			k.does("get_user", `{"email":"a@b.c"}`, "user_17 with two orders")
			k.says("Done with that one. "+fresh(i), "Now please look at "+fresh(i+40))
			k.does("noop", fmt.Sprintf(`{"turn":%d}`, i), fresh(i+80))
		}
	}},
	{"a benchmark run three times on purpose", "four repeats that recover exist", func(k *talk) {
		for range 3 {
			k.does("bench", `{}`, "throughput is steady at one level")
		}
		for i := range 5 {
			k.does("edit", fmt.Sprintf(`{"new":%q}`, fresh(i)), "File edited successfully")
		}
	}},
	{"a failing edit three times, then another way", "four repeats that recover exist", func(k *talk) {
		k.does("read", `{"path":"a"}`, fresh(1))
		for range 3 {
			k.does("edit", `{"old":"x","new":"y"}`, "Error: x is not unique")
		}
		k.does("edit", `{"old":"x = 1","new":"y = 1"}`, "File edited successfully")
	}},
	{"five empty replies, then recovery", "four repeats that recover exist", func(k *talk) {
		k.does("look", `{}`, fresh(0))
		for range 5 {
			k.says("", "<system-reminder>No tool was called.</system-reminder>")
		}
		for i := range 5 {
			k.does("look", fmt.Sprintf(`{"at":%d}`, i), fresh(i+1))
		}
	}},
	{"a history that is sent twice", "history sent again", func(k *talk) {
		var block []haltd.Round
		for i := range 4 {
			id := fmt.Sprintf("call_%08d", i)
			block = append(block, haltd.Round{
				Calls:   []haltd.ToolCall{{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"path":"%d"}`, i)}},
				Results: []haltd.ToolResult{{CallID: id, Text: fresh(i)}},
			})
		}
		block[3].Inputs = []haltd.Message{{Text: "Please do the task."}}
		for range 5 {
			k.call.Rounds = append(k.call.Rounds, block...)
			k.judge(nil)
		}
	}},
	{"different questions after one long document", "two questions after the same long context", func(k *talk) {
		document := strings.Repeat(fresh(1)+". ", 40)
		for i := range 12 {
			k.says(fresh(i+3), document+" Question: "+fresh(i+60)+"?")
		}
	}},
	{"small talk with a person", "a person who talks", func(k *talk) {
		lines := []string{"I went to the market today.", "They had plums from the valley.", "My sister bakes with those.", "She lives near the harbour now.",
			"The ferry was late again.", "I read a novel on the pier.", "It was about a lighthouse keeper.", "He collects old maps.", "Maps make me dream of travel.", "Perhaps Norway in spring?"}
		for i, l := range lines {
			k.says("How nice! "+fresh(i), l)
		}
	}},
}

func TestMustNotFire(t *testing.T) {
	for _, c := range mustNotFire {
		t.Run(c.name, func(t *testing.T) {
			k := newTalk(t, "Please do the task.")
			c.run(k)
			if k.highest() == haltd.LevelKill {
				t.Errorf("%s: killed by %s: %s\n%s", c.stands, k.killed.Signals[0].Detector, k.killed.Signals[0].Sentence("bot"), drawn(k))
			}
		})
	}
}
