package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Of a client that reports on a command in full, what the command printed counts:
// a Stderr that is empty does not make the answer empty, and the exit code stays.
func TestWhatACommandPrintedIsRead(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		outcome    outcome
	}{
		{"Command: terraform plan\nDirectory: (root)\nStdout: Your infrastructure matches.\nStderr: (empty)\nExit Code: 0", "Your infrastructure matches.\nexit code: 0", neutral},
		{"Command: go test ./...\nDirectory: (root)\nOutput: ok  \tshop\t0.8s\nok  \tcart\t0.2s\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 311", "ok  \tshop\t0.8s\nok  \tcart\t0.2s\nexit code: 0", neutral},
		{"Command: make\nDirectory: (root)\nStdout: (empty)\nStderr: make: *** no rule to make target\nExit Code: 2", "make: *** no rule to make target\nexit code: 2", failed},
		{"Command: cat <<EOF > a\nOutput of the day\nEOF\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0", "exit code: 0", acknowledged},
		{"Output: 3 rows\nDuration: fast", "3 rows\n", neutral},
		{"3 orders of today, all of them paid\n[The command completed with exit code 0.]\n[Current working directory: /shop]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 0]", "3 orders of today, all of them paid\nexit code: 0", neutral},
		{"\n[The command completed with exit code 0.]\n[Current working directory: /shop]", "exit code: 0", acknowledged},
		{"cc: no input files\n[The command completed with exit code 1.]\n[Current working directory: /shop]", "cc: no input files\nexit code: 1", failed},
		{"[1] a link\n[2] another link", "[1] a link\n[2] another link", neutral},
		{`[{"type":"text","text":"21"},{"type":"text","text":"Command completed with return code: 0"}]`, `[{"type":"text","text":"21"},{"type":"text","text":"Command completed with return code: 0"}]`, neutral},
		{"The arguments are invalid: JSON parsing failed: Text: {\"path\": \"a.md\", \"content\": \"# A design.\nError message: JSON Parse error: Unterminated string", "The arguments are invalid: JSON parsing failed.\nError message: JSON Parse error: Unterminated string", failed},
		{"Directory: /srv\nOwner: root", "Directory: /srv\nOwner: root", neutral},
		{"Command: reboot", "Command: reboot", neutral},
	} {
		text, _ := unwrapped(tc.text)
		if text != tc.want {
			t.Errorf("%q is read as %q, want %q", tc.text, text, tc.want)
		}
		if got, _ := outcomeOf(text, false); got != tc.outcome {
			t.Errorf("%q comes out as %d, want %d", tc.text, got, tc.outcome)
		}
	}
}

// Code that handles errors tells of none; what went wrong while it was read does.
func TestCodeThatHandlesErrorsTellsOfNone(t *testing.T) {
	const code = "package shop\n\nfunc (s *Store) Load(id string) (*Order, error) {\n\trow := s.db.QueryRow(id);\n\tif err := row.Scan(&o); err != nil {\n\t\treturn nil, fmt.Errorf(\"load: %w\", err);\n\t}\n\treturn o, nil\n}\n"
	for text, want := range map[string]outcome{
		code:                                     neutral,
		code + "cat: shop.go: permission denied": failed,
		"error: cannot open shop.go\n" + code:    failed,
		"{\n \"error\": {\n  \"message\": \"no such order\"\n }\n}": failed,
	} {
		if got, _ := outcomeOf(text, false); got != want {
			t.Errorf("%q comes out as %d, want %d", text, got, want)
		}
	}
}

