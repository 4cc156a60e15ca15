package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

func TestCommandInText(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		found            bool
	}{
		{"a fenced block", "I look first.\n```bash\nls -l\n```\nThen I go on.", "ls -l", true},
		{"a fenced thought before the command", "```\nThe file should be here, so I list it.\n```\n```\nls -l\n```", "ls -l", true},
		{"a fenced thought alone", "```\nI wait for the answer.\n```", "I wait for the answer.", true},
		{"two blocks", "```\nls\n```\nand\n```\npwd\n```", "ls\n\npwd", true},
		{"a block that is not closed", "```sh\nls -l", "ls -l", true},
		{"an action", "Thought: Action: is a word.\nAction: click [4]", "click [4]", true},
		{"tags after a thought", "I list them.\n<shell><cmd>ls</cmd></shell>", "<shell><cmd>ls</cmd></shell>", true},
		{"a tag with an attribute", `so: <run shell="sh">ls</run>`, `<run shell="sh">ls</run>`, true},
		{"a tag whose name begins another", "<runner>x</runner><run>ls</run>", "<run>ls</run>", true},
		{"a tag that nothing opened", "ls</run>", "ls</run>", false},
		{"less than", "a < b and c > d", "a < b and c > d", false},
		{"a patch between sentences", "This pins it.\n--- a/req.txt\n+++ b/req.txt\n@@ -4,1 +4,1 @@\n-lxml\n+lxml==5.1\nIt should build now.", "--- a/req.txt\n+++ b/req.txt\n@@ -4,1 +4,1 @@\n-lxml\n+lxml==5.1", true},
		{"a patch behind an aside", "It is pinned --- too old.\n--- a/req.txt\n+++ b/req.txt\n@@ -4,1 +4,1 @@\n-lxml", "--- a/req.txt\n+++ b/req.txt\n@@ -4,1 +4,1 @@\n-lxml", true},
		{"a rule between two parts", "--- one\ntwo", "--- one\ntwo", false},
		{"a label in capitals", "Good, moving on.\n\nACTION: query {\"sql\": \"SELECT 1\"}", `query {"sql": "SELECT 1"}`, true},
		{"a label in another language", "Pensamiento 3: Quizá aparezca.\nAcción 3: Buscar[Arroyo Seco]", "Buscar[Arroyo Seco]", true},
		{"a command behind a label", "Ich suche die Bestellung.\nBEFEHL: BESTELLUNG 454800", "BESTELLUNG 454800", true},
		{"an answer in capitals", "12 × 21 is 252.\nANSWER: 252", "12 × 21 is 252.\nANSWER: 252", false},
		{"a call of several lines", "Action 2: write(\"a\nNote: b\n\")", "write(\"a\nNote: b\n\")", true},
		{"a thought behind a label", "THOUGHT: The file should be here.", "THOUGHT: The file should be here.", false},
		{"a remark in brackets", "Note: Berlin (Germany)", "Note: Berlin (Germany)", false},
		{"an answer", "Q: Which of them is it, as far as the file says\nA: the second", "Q: Which of them is it, as far as the file says\nA: the second", false},
		{"a label that is no word", "10:30: ls", "10:30: ls", false},
		{"fields", "[[ ## next_thought ## ]]\nI look it up.\n\n[[ ## next_tool_name ## ]]\nlookup\n\n[[ ## next_tool_args ## ]]\n{\"title\": \"Frome\"}\n\n[[ ## completed ## ]]", `lookup {"title": "Frome"}`, true},
		{"fields without arguments", "[[ ## next_tool_name ## ]]\nlookup", "[[ ## next_tool_name ## ]]\nlookup", false},
		{"a call below what is said", "I repeat it to be sure.\nclick(5)", "click(5)", true},
		{"a sentence with a remark", "I look at it.\nIt is there (I think)", "I look at it.\nIt is there (I think)", false},
		{"an order to a device", "Nothing happened. Once more, slightly lower.\nCLICK 838 400", "CLICK 838 400", true},
		{"an order with a place", "Perhaps from another angle.\nGOTO lab 3", "GOTO lab 3", true},
		{"the end of a talk", "Thank you!\nTERMINATE", "Thank you!\nTERMINATE", false},
		{"said aloud", "It works now.\nALL DONE", "It works now.\nALL DONE", false},
		{"a sentence with an abbreviation", "It works now.\nSQL is fine.", "It works now.\nSQL is fine.", false},
		{"an object below what is said of it", "I keep up the pressure.\n{\"pick\": \"eel\", \"target\": 0}", `{"pick": "eel", "target": 0}`, true},
		{"an object amid what is said", "It says\n{\"pick\": \"eel\"}\nand no more.", "It says\n{\"pick\": \"eel\"}\nand no more.", false},
		{"the end of a program", "It ends with\n{ return x }", "It ends with\n{ return x }", false},
		{"a line behind a prompt", "The gate was shut before. I try it again.\n> open gate", "open gate", true},
		{"a quotation", "They say\n> open gate\n> and go", "They say\n> open gate\n> and go", false},
		{"a sentence that is quoted", "They say\n> Open the gate.", "They say\n> Open the gate.", false},
		{"plain words", "Let me see.", "Let me see.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, found := commandIn(c.text); got != c.want || found != c.found {
				t.Errorf("command in %q: %q, %v; want %q, %v", c.text, got, found, c.want, c.found)
			}
		})
	}
}

