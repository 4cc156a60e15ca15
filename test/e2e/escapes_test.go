package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// Ways around haltd that an agent can try, each held by a test of the binary;
// docs/threat-model.md lists them.
func TestEscapes(t *testing.T) {
	t.Parallel()
	s := newStage(t, `policies: [{id: retried, spec: {selector: {pathPrefix: /retried/}, loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 3, action: reject}}}]
`)
	for _, sc := range []scenario{
		{"Streams that the client cuts before their end are no failures", repliesCutByTheClient},
		{"A claimed retry with another body is none", claimedRetries},
		{"A question that is padded is the same question", padding},
		{"A message that says nothing hides no question", blankMessages},
		{"The beginning of an answer is no history", prefilled},
		{"Retries after refusals have no end, after lost connections they do", retriesHaveAnEnd},
		{"Retries are hits of exact like every other", exactCountsRetries},
		{"A timeout makes a retry of what announces itself as one", announcedTimeouts},
		{"A session for every call stops the agent at the 36th", sessionPerCall},
		{"Nobody named the agent, and every call has a session of its own", unnamedSessionPerCall},
		{"Calls that continue a reply are one session", chainedReplies},
		{"A prompt that the provider keeps is part of the question", storedPrompts},
		{"Names that differ only in case are refused", namesInAnotherCase},
		{"Headers that are sent twice are read as a whole", doubledHeaders},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.test(t, s) })
	}
}

// A server that reads names in whatever case would take `Messages` for the
// conversation that haltd has read in `messages`.
func namesInAnotherCase(t *testing.T, s *stage) {
	a := s.agent(t)
	for body, says := range map[string]string{
		`{"model":"echo","messages":[{"role":"user","content":"hi"}],"Messages":[{"role":"user","content":"loop"}]}`: `"messages" and "Messages"`,
		`{"model":"echo","messages":[{"role":"user","Content":"hi"}]}`:                                               `"Content" is "content"`,
	} {
		got := a.do("POST", "/agents/"+a.id+"/openai/v1/chat/completions", body, nil)
		if got.status != 400 || !strings.Contains(got.denied.Message, says) {
			t.Errorf("%s: %d %s; want 400 that says %s", body, got.status, got.body, says)
		}
	}
	if n := s.forwarded(a); n != 0 {
		t.Errorf("%d of them were forwarded", n)
	}
}

// doubledHeaders says one thing in the first line of a header and another in
// the second.
func doubledHeaders(t *testing.T, s *stage) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, chat); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	a := s.agent(t)
	for _, tt := range []struct {
		name   string
		lines  []string
		body   string
		status int
	}{
		{"Content-Encoding", []string{"gzip", "identity"}, packed.String(), 200},
		{"Content-Encoding", []string{"", "br"}, chat, 400},
		{"Upgrade", []string{"other", "websocket"}, "", 426},
	} {
		req, err := http.NewRequest("POST", s.Gateway+"/agents/"+a.id+"/openai/v1/chat/completions", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header[tt.name] = tt.lines
		if status, _, body := roundTrip(t, req, []string{agentMark, a.id}); status != tt.status {
			t.Errorf("%s %q: %d %s; want %d", tt.name, tt.lines, status, body, tt.status)
		}
	}
	if e := a.has(haltd.EventCall, 1)[0]; s.forwarded(a) != 1 || e.Model != "echo" {
		t.Errorf("%d calls were forwarded, one of the model %q; want the first alone", s.forwarded(a), e.Model)
	}
}

