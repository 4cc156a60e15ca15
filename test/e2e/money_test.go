package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// What docs/threat-model.md promises about money, each attack by itself.
func TestMoney(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *stage)
	}{
		{"What does not fit is refused", whatDoesNotFit},
		{"Choices count", choicesCount},
		{"Calls without a maximum go one at a time", withoutMaximum},
		{"A stream is cut when the money is gone", cutStreams},
		{"Whoever hangs up at once pays the reservation", hangUps},
		{"A reply that ends early is charged for what was read", endsEarly},
		{"What a reply does not count is estimated in full", notCounted},
		{"What the provider keeps of a conversation is reserved", keptHistory},
		{"The model that answered is priced", fallbackModels},
		{"What is left of a budget is saved once", savedOnce},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.run(t, s)
		})
	}
}

const dollarADay = `{"budgets":{"day":{"hard_usd":1}}}`

// dear costs $30 for a million tokens of output, as every model does that
// nobody knows.
const dear = "unheard-of"

func whatDoesNotFit(t *testing.T, s *stage) {
	a := s.agent(t).policy(dollarADay)
	got := a.send(request{messages: []message{user("hello")}, model: dear, maxTokens: 2_000_000})
	a.stopped(got, "budget_exceeded")
	for _, part := range []string{"daily budget of " + a.id, "$1.00 left", "would reserve $60.00", "budgets.day"} {
		if !strings.Contains(got.denied.Message, part) {
			t.Errorf("the answer %q says nothing of %q", got.denied.Message, part)
		}
	}
	if n := s.forwarded(a); n != 0 {
		t.Errorf("%d calls were forwarded", n)
	}
	if i := a.incidents(1); i[0].Kind != haltd.IncidentBudgetHard {
		t.Errorf("incident %+v, want one of the hard budget", i[0])
	}
	a.passes(a.send(request{messages: []message{user("hello")}, model: dear, maxTokens: 20_000}))
}

func choicesCount(t *testing.T, s *stage) {
	a := s.agent(t).policy(dollarADay)
	got := a.send(request{messages: []message{user("hello")}, model: dear, maxTokens: 20_000, extra: map[string]any{"n": 100}})
	a.stopped(got, "budget_exceeded")
	body := `{"contents":[{"parts":[{"text":"hello"}]}],"generationConfig":{"maxOutputTokens":20000,"candidateCount":100}}`
	a.stopped(a.do("POST", "/agents/"+a.id+"/gemini/v1beta/models/"+dear+":generateContent", body, nil), "budget_exceeded")
	// Google reads both ways of writing a name.
	for _, twice := range []string{
		`"generationConfig":{"maxOutputTokens":20000,"candidateCount":100},"generation_config":{"max_output_tokens":1,"candidate_count":1}`,
		`"generationConfig":{"maxOutputTokens":20000,"candidateCount":100,"max_output_tokens":1,"candidate_count":1}`,
	} {
		body = `{"contents":[{"parts":[{"text":"hello"}]}],` + twice + `}`
		a.stopped(a.do("POST", "/agents/"+a.id+"/gemini/v1beta/models/"+dear+":generateContent", body, nil), "budget_exceeded")
	}
}

func withoutMaximum(t *testing.T, s *stage) {
	const calls, each = 60, 14_000
	a := s.agent(t).policy(dollarADay)
	answers := a.atOnce(calls, request{
		messages: []message{user("hello")}, model: dear,
		reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 4, Output: each}, Delay: fakellm.Delay(200 * time.Millisecond)},
	})
	passed, waits := 0, 0
	for _, got := range answers {
		switch {
		case got.status == http.StatusOK:
			passed++
		case got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "" && got.header.Get("X-Haltd-Reason") == "budget_exceeded":
			waits++
		case got.status != http.StatusBadRequest || got.header.Get("X-Haltd-Reason") != "budget_exceeded":
			t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
	}
	const most = haltd.Dollar + 30*haltd.Dollar*each/1_000_000 + haltd.Dollar/1000 // one reply more
	if spent := a.spent().Spent.Cost; passed == 0 || waits == 0 || spent > most || s.forwarded(a) != passed {
		t.Errorf("%d passed, %d are to come again, $%s spent of $1; want one reply more at most", passed, waits, spent)
	}
}

