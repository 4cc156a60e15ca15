package gateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/haltd/haltd"
)

func TestEventOfACall(t *testing.T) {
	reply := strings.Replace(chatReply, `"content":"hello"`, `"content":"hello","tool_calls":[{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{}"}}]`, 1)
	f := newFixture(t, answer(200, "application/json", reply), "")
	f.send(t, "POST", "/agents/bot/openai/v1/chat/completions", map[string]string{"X-Session-Id": "s1", "User-Agent": "curl/8"}, chatBody)
	want := haltd.Event{
		Type: haltd.EventCall, Agent: "bot", Session: "s1", Client: "curl",
		Provider: "openai", Format: "openai-chat", Path: "/v1/chat/completions", Model: "gpt-x",
		Status: 200, Tokens: haltd.Usage{Input: 7, Output: 2}, Cost: 9 * haltd.Dollar / 1000,
		Finish: "stop", ToolCalls: []string{"read_file"},
		PromptHash: digest("hi").hex(), PromptLen: 2, ReplyHash: digest("hello").hex(), ReplyLen: 5,
	}
	got := f.last(t)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(haltd.Event{}, "ID", "Time", "Latency", "FirstByte")); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if got.Time.IsZero() || got.Latency <= 0 || got.FirstByte <= 0 || got.FirstByte > got.Latency {
		t.Errorf("time %v, latency %v, first byte %v", got.Time, got.Latency, got.FirstByte)
	}
	if f.meter.get("openai allow") != 1 || f.meter.get("overhead") != 1 {
		t.Errorf("counted %v", f.meter.counts)
	}
}

func TestTokensOfReplies(t *testing.T) {
	noUsage := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("word ", 20) + "\"}}]}\n\ndata: [DONE]\n\n"
	for _, tc := range []struct {
		name, contentType, body string
		estimated               bool
		input, output           int64
		unread, failure         string
	}{
		{"usage in JSON", "application/json", chatReply, false, 7, 2, "", ""},
		{"usage in a stream", "text/event-stream", strings.Replace(sseReply, "data: [DONE]", "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\ndata: [DONE]", 1), false, 11, 3, "", ""},
		{"a stream without usage", "text/event-stream", noUsage, true, -1, 25, "", ""},
		{"a reply that is no JSON", "text/plain", "what is this?!", true, -1, 4, "not JSON nor an event stream", ""},
		{"an error inside the stream", "text/event-stream", "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", true, -1, 0, "", "in_stream: overloaded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, answer(200, tc.contentType, tc.body), "")
			f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
			e := f.last(t)
			if e.Estimated != tc.estimated || e.Tokens.Output != tc.output || tc.input >= 0 && e.Tokens.Input != tc.input || e.Tokens.Input == 0 {
				t.Errorf("estimated %v, %+v; want %v, %d in, %d out", e.Estimated, e.Tokens, tc.estimated, tc.input, tc.output)
			}
			if e.Unread != tc.unread || e.Error != tc.failure {
				t.Errorf("unread %q, error %q; want %q, %q", e.Unread, e.Error, tc.unread, tc.failure)
			}
			if (f.meter.get("unread") == 1) != (tc.unread != "") {
				t.Errorf("counted %d unread replies", f.meter.get("unread"))
			}
		})
	}
}

func TestFailedCallsCostNothing(t *testing.T) {
	f := newFixture(t, answer(429, "application/json", `{"error":{"message":"slow down"}}`), "")
	f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
	if e := f.last(t); e.Type != haltd.EventCall || e.Status != 429 || e.Tokens != (haltd.Usage{}) || e.Estimated {
		t.Errorf("%s %d %+v estimated %v; want an llm_call with 429 and no tokens", e.Type, e.Status, e.Tokens, e.Estimated)
	}
}

func TestPassThroughIsNoCall(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", `{"data":[]}`), "")
	f.send(t, "POST", "/v1/embeddings", nil, `{"model":"e","input":"x"}`)
	if e := f.last(t); e.Type != haltd.EventPass || e.Path != "/v1/embeddings" || e.Format != "" || e.Session != "" {
		t.Errorf("%s %s format %q session %q; want pass_through", e.Type, e.Path, e.Format, e.Session)
	}
}

func TestRetries(t *testing.T) {
	status := 200
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, chatReply)
	}), "")
	send := func(upstream int, body string, header map[string]string) bool {
		t.Helper()
		status = upstream
		f.send(t, "POST", "/v1/chat/completions", header, body)
		return f.last(t).Retry
	}
	other := strings.Replace(chatBody, "hi", "ho", 1)
	claimed := map[string]string{"X-Stainless-Retry-Count": "1"}
	for i, step := range []struct {
		what   string
		status int
		body   string
		header map[string]string
		want   bool
	}{
		{"a first call that fails", 500, chatBody, nil, false},
		{"the same again", 500, chatBody, nil, true},
		{"and again, now answered", 200, chatBody, nil, true},
		{"once more after the 2xx", 200, chatBody, nil, false},
		{"once more, claiming to be a retry", 200, chatBody, claimed, false},
		{"another body", 200, other, nil, false},
		{"a body never seen, claimed", 200, strings.Replace(chatBody, "hi", "hu", 1), claimed, false},
		{"count zero claims nothing", 200, strings.Replace(chatBody, "hi", "ha", 1), map[string]string{"X-Stainless-Retry-Count": "0"}, false},
	} {
		if got := send(step.status, step.body, step.header); got != step.want {
			t.Errorf("step %d, %s: retry %v, want %v", i+1, step.what, got, step.want)
		}
	}
}