// What is left of the tokens or the context changes with every call, and is no news;
// where it is all that came back, it was asked for.
func TestWhatIsLeftOfTheTokensIsNoNews(t *testing.T) {
	for text, want := range map[string]string{
		"killed: out of memory\n[exec c3a12e46 | context 26% used]":                           "killed: out of memory",
		"saved\n<budget:token_budget>168557 tokens remaining</budget:token_budget>\n":         "saved",
		"saved\n<system_warning>Token usage: 35000/200000; 165000 remaining</system_warning>": "saved",
		"[context 26% used]":            "[context 26% used]",
		"job\n[step 3 of 7]":            "job\n[step 3 of 7]",
		"rows\n1200 tokens were issued": "rows\n1200 tokens were issued",
	} {
		if got := withoutUsage(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
	var rounds []haltd.Round
	for i := range 6 {
		rounds = append(rounds, did("assign", `{"shift":"N1","to":"Fischer"}`, fmt.Sprintf("saved, one violation remains in the roster of the ward\n<budget:token_budget>%d tokens remaining</budget:token_budget>", 168557-1013*i-i*i)))
	}
	if s := relations("Make the roster valid.", rounds...)[5]; s.news > 0 || s.pairAgo != 1 {
		t.Errorf("the same answer with fewer tokens left brings %.2f news, and is that of %d rounds ago", s.news, s.pairAgo)
	}
}

// A tool that says how long the text is which it was given says nothing new.
func TestTheLengthOfWhatWasWrittenIsNoNews(t *testing.T) {
	write := func(text, ack string) haltd.Round {
		return did("write_file", fmt.Sprintf(`{"path":"summary.md","content":%q}`, text), ack)
	}
	texts := []string{"Revenue grew in the third quarter.\nChurn fell.", "Revenue grew again in the third quarter.\nChurn fell — a bit.", "In the third quarter revenue grew.\nChurn fell a bit again."}
	var bytes, runes, other []haltd.Round
	for i, text := range texts {
		bytes = append(bytes, write(text, fmt.Sprintf("wrote %d bytes to summary.md", len(text))))
		runes = append(runes, write(text, fmt.Sprintf("OK, %d characters in summary.md", len([]rune(text)))))
		other = append(other, write(text, fmt.Sprintf("wrote it, %d readers of summary.md", 700+93*i)))
	}
	for name, rounds := range map[string][]haltd.Round{"bytes": bytes, "characters": runes} {
		if s := relations("Write the summary.", rounds...)[2]; s.news > 0 || s.resultAgo != 1 {
			t.Errorf("%s: %.2f news, the answer of %d rounds ago", name, s.news, s.resultAgo)
		}
	}
	if s := relations("Write the summary.", other...)[2]; s.resultAgo != 0 {
		t.Error("a number of another kind is passed over")
	}
}

// "Queued" for mail to somebody new is how a batch goes on; for the same mail it is
// a wait.
func TestQueuedIsNoWaitForSomethingNew(t *testing.T) {
	names := strings.Fields("sofia chloe dmitri nikhil aoife amelia ingrid jamal")
	var batch, same []haltd.Round
	for i, name := range names {
		batch = append(batch, did("send_mail", fmt.Sprintf(`{"to":"%s@oakline.com","template":"order","order":"SO-%d"}`, name, 47057+31*i), "queued"))
		same = append(same, did("mail_status", `{"to":"sofia@oakline.com"}`, "queued"))
	}
	if s := relations("Send the mails.", batch...)[7]; s.signs[waits] > 0 || s.signs[idle] > 0 {
		t.Errorf("a batch waits %.2f and is idle %.2f", s.signs[waits], s.signs[idle])
	}
	if s := relations("Send the mails.", same...)[7]; s.signs[waits] == 0 {
		t.Error("who asks for the same mail does not wait")
	}
}

// How flaky something is shows when it is run some times; a task that says nothing
// of it asks for no runs.
func TestAFlakyTestIsRunSomeTimes(t *testing.T) {
	run := func(i int) haltd.Round {
		result := "collected 9 items in tests of reminders\n9 passed in 3.2s\nexit code: 0"
		if i%3 == 1 {
			result = "collected 9 items in tests of reminders\nFAILED drains_in_order\n1 failed, 8 passed\nexit code: 1"
		}
		return did("bash", `{"command":"pytest -q tests/test_reminder.py"}`, result)
	}
	var rounds []haltd.Round
	for i := range 9 {
		rounds = append(rounds, run(i))
	}
	if s := relations("test_reminder is flaky, make it stable.", rounds...)[8]; !s.asked {
		t.Error("the ninth run of a flaky test is not part of the task")
	}
	if s := relations("Make test_reminder pass.", rounds...)[8]; s.asked {
		t.Error("runs that nobody asked for are part of the task")
	}
}

// A page that a browser numbers anew each time is the same page.
func TestAPageThatIsNumberedAnewIsTheSame(t *testing.T) {
	var rounds []haltd.Round
	for i := range 4 {
		n := 61 - 11*i
		rounds = append(rounds, did("browser_navigate", `{"url":"https://app.example/reports/2024"}`, fmt.Sprintf(
			"- Page Title: Sign in\n- main [ref=e%d]:\n  - heading \"Sign in\" [ref=e%d]\n  - textbox \"Email\" [ref=e%d]\n  - textbox \"Password\" [ref=e%d]\n  - button \"Sign in\" [ref=e%d]\n  - link \"Forgot password?\" [ref=e%d]", n, n+1, n+3, n+5, n+7, n+9)))
	}
	if s := relations("Download the report.", rounds...)[3]; s.pairAgo != 1 || s.news > 0 {
		t.Errorf("the page of %d rounds ago, with %.2f news", s.pairAgo, s.news)
	}
}

// Two agents that thank each other in few words, and take their time, are no persons
// with a new task; a person may thank once.
func TestThanksForThanksAreNoPerson(t *testing.T) {
	var rounds []haltd.Round
	for _, said := range [][2]string{{"The plot is in prices.png.", "Thank you!"}, {"My pleasure! Have a great day!", "Great, thanks!"}, {"You're welcome!", "Thanks again! Take care!"}} {
		rounds = append(rounds, haltd.Round{Text: said[0], Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: said[1]}}})
	}
	all := relationsAfter(20*time.Second, "Plot the prices.", rounds...)
	if !all[0].human || all[2].human {
		t.Errorf("thanks are a person's: %v, and thanks for thanks: %v", all[0].human, all[2].human)
	}
}