// cutStreams has a stream of each format say more than its agent can pay.
func cutStreams(t *testing.T, s *stage) {
	const words = 400_000 // bytes, about 100,000 tokens, $3
	script := fakellm.Script{Text: strings.Repeat("word ", words/5), ChunkSize: 2000, NoUsage: true}
	s.llm.SetRules([]fakellm.Rule{{Header: map[string]string{"X-Words": "many"}, Script: script}}) // too long for a header
	for _, f := range []struct{ name, path, body, ends string }{
		{"chat", "/openai/v1/chat/completions", `{"model":"unheard-of","stream":true,"max_tokens":200000,"messages":[{"role":"user","content":"hi"}]}`, `data: {"error":{`},
		{"responses", "/openai/v1/responses", `{"model":"unheard-of","stream":true,"input":"hi"}`, `event: response.failed`},
		{"messages", "/anthropic/v1/messages", `{"model":"unheard-of","stream":true,"max_tokens":200000,"messages":[{"role":"user","content":"hi"}]}`, `event: error`},
		{"generate", "/gemini/v1beta/models/unheard-of:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hi"}]}]}`, `data: {"error":{`},
	} {
		t.Run(f.name, func(t *testing.T) {
			a := s.agent(t).policy(dollarADay)
			got := a.do("POST", "/agents/"+a.id+f.path, f.body, map[string]string{"X-Words": "many"})
			last := got.body[max(0, len(got.body)-3000):]
			if got.status != 200 || !strings.Contains(last, f.ends) || !strings.Contains(last, "budget_exceeded") || len(got.body) > 2*words {
				t.Fatalf("%d, %d bytes that end in %s; want the stream cut with %s", got.status, len(got.body), last, f.ends)
			}
			e := a.has(haltd.EventCall, 1)[0]
			if e.Error != "budget_cut" {
				t.Errorf("the event says %q, want budget_cut", e.Error)
			}
			if spent := a.spent(); spent.Spent.Cost < haltd.Dollar || spent.Spent.Cost > haltd.Dollar*12/10 || spent.Held != (haltd.Spending{}) {
				t.Errorf("$%s spent of $1, %+v held", spent.Spent.Cost, spent.Held)
			}
			for event := range strings.SplitSeq(strings.ReplaceAll(got.body, "\r\n", "\n"), "\n\n") {
				if _, data, ok := strings.Cut(event, "data: "); ok && data != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("half an event was sent: %.200s", event)
				}
			}
			a.stopped(a.do("POST", "/agents/"+a.id+f.path, f.body, nil), "budget_exceeded")
		})
	}
}

// hangUps leaves 25 streams right after their first event, which says that one
// token was written.
func hangUps(t *testing.T, s *stage) {
	const calls = 25
	a := s.agent(t)
	for i := range calls {
		a.hangUp("/anthropic/v1/messages", fmt.Sprintf(`{"model":"claude-sonnet-4-5","stream":true,"max_tokens":3400,"messages":[{"role":"user","content":"call %d"}]}`, i),
			fakellm.Script{Text: "a long reply", ChunkDelay: fakellm.Delay(time.Minute)})
	}
	var sum haltd.Money
	for _, e := range a.has(haltd.EventCall, calls) {
		if sum += e.Cost; e.Tokens.Output != 3400 || !e.Estimated || e.Error != "client_left" {
			t.Errorf("charged %+v after %q, estimated %v; want the 3400 tokens that the call could have", e.Tokens, e.Error, e.Estimated)
		}
	}
	if sum < haltd.Dollar*5/4 {
		t.Errorf("%d calls cost $%s, want $1.25 or more", calls, sum)
	}
	// Also before the first byte, and where no maximum is named.
	b := s.agent(t, "first-byte").policy(dollarADay)
	b.hangUp("/openai/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`, fakellm.Script{Text: "hi", Delay: fakellm.Delay(time.Minute)})
	s.Eventually(t, "charging the call", func() bool { return b.spent().Spent.Tokens >= 16384 })
	if e := b.has(haltd.EventError, 1)[0]; e.Tokens.Output != 16384 || e.Cost < haltd.Dollar/10 {
		t.Errorf("charged %+v, want what a reply of the model can have", e.Tokens)
	}
	// A form with a sound names no text that could be counted.
	own := newStage(t, "") // its rules are not for others
	c := own.agent(t, "sound").policy(dollarADay)
	silence := fakellm.Script{Body: `{"text":"hi"}`, Delay: fakellm.Delay(time.Minute)}
	own.llm.SetRules([]fakellm.Rule{{Path: "/v1/audio/transcriptions", Script: silence}})
	c.hangUp("/openai/v1/audio/transcriptions", field("model", "whisper-1")+field("file\"; filename=\"a.wav", "RIFF")+"--x--\r\n",
		silence, "Content-Type", "multipart/form-data; boundary=x")
	if e := c.has(haltd.EventError, 1)[0]; e.Cost < haltd.Dollar/10 || !e.Unpriced || c.spent().Spent.Cost != e.Cost {
		t.Errorf("a form: charged $%s, $%s spent; want the default", e.Cost, c.spent().Spent.Cost)
	}
}

