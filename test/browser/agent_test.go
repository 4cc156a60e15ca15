package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// message is one of a chat.
type message map[string]any

func user(text string) message { return message{"role": "user", "content": text} }

// round is a tool call and its result.
func round(id, tool, arguments, result string) []message {
	return []message{
		{"role": "assistant", "content": nil, "tool_calls": []any{
			map[string]any{"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": arguments}},
		}},
		{"role": "tool", "tool_call_id": id, "content": result},
	}
}

// call is one call of an agent; what is empty has a usual value.
type call struct {
	agent    string
	session  string
	model    string
	messages []message
	reply    fakellm.Script
}

// send makes a call through the gateway. The incident is that of an answer
// that says the agent was stopped.
func (n *node) send(t *testing.T, c call) (status int, incident string) {
	t.Helper()
	if c.model == "" {
		c.model = "gpt-4.1-mini"
	}
	if c.messages == nil {
		c.messages = []message{user("Say hello")}
	}
	body, err := json.Marshal(map[string]any{"model": c.model, "messages": c.messages})
	if err != nil {
		t.Fatal(err)
	}
	script, err := json.Marshal(c.reply)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", n.Gateway+"/agents/"+c.agent+"/openai/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "OpenAI/Python 2.8.0")
	req.Header.Set(harness.ScriptHeader, string(script))
	if c.session != "" {
		req.Header.Set("X-Session-Id", c.session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("X-Haltd-Incident")
}

// killSwitch turns the switch of an agent on or off.
func (n *node) killSwitch(t *testing.T, agent string, on bool) {
	t.Helper()
	n.Must(t, "PATCH", "/v1/agents/"+agent+"/kill-switch", map[string]any{"enabled": on}, nil)
}

// search looks for one payment again and again and finds nothing.
func search(i int) (asked []message, reply fakellm.Script) {
	const tool, arguments = "find_payment", `{"invoice":"INV-20931"}`
	asked = []message{user("Reconcile the invoices of November.")}
	for k := range i {
		asked = append(asked, round(fmt.Sprintf("call_%d", k), tool, arguments, `{"error":"payment_not_found"}`)...)
	}
	return asked, fakellm.Script{Text: "I will look for the payment again.", ToolCalls: []fakellm.ToolCall{{Name: tool, Arguments: arguments}}}
}

// runAway lets an agent loop, with its switch on, until it is killed, and
// answers the incident.
func (n *node) runAway(t *testing.T, agent, session string) string {
	t.Helper()
	n.killSwitch(t, agent, true)
	for i := range 20 {
		asked, reply := search(i)
		if status, incident := n.send(t, call{agent: agent, session: session, messages: asked, reply: reply}); status != http.StatusOK {
			if incident == "" {
				t.Fatalf("the loop of %s was answered %d without an incident", agent, status)
			}
			return incident
		}
	}
	t.Fatalf("the loop of %s was not killed", agent)
	return ""
}