// What was typed for the first time and stands in the form now was not in vain,
// though all its words were said before; a screen that stays as it is after clicks
// beside each other was.
func TestFormsFillAndClicksMiss(t *testing.T) {
	form := func(name, mail string) string {
		return fmt.Sprintf("Current url: https://crm.example/leads/new\nInteractive elements of the page from the top:\n[1]<input placeholder=Full name value='%s' />\n[2]<input type=email value='%s' />\n[3]<button >Save />\n[4]<div >records of the team, which are kept as long as the customer wants and are shown to nobody but those who sell, support or bill; older ones move to the archive at night, where only an auditor reads them />", name, mail)
	}
	typed := relations("Enter Ada Quill, who has her mail at post.example.",
		did("lookup", `{"host":"post.example"}`, "a host for mail"),
		did("go_to_url", `{"url":"https://crm.example/leads/new"}`, form("", "")),
		did("input_text", `{"index":1,"text":"Ada Quill"}`, form("Ada Quill", "")),
		did("input_text", `{"index":2,"text":"ada.quill@post.example"}`, form("Ada Quill", "ada.quill@post.example")))
	if s := typed[3]; s.signs[idle] > 0 {
		t.Errorf("an address that was typed and is there: idle %.2f", s.signs[idle])
	}
	var clicks []haltd.Round
	for i := range 12 {
		clicks = append(clicks, did("computer", fmt.Sprintf(`{"action":%q,"coordinate":[%d,%d]}`, []string{"left_click", "double_click"}[i%2], 611+i*5%8, 536+i*3%7), "[image: 1024x768 Export dialog, button 'Export' greyed out]"))
	}
	if s := relations("Export the document.", clicks...)[11]; s.wrote {
		t.Error("a click that changes nothing, beside those before it, was taken for work")
	}
}

