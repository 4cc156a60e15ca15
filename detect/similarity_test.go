package detect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func userCall(texts ...string) *haltd.Call {
	c := &haltd.Call{Model: "m"}
	for i, text := range texts {
		if i == 0 {
			c.Opening = []haltd.Message{{Text: text}}
			continue
		}
		c.Rounds = append(c.Rounds, haltd.Round{Text: fmt.Sprint("answer ", i), Inputs: []haltd.Message{{Text: text}}})
	}
	return c
}

// fill adds calls with equal prompts and the given replies to a window.
func fill(w *Window, size int, prompt string, replies ...*haltd.Reply) {
	for _, r := range replies {
		w.Attach(w.Add(Prompt{SimHash(prompt)}, size, noon), r)
	}
}

func said(text string) *haltd.Reply { return &haltd.Reply{Text: text, Complete: true} }

func ran(name, arguments string) *haltd.Reply {
	return &haltd.Reply{Calls: []haltd.ToolCall{{Name: name, Arguments: arguments}}, Complete: true}
}

func TestExtractUserMessage(t *testing.T) {
	a := PromptOf(userCall("first question", "the same last words"))
	b := PromptOf(userCall("another beginning entirely", "something between", "the same last words"))
	if a != b || a.Hash == 0 {
		t.Errorf("prompts %x and %x, want the hash of the last user message in both", a, b)
	}
}

func TestToolResultsAreTheNewestPrompt(t *testing.T) {
	call := func(result string) *haltd.Call {
		return &haltd.Call{
			Opening: []haltd.Message{{Text: "Find the bug."}},
			Rounds: []haltd.Round{{
				Calls:   []haltd.ToolCall{{ID: "1", Name: "read"}},
				Results: []haltd.ToolResult{{CallID: "1", Text: result}},
			}},
		}
	}
	if Similar(PromptOf(call("package main imports fmt")).Hash, PromptOf(call("no such file or directory here")).Hash) {
		t.Error("two requests with different tool results have the same prompt")
	}
}

func TestScoreCalculation(t *testing.T) {
	var w Window
	fill(&w, 20, "do it", said("done it"), said("done it"), said("done it"))
	fill(&w, 20, "do it", ran("write", `{"a":1,"b":2}`), ran("write", `{"b":2, "a":1}`))
	parts, _ := w.Score(Prompt{SimHash("do it")}, 20, noon)
	want := ScoreParts{Prompts: 5, Responses: 0, ToolCalls: 1}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Fatalf("parts (-want +got):\n%s", diff)
	}
	if got := parts.Score(); got != 6.5 {
		t.Errorf("score %v, want 5 × 1.0 + 0 × 2.0 + 1 × 1.5 = 6.5", got)
	}
	if got := (ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 4}).Score(); got != 12 {
		t.Errorf("score %v, want 4 × 1.0 + 1 × 2.0 + 4 × 1.5 = 12", got)
	}
}

func TestPromptSimilarityCheck(t *testing.T) {
	var w Window
	fill(&w, 20, "Check order #12", said("a"))
	fill(&w, 20, "Write a poem about the sea and the wind", said("b"))
	parts, matches := w.Score(Prompt{SimHash("Check order #999")}, 20, noon)
	if parts.Prompts != 1 || len(matches) != 1 || matches[0].Entry != 1 || matches[0].PromptDistance != 0 {
		t.Errorf("parts %+v, matches %+v: want the first call alone", parts, matches)
	}
}

func TestResponseSimilarityCheck(t *testing.T) {
	var w Window
	for i, text := range []string{"I cannot find order 1.", "Here is your poem.", "I cannot find order 2.", "I cannot find order 3."} {
		fill(&w, 20, fmt.Sprint("prompt ", string(rune('a'+i))), said(text))
	}
	parts, _ := w.Score(Prompt{}, 20, noon)
	if parts.Responses != 2 {
		t.Errorf("%d similar responses, want 2: the latest is like two older ones", parts.Responses)
	}
}

