package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a platform team tries on a guard in an afternoon: agents that do the same plain
// thing again and again, at full speed.
func TestPlainWorkAtFullSpeed(t *testing.T) {
	cities := strings.Fields("izmir recife porto leeds aarhus bergen osaka brno cork graz")
	subjects := strings.Fields("miller teacher mayor gardener baker journal harbour orchestra museum factory")
	verbs := strings.Fields("rents shows cleans sells checks praises repairs describes delays paints")
	things := strings.Fields("bridge invoice harvest roof timetable crane contract exhibition machine store")
	sentence := func(i int) string {
		return subjects[i*7%10] + " " + verbs[(i*3+i/10)%10] + " the " + things[(i*i+i/7)%10] + " of " + topics[i*11%len(topics)] + ". "
	}
	playAll(t, 40, map[string]func(k *talk, i int){
		"prices are set, each acknowledged with a status alone": func(k *talk, i int) {
			k.pause = 30 * time.Millisecond
			k.does("patch_product", fmt.Sprintf(`{"sku":"%s-%d","price":%d.%02d}`, strings.ToUpper(cities[i*3%10][:3]), 1021+7*i, 10+i*37%90, i*61%100), "204")
		},
		"hosts of which only the number goes on": func(k *talk, i int) {
			k.pause = 400 * time.Millisecond
			k.does("ssh_exec", fmt.Sprintf(`{"host":"%s-pos%d","command":"grep -rl 'legacyTaxTable' /etc /opt || echo no matches"}`, cities[(i*i+3)%10], i+1), "no matches")
		},
		"items of which each fails some times before it goes through": func(k *talk, i int) {
			k.pause = 400 * time.Millisecond
			item, try := i/5, i%5
			answer := "Error acquiring the state lock: held by ci-runner-4"
			if item%2 == 1 {
				answer = "Error: RequestLimitExceeded: Request limit exceeded."
			}
			if try >= 3+item%2 {
				answer = fmt.Sprintf("Apply complete! Resources: %d added, 0 changed, 0 destroyed.", item+1)
			}
			k.does("run", fmt.Sprintf(`{"command":"terraform apply -target=%s"}`, things[item%10]), answer)
		},
		"chapters in few words, and the outline before each": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("read_outline", `{"path":"book/outline.md"}`, strings.Repeat(sentence(3)+sentence(8)+sentence(14)+"\n", 3))
				return
			}
			var b strings.Builder
			for n := range 12 {
				b.WriteString(sentence(i*12 + n))
			}
			k.does("write_file", fmt.Sprintf(`{"path":"book/%02d.md","content":"# Chapter %d\n\n%s"}`, i/2+1, i/2+1, b.String()), "ok")
		},
		"a lock that is waited for, told in an envelope": func(k *talk, i int) {
			k.pause = 25 * time.Second
			if i > 9 {
				k.does("bash", fmt.Sprintf(`{"script":"terraform output -json part-%s"}`, cities[i%10]), fmt.Sprintf(`{"stdout":"{\"id\":%d}","stderr":"","exit_code":0}`, i*7919))
				return
			}
			k.does("bash", `{"script":"terraform apply -auto-approve -target=module.orchard"}`, `{"stdout":"Error: Error acquiring the state lock\n\nLock Info:\n  ID:        b1f7a270\n  Path:      orchard.tfstate","stderr":"","exit_code":1}`)
		},
		"two bisections, of which each fails mostly": func(k *talk, i int) {
			what, step := []string{"startup", "memory"}[i/20], i%20/2
			switch {
			case i%20 >= 18:
				k.bash("git bisect "+[]string{"reset", "start HEAD v2.4"}[i%2], fmt.Sprintf("Bisecting: %d revisions left to test after this (roughly 9 steps)", 700-i))
			case i%2 == 0 && step < 6:
				k.bash("cargo run -q --example "+what, fmt.Sprintf("%s: %d.%02d (limit 2.5) FAIL", what, 3+step%5, i*37%100))
			case i%2 == 0:
				k.bash("cargo run -q --example "+what, fmt.Sprintf("%s: 1.%02d PASS", what, i*37%100))
			default:
				k.bash("git bisect "+[]string{"bad", "good"}[step/6], fmt.Sprintf("Bisecting: %d revisions left to test after this\n[%x] %s", 650>>step, 0x6748b86dad115+i*7919, sentence(i)))
			}
		},
	}, false)
}

