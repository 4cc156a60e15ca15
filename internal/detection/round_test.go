package detection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// act is one native call as it was read.
func act(tool, arguments string) *round { return readRound(ptr(did(tool, arguments, "ok")), true) }

// What changes from one attempt to the next does not make another act of it;
// what decides about its effect does.
func TestCoreOfAnAct(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"a random id", `{"order":7,"request_id":"r8f2k1x9"}`, `{"order":7,"request_id":"q1m7z4b2"}`, true},
		{"a UUID", `{"order":7,"key":"550e8400-e29b-41d4-a716-446655440000"}`, `{"order":7,"key":"00000000-0000-4000-8000-000000000001"}`, true},
		{"a word that nobody would choose", `{"order":7,"tag":"a1b2c3d4e5"}`, `{"order":7,"tag":"f9e8d7c6b5"}`, true},
		{"an attempt that is counted", `{"order":7,"attempt":1}`, `{"order":7,"attempt":2}`, true},
		{"a reworded thought", `{"thought":"Let me click on the button to go on.","x":10,"y":20}`, `{"thought":"I will now try the button once more.","x":10,"y":20}`, true},
		{"a reworded goal under any name", `{"why":"The form needs to be sent at last.","click":"submit"}`, `{"why":"We should send this form one more time.","click":"submit"}`, true},
		{"the order of keys", `{"x":1,"y":2}`, `{"y":2,"x":1}`, true},
		{"another order", `{"order":7,"request_id":"r8f2k1x9"}`, `{"order":8,"request_id":"r8f2k1x9"}`, false},
		{"another place", `{"thought":"Let me click on the button to go on.","x":10,"y":20}`, `{"thought":"Let me click on the button to go on.","x":90,"y":20}`, false},
		{"another path", `{"path":"a.go"}`, `{"path":"b.go"}`, false},
		{"another date", `{"day":"2026-01-04"}`, `{"day":"2026-01-05"}`, false},
		{"another question, which is all there is", `{"question":"What did the committee say about it?"}`, `{"question":"Who was the owner of the house before?"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a, b := act("f", c.a), act("f", c.b); (a.core == b.core) != c.same {
				t.Errorf("%s and %s: same core %v, want %v", c.a, c.b, !c.same, c.same)
			}
		})
	}
	if act("f", `{"a":1}`).core == act("g", `{"a":1}`).core {
		t.Error("two tools have the same core")
	}
}

// A command that stands in the text as JSON is read like a call.
func TestCallsInTags(t *testing.T) {
	for text, want := range map[string]string{
		"<call tool=\"find\">\n  <param name=\"who\">Ada Lovelace</param>\n</call>":                                                                               `find {"who":"Ada Lovelace"}`,
		"<read_file>\n<path>src/a.go</path>\n</read_file>":                                                                                                        `read_file {"path":"src/a.go"}`,
		"<function_calls>\n<invoke name=\"find\">\n<parameter name=\"q\">x &lt; y</parameter>\n<parameter name=\"n\">3</parameter>\n</invoke>\n</function_calls>": `find {"n":"3","q":"x &lt; y"}`,
		"<tool_call>\n<function=find>\n<parameter=q>\nx\n</parameter>\n</function>\n</tool_call>":                                                                 `find {"q":"x"}`,
		"<shell><cmd>go test ./...</cmd></shell>":                                                                                                                 `shell {"cmd":"go test ./..."}`,
		"<bash>ls -l</bash>":          "",
		"<p>One <b>bold</b> word</p>": "",
		"<a><b>1</b>":                 "",
		"<read_file><path>a.go</path></read_file> and more": "",
	} {
		call, ok := taggedCall(text)
		if got := call.Name + " " + call.Arguments; ok != (want != "") || ok && got != want {
			t.Errorf("%s is the call %q (%v), want %q", text, got, ok, want)
		}
	}
}

func TestCoreOfACommandInText(t *testing.T) {
	read := func(text string) *round { return readRound(&haltd.Round{Text: text}, false) }
	a := read(`Action: {"click":"submit","reason":"The form is complete, so I send it."}`)
	b := read(`Action: {"click":"submit","reason":"It did not work, let me send it again."}`)
	if a.core != b.core || a.act == b.act || a.manner != commanded {
		t.Errorf("same core %v, same act %v, manner %d; want the same deed in other words", a.core == b.core, a.act == b.act, a.manner)
	}
}

// Agents that act on a screen get an empty result and are shown the page by
// the user message after it.
func TestTheMessageAfterAnEmptyResultIsTheResult(t *testing.T) {
	page := "Error: the form has no field of that name"
	for _, result := range []string{"", " \n"} {
		shown := readRound(ptr(did("click", `{"id":4}`, result, page)), true)
		told := readRound(ptr(did("click", `{"id":4}`, page)), true)
		if shown.result == 0 || shown.outcome != failed || shown.outcome != told.outcome || len(shown.tells) != len(told.tells) {
			t.Errorf("after the result %q: outcome %d and %d words; want those of the page, %d and %d", result, shown.outcome, len(shown.tells), told.outcome, len(told.tells))
		}
		if shown.input != 0 {
			t.Errorf("after the result %q the page is also a message", result)
		}
	}
	both := readRound(ptr(did("click", `{"id":4}`, "clicked", page)), true)
	if both.outcome != neutral || both.input == 0 {
		t.Errorf("outcome %d, message %x; want the tool's own result, and a message beside it", both.outcome, both.input)
	}
}

func TestAHarnessMessageIsTheSameButForNumbers(t *testing.T) {
	input := func(text string) uint64 { return readRound(ptr(did("f", "{}", "done", text)), true).input }
	if input("You have 12 steps left. It is 10:31:07.") != input("You have 11 steps left. It is 10:32:44.") {
		t.Error("a countdown makes another message of it")
	}
	if input("You have 12 steps left.") == input("You have 12 files open.") {
		t.Error("two messages are the same")
	}
}

func TestVolatileTokensAreMaskedInResultsOnly(t *testing.T) {
	result := func(text string) uint64 {
		return readRound(&haltd.Round{Calls: []haltd.ToolCall{{Name: "x"}}, Results: []haltd.ToolResult{{Text: text}}}, true).result
	}
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"addresses", "at 0x7f001122", "at 0x7fabcdef", true},
		{"clock times", "checked 10:31:07", "checked 10:31:12", true},
		{"dates and times", "on 2026-01-01T10:00:00Z", "on 2026-01-02T11:22:33Z", true},
		{"durations", "took 0.12s", "took 3.4s", true},
		{"durations in words", "Wall time 0.1 seconds", "Wall time 12 seconds", true},
		{"process groups", "Process Group PGID: 411", "Process Group PGID: 977", true},
		{"ids of calls", "call_9a8b7c6d5e failed", "call_1a2b3c4d5e failed", true},
		{"epoch seconds", "now 1767225600", "now 1767225999", true},
		{"lines that a shell has read", "/bin/bash: line 27424: javac: command not found", "/bin/bash: line 27478: javac: command not found", true},
		{"lines of a script", "./setup.sh: line 14: unbound variable", "./setup.sh: line 25: unbound variable", false},
		{"percentages", "40 % done", "42 % done", false},
		{"counts", "3 tests failed", "2 tests failed", false},
		{"checksums", "md5 a2c73685d78d4f062a8403c56082b876", "md5 b2c73685d78d4f062a8403c56082b877", false},
		{"line numbers", "error in line 12:3", "error in line 12:4", false},
		{"punctuation", "a + b", "a - b", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := result(c.a) == result(c.b); got != c.same {
				t.Errorf("%q and %q: same %v, want %v", c.a, c.b, got, c.same)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		text   string
		marked bool
		want   outcome
	}{
		{"anything", true, failed},
		{"", false, acknowledged},
		{"<returncode>0</returncode>\n<output>\n</output>", false, acknowledged},
		{"<returncode>0</returncode>\n<output>\nerror handling was added\n</output>", false, neutral},
		{"<returncode>127</returncode>\n<output>\nmvn\n</output>", false, failed},
		{"exit code: 1", false, empty}, // grep says so where nothing matches
		{"exit code: 2", false, failed},
		{`{"exit": 137, "stderr": "Killed: host cgroup limit 512 MB"}`, false, failed},
		{`{"route": "A8", "exit": 14, "minutes": 31}`, false, neutral},
		{"1 validation error for Supplier\ncontact.vat_id\n  Field required", false, failed},
		{"validation error 0.231 after epoch 7", false, neutral},
		{"null", false, acknowledged},
		{"Test Suites: 3 failed, 3 passed, 6 total\nTime: 2.5 s\nRan all test suites.", false, failed},
		{"Test Suites: 6 passed, 6 total\nTests: 0 failed, 42 passed\nRan all test suites.", false, neutral},
		{"x: 28\nblocked: false\nzone: north", false, neutral},
		{"x: 28\nblocked: true\nzone: north", false, failed},
		{"Sin mensajes nuevos. (0/1294)", false, empty},
		{`{"error":"no such user"}`, false, failed},
		{`{"error":"","rows":3}`, false, neutral},
		{`{"success": false}`, false, failed},
		{`{"status": 404}`, false, failed},
		{`{"results": []}`, false, empty},
		{"[]", false, empty},
		{"Error: user not found", false, failed},
		{"No matches found for x", false, empty},
		{`{"tool": "add", "result": "{\"step\": \"Step 5 of 100\", \"error\": \"OUT_OF_STOCK\", \"cart\": []}"}`, false, failed},
		{`{"content":[{"type":"text","text":"{\"ok\":true,\"rows\":[1,2]}"}]}`, false, neutral},
		{`{"content":[{"type":"text","text":"{\"results\":[]}"}]}`, false, empty},
		{`{"path":"a.go","content":"log(\"x\", {\"error\":\"none of it\"})"}`, false, neutral},
		{"3/2\nYour query or result is same from the last, please try a new approach.", false, empty},
		{"You have already called this tool with the same arguments: you are repeating yourself.", false, empty},
		{"ERROR: the patch is empty", false, failed},
		{"Ничего не найдено.", false, empty},
		{"Ошибка: файл не найден", false, failed},
		{"Tapped. The screen has not changed.", false, empty},
		{strings.Repeat("a line of a source file\n", 40) + "err := failed\n" + strings.Repeat("more of the file\n", 40), false, neutral},
		{"user_17 has two orders", false, neutral},
		{"No errors found.", false, neutral},
		{"Success: no issues found in 12 source files", false, neutral},
		{"12 passed, 0 failed", false, neutral},
		{"errors: 0", false, neutral},
		{"0 Fehler, 3 Warnungen", false, neutral},
		{"HTTP 204 No Content", false, neutral},
		{"Tests: 1 failed, 0 errors", false, failed},
		{"No. Error: it is locked", false, failed},
		{"errors: 0 failed: 3", false, failed},
		{"usage: git [-v]", false, failed},
		{"Disk usage is at 40 %", false, neutral},
		{"E22 = #REF!", false, failed},
		{"text: \"\" confidence: 0", false, empty},
		{"name: \"\" age: 31", false, neutral},
		{"done: false", false, neutral},
		{`{"error":{"code":"ORDER_NOT_FOUND","message":"There is none of that number"}}`, false, failed},
		{`{"errors":[{"detail":"the page"}]}`, false, failed},
		{`{"result":"no_object","width":0.0}`, false, empty},
		{`{"result":"placed","width":0.4}`, false, neutral},
		{`{"state":"rejected","id":7}`, false, failed},
		{"PLANNING_FAILED: the start is in collision (link5)", false, failed},
		{`{"fehler":"Matrix singular (node 47)","lauf":"5984e0"}`, false, failed},
		{"Nodes 9000\nerror norm 8.460 %\nwall 49.4 s", false, neutral},
		{"mean error 0.3", false, neutral},
		{"MAX_ERROR_RATE = 0.2", false, neutral},
		{"[12:40:10] COMMAND_DENIED: geofence breach predicted. holding lat=46.464142 lon=11.601270", false, failed},
		{"[12:40:10] mode GUIDED accepted, armed, in air", false, neutral},
		{"Exit code 1\n[243/245] Building C object app/a.c.obj\n[244/245] Linking C executable node.elf\nld.bfd: node.elf section `text' will not fit in region `FLASH'", false, failed},
		{"Exit code 1\ndeployment \"web\": waiting for 2 of 3 replicas", false, neutral},
		{`{"gripped": false, "reason": "gripper fault E17: no air pressure", "sensor": 0.02}`, false, failed},
		{`{"archived": false, "name": "x", "message": ""}`, false, neutral},
		{`{"name": "x", "archived": false, "reason": "kept"}`, false, neutral},
		{`{"status": "DENIED", "error_message": "The key has expired.", "results": []}`, false, failed},
		{"page.goto: net::ERR_NAME_NOT_RESOLVED at https://intranet.example/", false, failed},
		{"Your command ran successfully and did not produce any output.\n(Open file: n/a)\n(Current directory: /pool)\nbash-$", false, acknowledged},
		{"(no output)", false, acknowledged}, // where the command looks for nothing
		{"No content: the document has 80 pages.", false, empty},
		{"(sin contenido)", false, empty},
		{"Exit code 8\nlint (linux)\tpending\t0\thttps://ci.example/1\nunit (linux)\tpass\t1m2s\thttps://ci.example/2", false, neutral},
		{"Exit code 8\nlint (linux)\tfail\t1m5s\thttps://ci.example/1\nunit (linux)\tpending\t0\thttps://ci.example/2", false, neutral},
		{"Exit code 1\nlint (linux)\tfail\t1m5s\thttps://ci.example/1\nunit (linux)\tpass\t1m2s\thttps://ci.example/2", false, failed},
		{"<results/>", false, empty},
		{`{"success": true, "statistics": {"evaluated_expectations": 7, "unsuccessful_expectations": 0}, "results": []}`, false, neutral},
		{`{"success": true, "evaluated": 0, "results": []}`, false, empty},
		{"<rows>\n</rows>", false, empty},
		{"<rows>7</rows>", false, neutral},
		{"Geen resultaten gevonden.", false, empty},
		{"Nie można otworzyć pliku.", false, failed},
		{"connect ECONNREFUSED 127.0.0.1:5432", false, failed},
		{"write /var/lib/db/base: no space left on device", false, failed},
		{"     1\tpackage pool\n     2\t\n     3\tvar errFailed = errors.New(\"error: not found\")\n", false, neutral},
		{"[File: pool.go (3 lines)]\n1|error: the pool is closed\n2|invalid\n3|failed\n", false, neutral},
		{"Error: not found in\n1|package pool\n2|import x\n3|func y\n", false, failed},
		{"3 | error: one\n7 | error: two\n9 | error: three\n", false, failed},
	} {
		if got, _ := outcomeOf(c.text, c.marked); got != c.want {
			t.Errorf("outcome of %.60q is %d, want %d", c.text, got, c.want)
		}
	}
}