func TestToolCallRepetitionCheck(t *testing.T) {
	var w Window
	fill(&w, 20, "x", ran("read", `{"path":"a"}`), ran("read", `{"path":"b"}`), ran("write", `{"path":"a"}`), ran("read", `{"path":"a"}`))
	parts, _ := w.Score(Prompt{}, 20, noon)
	if parts.ToolCalls != 1 {
		t.Errorf("%d repeated tool calls, want 1: name and arguments must both be the same", parts.ToolCalls)
	}
}

func TestEmptyOrUnreadTextMatchesNothing(t *testing.T) {
	var w Window
	fill(&w, 20, "", said(""), said(""), said(""))
	if parts, _ := w.Score(Prompt{SimHash("")}, 20, noon); parts != (ScoreParts{}) {
		t.Errorf("parts %+v, want none", parts)
	}
}

func TestWindowOverflow(t *testing.T) {
	var w Window
	for range 30 {
		fill(&w, 20, "again", said("x"))
	}
	if w.Len() != 20 {
		t.Fatalf("window holds %d calls, want 20", w.Len())
	}
	if w.entries[0].id >= w.entries[1].id {
		t.Error("the oldest call was not removed first")
	}
	if parts, _ := w.Score(Prompt{SimHash("again")}, 20, noon); parts.Prompts != 19 {
		t.Errorf("%d similar prompts, want 19: the request itself is the 20th and not counted", parts.Prompts)
	}
}

func TestConfigureWindowSize(t *testing.T) {
	var w Window
	for range 10 {
		fill(&w, 20, "again", said("x"))
	}
	if parts, _ := w.Score(Prompt{SimHash("again")}, 5, noon); parts.Prompts != 4 {
		t.Errorf("%d similar prompts, want 4 of a window of 5", parts.Prompts)
	}
}

func TestOldCallsFallOut(t *testing.T) {
	var w Window
	fill(&w, 20, "again", said("x"), said("x"))
	if parts, _ := w.Score(Prompt{SimHash("again")}, 20, noon.Add(25*time.Hour)); parts != (ScoreParts{}) {
		t.Errorf("parts %+v, want none after 24 hours", parts)
	}
}

func TestResponseHashCaptureBindsTheReplyToItsOwnRequest(t *testing.T) {
	var w Window
	first := w.Add(Prompt{SimHash("one")}, 20, noon)
	second := w.Add(Prompt{SimHash("two")}, 20, noon)
	w.Attach(second, said("reply to two"))
	w.Attach(first, said("reply to one"))
	for i, want := range []string{"reply to one", "reply to two"} {
		if w.entries[i].response != SimHash(want) {
			t.Errorf("call %d has another's reply", i+1)
		}
	}
	w.Attach(99, said("reply to nobody"))
}

func TestClearWindowOnActivate(t *testing.T) {
	var w Window
	id := w.Add(Prompt{SimHash("again")}, 20, noon)
	w.Clear()
	w.Attach(id, said("late"))
	if parts, _ := w.Score(Prompt{SimHash("again")}, 20, noon); w.Len() != 0 || parts != (ScoreParts{}) {
		t.Errorf("window holds %d calls, parts %+v; want it empty", w.Len(), parts)
	}
	if next := w.Add(Prompt{}, 20, noon); next <= id {
		t.Errorf("id %d was given out again", next)
	}
}

// judgeScore runs a request against a window with or without corroboration.
func judgeScore(w *Window, corroborate bool, call *haltd.Call) Verdict {
	set := DefaultSettings()
	set.RequireCorroboration = corroborate
	return Judge(set, State{Cache: NewCache(1 << 16), Window: w, Session: &Session{}}, call, noon)
}

func TestConfigureThreshold(t *testing.T) {
	var w Window
	for range 10 {
		fill(&w, 20, "again", &haltd.Reply{})
	}
	call := userCall("again")
	for _, c := range []struct {
		scenario    string
		calls       int
		corroborate bool
		want        Level
	}{
		{"a score of exactly the threshold does not exceed it", 10, false, Pass},
		{"a score above the threshold kills", 11, false, Kill},
		{"prompts alone warn when corroboration is required", 11, true, Warn},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			for w.Len() < c.calls {
				fill(&w, 20, "again", &haltd.Reply{})
			}
			if v := judgeScore(&w, c.corroborate, call); v.Level != c.want {
				t.Errorf("level %v at score %v, want %v", v.Level, v.Parts.Score(), c.want)
			}
		})
	}
}