// hangUp leaves a call as soon as something of its reply has come, or when the
// provider has it and does not answer.
func (a *agent) hangUp(path, body string, reply fakellm.Script, header ...string) {
	a.t.Helper()
	script, err := json.Marshal(reply)
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, leave := context.WithCancel(a.t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", a.Gateway+"/agents/"+a.id+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set(harness.ScriptHeader, string(script))
	req.Header.Set(agentMark, a.id)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	before := a.forwarded(a)
	if reply.Delay > 0 {
		go func() {
			_ = harness.Until(ctx, func() bool { return a.forwarded(a) > before })
			leave()
		}()
	}
	res, err := a.client.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	if _, err := res.Body.Read(make([]byte, 64)); err != nil {
		a.t.Error(err)
	}
}

func endsEarly(t *testing.T, s *stage) {
	const said = 4000 // bytes
	text := strings.Repeat("word ", said/5)
	for _, f := range []struct{ name, path, body string }{
		{"chat", "/openai/v1/chat/completions", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}`},
		{"responses", "/openai/v1/responses", `{"model":"gpt-4o","stream":true,"input":"hi"}`},
		{"messages", "/anthropic/v1/messages", `{"model":"claude-sonnet-4-5","stream":true,"max_tokens":64000,"messages":[{"role":"user","content":"hi"}]}`},
		{"generate", "/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hi"}]}]}`},
	} {
		for _, how := range []fakellm.CutHow{fakellm.CutEOF, fakellm.CutClean} {
			t.Run(f.name+string(how), func(t *testing.T) {
				a := s.agent(t)
				script, err := json.Marshal(fakellm.Script{Text: text, Chunks: 20, NoUsage: f.name == "generate", Cut: &fakellm.Cut{Bytes: said, How: how}})
				if err != nil {
					t.Fatal(err)
				}
				req, err := http.NewRequest("POST", a.Gateway+"/agents/"+a.id+f.path, strings.NewReader(f.body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set(harness.ScriptHeader, string(script))
				res, err := a.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body) // it ends early
				res.Body.Close()
				e := a.has(haltd.EventCall, 1)[0]
				if !e.Estimated || e.Tokens.Output < 100 || e.Tokens.Output > said/4 || e.Tokens.Input == 0 {
					t.Errorf("charged %+v, estimated %v, %q; want what was read", e.Tokens, e.Estimated, e.Error)
				}
			})
		}
	}
}

// notCounted asks for what costs more than the first choice shows, of a
// provider that counts nothing.
func notCounted(t *testing.T, s *stage) {
	const said = 4000 // bytes of each choice
	words := strings.Repeat("word ", said/5)
	chunk := func(choice int) string {
		return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":%q}}]}\n\n", choice, words)
	}
	chat := func(more string) string {
		return `{"model":"gpt-4o","stream":true,"max_tokens":5000,"messages":[{"role":"user","content":"hi"}]` + more + `}`
	}
	end := "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	candidates := fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%q}]},\"finishReason\":\"STOP\"},{\"index\":1,\"content\":{\"parts\":[{\"text\":%[1]q}]}}]}\n\n", words)
	for _, tc := range []struct {
		name, path, body, reply string
		input, output           int64 // at least
		most                    int64
	}{
		{"choices", "/openai/v1/chat/completions", chat(`,"n":3`), chunk(0) + chunk(1) + chunk(2) + end, 1, 3 * said / 4, 3*said/4 + 20},
		{"candidates", "/gemini/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"candidateCount":2}}`, candidates, 1, 2 * said / 4, 2*said/4 + 20},
		{"thoughts that are not shown", "/openai/v1/chat/completions", strings.Replace(chat(""), "gpt-4o", "o3", 1), chunk(0) + end, 1, 5000, 5000},
		{"effort", "/openai/v1/chat/completions", chat(`,"reasoning_effort":"high"`), chunk(0) + end, 1, 5000, 5000},
		{"a format", "/openai/v1/chat/completions", chat(`,"response_format":{"type":"json_schema","json_schema":{"description":"` + words + `"}}`), chunk(0) + end, said / 4, said / 4, said/4 + 20},
		{"a prediction", "/openai/v1/chat/completions", chat(`,"prediction":{"type":"content","content":"` + words + `"}`), chunk(0) + end, 1, 2 * said / 4, 2*said/4 + 40},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.agent(t)
			script, err := json.Marshal(fakellm.Script{Body: tc.reply, Header: map[string]string{"Content-Type": "text/event-stream"}})
			if err != nil {
				t.Fatal(err)
			}
			a.passes(a.do("POST", "/agents/"+a.id+tc.path, tc.body, map[string]string{harness.ScriptHeader: string(script)}))
			e := a.has(haltd.EventCall, 1)[0]
			if u := e.Tokens; !e.Estimated || u.Input < tc.input || u.Output < tc.output || u.Output > tc.most {
				t.Errorf("charged %+v, estimated %v; want at least %d and %d tokens", u, e.Estimated, tc.input, tc.output)
			}
		})
	}
}