// Silence says that a file was changed, and that nothing was found.
func TestWhatSilenceSays(t *testing.T) {
	for command, want := range map[string]outcome{
		"git mv a.py b.py":                             acknowledged,
		"echo done >> list.txt":                        acknowledged,
		"grep -l a src | xargs sed -i s/a/b/":          acknowledged,
		"grep -rn load src":                            empty,
		"python run.py":                                empty,
		"cd src && mkdir -p pool && cp a.py pool/a.py": acknowledged,
	} {
		if got := act("bash", fmt.Sprintf(`{"command":%q}`, command)).shapes; got != (want == acknowledged) {
			t.Errorf("%q changes a file: %v", command, got)
		}
		r := did("bash", fmt.Sprintf(`{"command":%q}`, command), "(no output)")
		if got := readRound(&r, true).outcome; got != want {
			t.Errorf("%q and silence come out as %v, want %v", command, got, want)
		}
	}
}

func TestOutcomeDoesNotReadTheQuotedCommand(t *testing.T) {
	script := strings.Repeat("count_errors --month may\n", 20)
	for _, c := range []struct {
		answer string
		want   outcome
	}{
		{"The command " + script + " timed out.\nIt printed:\nmay", failed},
		{"The command " + script + " printed:\n41 in billing", neutral},
	} {
		round := &haltd.Round{
			Text:   "```bash\n" + script + "```",
			Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: strings.ReplaceAll(c.answer, script, strings.TrimSpace(script))}},
		}
		if got := readRound(round, false).outcome; got != c.want {
			t.Errorf("outcome of %.60q is %d, want %d", c.answer, got, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"bash: rg: command not found", true},
		{"<returncode>127</returncode>\n<output>\n/bin/sh: 1: xxd: not found\n</output>", true},
		{"Error: No such tool available: read_pdf", true},
		{"<returncode>1</returncode>\n<output>\ncommand not found in the table of commands\n</output>", false},
		{"exit code: 2", false},
		{"Error: user not found", false},
	} {
		if got := readRound(ptr(did("x", "", c.text)), true).missing; got != c.want {
			t.Errorf("%.60q says that something is missing: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestWhatIsPartOfARound(t *testing.T) {
	long := strings.Repeat("a page of text with many words in it, ", 20_000)
	a := readRound(ptr(did("read", "{}", long+"and one end")), true)
	b := readRound(ptr(did("read", "{}", long+"and another end")), true)
	if a.result == b.result {
		t.Error("two long results that differ in their last words are the same")
	}
	if len(a.tells) > maxWords || len(a.turns) > maxTurns {
		t.Errorf("%d words and %d pairs are kept, want %d and %d at most", len(a.tells), len(a.turns), maxWords, maxTurns)
	}
	calls := haltd.Round{}
	for i := range 3 * maxCalls {
		calls.Calls = append(calls.Calls, haltd.ToolCall{Name: fmt.Sprint("tool", i)})
	}
	if n := strings.Count(readRound(&calls, true).name, ","); n >= maxNames {
		t.Errorf("a round names %d tools, want %d at most", n+1, maxNames)
	}
}