// repliesCutByTheClient hangs up on each reply when all of it has come but its
// end. It was paid for, so it counts.
func repliesCutByTheClient(t *testing.T, s *stage) {
	const ask = `{"role":"user","content":"What is the state of the order?"}`
	const contents = `{"contents":[{"role":"user","parts":[{"text":"What is the state of the order?"}]}]}`
	// What is sent in one document is long, or the client has none of it before its end.
	s.llm.SetRules([]fakellm.Rule{{Model: "long-winded", Script: fakellm.Script{
		Text: "The order is on its way to the customer." + strings.Repeat(" It goes from town to town.", 10_000), WriteSize: 128 << 10, ChunkDelay: fakellm.Delay(200 * time.Millisecond),
	}}})
	defer s.llm.SetRules(nil)
	const whole = "" // by its model
	for name, call := range map[string][3]string{
		"chat, whole":        {"/openai/v1/chat/completions", `{"model":"long-winded","messages":[` + ask + `]}`, whole},
		"responses, whole":   {"/openai/v1/responses", `{"model":"long-winded","input":[` + ask + `]}`, whole},
		"messages, whole":    {"/anthropic/v1/messages", `{"model":"long-winded","max_tokens":900,"messages":[` + ask + `]}`, whole},
		"generate, whole":    {"/gemini/v1beta/models/long-winded:generateContent", contents, whole},
		"chat":               {"/openai/v1/chat/completions", `{"model":"gpt-4.1-mini","stream":true,"messages":[` + ask + `]}`, inEvents},
		"responses":          {"/openai/v1/responses", `{"model":"gpt-4.1-mini","stream":true,"input":[` + ask + `]}`, inEvents},
		"messages":           {"/anthropic/v1/messages", `{"model":"claude-sonnet-4-5","stream":true,"max_tokens":900,"messages":[` + ask + `]}`, inEvents},
		"generate, events":   {"/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", contents, inEvents},
		"generate, an array": {"/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent", contents, inEvents},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.agent(t).with("")
			a.client = http.DefaultClient
			a.cutUntilStopped(call[0], call[1], call[2])
		})
	}
}

// inEvents is a stream that is hung up on.
const inEvents = `{"text":"The order is on its way to the customer.","chunks":2,"chunk_delay":"15ms"}`

// cutUntilStopped hangs up on equal replies, which come piece by piece, until the
// agent is killed.
func (a *agent) cutUntilStopped(path, body, script string) {
	a.t.Helper()
	for i := range 30 {
		if status := a.hangUpAfter(path, body, script, "customer."); status != http.StatusOK {
			if status != http.StatusBadRequest || i < 5 {
				a.t.Errorf("call %d: status %d", i+1, status)
			}
			break
		}
	}
	if v := a.view(); v.Active || v.DeactivatedBy == nil || *v.DeactivatedBy != haltd.ByKillSwitch {
		a.t.Errorf("after 30 replies cut before their end: active %v, by %v; want it killed", v.Active, v.DeactivatedBy)
	}
}

// hangUpAfter makes a call and hangs up as soon as the reply has said a word.
func (a *agent) hangUpAfter(path, body, script, word string) (status int) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", a.Gateway+"/agents/"+a.id+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(agentMark, a.id)
	req.Header.Set(harness.ScriptHeader, script)
	res, err := a.client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	var heard []byte
	for piece := make([]byte, 4096); res.StatusCode == http.StatusOK && !strings.Contains(string(heard), word); {
		n, err := res.Body.Read(piece)
		if heard = append(heard, piece[:n]...); err != nil && !strings.Contains(string(heard), word) {
			a.t.Fatalf("the reply ended with %v before it said %q:\n%s", err, word, heard)
		}
	}
	return res.StatusCode
}

// claimedRetries changes a number that no answer depends on and says that it
// only tries again.
func claimedRetries(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	for i := range 100 {
		got := a.send(request{
			messages: []message{user("What is the state of the order?")}, reply: fakellm.Script{Text: "The order is on its way."},
			extra:  map[string]any{"seed": i},
			header: map[string]string{"X-Stainless-Retry-Count": strconv.Itoa(i%2 + 1)},
		})
		if got.status != http.StatusOK {
			break
		}
	}
	if v := a.view(); v.Active {
		t.Error("100 equal calls that claim to be retries: the agent is active; want it killed")
	}
	if n := s.forwarded(a); n > 20 {
		t.Errorf("%d calls were forwarded", n)
	}
}