func TestBareCommand(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"go north", true},
		{"SELECT h.name FROM highschooler AS h JOIN likes AS l ON h.id = l.student_id GROUP BY h.id, h.name ORDER BY COUNT(l.liked_id) DESC LIMIT 1", true},
		{"find /workspace -type f -size 0 -print0 | xargs -0 -I{} sh -c 'if [ -f {} ]; then rm -v {}; fi'", true},
		{"def find_single(items):\n    start = 0\n    while start < len(items) - 1:\n        if items[start] != items[start + 1]:\n            return items[start]\n        start += 2\n    return items[-1]", true},
		{"awk 'NR > 1 && $3 != $9 { print $3 \":\" $9 }' /system/folder1/data.csv | sort | uniq -c | sort -rn | head -n 2", true},
		{"I have looked through the whole of the file and found no place where the limit is set", false},
		{"The limit is set in config/limits.yaml (line 12) and in src/app/limits_test.go, as max_calls = 3 and min_calls = 1", false},
		{"the three of them have nothing in common but the name (and the place), as far as I can tell from the notes", false},
		{"The query is right, and still nothing comes back.", false},
		{"should I run find /tmp -name '*.log' -mtime +3 | xargs rm -f once more, or is it enough as it is now?", false},
	} {
		if got := isBareCommand(c.text); got != c.want {
			t.Errorf("%q is a command: %v; want %v", c.text, got, c.want)
		}
	}
}

func TestWrittenCall(t *testing.T) {
	for _, c := range []struct {
		command, name, arguments string
	}{
		{`{"tool":"read","args":{"path":"a.go"},"thought":"Let me read it."}`, "read", `{"path":"a.go"}`},
		{`{"action":"read","action_input":"a.go"}`, "read", `"a.go"`},
		{`{"command":"read","path":"a.go","thought":"Let me read it."}`, "read", `{"path":"a.go"}`},
		{`<tool_call>{"name":"read","arguments":{"path":"a.go"}}</tool_call>`, "read", `{"path":"a.go"}`},
		{"read\nAction Input: {\"path\":\"a.go\"}", "read", `{"path":"a.go"}`},
		{"read\nAction Input: a.go", "read", `{"input":"a.go"}`},
		{"read it\nAction Input: a.go", "", ""},
		{`{"thoughts":{"text":"I read it."},"command":{"name":"read","args":{"path":"a.go"}}}`, "read", `{"path":"a.go"}`},
		{`{"current_state":{"next_goal":"Read it"},"action":[{"read":{"path":"a.go"}}]}`, "read", `{"path":"a.go"}`},
		{`{"action":[{"read":{"path":"a.go"}},{"read":{"path":"b.go"}}]}`, "", ""},
		{`<tool name="read">{"path":"a.go"}</tool>`, "read", `{"path":"a.go"}`},
		{`<tool>{"path":"a.go"}</tool>`, "", ""},
		{`read {"path":"a.go"}`, "read", `{"path":"a.go"}`},
		{`read {path}`, "", ""},
		{`{"command":{"path":"a.go"}}`, "", ""},
		{`{"command":"ls -l /tmp"}`, "", ""}, // a command of a shell, no tool's name
		{`{"path":"a.go"}`, "", ""},
		{`{"tool":7}`, "", ""},
		{`{"tool":"read"`, "", ""},
		{`read a.go`, "", ""},
		{``, "", ""},
	} {
		got, ok := writtenCall(c.command)
		if ok != (c.name != "") || ok && (got.Name != c.name || got.Arguments != c.arguments) {
			t.Errorf("call in %s: %+v, %v; want %s %s", c.command, got, ok, c.name, c.arguments)
		}
	}
}