// fallbackModels names a cheap model and lets a dear one answer.
func fallbackModels(t *testing.T, s *stage) {
	a := s.agent(t).policy(dollarADay)
	script, err := json.Marshal(fakellm.Script{Body: `{"id":"x","model":"anthropic/claude-opus-4-1","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":1000}}`})
	if err != nil {
		t.Fatal(err)
	}
	send := func(a *agent, most int) answer {
		return a.do("POST", "/agents/"+a.id+"/openai/v1/chat/completions", fmt.Sprintf(`{"model":"gpt-4o-mini","models":["gpt-4o-mini","anthropic/claude-opus-4-1"],"max_tokens":%d,"messages":[{"role":"user","content":"hi"}]}`, most), map[string]string{harness.ScriptHeader: string(script)})
	}
	a.stopped(send(a, 20_000), "budget_exceeded") // $1.50 of the dear one
	a.passes(send(a, 2000))
	if e := a.has(haltd.EventCall, 1)[0]; e.Cost != haltd.Dollar*9/100 || e.Model != "anthropic/claude-opus-4-1" {
		t.Errorf("$%s for %s, want $0.09 for the model that answered", e.Cost, e.Model)
	}
	b := s.agent(t, "rule")
	s.Must(t, "POST", "/v1/rules", map[string]any{"name": "no opus", "action": "block", "condition": map[string]string{"agent": b.id, "model_pattern": "*opus*"}}, nil)
	b.stopped(send(b, 2000), "rule")
}

// savedOnce kills an agent twice on one day, and another whose budget is lowered
// between the two.
func savedOnce(t *testing.T, s *stage) {
	s.savesOnce(t, 10, 10)
	s.savesOnce(t, 10, 1)
}

func (s *stage) savesOnce(t *testing.T, budgets ...int) {
	t.Helper()
	a := s.agent(t, fmt.Sprint(budgets)).with("")
	for _, usd := range budgets {
		a.policy(fmt.Sprintf(`{"budgets":{"day":{"hard_usd":%d}}}`, usd))
		if got, _ := a.loop(40); got.status != http.StatusBadRequest {
			t.Fatalf("%d %s, want the loop killed", got.status, got.body)
		}
		a.activate()
	}
	if saved, left := a.saved(len(budgets)), haltd.Money(budgets[1])*haltd.Dollar-a.spent().Spent.Cost; saved != left {
		t.Errorf("kills under budgets of %v saved $%s; want the $%s that are left", budgets, saved, left)
	}
}

// saved sums what the incidents of the agent tell that they saved, which is what
// all savings come to where no other agent was stopped.
func (a *agent) saved(incidents int) (saved haltd.Money) {
	a.t.Helper()
	for _, i := range a.incidents(incidents) {
		var view struct {
			Money struct {
				Saved *haltd.Money `json:"saved_usd"`
			}
		}
		a.Must(a.t, "GET", "/v1/incidents/"+i.ID, nil, &view)
		if view.Money.Saved == nil {
			a.t.Fatalf("incident %s saved nothing that is known", i.ID)
		}
		saved += *view.Money.Saved
	}
	var sums struct {
		Stops []struct{ Agent string }
		Saved haltd.Money `json:"saved_usd"`
	}
	a.Must(a.t, "GET", "/v1/savings", nil, &sums)
	for _, stop := range sums.Stops {
		if stop.Agent != a.id { // of other tests
			sums.Saved = saved
		}
	}
	if sums.Saved != saved {
		a.t.Errorf("incidents of %s saved $%s, all savings are $%s", a.id, saved, sums.Saved)
	}
	return saved
}

