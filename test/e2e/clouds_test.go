package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// elsewhere is a route that speaks of a conversation outside of the four formats'
// own paths.
type elsewhere struct {
	name, path, model string
	media             string // of the reply
	// ask and reply are JSON: what a request holds of these rounds, and the
	// reply that asks for the next of them.
	ask   func(rounds []toolRound) string
	reply func(next toolRound) string
}

// toolRound is a call of a tool and what came of it.
type toolRound struct{ argument, result string }

var elsewheres = []elsewhere{
	{"Vertex", "/cloud/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict", "claude-sonnet-4-5@20250929", "application/json", messagesAsk, messagesReply},
	{"Vertex, streamed", "/cloud/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", "claude-sonnet-4-5@20250929", "text/event-stream", messagesAsk, func(next toolRound) string {
		var b strings.Builder
		for _, event := range messagesEvents(next) {
			fmt.Fprintf(&b, "data: %s\n\n", event)
		}
		return b.String()
	}},
	{"Bedrock", "/cloud/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke", "claude-sonnet-4-5-20250929", "application/json", messagesAsk, messagesReply},
	{"Bedrock, streamed", "/cloud/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream", "claude-sonnet-4-5-20250929", amazonStream, messagesAsk, func(next toolRound) string {
		var b strings.Builder
		for _, event := range messagesEvents(next) {
			b.WriteString(amazonMessage("chunk", amazonChunk(event)))
		}
		return b.String()
	}},
	{"Ollama", "/cloud/api/chat", "llama3", "application/json", func(rounds []toolRound) string { return ollamaAsk(rounds, `,"stream":false`) }, func(next toolRound) string {
		return `{"model":"llama3","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"file":` + quoted(next.argument) + `}}}]},"done":true,"done_reason":"stop","prompt_eval_count":1000,"eval_count":500}`
	}},
	{"Ollama, streamed", "/cloud/api/chat", "llama3", "application/x-ndjson", func(rounds []toolRound) string { return ollamaAsk(rounds, "") }, func(next toolRound) string {
		return `{"model":"llama3","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"file":` + quoted(next.argument) + `}}}]},"done":false}` + "\n" +
			`{"model":"llama3","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":1000,"eval_count":500}` + "\n"
	}},
}

func messagesAsk(rounds []toolRound) string {
	b := `{"anthropic_version":"x","max_tokens":900,"messages":[{"role":"user","content":"Which port is it?"}`
	for i, r := range rounds {
		b += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"read","input":{"file":%s}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%[1]d","content":%s}]}`, i, quoted(r.argument), quoted(r.result))
	}
	return b + `]}`
}

func messagesReply(next toolRound) string {
	return `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_n","name":"read","input":{"file":` + quoted(next.argument) + `}}],"stop_reason":"tool_use","usage":{"input_tokens":1000,"output_tokens":500}}`
}

func messagesEvents(next toolRound) []string {
	return []string{
		`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":1000,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_n","name":"read","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + quoted(`{"file":`+quoted(next.argument)+`}`) + `}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":500}}`,
		`{"type":"message_stop"}`,
	}
}

func ollamaAsk(rounds []toolRound, more string) string {
	b := `{"model":"llama3","options":{"num_predict":900}` + more + `,"messages":[{"role":"user","content":"Which port is it?"}`
	for _, r := range rounds {
		b += fmt.Sprintf(`,{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"file":%s}}}]},{"role":"tool","tool_name":"read","content":%s}`, quoted(r.argument), quoted(r.result))
	}
	return b + `]}`
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always can be
	return string(b)
}

// A loop is seen wherever the conversation can be read: on other clouds, and by
// Ollama's own API. Its money stays that of the provider's counts.
func TestLoopsOutsideOfTheProvidersOwnPaths(t *testing.T) {
	t.Parallel()
	llm, url := harness.Provider(t, harness.Scripted)
	s := &stage{node: start(t, strings.Replace(harness.Providers(url), "}}", fmt.Sprintf("}, cloud: {base_url: %q}}", url), 1)), llm: llm, url: url}
	for _, e := range elsewheres {
		t.Run(e.name, func(t *testing.T) {
			loop := s.agent(t, "loop").with("").policy(`{"budgets":{"day":{"hard_usd":100}}}`)
			answers, got := loop.roundsAt(e, func(int) toolRound { return toolRound{"server.log", "permission denied"} })
			if got.status != http.StatusBadRequest || got.header.Get("X-Haltd-Reason") != string(haltd.ReasonLoop) {
				t.Errorf("a loop of %d rounds: %d %s; want it stopped", answers, got.status, got.body)
			}
			if v := loop.view(); v.Active || v.DeactivatedBy == nil || *v.DeactivatedBy != haltd.ByKillSwitch {
				t.Errorf("active %v, by %v; want it killed", v.Active, v.DeactivatedBy)
			}
			var sum haltd.Money
			for _, c := range loop.has(haltd.EventCall, answers) {
				if want := (haltd.Usage{Input: 1000, Output: 500}); c.Tokens != want || c.Estimated || c.Model != e.model || len(c.ToolCalls) != 1 {
					t.Errorf("%+v of %s, estimated %v, tools %v; want %+v of %s and one tool", c.Tokens, c.Model, c.Estimated, c.ToolCalls, want, e.model)
				}
				sum += c.Cost
			}
			if spent := loop.spent().Spent; spent.Cost != sum || spent.Tokens != int64(1500*answers) {
				t.Errorf("%+v spent, the events say $%s", spent, sum)
			}

			work := s.agent(t, "work").with("")
			files := strings.Fields("main.go net.go README.md ports.yaml hosts.txt app.py boot.sh site.conf log.h page.css list.csv notes.md")
			if n, got := work.roundsAt(e, func(i int) toolRound {
				return toolRound{files[i], fmt.Sprintf("%s tells of %s and of %s", files[i], strings.Repeat(files[(i+5)%12]+" ", 3), files[(i*7+3)%12])}
			}); got.status != 0 {
				t.Errorf("work was stopped after %d rounds: %s", n, got.body)
			}
		})
	}
}

// roundsAt goes through twelve rounds, or until the agent is stopped: how many
// calls were answered, and what stopped it.
func (a *agent) roundsAt(e elsewhere, round func(i int) toolRound) (answered int, stopped answer) {
	a.t.Helper()
	path := strings.TrimPrefix(e.path, "/cloud")
	defer a.llm.SetRules(nil)
	var rounds []toolRound
	for i := range 12 {
		next := round(i)
		a.llm.SetRules([]fakellm.Rule{{Path: path, Script: fakellm.Script{Body: e.reply(next), Header: map[string]string{"Content-Type": e.media}}}})
		got := a.do("POST", "/agents/"+a.id+e.path, e.ask(rounds), nil)
		if got.status != http.StatusOK {
			return i, got
		}
		rounds = append(rounds, next)
	}
	return 12, answer{}
}