// Equal replies that a client hangs up on are equal wherever each was cut; where
// nothing was cut, the end counts.
func TestCutRepliesAreKnownByTheirBeginning(t *testing.T) {
	text := "The order is on its way." + strings.Repeat(" It goes from town to town.", 200)
	cut := func(n int) *Answer { return ReadReply(&haltd.Reply{Text: text[:n]}, false) }
	if a, b := cut(2100), cut(4700); a.exact != b.exact || a.response != b.response {
		t.Error("one reply, cut in two places, is two replies")
	}
	if a, b := ReadReply(said(text[:2100]), false), ReadReply(said(text[:4700]), false); a.exact == b.exact {
		t.Error("two replies that begin alike are one")
	}
}

// A status of 201, 202 or 204 acknowledges, however much stands around it: a batch
// over new things goes on, and doing the same again does not.
func TestAStatusAcknowledges(t *testing.T) {
	for text, want := range map[string]bool{
		`{"status": 201, "body": {"id": 7}}`:          true,
		`{"ResponseMetadata":{"HTTPStatusCode":202}}`: true,
		"HTTP/1.1 204 No Content\n":                   true,
		`{"status":200,"items":[1,2]}`:                false,
		`{"status":2015}`:                             false,
		`{"status":"open","total":201}`:               false,
		"20 rows":                                     false,
	} {
		if got := isTaken(text); got != want {
			t.Errorf("%q acknowledges: %v, want %v", text, got, want)
		}
	}
	restore := func(key string, i int) haltd.Round {
		return did("restore_object", fmt.Sprintf(`{"Key":"audit/2021/%s","Days":7}`, key), fmt.Sprintf(
			`{"status": 202, "headers": {"X-Trace-Id": "%x", "Server": "envoy"}, "body": {"ResponseMetadata": {"RequestId": "%X"}, "charged": null, "path": null, "tier": "bulk", "storage": "cold", "region": "north", "notify": "nobody", "owner": "audit", "class": "archive", "expiry": "none", "lock": "off"}}`, 7919*(i+3), 104729*(i+5)))
	}
	var batch []haltd.Round
	for i, key := range strings.Fields("warranty.pdf deductible.pdf address.gz webhook.dcm firmware.dcm prescription.gz pallet.pdf customs.gz") {
		batch = append(batch, restore(key, i))
	}
	if s := relations("Restore the archived objects.", batch...)[7]; !s.wrote || s.signs[idle] > 0 || s.signs[useless] > 0 {
		t.Errorf("the next of a batch: written %v, idle %.2f, useless %.2f", s.wrote, s.signs[idle], s.signs[useless])
	}
	if s := relations("Restore it.", restore("warranty.pdf", 0), restore("warranty.pdf", 1), restore("warranty.pdf", 2))[2]; s.wrote || s.pairAgo != 1 {
		t.Errorf("the same again: written %v, last seen %d rounds ago", s.wrote, s.pairAgo)
	}
}

// The body of an HTTP answer is opened, and no body within it: reading stays linear.
func TestABodyIsOpenedOnce(t *testing.T) {
	for text, want := range map[string]string{
		`{"stdout":"Error: no lock\nWho: ci","stderr":"","exit_code":1}`:          "Error: no lock\nWho: ci\nexit code: 1",
		`{"stdout":"built\n","stderr":"1 warning","exit_code":0}`:                 "built\n1 warning\nexit code: 0",
		`{"stderr":"no such host","exit_code":6,"duration_ms":12}`:                "no such host\nexit code: 6",
		`{"status":202,"headers":{"a":1},"body":{"meta":{"b":2},"x":3}}`:          `{"status":202,"body":{"x":3}}`,
		`{"headers":{"a":1},"status":202,"body":{"body":{"meta":{"b":2},"x":3}}}`: `{"status":202,"body":{"body":{"meta":{"b":2},"x":3}}}`,
	} {
		if got := withoutSurroundings(text, true); got != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
}