func TestCutStreamMakesTheNextARetry(t *testing.T) {
	body := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	f := newFixture(t, answer(200, "text/event-stream", body), "")
	f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
	if f.last(t).Retry {
		t.Error("the first call counts as a retry")
	}
	f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
	if !f.last(t).Retry {
		t.Error("the same call after a stream without its end is no retry")
	}
}

func TestHostileNamesAreBounded(t *testing.T) {
	long := strings.Repeat("m", 100_000)
	f := newFixture(t, answer(200, "application/json", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"`+long+`"}}]},"finish_reason":"`+long+`"}]}`), "")
	f.send(t, "POST", "/v1/chat/completions", nil, strings.Replace(chatBody, "gpt-x", long, 1))
	e := f.last(t)
	if len(e.Model) > 200 || len(e.Finish) > 60 || len(e.ToolCalls) != 1 || len(e.ToolCalls[0]) > 100 {
		t.Errorf("model %d, finish %d, tools %d bytes", len(e.Model), len(e.Finish), len(e.ToolCalls))
	}
}

// Requests that differ have different digests, and every node with the same
// secret comes to the same; without it nobody can tell.
func TestDigestsOfRequests(t *testing.T) {
	h, same, other := newHasher([]byte("secret")), newHasher([]byte("secret")), newHasher([]byte("another"))
	digest := func(h hasher, agent, path, body string) uint64 {
		var d bodyDigest
		h.body(&d, nil, []byte(body))
		return h.request(agent, path, &d)
	}
	seen := map[uint64]string{}
	for _, p := range []struct{ agent, path, body string }{
		{"a", "/b", "1"}, {"a/b", "", "1"}, {"a", "/b1", ""}, {"a", "/b", "2"}, {"b", "/b", "1"}, {"a", "/b", ""}, {"a", "/b", "1\x00"},
		{strings.Repeat("a", 1000), "/b", "1"}, {"a", "/b", strings.Repeat("x", 1<<20)},
	} {
		d := digest(h, p.agent, p.path, p.body)
		if before, dup := seen[d]; dup {
			t.Errorf("%.40v has the digest of %s", p, before)
		}
		seen[d] = fmt.Sprintf("%.40v", p)
		if digest(same, p.agent, p.path, p.body) != d || digest(other, p.agent, p.path, p.body) == d {
			t.Errorf("%.40v: the digest is not that of the secret", p)
		}
	}
}

// lost is state that cannot be had.
type lost struct{}

var errLost = errors.New("out of reach")

func (lost) Last(context.Context, uint64) (haltd.Attempt, error) { return haltd.Attempt{}, errLost }
func (lost) Ended(context.Context, uint64, haltd.Ending) error   { return errLost }
func (lost) Reply(context.Context, string, string) (haltd.PastReply, error) {
	return haltd.PastReply{}, errLost
}

func (lost) Unsettled(context.Context, string, string) (haltd.Unsettled, bool, error) {
	return haltd.Unsettled{}, false, errLost
}

func (lost) TakeUnsettled(context.Context, string, string) (haltd.Unsettled, bool, error) {
	return haltd.Unsettled{}, false, errLost
}

func (lost) SaveUnsettled(context.Context, string, string, haltd.Unsettled) error { return errLost }

func (lost) SaveReply(context.Context, string, string, haltd.PastReply) error { return errLost }

func (lost) Use(context.Context, uint64, time.Time) (time.Time, error) {
	return time.Time{}, errLost
}

// State that cannot be had neither stops a call nor makes it a retry.
func TestCallsPassWithoutTheirState(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	f.attempts, f.replies, f.guesses = lost{}, lost{}, lost{}
	res, _ := f.send(t, "POST", "/v1/responses", map[string]string{"X-Stainless-Retry-Count": "1"}, `{"model":"gpt-x","input":"hi","previous_response_id":"r"}`)
	if e := f.last(t); res.StatusCode != 200 || e.Retry || e.Session == "" {
		t.Errorf("%d, retry %v, session %q; want the call to pass as a first one", res.StatusCode, e.Retry, e.Session)
	}
}

// A client that sees the provider's error in the stream hangs up: the error is
// why, whichever of them haltd notices first.
func TestAnErrorInTheStreamExplainsWhyTheClientLeft(t *testing.T) {
	for _, left := range []failure{"", clientLeft} {
		x := &exchange{reply: &haltd.Reply{Err: "overloaded: wait", Counted: true}}
		x.fail(left)
		x.describeReply()
		if x.event.Error != "in_stream: overloaded: wait" || x.errorType() != "in_stream" {
			t.Errorf("error %q, %q for a collector, after %q; want the provider's", x.event.Error, x.errorType(), left)
		}
	}
}

// The event of a call does not wait for the disk, as the money may that the
// call cost beyond its reservation: a crash meanwhile would take it.
func TestTheEventDoesNotWaitForTheMoney(t *testing.T) {
	reply := strings.Replace(chatReply, `"completion_tokens":2`, `"completion_tokens":50000`, 1)
	f := startOver(t, answer(200, "application/json", reply), setup{yaml: ticketYAML})
	const body = `{"model":"gpt-x","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`
	f.send(t, "POST", chatPath, nil, body) // opens the account
	f.Gateway.Wait()
	db, err := sql.Open("sqlite", filepath.Join(f.setup.data, "haltd.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	before := f.events.count()
	f.send(t, "POST", chatPath, nil, body)
	ended := make(chan struct{})
	go func() { defer close(ended); f.Gateway.Wait() }()
	for f.events.count() == before {
		select {
		case <-ended:
			t.Fatal("the event waited for the disk")
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case <-ended:
		t.Error("the money was not waited for: this test shows nothing")
	default:
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := f.spent(t); got != 2*50007 {
		t.Errorf("%d tokens are charged, want those of both calls", got)
	}
}
