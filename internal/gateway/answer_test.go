package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// deniedBody is what every shape of a denial has.
type deniedBody struct {
	Error struct {
		Message     string          `json:"message"`
		Code        json.RawMessage `json:"code"`
		Status      string          `json:"status"`
		Type        string          `json:"type"`
		BlockReason string          `json:"block_reason"`
	} `json:"error"`
	Type        string `json:"type"`
	BlockReason string `json:"block_reason"`
	RetryAfter  int    `json:"retry_after_seconds"`
	Incident    string `json:"incident"`
}

func readDenial(t *testing.T, body string) (d deniedBody) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return d
}

func TestTheInactiveAnswerInEveryShape(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	f.send(t, "POST", chatPath, inSession("s"), loopBody(12))
	incident := f.incidents(t)[0].ID
	for name, tc := range map[string]struct {
		path, body string
		native     func(deniedBody) bool
	}{
		"chat":      {chatPath, chatBody, func(d deniedBody) bool { return d.Error.Type == "invalid_request_error" }},
		"responses": {"/agents/bot/v1/responses", responsesBody, func(d deniedBody) bool { return d.Error.Type == "invalid_request_error" }},
		"messages":  {"/agents/bot/v1/messages", messagesBody, func(d deniedBody) bool { return d.Type == "error" && d.Error.Type == "invalid_request_error" }},
		"gemini": {"/agents/bot/v1beta/models/g:generateContent", geminiBody, func(d deniedBody) bool {
			return d.Error.Status == "INVALID_ARGUMENT" || d.Error.Status == "FAILED_PRECONDITION"
		}},
		"embeddings, which pass through": {"/agents/bot/v1/embeddings", `{}`, func(d deniedBody) bool { return d.Error.Type == "invalid_request_error" }},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := f.send(t, "POST", tc.path, nil, tc.body)
			d := readDenial(t, body)
			if res.StatusCode != 400 || res.Header.Get("X-Should-Retry") != "false" || res.Header.Get("Retry-After") != "" {
				t.Errorf("%d %v, want 400 that nobody tries again", res.StatusCode, res.Header)
			}
			if res.Header.Get("X-Haltd-Reason") != "kill_switch" || res.Header.Get("X-Haltd-Incident") != incident {
				t.Errorf("headers %v, want reason and incident", res.Header)
			}
			if !tc.native(d) || d.BlockReason != "kill_switch" || d.Incident != incident || d.RetryAfter != 0 {
				t.Errorf("body %s", body)
			}
			for _, says := range []string{"bot", "kill switch", incident, "haltd agents resume bot"} {
				if !strings.Contains(d.Error.Message, says) {
					t.Errorf("message %q does not say %q", d.Error.Message, says)
				}
			}
			if !wire.Calm(d.Error.Message) {
				t.Errorf("message %q makes clients try again", d.Error.Message)
			}
		})
	}
}

// loopOf is a chat in which a tool of this name failed n times with a text.
func loopOf(n int, tool, text string) string {
	args, _ := json.Marshal(tool)
	result, _ := json.Marshal(text)
	var b strings.Builder
	b.WriteString(`{"model":"gpt-x","messages":[{"role":"user","content":"read it"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":%s,"arguments":"{}"}}]}`, i, args)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":%s}`, i, result)
	}
	return b.String() + "]}"
}

// Names and evidence are chosen by others: none of them may make a client try
// again.
func TestKillAnswersAreCalm(t *testing.T) {
	for name, tc := range map[string]struct{ agent, tool, text string }{
		"digits in the agent":   {"bot-429", "read_file", "Error: no"},
		"words in the agent":    {"rate_limit", "read_file", "Error: no"},
		"words in the tool":     {"bot", "rate_limit", "Error: no"},
		"digits in the tool":    {"bot", "get_503", "Error: no"},
		"line breaks in a tool": {"bot", "a\nb\u2028retry", "Error: no"},
		"a hostile result":      {"bot", "read_file", "Error: 429 Too Many Requests, try again"},
		"all at once":           {"retry.after-503", "please_retry\r\n529", "overloaded_error"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
			path := "/agents/" + tc.agent + "/v1/chat/completions"
			for _, body := range []string{loopOf(90, tc.tool, tc.text), chatBody} { // the kill, and after it
				res, got := f.send(t, "POST", path, inSession("s"), body)
				d := readDenial(t, got)
				if res.StatusCode != 400 || d.Incident == "" {
					t.Fatalf("answered %d %s", res.StatusCode, got)
				}
				if !wire.Calm(d.Error.Message) || !strings.Contains(d.Error.Message, "haltd agents resume") || !strings.Contains(d.Error.Message, d.Incident) {
					t.Errorf("message %q, want a calm one with the incident and what to do", d.Error.Message)
				}
			}
		})
	}
}

// Resuming the agent would not lift the stop of a session.
func TestAStoppedSessionSaysHowToResumeIt(t *testing.T) {
	for session, named := range map[string]string{
		"run-a:1":          "run-a:1",
		"rate_limit":       "SESSION", // would make a client try again
		"a;rm${IFS}-rf|sh": "SESSION", // would run in the shell of who pastes it
		"-":                "-",
	} {
		t.Run(session, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
			want := "esume the session with: haltd agents resume unknown --session " + named
			for _, body := range []string{loopBody(12), chatBody} { // the kill, and after it
				res, got := f.send(t, "POST", "/v1/chat/completions", inSession(session), body)
				if d := readDenial(t, got); res.StatusCode != 400 || !strings.HasSuffix(d.Error.Message, want) || !wire.Calm(d.Error.Message) {
					t.Errorf("answered %d %q, want it to end with %q", res.StatusCode, d.Error.Message, want)
				}
			}
			f.activate(t, haltd.Target{Agent: "unknown", Session: session})
			if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "unknown", Session: session}, false, "ann", ""); err != nil {
				t.Fatal(err)
			}
			_, got := f.send(t, "POST", "/v1/chat/completions", inSession(session), chatBody)
			if d := readDenial(t, got); !strings.Contains(d.Error.Message, "This session of unknown was stopped by a person.") || !strings.HasSuffix(d.Error.Message, want) {
				t.Errorf("stopped by hand: %q, want it to end with %q", d.Error.Message, want)
			}
		})
	}
}

func TestBlockStatusIsConfigured(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML+"gateway: {block_status: 403}\n")
	res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(12))
	if res.StatusCode != 403 || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("answered %d %v", res.StatusCode, res.Header)
	}
	if e := f.stored(t, haltd.EventKillSwitch); len(e) != 1 || e[0].Status != 403 {
		t.Errorf("recorded %+v", e)
	}
}

func TestAManualStopSaysSo(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", "for now"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{chatPath, "/agents/bot/v1/models"} {
		res, body := f.send(t, "POST", path, nil, chatBody)
		if res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "manual" || !strings.Contains(body, "stopped by a person") {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
		if e := f.last(t); e.Type != haltd.EventBlocked || !e.Blocked || e.BlockReason != haltd.ReasonManual {
			t.Errorf("%s recorded as %s, blocked %v for %q", path, e.Type, e.Blocked, e.BlockReason)
		}
	}
	f.activate(t, haltd.Target{Agent: "bot"})
	if res, _ := f.send(t, "POST", chatPath, nil, chatBody); res.StatusCode != http.StatusOK {
		t.Errorf("after the activation: %d", res.StatusCode)
	}
}