// padding adds to a question what nobody reads.
func padding(t *testing.T, s *stage) {
	question := "What is the state of the order?"
	for name, pad := range map[string]func(i int) string{
		"all in turn": func(i int) string {
			return []string{question + strings.Repeat(" ", i), strings.ToUpper(question[:i]) + question[i:], question + strings.Repeat("\u200b", i)}[i%3]
		},
		"unseen signs": func(i int) string { return question + strings.Repeat("\u200b", i) },
		"inside words": func(i int) string { return question[:i] + "\u2060" + question[i:] },
	} {
		a := s.agent(t, name).with("")
		for i := range 20 {
			if got := a.ask(pad(i), "The order is on its way."); got.status != http.StatusOK {
				break
			}
		}
		if n := s.forwarded(a); a.view().Active || n > 10 {
			t.Errorf("%s: %d calls were forwarded, active %v; want it killed like a loop without padding", name, n, a.view().Active)
		}
	}
}

// blankMessages puts a message behind the question in which nobody sees a sign.
func blankMessages(t *testing.T, s *stage) {
	for name, blank := range map[string]string{"empty": "", "space": " \n", "unseen": "\u200b\u2060"} {
		a := s.agent(t, name).with("")
		for range 20 {
			got := a.send(request{messages: []message{user("What is the state of the order?"), user(blank)}, reply: fakellm.Script{Text: "The order is on its way."}})
			if got.status != http.StatusOK {
				break
			}
		}
		if n := s.forwarded(a); a.view().Active || n > 10 {
			t.Errorf("%s: %d calls were forwarded, active %v; want it killed like a loop without it", name, n, a.view().Active)
		}
	}
}

// prefilled puts the beginning of the answer behind the question, as clients do
// that want JSON.
func prefilled(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	for range 20 {
		got := a.send(request{messages: []message{user("What is the state of the order?"), assistant("{")}, reply: fakellm.Script{Text: `"state": "on its way"}`}})
		if got.status != http.StatusOK {
			break
		}
	}
	if n := s.forwarded(a); a.view().Active || n > 10 {
		t.Errorf("%d calls were forwarded, active %v; want it killed like a loop without it", n, a.view().Active)
	}
}

// retriesHaveAnEnd sends one body again and again.
func retriesHaveAnEnd(t *testing.T, s *stage) {
	for _, tt := range []struct {
		name  string
		reply fakellm.Script
		want  []bool
	}{
		{"429", fakellm.Script{Status: 429}, []bool{false, true, true, true, true, true, true, true, true}},
		{"503", fakellm.Script{Status: 503}, []bool{false, true, true, true, true, true, true, true, true}},
		{"lost", fakellm.Script{Cut: &fakellm.Cut{}}, []bool{false, true, true, true, true, true, false, false, false}},
		{"answered", fakellm.Script{Text: "fine"}, []bool{false, false, false}},
	} {
		a := s.agent(t, tt.name)
		for range tt.want {
			a.send(request{messages: []message{user("hello")}, reply: tt.reply, header: map[string]string{"X-Stainless-Retry-Count": "1"}})
		}
		a.wantRetries(tt.want)
	}
}

// exactCountsRetries sends one body after refusals of the upstream, without
// end: similarity and stall excuse that, exact does not.
func exactCountsRetries(t *testing.T, s *stage) {
	a := s.agent(t)
	var got []int
	for range 4 {
		got = append(got, a.do("POST", "/agents/"+a.id+"/openai/retried/v1/chat/completions", chat, map[string]string{
			harness.ScriptHeader: `{"status":503}`, "X-Stainless-Retry-Count": "1",
		}).status)
	}
	if want := []int{503, 503, 429, 429}; !slices.Equal(got, want) {
		t.Errorf("answers %v, want %v: the third hit is one too many", got, want)
	}
	a.wantRetries([]bool{false, true, true, false}) // the last follows an answer of haltd
}