func TestCorroboration(t *testing.T) {
	tickets := func(w *Window) {
		for i := range 10 {
			fill(w, 20, fmt.Sprint("ticket about ", string(rune('a'+i)), " and more of ", string(rune('p'+i))), said("billing"))
		}
	}
	same := func(w *Window) {
		for range 6 {
			fill(w, 20, "what now?", said("please tell me what to do"))
		}
	}
	for _, c := range []struct {
		scenario    string
		fill        func(*Window)
		ask         string
		corroborate bool
		want        Level
	}{
		{"a classifier with one answer dies by the literal rule", tickets, "another ticket", false, Kill},
		{"a classifier with one answer only warns", tickets, "another ticket", true, Warn},
		{"same question, same answer kills by the literal rule", same, "what now?", false, Kill},
		{"same question, same answer kills with corroboration", same, "what now?", true, Kill},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			var w Window
			c.fill(&w)
			if v := judgeScore(&w, c.corroborate, userCall(c.ask)); v.Level != c.want {
				t.Errorf("level %v, parts %+v, want %v", v.Level, v.Parts, c.want)
			}
		})
	}
}

func TestProgressVetoesSimilarity(t *testing.T) {
	// A poll whose percentage moves: prompts, replies and calls are alike
	// once numbers are masked, and yet it gets somewhere.
	var w Window
	s := &Session{}
	set := DefaultSettings()
	st := State{Cache: NewCache(1 << 16), Window: &w, Session: s}
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Wait for the job."}}}
	for i := range 12 {
		v := Judge(set, st, call, noon)
		if v.Level == Kill {
			t.Fatalf("poll %d was killed: %+v", i, v.Signals)
		}
		id := Admit(set, st, v, noon)
		reply := ran("job_status", `{"id":7}`)
		reply.Text = "I will check again."
		Observe(set, st, id, call, reply, noon)
		call.Rounds = append(call.Rounds, haltd.Round{
			Text: reply.Text, Calls: reply.Calls,
			Results: []haltd.ToolResult{{Name: "job_status", Text: fmt.Sprintf("running, %d %% done", 10+3*i)}},
		})
	}
	set.RequireCorroboration = false
	if v := Judge(set, st, call, noon); v.Level != Kill {
		t.Errorf("the literal rule says %v at score %v, want kill", v.Level, v.Parts.Score())
	}
}

func TestStatelessAgentsAreExempt(t *testing.T) {
	var w Window
	for range 12 {
		fill(&w, 20, "nightly report", said("done"))
	}
	set := DefaultSettings()
	set.Stateless = true
	v := Judge(set, State{Cache: NewCache(1 << 16), Window: &w, Session: &Session{}}, userCall("nightly report"), noon)
	if v.Level != Pass {
		t.Errorf("level %v, want pass", v.Level)
	}
}

// Lines of one form with different content are different texts: what the form
// repeats in every line must not outvote what the lines say.
func TestListingsOfOneFormAreDifferent(t *testing.T) {
	listing := func(words ...string) string {
		var b strings.Builder
		for i, w := range words {
			fmt.Fprintf(&b, "src/app/%s.go:%d: func (s *Server) %s(ctx context.Context) error {\n", w, 10*i+3, w)
		}
		return b.String()
	}
	a := SimHash(listing("invoice", "ledger", "refund", "tariff", "customs", "quota", "discount", "receipt"))
	b := SimHash(listing("socket", "listener", "backoff", "resolver", "handshake", "cipher", "session", "keepalive"))
	if d := Distance(a, b); d <= 5 {
		t.Errorf("two different listings are at distance %d, want more than 5", d)
	}
}