// A call is the same act whichever way it is written.
func TestAWrittenCallIsTheCallItself(t *testing.T) {
	native := act("read", `{"path":"a.go"}`)
	for _, text := range []string{
		`{"tool":"read","args":{"path":"a.go"}}`,
		"I read it.\n```json\n{\"name\": \"read\", \"parameters\": {\"path\": \"a.go\"}}\n```",
		`<tool_call>{"name":"read","arguments":{"path":"a.go"}}</tool_call>`,
	} {
		got := readRound(&haltd.Round{Text: text}, false)
		if got.core != native.core || got.manner != commanded || got.name != "read" {
			t.Errorf("%s: %s, manner %d, same core as the call %v", text, got.name, got.manner, got.core == native.core)
		}
	}
}

func TestToolNames(t *testing.T) {
	for command, want := range map[string]string{
		"ls -l":                 "ls",
		"cd /src && make check": "make",
		"print(1)":              "print",
		"<shell>ls</shell>":     "shell",
		"<mcp:run-it x=\"1\"/>": "mcp:run-it",
		"averylongwordaverylongwordaverylongword": "averylongwordaverylongwordaveryl",
	} {
		if got := toolName(command); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
}

func TestAToolToThinkWithDoesNothing(t *testing.T) {
	for tool, want := range map[string]manner{"think": spoken, "sequentialthinking": spoken, "rethink_schedule_api": called} {
		if got := act(tool, `{"thought":"I should look at the file again."}`).manner; got != want {
			t.Errorf("%s: manner %d, want %d", tool, got, want)
		}
	}
}

func TestProgramOfACommand(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"git push", "git push origin HEAD", true},
		{"sudo timeout 20 ssh a@10.0.0.1 ls", "ssh -v b@10.0.0.1 true", true},
		{"cd /app && CI=1 ./bin/pytest -q", "pytest -q tests/a.py", true},
		{"git push", "git log -1", false},
		{"date", "uptime", false},
		{"bash -lc 'go test ./...'", "go test -run Shop", true},
		{"bash -lc 'go test ./...'", "bash -lc 'sed -n 1,9p a.go'", false},
	} {
		if got := programIn(c.a) == programIn(c.b); got != c.same {
			t.Errorf("%q and %q run the same program: %v, want %v", c.a, c.b, got, c.same)
		}
		a, b := act("Bash", fmt.Sprintf(`{"command":%q}`, c.a)), act("Bash", fmt.Sprintf(`{"command":%q}`, c.b))
		if got := a.program == b.program; got != c.same {
			t.Errorf("calls of %q and %q run the same program: %v, want %v", c.a, c.b, got, c.same)
		}
	}
	if list := `{"command":["bash","-lc",%q]}`; act("shell", fmt.Sprintf(list, "go test ./...")).program == act("shell", fmt.Sprintf(list, "sed -n 1,9p a.go")).program {
		t.Error("a list of a shell is known by the shell")
	}
	if act("Bash", `{"command":"date"}`).program == act("Shell", `{"command":"date"}`).program {
		t.Error("two tools are one program")
	}
}

// A success of another program does not take back what one was refused.
func TestRefusalsOfAProgramAddUp(t *testing.T) {
	const denied = "remote: Permission denied to deploy-bot.\nfatal: the requested URL returned error: 403"
	bash := func(command, result string) haltd.Round {
		return did("Bash", fmt.Sprintf(`{"command":%q}`, command), result)
	}
	var rounds []haltd.Round
	for range 6 {
		rounds = append(rounds, bash("git push", denied), bash("git status", "On branch main\nnothing to commit"))
	}
	if s := relations("Publish it.", rounds...)[11]; s.refusals < 5 || s.failedAlike < 5 {
		t.Errorf("%v refusals, failed alike %v times; want five after the first", s.refusals, s.failedAlike)
	}
	rounds = append(rounds, bash("git push", "To example.org:shop.git\n 1a2b3c4..5d6e7f8 main -> main"))
	if s := relations("Publish it.", rounds...)[12]; s.refusals != 0 || s.failedAlike != 0 {
		t.Errorf("%v refusals, failed alike %v times after a success; want none", s.refusals, s.failedAlike)
	}
}

// Attempts that are written in between do not make a new failure of it.
func TestAFailureAmidEditsIsTheSame(t *testing.T) {
	var rounds []haltd.Round
	for i := range 8 {
		rounds = append(rounds, did("edit", fmt.Sprintf(`{"path":"a.py","new":"name%d_x  # other"}`, i), "updated"),
			did("run", `{"command":"pytest -q"}`, fmt.Sprintf("FAILED test_a - assert 11 == 43\n1 failed, 11 passed in %d.41s", i)))
	}
	if s := relations("Make it pass.", rounds...)[15]; s.failedAlike != 7 || s.refusals > 2 {
		t.Errorf("failed alike %v times, %v refusals; want seven after the first, and attempts that take refusals back", s.failedAlike, s.refusals)
	}
}