// wantRetries waits for the calls of the agent and says which were retries.
func (a *agent) wantRetries(want []bool) {
	a.t.Helper()
	var got []bool
	a.Eventually(a.t, fmt.Sprintf("showing %d calls of %s", len(want), a.id), func() bool {
		got = nil
		for _, e := range a.Events(a.t, "agent="+a.id+"&limit=1000", 1) {
			if e.Type != haltd.EventWarning { // about a call that has an event of its own
				got = append(got, e.Retry)
			}
		}
		return len(got) >= len(want)
	})
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		a.t.Errorf("%s: retries %v, want %v", a.id, got, want)
	}
}

// announcedTimeouts leaves before the reply has begun.
func announcedTimeouts(t *testing.T, s *stage) {
	for _, tt := range []struct {
		name string
		want []bool
	}{
		{"announced", []bool{false, true, true, true, true, true, false}},
		{"silent", []bool{false, false, false}},
	} {
		a := s.agent(t, tt.name)
		for i := range tt.want {
			ctx, leave := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", a.Gateway+"/agents/"+a.id+"/openai/v1/chat/completions", strings.NewReader(strings.Replace(chat, "echo", "slow-1m", 1)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(agentMark, a.id)
			if tt.name == "announced" {
				req.Header.Set("X-Stainless-Retry-Count", strconv.Itoa(i))
			}
			go func() {
				defer leave()
				_ = harness.Until(ctx, func() bool { return s.forwarded(a) > i })
			}()
			if res, err := http.DefaultClient.Do(req); err == nil {
				t.Errorf("call %d got %s, and was to wait for it", i+1, res.Status)
				res.Body.Close()
			}
			a.Events(t, fmt.Sprintf("agent=%s&limit=1000", a.id), i+1)
		}
		a.wantRetries(tt.want)
	}
}

// sessionPerCall gives every call a session of its own, in each way that a
// client has to name one.
func sessionPerCall(t *testing.T, s *stage) {
	const ask = `"input":"What is the state of the order?"`
	for name, call := range map[string]func(i int) (path, body string, header map[string]string){
		"a header": func(i int) (string, string, map[string]string) {
			return "/v1/responses", `{"model":"m",` + ask + `}`, map[string]string{"X-Session-Id": fmt.Sprint("s", i)}
		},
		"an alias": func(i int) (string, string, map[string]string) {
			return "/v1/responses", `{"model":"m",` + ask + `}`, map[string]string{"Helicone-Session-Id": fmt.Sprint("s", i)}
		},
		"a conversation": func(i int) (string, string, map[string]string) {
			return "/v1/responses", fmt.Sprintf(`{"model":"m","conversation":"conv_%d",%s}`, i, ask), nil
		},
		"metadata": func(i int) (string, string, map[string]string) {
			return "/v1/responses", fmt.Sprintf(`{"model":"m","metadata":{"session_id":"%d"},%s}`, i, ask), nil
		},
		"a header, in windows per session": func(i int) (string, string, map[string]string) {
			return "/v1/responses", `{"model":"m",` + ask + `}`, map[string]string{"X-Session-Id": fmt.Sprint("s", i)}
		},
		"a user": func(i int) (string, string, map[string]string) {
			return "/v1/responses", fmt.Sprintf(`{"model":"m","user":"u%d",%s}`, i, ask), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.agent(t)
			if strings.Contains(name, "windows per session") {
				a.with(`"window_scope":"session"`)
			} else {
				a.with("")
			}
			first := 0
			for i := range 40 {
				path, body, header := call(i)
				if header == nil {
					header = map[string]string{}
				}
				header[harness.ScriptHeader] = `{"text":"The order is on its way."}`
				if a.do("POST", "/agents/"+a.id+"/openai"+path, body, header).status != http.StatusOK {
					first = i + 1
					break
				}
			}
			if v := a.view(); v.Active || first != 36 {
				t.Errorf("stopped at call %d, active %v; want the agent killed at the 36th", first, v.Active)
			}
		})
	}
}

