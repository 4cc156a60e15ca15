package detect

import (
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
		{"plain words", "Let me see.", "Let me see.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, found := commandIn(c.text); got != c.want || found != c.found {
				t.Errorf("command in %q: %q, %v; want %q, %v", c.text, got, found, c.want, c.found)
			}
		})
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
