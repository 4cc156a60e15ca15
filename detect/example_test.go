package detect_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/calls"
	"github.com/haltd/haltd/detect"
)

// An agent's own loop, guarded. The messages of the agent go to the provider as
// they would without the guard.
func Example() {
	provider := httptest.NewServer(http.HandlerFunc(stuck)) // for example https://api.anthropic.com
	defer provider.Close()
	guard := detect.New(detect.Options{})
	session := guard.Session("ticket 4711")

	// ask sends one call of the agent, unless the agent is stuck.
	ask := func(path string, body []byte) (*haltd.Reply, error) {
		call, err := calls.FromRequest(path, body)
		if err != nil {
			return nil, err
		}
		if d := session.Check(call); d.Level == detect.Kill {
			return nil, errors.New(d.Sentence("billing-bot"))
		}
		answer, err := post(provider.URL+path, body)
		if err != nil {
			session.Withdraw() // a retry is no loop
			return nil, err
		}
		reply, err := calls.FromReply(path, answer)
		session.Observe(reply)
		return reply, err
	}

	history := `{"role":"user","content":"Find the invoice of March."}`
	for {
		reply, err := ask("/v1/messages", []byte(`{"model":"claude-sonnet-4-5","max_tokens":1000,"messages":[`+history+`]}`))
		if err != nil {
			// billing-bot called search 6 times with the same arguments and got the same empty result.
			fmt.Println(strings.HasPrefix(err.Error(), "billing-bot called search"))
			return
		}
		for _, c := range reply.Calls { // run the tools; this one never finds anything
			history += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, c.ID, c.Name, c.Arguments)
			history += fmt.Sprintf(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"No results."}]}`, c.ID)
		}
	}
	// Output:
	// true
}

// A session can be written after each step and read in another process, which
// goes on where the first one was.
func ExampleGuardSession_MarshalBinary() {
	session := detect.New(detect.Options{}).Session("run 1")
	call := &haltd.Call{Model: "gpt-5", Opening: []haltd.Message{{Role: haltd.RoleUser, Text: "Find the invoice of March."}}}
	fmt.Println(session.Check(call).Level)
	session.Observe(&haltd.Reply{Text: "Which year?", Complete: true})
	kept, err := session.MarshalBinary()
	if err != nil {
		fmt.Println(err)
	}

	later := detect.New(detect.Options{}).Session("run 1")
	if err := later.UnmarshalBinary(kept); err != nil {
		fmt.Println(err) // of another version: the session begins anew
	}
	call.Opening = append(call.Opening, haltd.Message{Role: haltd.RoleUser, Text: "Of 2026."})
	fmt.Println(later.Check(call).Level)
	// Output:
	// pass
	// pass
}

// stuck is a provider whose model asks for the same search again and again.
func stuck(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[`+
		`{"type":"tool_use","id":"toolu_1","name":"search","input":{"query":"invoice march"}}],`+
		`"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20}}`)
}

func post(url string, body []byte) ([]byte, error) {
	answer, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var all bytes.Buffer
	if _, err := all.ReadFrom(answer.Body); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New(answer.Status)
	}
	return all.Bytes(), nil
}