// A call that a crash ended is charged in full, and there is no event of it:
// what it took is not saved either.
func TestWhatACrashChargedIsNotSaved(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t).with("").policy(`{"budgets":{"day":{"hard_usd":10}}}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var left sync.WaitGroup
	left.Go(func() {
		req, err := http.NewRequestWithContext(ctx, "POST", s.Gateway+"/agents/"+a.id+"/openai/v1/chat/completions", strings.NewReader(`{"model":"`+dear+`","max_tokens":100000,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set(harness.ScriptHeader, `{"delay":"1m"}`)
		req.Header.Set(agentMark, a.id)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			t.Errorf("the call that the crash ended was answered %d", res.StatusCode)
		}
	})
	// What is reserved is on disk before the call goes out, not before it is shown.
	s.Eventually(t, "waiting for the provider", func() bool { return s.forwarded(a) == 1 && a.spent().Held.Cost >= 3*haltd.Dollar })
	s.Kill(t)
	left.Wait()
	s.Run(t)
	if got, _ := a.loop(40); got.status != http.StatusBadRequest {
		t.Fatalf("%d %s, want the loop killed", got.status, got.body)
	}
	spent := a.spent().Spent.Cost
	if saved, left := a.saved(1), 10*haltd.Dollar-spent; saved != left || spent < 3*haltd.Dollar {
		t.Errorf("saved $%s after $%s; want the $%s that are left", saved, spent, left)
	}
}

// keptHistory continues a long reply by its id: what the provider counts again
// must fit as well.
func keptHistory(t *testing.T, s *stage) {
	a := s.agent(t).policy(dollarADay)
	call := func(previous, script string) answer {
		return a.do("POST", "/agents/"+a.id+"/openai/v1/responses", `{"model":"`+dear+`","max_output_tokens":100,"input":"go on"`+previous+`}`, map[string]string{harness.ScriptHeader: script})
	}
	first := call("", `{"text":"hello","usage":{"input":9000,"output":7000}}`)
	a.passes(first)
	var reply struct{ ID string }
	if err := json.Unmarshal([]byte(first.body), &reply); err != nil || reply.ID == "" {
		t.Fatalf("%v: %s", err, first.body)
	}
	a.has(haltd.EventCall, 1)
	if spent := a.spent().Spent.Cost; spent < haltd.Dollar/4 || spent > haltd.Dollar*9/10 {
		t.Fatalf("the first call cost $%s; the next must not fit into what is left", spent)
	}
	a.policy(fmt.Sprintf(`{"budgets":{"day":{"hard_usd":%s}}}`, a.spent().Spent.Cost+haltd.Dollar/20))
	got := call(`,"previous_response_id":"`+reply.ID+`"`, `{"text":"hello"}`)
	a.stopped(got, "budget_exceeded")
	if n := s.forwarded(a); n != 1 {
		t.Errorf("%d calls were forwarded, want the first alone", n)
	}
	a.passes(call("", `{"text":"hello"}`)) // which has no history

	for _, id := range []string{`"conv_1"`, `{"id":"conv_2"}`} {
		b := s.agent(t, id).policy(dollarADay)
		in := func(b *agent, conversation, script string) answer {
			return b.do("POST", "/agents/"+b.id+"/openai/v1/responses", `{"model":"`+dear+`","max_output_tokens":100,"input":"go on","conversation":`+conversation+`}`, map[string]string{harness.ScriptHeader: script})
		}
		b.passes(in(b, id, `{"text":"hello","usage":{"input":9000,"output":7000}}`))
		b.has(haltd.EventCall, 1)
		b.policy(fmt.Sprintf(`{"budgets":{"day":{"hard_usd":%s}}}`, b.spent().Spent.Cost+haltd.Dollar/20))
		b.stopped(in(b, id, `{"text":"hello"}`), "budget_exceeded")
		b.passes(in(b, `"conv_new"`, `{"text":"hello"}`))
	}
}