func TestPlainLoopsAtFullSpeed(t *testing.T) {
	fields := strings.Fields("vat VAT vat_no taxId vatId ust tva")
	tiles := strings.Fields("bus bridge boat crosswalk")
	playAll(t, 32, map[string]func(k *talk, i int){
		"a form that is refused whatever is sent": func(k *talk, i int) {
			k.does("submit", fmt.Sprintf(`{"payload":{"name":"Wrona","%s":"PL%d","contact":{"mail":"a@wrona.example"}}}`, fields[i*3%7], 9586585726+i*7919), "1 validation error for Supplier\ncontact.vat_id\n  Field required [type=missing]")
		},
		"more and more memory for what has a limit": func(k *talk, i int) {
			k.does("align", fmt.Sprintf(`{"sample":"NA12878","memory_mb":%d}`, 1024+i*i*211), fmt.Sprintf(`{"exit": 137, "stderr": "Killed: host cgroup limit 512 MB", "requested_mb": %d}`, 1024+i*i*211))
		},
		"pages behind a last one that no step was at": func(k *talk, i int) {
			answer := fmt.Sprintf("No content: line %d does not exist, the last line is 1267", i*500)
			if i < 3 {
				answer = fresh(i) + "\n" + fresh(i+50) + "\n" + fresh(i+90)
			}
			k.does("read_document", fmt.Sprintf(`{"path":"server/notifier.java","offset":%d,"limit":500}`, i*500), answer)
		},
		"rooms that are not there": func(k *talk, i int) {
			answer := "null"
			if i < 6 {
				answer = fmt.Sprintf(`{"room":"%d","beds":%d,"guest":"%s"}`, 101+i, 1+i%3, fresh(i))
			}
			k.does("room", fmt.Sprintf(`{"number":%d}`, 101+i), answer)
		},
		"a check for people, before and after each try": func(k *talk, i int) {
			page := fmt.Sprintf("Security check at parcel.example. Verification failed, try again.\nSelect all tiles with a %s (grid %d).", tiles[i*3%4], 3+i*i*17%53)
			if i == 0 {
				k.does("open_page", `{"url":"https://parcel.example"}`, page)
				return
			}
			k.does("type_captcha", fmt.Sprintf(`{"text":"%d,%d"}`, i*5%9, i*7%9), page)
		},
		"a status that counts the requests": func(k *talk, i int) {
			k.does("show_refund", `{"name":"Kiegkoub"}`, fmt.Sprintf("| field | value |\n|---|---|\n| calls | %d |\n| duration | %d |\n| refund | Kiegkoub |\n| note | The spare office in Ghent opened with 392 people. |", 46+i, 51+i*7919%1900))
		},
	}, true)
}

// The next line of a list that the task gives is the next item, however little is found.
func TestLinesOfATask(t *testing.T) {
	var claims []string
	for i := range 26 {
		claims = append(claims, fmt.Sprintf("In %s the %s was sold to the %s company.", topics[i], topics[(i+9)%len(topics)], topics[(i*5+3)%len(topics)]))
	}
	check := map[string]func(k *talk, i int){"claims": func(k *talk, i int) {
		k.does("searchNews", fmt.Sprintf(`{"claim":%q,"source":"press%d"}`, claims[i], i%2), "(no output)")
	}}
	playAllWith(t, "Check these claims:\n- "+strings.Join(claims, "\n- "), len(claims), check, false)
	playAllWith(t, "Check what is said about "+strings.Join(topics, " and ")+", which was sold to a company in the city.", len(claims), check, true)
}

// A task that asks to look at one thing after the other is followed, whatever is found:
// each search in vain is about something new. To look for the same again is not.
func TestAChecklistIsGoneThrough(t *testing.T) {
	grep := func(k *talk, i int) {
		k.does("Grep", fmt.Sprintf(`{"pattern":"%s_%s\\(","output_mode":"content"}`, topics[i%len(topics)], topics[i*7%len(topics)]), "No matches found")
	}
	again := func(k *talk, i int) { grep(k, i%4) }
	for _, task := range []string{
		"Security audit of this service by our list of weaknesses, findings only.",
		"Gehe die Liste der Schwachstellen der Reihe nach durch.",
		"Revisa cada uno de los patrones de la lista.",
	} {
		playAllWith(t, task, 30, map[string]func(k *talk, i int){"in turn": grep}, false)
		playAllWith(t, task, 30, map[string]func(k *talk, i int){"again": again}, true)
	}
	playAllWith(t, "Triage the crashes: reproduce each, group them by stack.", 40, map[string]func(k *talk, i int){"what fails alike": func(k *talk, i int) {
		id := fmt.Sprintf("%016x%08x", 0x9e3779b97f4a7c15*uint64(i+1), 0x2545f491*uint32(i+7))
		k.does("Bash", fmt.Sprintf(`{"command":"./fuzz_target crashes/crash-%s"}`, id), fmt.Sprintf("Exit code 1\n==%d==ERROR: AddressSanitizer: SEGV on address 0x60%010x at pc 0xa60be92bb4b2\n    #0 0x86c369837783 in merge_%s /src/%s.c:100\n    #1 0xa9a31eafe1b3 in parse_tractor /src/tractor.c:138", 40000+i*617, i*7919, topics[i%3], topics[i%3]))
	}}, false)
	playAllWith(t, "Check each report.", 100, map[string]func(k *talk, i int){"without end": func(k *talk, i int) {
		k.does("Bash", fmt.Sprintf(`{"command":"lint reports/%s_%d"}`, topics[i%len(topics)], 7919*i), "Exit code 1\nlint: the licence has expired")
	}}, true)
	playAllWith(t, "Find out who calls the exporter.", 30, map[string]func(k *talk, i int){"in vain": grep}, true)
}
