package formats_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/anthropic"
	"github.com/haltd/haltd/internal/wire/gemini"
	"github.com/haltd/haltd/internal/wire/openai"
)

// A note stands where | is, as valid JSON, and nothing else changes. What has
// no | does not end with a tool result, and takes none.
func TestSteer(t *testing.T) {
	const note = "[Note by haltd: \"again\"\n]"
	quoted, _ := json.Marshal(note)
	inner := string(quoted[1 : len(quoted)-1])
	for name, c := range map[string]struct {
		format      wire.Steerer
		body, added string
	}{
		"chat text":            {openai.Chat{}, `{"messages":[{"role":"tool","content":"a"},{"role":"tool","tool_call_id":"1","content":"ENOENT|"}],"stream":true}`, `\n\n` + inner},
		"chat parts":           {openai.Chat{}, `{"messages":[{"role":"tool","content":[{"type":"text","text":"ENOENT"}|] }]}`, `,{"type":"text","text":` + string(quoted) + `}`},
		"chat no parts":        {openai.Chat{}, `{"messages":[{"content":[ |],"role":"tool"}]}`, `{"type":"text","text":` + string(quoted) + `}`},
		"chat empty text":      {openai.Chat{}, `{"messages":[{"role":"tool","content":"|"}]}`, `\n\n` + inner},
		"chat user":            {openai.Chat{}, `{"messages":[{"role":"tool","content":"a"},{"role":"user","content":"b"}]}`, ""},
		"chat null":            {openai.Chat{}, `{"messages":[{"role":"tool","content":null}]}`, ""},
		"responses text":       {openai.Responses{}, `{"input":[{"type":"function_call_output","call_id":"1","output":"ENOENT|"}],"store":false}`, `\n\n` + inner},
		"responses parts":      {openai.Responses{}, `{"input":[{"type":"function_call_output","output":[{"type":"input_text","text":"x"}|]}]}`, `,{"type":"input_text","text":` + string(quoted) + `}`},
		"responses custom":     {openai.Responses{}, `{"input":[{"type":"custom_tool_call_output","output":"x|"}]}`, `\n\n` + inner},
		"responses shell":      {openai.Responses{}, `{"input":[{"type":"shell_call_output","output":[{"stdout":"","stderr":"x","outcome":{"type":"exit","exit_code":1}}]}]}`, ""},
		"responses string":     {openai.Responses{}, `{"input":"Hello"}`, ""},
		"messages":             {anthropic.Messages{}, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"tool_result","tool_use_id":"2","content":[],"cache_control":{"type":"ephemeral"}}|]}],"max_tokens":9}`, `,{"type":"text","text":` + string(quoted) + `}`},
		"messages with words":  {anthropic.Messages{}, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"text","text":"b"}|]}]}`, `,{"type":"text","text":` + string(quoted) + `}`},
		"messages text":        {anthropic.Messages{}, `{"messages":[{"role":"user","content":"tool_result"}]}`, ""},
		"messages earlier":     {anthropic.Messages{}, `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"c"}]}]}`, ""},
		"gemini":               {gemini.Generate{}, `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"x"}}},{"functionResponse":{"name":"b","response":{"output":"y"|}}}]}],"tools":[]}`, `,"haltd_note":` + string(quoted)},
		"gemini empty":         {gemini.Generate{}, `{"contents":[{"parts":[{"function_response":{"response":{|},"name":"a"}}]}]}`, `"haltd_note":` + string(quoted)},
		"gemini noted already": {gemini.Generate{}, `{"contents":[{"parts":[{"functionResponse":{"response":{"haltd_note":"x"}}}]}]}`, ""},
		"gemini text":          {gemini.Generate{}, `{"contents":[{"parts":[{"functionResponse":{"response":{}}}]},{"role":"user","parts":[{"text":"b"}]}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body, _, takes := strings.Cut(c.body, "|")
			got, ok := c.format.Steer([]byte(strings.Replace(c.body, "|", "", 1)), note)
			want := body + c.added + strings.TrimPrefix(c.body[len(body):], "|")
			if ok != takes || ok && (string(got) != want || !json.Valid(got)) {
				t.Errorf("%v\n%s\nwant %v\n%s", ok, got, takes, want)
			}
		})
	}
}
