package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What comes to nothing does so however it is put: in another order, behind another
// code, in one of three wordings, in silence.
func TestWhatIsDoneInVain(t *testing.T) {
	const rounds = 34
	stuck := map[string]func(k *talk, i int){
		"a plan whose items are put a little differently": func(k *talk, i int) {
			steps := []string{"analyse the auth module", "define the API of the service", "extract the code", "write migrations", "switch traffic"}
			with := []string{"", " in detail", " and document it", ", with the team in mind", " (thoroughly)"}
			items := ""
			for n := range steps {
				items += fmt.Sprintf(`,{"id":%d,"content":"%s%s","status":"pending"}`, n+1, steps[(n*(1+i%4)+i*i)%len(steps)], with[(i*7+n*n*3+i/5)%len(with)])
			}
			k.does("todo_write", `{"items":[`+items[1:]+`]}`, []string{"Plan updated.", "Todos have been modified successfully. 5 pending."}[i*i%3%2])
		},
		"a plan in other words each time": func(k *talk, i int) {
			verbs, things := []string{"Review", "Look at", "Understand", "Explore", "Analyse"}, []string{"requirements", "dependencies", "current code", "data model", "existing module", "architecture", "new component"}
			items := ""
			for n := range 3 {
				items += fmt.Sprintf(`,{"content":"%s %s","status":"pending"}`, verbs[(i*3+n)%len(verbs)], things[(i*5+n*2+i/7)%len(things)])
			}
			k.does("TodoWrite", `{"todos":[`+items[1:]+`]}`, "Todos have been modified successfully.")
		},
		"a portal that asks to sign in again": func(k *talk, i int) {
			ref := func(n int) string { return fmt.Sprintf("e%d", 20+(i*37+n*11)%79) }
			page := func(what string) string {
				return fmt.Sprintf("- Page URL: https://sede.example/%s?t=%d\n- textbox \"User\" [ref=%s]\n- button \"Sign in\" [ref=%s]", what, 9461511968+i*7919, ref(1), ref(2))
			}
			switch i % 3 {
			case 0:
				k.does("browser_type", fmt.Sprintf(`{"ref":%q,"element":"User","text":"mlopez"}`, ref(3)), "ok")
			case 1:
				k.does("browser_click", fmt.Sprintf(`{"ref":%q,"element":"Sign in"}`, ref(4)), page("home"))
			default:
				k.does("browser_click", fmt.Sprintf(`{"ref":%q,"element":"Certificates"}`, ref(5)), "- alert: \"Your session has expired. Please sign in again.\"\n"+page("login"))
			}
		},
		"notes that are written and read back": func(k *talk, i int) {
			text := func(i int) string {
				status := []string{"Ready to begin with the work.", "Overview is clear, the work begins next.", "Preparation in progress, will start soon."}[i*i%5%3]
				return fmt.Sprintf("# Notes (rev %d, 2026-03-03T14:%02d:23Z)\n## Goal\nPort the parser to TypeScript.\n## Status\n%s\n## Done\n- notes updated", i, i, status)
			}
			if i%2 == 0 {
				k.does("Write", fmt.Sprintf(`{"file_path":"/repo/NOTES.md","content":%q}`, text(i/2)), "File created successfully at: /repo/NOTES.md")
				return
			}
			k.does("Read", `{"file_path":"/repo/NOTES.md"}`, text(i/2))
		},
		"searches that find nothing, and say nothing": func(k *talk, i int) {
			with := []string{"grep -rn '%s' .", "rg -n '%s'", "find . -name '*%s*'", "git grep -n %s", "rg -i '%s' --hidden"}[i*3%5]
			k.does("bash", fmt.Sprintf(`{"command":%q}`, fmt.Sprintf(with, []string{"limiter", "RateLimiter", "rate_limit", "throttle", "ratelimit", "Limiter", "rate"}[i*i%7])), "")
		},
		"a code that is always too old, in one of three wordings": func(k *talk, i int) {
			code := 100000 + 7919*(i/3)*13%899999
			switch i % 3 {
			case 0:
				k.does("click", `{"button":"Send code"}`, fmt.Sprintf("A code was sent at 08:%02d:48.", i))
			case 1:
				k.does("get_sms", `{}`, fmt.Sprintf("08:%02d Your code is %d.", i, code))
			default:
				k.does("fill", fmt.Sprintf(`{"field":"code","text":"%d"}`, code), []string{"The code you entered is no longer valid.", "This code has expired.", "Code invalid or expired (E-1042)."}[i/3%3])
			}
		},
		"a device that is set up again and never passes": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("calibrate", fmt.Sprintf(`{"unit":"pump B","points":%d}`, 3+i%4), fmt.Sprintf("calibration finished 08:%02d:47, r2 = 0.93%02d", i, 11+i*37%23))
				return
			}
			k.does("verify", `{"unit":"pump B"}`, fmt.Sprintf("FAIL: deviation 4.%02d %% (limit 2.0 %%)", 11+i*53%61))
		},
	}
	playAll(t, rounds, stuck, true)
	old := func(i int) string { return topics[i] + "_" + topics[(i*7+3)%len(topics)] }
	healthy := map[string]func(k *talk, i int){
		"what is left of each name of a list: nothing": func(k *talk, i int) {
			if i == 0 {
				var names []string
				for n := range rounds {
					names = append(names, old(n))
				}
				k.does("bash", `{"command":"cat removed.txt"}`, strings.Join(names, "\n"))
				return
			}
			k.does("bash", fmt.Sprintf(`{"command":"grep -rn '%s' src/"}`, old(i-1)), "")
		},
		"the same settings for one host after the other": func(k *talk, i int) {
			k.does("write_file", fmt.Sprintf(`{"path":"hosts/%s.yaml","content":"ntp:\n  servers: [time.example]\nssh:\n  root: no\n  passwords: no\nupdates:\n  automatic: yes\n  restart: at night\nlogs:\n  keep: thirty days\n"}`, old(i)), "File written.")
		},
		"a check at one revision after the other": func(k *talk, i int) {
			bad := func(i int) bool { return i/2%5 < 3 }
			if i%2 == 0 {
				k.does("bash", fmt.Sprintf(`{"command":"cd /src && git bisect %s"}`, []string{"good", "bad"}[bitOf(bad(i-2))]), fmt.Sprintf("Bisecting: %d revisions left to test after this\n[%016x] %s", 1<<18>>(i/2), uint64(i+1)*0x9e3779b97f4a7c15, topics[i]))
				return
			}
			k.does("bash", `{"command":"cd /src && make -s check-core"}`, []string{"core: 212 checks ok", "Makefile:61: recipe for target 'check-core' failed\nmake: *** [check-core] Segmentation fault (core dumped)"}[bitOf(bad(i))])
		},
		"doses, each with a reading that goes on": func(k *talk, i int) {
			k.says("DOSE 0.2;PH?", fmt.Sprintf("%d.%02d", 3+i/10, i*10%100+i/7))
		},
		"messages of a list, each opened and put away": func(k *talk, i int) {
			id := func(n int) string { return fmt.Sprintf("%016x", uint64(n+1)*0x9e3779b97f4a7c15) }
			switch {
			case i == 0:
				list := ""
				for n := range rounds {
					list += fmt.Sprintf(`,{"id":%q}`, id(n))
				}
				k.does("search_messages", `{"q":"is:unread"}`, `{"messages":[`+list[1:]+`]}`)
			case i%2 == 1:
				k.does("get_message", fmt.Sprintf(`{"id":%q}`, id(i/2)), fmt.Sprintf("From: noreply@%s.example\nSubject: %s\nDate: Sun, 24 Aug 2025\n\nYou receive this mail because you signed up.", []string{"news", "info", "mail"}[i/2%3], []string{"Your weekly digest", "Your order has shipped"}[i*i/3%2]))
			default:
				k.does("modify_labels", fmt.Sprintf(`{"id":%q,"remove":["INBOX","UNREAD"]}`, id(i/2-1)), `{}`)
			}
		},
		"hosts of which most have nothing to do": func(k *talk, i int) {
			out := "openssl is already the newest version (3.0.2-0ubuntu1.18).\n0 upgraded, 0 newly installed, 0 to remove and 4 not upgraded."
			if i*i%5 == 1 {
				out = "Unpacking openssl (3.0.2-0ubuntu1.18) over (3.0.2-0ubuntu1.15) ...\nSetting up openssl (3.0.2-0ubuntu1.18) ..."
			}
			k.bash(fmt.Sprintf("ssh web%02d 'sudo apt-get install -y --only-upgrade openssl 2>&1 | tail -3'", i+1), out)
		},
		"places that are asked in turn, every few minutes": func(k *talk, i int) {
			places := []string{"ams", "iad", "sin", "gru", "nrt"}
			k.pause = 2 * time.Second
			if i%len(places) == 0 {
				k.pause = 3 * time.Minute
			}
			k.does("bash", fmt.Sprintf(`{"command":"curl -s --resolve app.example:443:%s.edge.example https://app.example/app.js | head -1"}`, places[i%len(places)]), []string{"build: 9171", "build: 9182"}[bitOf(i > 18 && i%len(places) == 2)])
		},
		"each offer of a list, noted, and back to it": func(k *talk, i int) {
			name := func(n int) string {
				return fmt.Sprintf("%s %d", []string{"Visby", "Bergen"}[n%2], 100+n*617%899)
			}
			price := fmt.Sprintf("€%d, %d days", 70+i/3*53%430, 3+i/3*7%19)
			switch i % 3 {
			case 0:
				k.does("click", fmt.Sprintf(`{"ref":"e%d"}`, 20+2*(i/3)), fmt.Sprintf("- heading %q [level=1]\n- text: %s\n- button \"Add to cart\" [ref=e9]", name(i/3), price))
			case 1:
				k.does("add_row", fmt.Sprintf(`{"values":[%q,%q]}`, name(i/3), price), "row added")
			default:
				list := "- main:\n  - list:"
				for n := range rounds / 3 {
					list += fmt.Sprintf("\n    - link %q [ref=e%d]", name(n), 20+2*n)
				}
				k.does("back", `{}`, list)
			}
		},
		"a text that is put in place once it is found": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("bash", fmt.Sprintf(`{"command":"grep -rln '%s' src/"}`, old(i)), "src/"+fresh(i)+".go")
				return
			}
			k.does("bash", fmt.Sprintf(`{"command":"grep -rl '%s' src/ | xargs sed -i 's/%s/%s/'"}`, old(i-1), old(i-1), fresh(i)), "")
		},
	}
	playAll(t, rounds, healthy, false)
}