// storedPrompts asks by prompts and documents that the provider keeps: the same
// again is a loop, the same words about another one are not.
func storedPrompts(t *testing.T, s *stage) {
	const responses, generate = "/openai/v1/responses", "/gemini/v1beta/models/gemini-2.5-flash:generateContent"
	words := strings.Fields("apple pear plum cherry grape melon peach quince lemon lime")
	for name, tt := range map[string]struct{ path, body string }{ // with a word in it
		"a prompt alone":             {responses, `{"model":"m","prompt":{"id":"pmpt_1","version":"2","variables":{"fruit":%q}}}`},
		"a prompt with an input":     {responses, `{"model":"m","input":"Sort it.","prompt":{"id":"pmpt_1","variables":{"fruit":{"type":"input_text","text":%q},"amount":2}}}`},
		"a document in the cache":    {generate, `{"cachedContent":"cachedContents/%s","contents":[{"role":"user","parts":[{"text":"Sort it."}]}]}`},
		"in Google's other spelling": {generate, `{"cached_content":"cachedContents/%s","contents":[{"role":"user","parts":[{"text":"Sort it."}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, distinct := range map[string]int{"a loop": 1, "a batch": len(words)} {
				a := s.agent(t, kind).with("")
				stopped := 0
				for i := 0; i < len(words) && stopped == 0; i++ {
					got := a.do("POST", "/agents/"+a.id+tt.path, fmt.Sprintf(tt.body, words[i%distinct]), map[string]string{harness.ScriptHeader: `{"text":"It belongs to the fruit."}`})
					if got.status != http.StatusOK {
						stopped = i + 1
					}
				}
				if (stopped > 0) != (distinct == 1) {
					t.Errorf("%s of %d questions was stopped at call %d (0 is never)", kind, distinct, stopped)
				}
			}
		})
	}
}

// chainedReplies keeps the history at the provider and continues one reply
// after the other.
func chainedReplies(t *testing.T, s *stage) {
	for _, tt := range []struct {
		name   string
		stream bool
		header bool // a session header for every call
		most   int  // calls before the loop is killed
	}{
		{"whole replies", false, false, 12},
		{"streams", true, false, 12},
		{"a session header for every call", false, true, 36},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.agent(t).with("")
			// On a connection for each call nothing makes haltd be done with
			// one before it takes the next.
			a.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			previous, passed := "", 0
			for i := range 40 {
				body := fmt.Sprintf(`{"model":"m","input":"Fetch the page.","stream":%v}`, tt.stream)
				if previous != "" {
					body = fmt.Sprintf(`{"model":"m","previous_response_id":%q,"stream":%v,"input":[{"type":"function_call_output","call_id":"call_1","output":"connection refused"}]}`, previous, tt.stream)
				}
				header := map[string]string{harness.ScriptHeader: `{"tool_calls":[{"id":"call_1","name":"fetch","arguments":"{\"url\":\"http://a\"}"}]}`}
				if tt.header {
					header["X-Session-Id"] = fmt.Sprint("s", i)
				}
				got := a.do("POST", "/agents/"+a.id+"/openai/v1/responses", body, header)
				if got.status != http.StatusOK {
					break
				}
				passed++
				if previous = replyID(got.body); previous == "" {
					t.Fatalf("a reply without an id: %s", got.body)
				}
			}
			if a.view().Active || passed > tt.most {
				t.Errorf("%d calls passed, active %v; want the loop killed after %d at most", passed, a.view().Active, tt.most)
			}
			sessions := map[string]bool{}
			for _, e := range a.has(haltd.EventCall, passed) {
				sessions[e.Session] = true
			}
			if !tt.header && len(sessions) != 1 {
				t.Errorf("sessions %v, want one", sessions)
			}
		})
	}
}

// Visitors who begin with the same words are told apart by the user that the
// body names, in each field that a provider has for it.
func TestGuessedSessionsAreToldApartByUser(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	const chatAsk = `"messages":[{"role":"system","content":"You are a bot."},{"role":"user","content":"hi"}]`
	for name, tt := range map[string]struct{ path, one, other string }{
		"user":                   {"/openai/v1/chat/completions", `{"model":"m","user":"ann",` + chatAsk + `}`, `{"model":"m","user":"bob",` + chatAsk + `}`},
		"safety_identifier":      {"/openai/v1/chat/completions", `{"model":"m","safety_identifier":"ann",` + chatAsk + `}`, `{"model":"m","safety_identifier":"bob",` + chatAsk + `}`},
		"users that are numbers": {"/openai/v1/chat/completions", `{"model":"m","user":7,` + chatAsk + `}`, `{"model":"m","user":8,` + chatAsk + `}`},
		"Anthropic's user_id, a number": {"/anthropic/v1/messages", `{"model":"m","max_tokens":9,"metadata":{"user_id":7},"messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"m","max_tokens":9,"metadata":{"user_id":8},"messages":[{"role":"user","content":"hi"}]}`},
		"safety_identifier beside a user": {"/openai/v1/responses", `{"model":"m","user":"site","safety_identifier":"ann","input":"hi"}`, `{"model":"m","user":"site","safety_identifier":"bob","input":"hi"}`},
		"swapped":                         {"/openai/v1/responses", `{"model":"m","user":"ann","safety_identifier":"bob","input":"hi"}`, `{"model":"m","user":"bob","safety_identifier":"ann","input":"hi"}`},
		"Anthropic's user_id": {"/anthropic/v1/messages", `{"model":"m","max_tokens":9,"metadata":{"user_id":"ann"},"messages":[{"role":"user","content":"hi"}]}`,
			`{"model":"m","max_tokens":9,"metadata":{"user_id":"bob"},"messages":[{"role":"user","content":"hi"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.agent(t).with(`"kill_scope":"session","window_scope":"session"`)
			for i := 0; ; i++ {
				if i == 30 {
					t.Fatal("30 equal calls of one visitor were not stopped")
				}
				if a.do("POST", "/agents/"+a.id+tt.path, tt.one, map[string]string{harness.ScriptHeader: `{"text":"Hello!"}`}).status != http.StatusOK {
					break
				}
			}
			if got := a.do("POST", "/agents/"+a.id+tt.path, tt.other, nil); got.status != http.StatusOK || !a.view().Active {
				t.Errorf("another visitor gets %d %s; want an answer", got.status, got.body)
			}
		})
	}
}

var responseID = regexp.MustCompile(`"id":\s*"(resp_[^"]+)"`)

// replyID is the id of a response, or of the response that a stream is.
func replyID(body string) string {
	if m := responseID.FindStringSubmatch(body); m != nil {
		return m[1]
	}
	return ""
}

// unnamedSessionPerCall is a loop of an agent that nobody named. Its sessions
// are stopped one by one from the 36th call on: the agent is everybody's, and
// others who share it go on.
func unnamedSessionPerCall(t *testing.T, s *stage) {
	a := s.agent(t)
	s.Must(t, "PATCH", "/v1/agents/curl/kill-switch", map[string]any{"enabled": true}, nil)
	call := func(i int, key string) int {
		return a.do("POST", "/openai/v1/responses", `{"model":"m","input":"What is the state of the order?"}`, map[string]string{
			"User-Agent": "curl/8.7.1", "Authorization": "Bearer " + key, "X-Session-Id": fmt.Sprint(key, i),
			harness.ScriptHeader: `{"text":"The order is on its way."}`,
		}).status
	}
	first := 0
	for i := range 40 {
		if call(i, "sk-loop") != http.StatusOK {
			first = i + 1
			break
		}
	}
	if first != 36 {
		t.Errorf("stopped at call %d, want the 36th", first)
	}
	if status := call(41, "sk-loop"); status == http.StatusOK {
		t.Error("the loop goes on in a new session")
	}
	if status := call(0, "sk-other"); status != http.StatusOK {
		t.Errorf("another caller of the same client got %d", status)
	}
	var v view
	s.Must(t, "GET", "/v1/agents/curl", nil, &v)
	if !v.Active {
		t.Error("the agent of all who use this client was killed")
	}
}
