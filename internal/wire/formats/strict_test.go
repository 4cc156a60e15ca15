package formats

import (
	"errors"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// minimal is a body that each format accepts.
var minimal = map[string]string{
	"openai-chat":        `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
	"openai-responses":   `{"model":"m","input":"hi"}`,
	"anthropic-messages": `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`,
	"gemini-generate":    `{"contents":[{"parts":[{"text":"hi"}]}]}`,
}

func TestEveryFormatRefusesWhatIsNotOneStrictJSONObject(t *testing.T) {
	change := map[string]func(string) string{
		"empty":                      func(string) string { return "" },
		"white space":                func(string) string { return " \n" },
		"cut off":                    func(s string) string { return s[:len(s)-1] },
		"trailing data":              func(s string) string { return s + "{}" },
		"trailing comma":             func(s string) string { return s[:len(s)-1] + ",}" },
		"array":                      func(s string) string { return "[" + s + "]" },
		"null":                       func(string) string { return "null" },
		"string":                     func(string) string { return `"hi"` },
		"duplicate name":             func(s string) string { return `{"x":1,"x":2,` + s[1:] },
		"duplicate in other letters": func(s string) string { return s[:len(s)-1] + `,"m\u006fdel2":1,"model2":2}` },
		"duplicate deep inside":      func(s string) string { return `{"x":[{"y":{"z":1,"\u007a":2}}],` + s[1:] },
		"names that differ in case":  func(s string) string { return `{"x":1,"X":2,` + s[1:] },
		"a known name in other case": func(s string) string { return `{"TOOLS":[],` + s[1:] },
		"invalid UTF-8":              func(s string) string { return strings.Replace(s, "hi", "h\xffi", 1) },
		"lone surrogate":             func(s string) string { return strings.Replace(s, "hi", `\ud800`, 1) },
		"control character":          func(s string) string { return strings.Replace(s, "hi", "h\ni", 1) },
		"byte order mark":            func(s string) string { return "\xef\xbb\xbf" + s },
		"too deep":                   func(s string) string { return `{"x":` + strings.Repeat("[", 1<<20) + s },
	}
	for format, body := range minimal {
		f := formatOf(t, format)
		if _, err := f.ReadCall(paths[format], []byte(body), nil); err != nil {
			t.Fatalf("%s refuses %s: %v", format, body, err)
		}
		for name, fn := range change {
			t.Run(format+"/"+name, func(t *testing.T) {
				_, err := f.ReadCall(paths[format], []byte(fn(body)), nil)
				checkMalformed(t, err, "")
			})
		}
	}
}

func checkMalformed(t *testing.T, err error, where string) {
	t.Helper()
	var e *haltd.Error
	if !errors.As(err, &e) || e.Code != haltd.CodeMalformed {
		t.Fatalf("error is %v, want an *haltd.Error with %s", err, haltd.CodeMalformed)
	}
	if !strings.Contains(e.Message, where) {
		t.Errorf("message %q does not say %q", e.Message, where)
	}
	if e.Fix == "" || len(e.Message) > 500 {
		t.Errorf("message %q of %d bytes, fix %q", e.Message, len(e.Message), e.Fix)
	}
}

func TestWrongTypesAreRefusedWithTheirPlace(t *testing.T) {
	tests := []struct{ format, body, where string }{
		{"openai-chat", `{}`, "/messages"},
		{"openai-chat", `{"messages":null}`, "/messages"},
		{"openai-chat", `{"messages":{}}`, "/messages"},
		{"openai-chat", `{"messages":["hi"]}`, "/messages/0"},
		{"openai-chat", `{"messages":[null]}`, "/messages/0"},
		{"openai-chat", `{"messages":[{"content":"x"}]}`, "/messages/0"},
		{"openai-chat", `{"messages":[{"role":1}]}`, "/messages/0/role"},
		{"openai-chat", `{"messages":[{"role":"user","content":5}]}`, "/messages/0/content"},
		{"openai-chat", `{"messages":[{"role":"user","content":{"text":"x"}}]}`, "/messages/0/content"},
		{"openai-chat", `{"messages":[{"role":"user","content":[5]}]}`, "/messages/0/content/0"},
		{"openai-chat", `{"messages":[{"role":"user","content":[{"type":"text","text":5}]}]}`, "/messages/0/content/0/text"},
		{"openai-chat", `{"messages":[{"role":"assistant","tool_calls":{}}]}`, "/messages/0/tool_calls"},
		{"openai-chat", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":5}}]}]}`, "/messages/0/tool_calls/0/function/arguments"},
		{"openai-chat", `{"model":5,"messages":[]}`, "/model"},
		{"openai-chat", `{"stream":"yes","messages":[]}`, "/stream"},
		{"openai-chat", `{"max_tokens":[],"messages":[]}`, "/max_tokens"},
		{"openai-responses", `{"input":5}`, "/input"},
		{"openai-responses", `{"input":["x"]}`, "/input/0"},
		{"openai-responses", `{"input":[{"type":"message","content":"x"}]}`, "/input/0"},
		{"openai-responses", `{"input":[{"role":"user","content":5}]}`, "/input/0/content"},
		{"openai-responses", `{"input":[{"content":[5],"role":"user"}]}`, "/input/0/content/0"},
		{"openai-responses", `{"input":[{"call_id":5,"type":"function_call"}]}`, "/input/0/call_id"},
		{"openai-responses", `{"input":[{"output":5,"type":"function_call_output"}]}`, "/input/0/output"},
		{"anthropic-messages", `{"messages":"hi"}`, "/messages"},
		{"anthropic-messages", `{"system":5,"messages":[]}`, "/system"},
		{"anthropic-messages", `{"messages":[{"role":"user","content":true}]}`, "/messages/0/content"},
		{"anthropic-messages", `{"messages":[{"role":"user","content":[{"type":"text","text":[]}]}]}`, "/messages/0/content/0/text"},
		{"anthropic-messages", `{"messages":[{"role":"user","content":[{"type":"tool_use","input":"x"}]}]}`, "/messages/0/content/0/input"},
		{"anthropic-messages", `{"messages":[{"role":"user","content":[{"content":5,"type":"tool_result"}]}]}`, "/messages/0/content/0/content"},
		{"gemini-generate", `{"contents":"hi"}`, "/contents"},
		{"gemini-generate", `{"contents":[{"role":1}]}`, "/contents/0/role"},
		{"gemini-generate", `{"contents":[{"parts":["hi"]}]}`, "/contents/0/parts"},
		{"gemini-generate", `{"contents":[{"parts":[{"text":5}]}]}`, "/contents/0/parts/0/text"},
		{"gemini-generate", `{"contents":[{"parts":[{"functionCall":"f"}]}]}`, "/contents/0/parts/0/functionCall"},
	}
	for _, tt := range tests {
		t.Run(tt.format+tt.body, func(t *testing.T) {
			_, err := formatOf(t, tt.format).ReadCall(paths[tt.format], []byte(tt.body), nil)
			checkMalformed(t, err, tt.where)
		})
	}
}

// Rounds are found in linear time, however a client mixes calls and results.
func TestManyCallsAnsweredInReverse(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	b.WriteString(`{"contents":[{"role":"model","parts":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"functionCall":{"name":"` + strings.Repeat("f", i%7) + `"}}`)
	}
	b.WriteString(`]},{"role":"user","parts":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"functionResponse":{"name":"` + strings.Repeat("f", (n-i)%7) + `"}}`)
	}
	b.WriteString(`]}]}`)
	call, err := formatOf(t, "gemini-generate").ReadCall(paths["gemini-generate"], []byte(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(call.Rounds) != 1 || len(call.Rounds[0].Calls) != n || len(call.Rounds[0].Results) != n {
		t.Errorf("%d rounds", len(call.Rounds))
	}
}

// A server that reads names in whatever case would take the second for the
// first. What a tool or a person names is not the API's: there it may matter.
func TestNamesThatDifferOnlyInCase(t *testing.T) {
	const many = `"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"o":0,"p":0,"q":0,"r":0,"s":0,"t":0,"u":0,"v":0,"w":0,"x":0,"y":0,"z":0,`
	refused := []struct{ format, body, says string }{
		{"openai-chat", `{"messages":[],"Messages":[]}`, `"messages" and "Messages" differ only in case`},
		{"openai-chat", `{"Messages":[],"messages":[]}`, `"Messages" is "messages"`},
		{"openai-chat", `{"messages":[],"meſſages":[]}`, `"meſſages"`},
		{"openai-chat", `{"messages":[{"role":"user","Role":"assistant"}]}`, `"role" and "Role"`},
		{"openai-chat", `{"messages":[{"role":"user","Content":"hi"}]}`, `"Content" is "content"`},
		{"openai-chat", `{"messages":[{"role":"user","content":[{"type":"text","text":"a","Text":"b"}]}]}`, `"text" and "Text"`},
		{"openai-chat", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","NAME":"g"}}]}]}`, `"name" and "NAME"`},
		{"openai-chat", `{` + many + `"messages":[],"seed":1,"Seed":2}`, `"seed" and "Seed"`},
		{"openai-responses", `{"Input":"hi"}`, `"Input" is "input"`},
		{"anthropic-messages", `{"messages":[],"metadata":{"user_id":"a","User_id":"b"}}`, `"user_id" and "User_id"`},
		{"gemini-generate", `{"contents":[{"parts":[{"text":"a","TEXT":"b"}]}]}`, `"text" and "TEXT"`},
		{"gemini-generate", `{"contents":[],"SystemInstruction":{}}`, `"SystemInstruction" is "systemInstruction"`},
	}
	for _, tt := range refused {
		t.Run(tt.format+tt.body, func(t *testing.T) {
			_, err := formatOf(t, tt.format).ReadCall(paths[tt.format], []byte(tt.body), nil)
			checkMalformed(t, err, tt.says)
		})
	}
	for _, tt := range []struct{ format, body string }{
		{"openai-chat", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":1,"A":2}}}]}],"metadata":{"Team":"x","team":"y"}}`},
		{"openai-chat", `{"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"Name":{},"name":{}}}}}]}`},
		{"openai-responses", `{"input":[{"type":"function_call_output","call_id":"c","output":{"Name":"x","name":"y"}}]}`},
		{"anthropic-messages", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"Text":1,"text":2}}]}]}`},
		{"gemini-generate", `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"Output":"x","output":"y"}}}]}],"systemInstruction":{"parts":[]}}`},
	} {
		if _, err := formatOf(t, tt.format).ReadCall(paths[tt.format], []byte(tt.body), nil); err != nil {
			t.Errorf("%s refuses %s: %v", tt.format, tt.body, err)
		}
	}
}