func TestCommandsThatLookForSomething(t *testing.T) {
	for command, want := range map[string]bool{
		"grep -rn name src | head -5":            true,
		"cd /app && rg -i name":                  true,
		"git grep -n name":                       true,
		"find . -name '*.go' 2>/dev/null":        true,
		"sudo timeout 5 find / -name x":          true,
		"find . -name '*.tmp' -delete":           false,
		"grep -rl a src | xargs sed -i s/a/b/":   false,
		"grep -c x log > count":                  false,
		"grep -q x conf || echo x":               false,
		"git commit -m 'find it'":                false,
		"sed -i s/find/search/ a.txt":            false,
		"find . -type f -exec touch {} +":        false,
		"rg name\nrm -r build":                   false,
		"grep x a.txt; systemctl restart nginx":  false,
		"grep x a.txt && systemctl stop apache2": false,
	} {
		if got := looks(command); got != want {
			t.Errorf("%q looks for something and does nothing else: %v, want %v", command, got, want)
		}
	}
	for tool, want := range map[string]outcome{"search_docs": empty, "find_file": empty, "find_and_replace": acknowledged, "save_file": acknowledged} {
		if r := did(tool, `{"text":"x"}`, ""); readRound(&r, true).outcome != want {
			t.Errorf("nothing came back from %s: %v, want %v", tool, readRound(&r, true).outcome, want)
		}
	}
}
