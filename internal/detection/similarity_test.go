package detection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

// asking is the prompt of a request that says one thing.
func asking(text string) Prompt { return promptOf(userCall(text), nil) }

// fill adds calls with equal prompts and the given replies to a window.
func fill(w *Window, size int, prompt string, replies ...*haltd.Reply) {
	for _, r := range replies {
		w.Attach(w.Add(asking(prompt), size, noon), ReadReply(r, true), noon)
	}
}

func TestExtractUserMessage(t *testing.T) {
	a := promptOf(userCall("first question", "the same last words"), nil)
	b := promptOf(userCall("another beginning entirely", "something between", "the same last words"), nil)
	if a != b || a.Hash == 0 {
		t.Errorf("prompts %+v and %+v, want the hash of the last user message in both", a, b)
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
	if similar(promptOf(call("package main imports fmt"), nil).Hash, promptOf(call("no such file or directory here"), nil).Hash) {
		t.Error("two requests with different tool results have the same prompt")
	}
}

func TestScoreCalculation(t *testing.T) {
	var w Window
	fill(&w, 20, "do it", said("done it"), said("done it"), said("done it"))
	fill(&w, 20, "do it", ran("write", `{"a":1,"b":2}`), ran("write", `{"b":2, "a":1}`))
	parts, _ := w.Score(asking("do it"), 20, noon)
	want := haltd.ScoreParts{Prompts: 5, Responses: 0, ToolCalls: 1}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Fatalf("parts (-want +got):\n%s", diff)
	}
	if got := parts.Score(); got != 6.5 {
		t.Errorf("score %v, want 5 × 1.0 + 0 × 2.0 + 1 × 1.5 = 6.5", got)
	}
	if got := (haltd.ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 4}).Score(); got != 12 {
		t.Errorf("score %v, want 4 × 1.0 + 1 × 2.0 + 4 × 1.5 = 12", got)
	}
}

func TestPromptSimilarityCheck(t *testing.T) {
	var w Window
	fill(&w, 20, "Check order #12", said("a"))
	fill(&w, 20, "Write a poem about the sea and the wind", said("b"))
	parts, matches := w.Score(asking("Check order #999"), 20, noon)
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

// A command in the text of a reply is a call, whatever is said around it; where the
// whole text is alike, it is counted once.
func TestACommandInTheTextIsACall(t *testing.T) {
	var w Window
	fill(&w, 20, "Goal: accept the terms. Screen: a dialog with two buttons.",
		said("Hmm, I look for the button now.\nAction: press 5"), said("Perhaps it needs a moment more than before.\nAction: press 5"),
		said("Once again and with care.\nAction: press 5"), said("Once again and with care.\nAction: press 5"))
	parts, _ := w.Score(asking("Goal: accept the terms. Screen: a dialog with two buttons."), 20, noon)
	if diff := cmp.Diff(haltd.ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 2}, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestEmptyOrUnreadTextMatchesNothing(t *testing.T) {
	var w Window
	fill(&w, 20, "", said(""), said(""), said(""))
	if parts, _ := w.Score(asking(""), 20, noon); parts != (haltd.ScoreParts{}) {
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
	if parts, _ := w.Score(asking("again"), 20, noon); parts.Prompts != 19 {
		t.Errorf("%d similar prompts, want 19: the request itself is the 20th and not counted", parts.Prompts)
	}
}

func TestConfigureWindowSize(t *testing.T) {
	var w Window
	for range 10 {
		fill(&w, 20, "again", said("x"))
	}
	if parts, _ := w.Score(asking("again"), 5, noon); parts.Prompts != 4 {
		t.Errorf("%d similar prompts, want 4 of a window of 5", parts.Prompts)
	}
}

func TestOldCallsFallOut(t *testing.T) {
	var w Window
	fill(&w, 20, "again", said("x"), said("x"))
	if parts, _ := w.Score(asking("again"), 20, noon.Add(25*time.Hour)); parts != (haltd.ScoreParts{}) {
		t.Errorf("parts %+v, want none after 24 hours", parts)
	}
}

func TestResponseHashCaptureBindsTheReplyToItsOwnRequest(t *testing.T) {
	var w Window
	first := w.Add(asking("one"), 20, noon)
	second := w.Add(asking("two"), 20, noon)
	w.Attach(second, ReadReply(said("reply to two"), true), noon)
	w.Attach(first, ReadReply(said("reply to one"), true), noon)
	for i, want := range []string{"reply to one", "reply to two"} {
		if w.entries[i].response != SimHash(want) {
			t.Errorf("call %d has another's reply", i+1)
		}
	}
	w.Attach(99, ReadReply(said("reply to nobody"), true), noon)
}

func TestClearWindowOnActivate(t *testing.T) {
	var w Window
	id := w.Add(asking("again"), 20, noon)
	w.Clear()
	w.Attach(id, ReadReply(said("late"), true), noon)
	if parts, _ := w.Score(asking("again"), 20, noon); w.Len() != 0 || parts != (haltd.ScoreParts{}) {
		t.Errorf("window holds %d calls, parts %+v; want it empty", w.Len(), parts)
	}
	if next := w.Add(Prompt{}, 20, noon); next <= id {
		t.Errorf("id %d was given out again", next)
	}
}

// judgeScore runs a request against a window with or without corroboration.
func judgeScore(w *Window, corroborate bool, call *haltd.Call) Detection {
	set := DefaultSettings()
	set.RequireCorroboration = corroborate
	return judge(set, State{Window: w, Session: &Session{}}, call, noon)
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
		want        haltd.Level
	}{
		{"a score of exactly the threshold does not exceed it", 10, false, haltd.LevelPass},
		{"a score above the threshold kills", 11, false, haltd.LevelKill},
		{"prompts alone warn when corroboration is required", 11, true, haltd.LevelWarn},
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
		want        haltd.Level
	}{
		{"a classifier with one answer dies by the literal rule", tickets, "another ticket", false, haltd.LevelKill},
		{"a classifier with one answer only warns", tickets, "another ticket", true, haltd.LevelWarn},
		{"same question, same answer kills by the literal rule", same, "what now?", false, haltd.LevelKill},
		{"same question, same answer kills with corroboration", same, "what now?", true, haltd.LevelKill},
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
	// once numbers are masked, and yet it gets somewhere. Nobody is warned.
	var w Window
	s := &Session{}
	set := DefaultSettings()
	st := State{Window: &w, Session: s}
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Wait for the job."}}}
	for i := range 12 {
		v := judge(set, st, call, noon)
		if v.Level != haltd.LevelPass {
			t.Fatalf("poll %d: %+v", i, v.Signals)
		}
		reply := ran("job_status", `{"id":7}`)
		reply.Text = "I will check again."
		answer(set, st, v, call, reply, noon)
		call.Rounds = append(call.Rounds, haltd.Round{
			Text: reply.Text, Calls: reply.Calls,
			Results: []haltd.ToolResult{{Name: "job_status", Text: fmt.Sprintf("running, %d %% done", 10+3*i)}},
		})
	}
	if v := judge(set, st, call, noon); v.Parts.Score() <= set.Threshold || v.Unmet != Advancing {
		t.Errorf("score %v, unmet %q; want the score in the record, and why it says nothing", v.Parts.Score(), v.Unmet)
	}
	set.RequireCorroboration = false
	if v := judge(set, st, call, noon); v.Level != haltd.LevelKill {
		t.Errorf("the literal rule says %v at score %v, want kill", v.Level, v.Parts.Score())
	}
}

// Answers that are all alike warn of nothing where stall, which sees the rounds, does not;
// where one waits between them, which stall has patience for, they do.
func TestAnswersAloneWarnOfNothing(t *testing.T) {
	play := func(pause time.Duration) *talk {
		k := newTalk(t, "Find out why the export fails.")
		k.pause = pause
		for i := range 16 {
			k.says(fmt.Sprintf("Thought: %s\n\nAction:\n```python\nopen_file(%q, %q)\n```", fresh(i%5), topics[i%5]+".py", topics[i%3]), "[observation not recorded]")
		}
		return k
	}
	if k := play(2 * time.Second); k.last.Level != haltd.LevelPass || k.last.Parts.Score() <= 10 || k.last.Certainty < advancing {
		t.Errorf("in a hurry: %v at score %v and certainty %v, %q", k.last.Level, k.last.Parts.Score(), k.last.Certainty, k.last.Unmet)
	}
	if k := play(20 * time.Second); k.last.Level != haltd.LevelWarn {
		t.Errorf("with patience: %v at score %v and certainty %v, %q", k.last.Level, k.last.Parts.Score(), k.last.Certainty, k.last.Unmet)
	}
}

// What stall knows of one session says nothing about the calls of others.
func TestEqualCallsOfOtherSessionsWarn(t *testing.T) {
	var w Window
	set := DefaultSettings()
	var v Detection
	for i := range 12 {
		st := State{Window: &w, Session: &Session{}, SessionID: uint64(i + 1)}
		call := &haltd.Call{Opening: []haltd.Message{{Text: "Build the report."}}, Rounds: []haltd.Round{
			did("read", `{"file":"report.md"}`, "A report on the harvest."), did("build", `{"file":"report.md"}`, "Built in a moment."),
		}}
		v = judge(set, st, call, noon)
		answer(set, st, v, call, ran("publish", `{"file":"report.md"}`), noon)
	}
	if v.Level != haltd.LevelWarn || v.Certainty >= advancing {
		t.Errorf("level %v at score %v and certainty %v: %q; want a warning", v.Level, v.Parts.Score(), v.Certainty, v.Unmet)
	}
}

func TestStatelessAgentsAreExempt(t *testing.T) {
	var w Window
	for range 12 {
		fill(&w, 20, "nightly report", said("done"))
	}
	set := DefaultSettings()
	set.Stateless = true
	v := judge(set, State{Window: &w, Session: &Session{}}, userCall("nightly report"), noon)
	if v.Level != haltd.LevelPass {
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
	if d := distance(a, b); d <= 5 {
		t.Errorf("two different listings are at distance %d, want more than 5", d)
	}
}

// shot is one call without a history, and how it is answered.
type shot struct {
	prompt, user, reply string
	session             uint64
	pause               time.Duration // since the reply before; below zero the calls overlap
	cut                 bool          // the client hung up
}

// fire plays calls without a history. Each reply takes a second.
func fire(set Settings, n int, at func(i int) shot) (levels []haltd.Level, last Detection) {
	st, now := newState(), noon
	sessions := map[uint64]*Session{}
	type open struct {
		entry uint64
		st    State
		call  *haltd.Call
		shot
		ends time.Time
	}
	var running []open
	finish := func(until time.Time) {
		for len(running) > 0 && !running[0].ends.After(until) {
			o := running[0]
			running = running[1:]
			r := said(o.reply)
			r.Complete = !o.cut
			Observe(set, o.st, o.entry, Source{o.call.Model, o.call.System}, ReadReply(r, true), o.ends)
		}
	}
	for i := range n {
		s := at(i)
		call := userCall(s.prompt)
		call.Hints.User = s.user
		if sessions[s.session] == nil {
			sessions[s.session] = &Session{}
		}
		st.Session, st.SessionID = sessions[s.session], s.session
		now = now.Add(s.pause)
		finish(now)
		last = judge(set, st, call, now)
		levels = append(levels, last.Level)
		ends := now.Add(time.Second)
		running = append(running, open{Admit(set, st, last, now), st, call, s, ends})
		now = ends
	}
	return levels, last
}

// first is the number of the first call of a level, from 1; 0 for none.
func first(levels []haltd.Level, l haltd.Level) int { return slices.Index(levels, l) + 1 }

const greeting, reply = "What is the state of the order?", "I cannot find that order."

// Nothing but the calls themselves tells a loop of calls without a history
// from many people who ask the same. It kills only where there is no doubt.
func TestCallsWithoutAHistory(t *testing.T) {
	plain := shot{prompt: greeting, reply: reply, session: 1, pause: 2 * time.Second}
	for _, c := range []struct {
		name   string
		change func(i int, s *shot)
		want   haltd.Level
	}{
		{"equal to the letter", func(int, *shot) {}, haltd.LevelKill},
		{"a named user", func(_ int, s *shot) { s.user = "u1" }, haltd.LevelKill},
		{"a minute between them", func(_ int, s *shot) { s.pause = time.Minute }, haltd.LevelKill},
		{"at once", func(_ int, s *shot) { s.pause = 0 }, haltd.LevelKill},
		{"more than a minute between them", func(_ int, s *shot) { s.pause = time.Minute + time.Millisecond }, haltd.LevelWarn},
		{"another number", func(i int, s *shot) { s.prompt = fmt.Sprintf("What is the state of order %d?", i) }, haltd.LevelWarn},
		{"another space", func(i int, s *shot) { s.prompt += strings.Repeat(" ", i) }, haltd.LevelKill}, // nobody asks something else by it
		{"two spellings that take turns", func(i int, s *shot) { s.prompt = []string{greeting, strings.ToLower(greeting)}[i%2] }, haltd.LevelKill},
		{"another user each time", func(i int, s *shot) { s.user = fmt.Sprint("u", i) }, haltd.LevelWarn},
		{"another session each time", func(i int, s *shot) { s.session = uint64(i + 1) }, haltd.LevelWarn},
		{"calls that overlap", func(_ int, s *shot) { s.pause = -500 * time.Millisecond }, haltd.LevelWarn},
		{"who hangs up, and is back before that is seen", func(_ int, s *shot) { s.cut, s.pause = true, -50*time.Millisecond }, haltd.LevelKill},
		{"one pause among them", func(i int, s *shot) {
			if i%5 == 4 {
				s.pause = 2 * time.Minute
			}
		}, haltd.LevelWarn},
		{"one overlap among them", func(i int, s *shot) {
			if i%5 == 4 {
				s.pause = -500 * time.Millisecond
			}
		}, haltd.LevelWarn},
		{"one of eight answers, as of a sample", func(i int, s *shot) { s.reply = fresh((5*i + i/3) % 8) }, haltd.LevelWarn},
		{"one of two answers", func(i int, s *shot) { s.reply = fresh(i % 2) }, haltd.LevelKill},
		{"other answers", func(i int, s *shot) { s.reply = fresh(i) }, haltd.LevelWarn},
	} {
		t.Run(c.name, func(t *testing.T) {
			levels, last := fire(DefaultSettings(), 30, func(i int) shot {
				s := plain
				c.change(i, &s)
				return s
			})
			if got := slices.Max(levels); got != c.want {
				t.Errorf("level %v, want %v: %+v, %s", got, c.want, last.Parts, last.Unmet)
			}
			if n := first(levels, haltd.LevelKill); c.want == haltd.LevelKill && n > 20 {
				t.Errorf("killed at call %d", n)
			}
			if last.Unmet == "" && c.want == haltd.LevelWarn {
				t.Error("the verdict does not say what is missing for a kill")
			}
		})
	}
}

func TestEqualCallsWithoutAHistoryAreKilledByTheNinth(t *testing.T) {
	levels, last := fire(DefaultSettings(), 9, func(int) shot {
		return shot{prompt: greeting, reply: reply, session: 1, pause: 2 * time.Second}
	})
	if n := first(levels, haltd.LevelKill); n == 0 {
		t.Errorf("levels %v, want a kill by the ninth call: %+v", levels, last)
	}
	if s := last.Signals[0]; s.Detector != haltd.DetectorSimilarity || s.Parts == nil || len(s.Matches) == 0 {
		t.Errorf("signal %+v, want similarity with the calls that match", s)
	}
}

// With the literal rule the score decides, whoever asks and whenever.
func TestTheLiteralRule(t *testing.T) {
	set := DefaultSettings()
	set.RequireCorroboration = false
	for _, c := range []struct {
		name string
		at   func(i int) shot
		kill int // the call whose score exceeds the threshold
	}{
		{"different users, sessions and numbers, hours apart", func(i int) shot {
			return shot{fmt.Sprintf("What is the state of order %d?", i), fmt.Sprint("u", i), reply, uint64(i + 1), time.Hour, false}
		}, 6},
		{"equal answers to different questions", func(i int) shot { return shot{fresh(i), "", reply, 1, time.Second, false} }, 8},
		{"equal questions with different answers", func(i int) shot { return shot{greeting, "", fresh(i), 1, time.Second, false} }, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			levels, _ := fire(set, 20, c.at)
			if n := first(levels, haltd.LevelKill); n != c.kill {
				t.Errorf("killed at call %d, want %d", n, c.kill)
			}
		})
	}
}

// A client that names another user or session with each call does not loop
// for ever.
func TestStreakUnderChangingNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(i int, s *shot)
		kill   int
	}{
		{"changing users", func(i int, s *shot) { s.user = fmt.Sprint("u", i) }, longStreak},
		{"changing sessions", func(i int, s *shot) { s.session = uint64(i + 1) }, longStreak},
		{"another question in between", func(i int, s *shot) {
			s.user = fmt.Sprint("u", i)
			if i == 10 {
				s.prompt = "Who is on duty today?"
			}
		}, 11 + longStreak},
		{"another answer in between", func(i int, s *shot) {
			s.user = fmt.Sprint("u", i)
			if i == 10 {
				s.reply = "The order was found at last."
			}
		}, 11 + longStreak},
		{"a pause in between", func(i int, s *shot) {
			s.user = fmt.Sprint("u", i)
			if i == 10 {
				s.pause = 5 * time.Minute
			}
		}, 10 + longStreak},
		{"calls that overlap", func(i int, s *shot) {
			s.user, s.pause = fmt.Sprint("u", i), -500*time.Millisecond
		}, 0},
		{"another number in every question", func(i int, s *shot) {
			s.user, s.prompt = fmt.Sprint("u", i), fmt.Sprintf("What is the state of order %d?", i)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			levels, last := fire(DefaultSettings(), longStreak+12, func(i int) shot {
				s := shot{prompt: greeting, reply: reply, session: 1, pause: 2 * time.Second}
				c.change(i, &s)
				return s
			})
			if n := first(levels, haltd.LevelKill); n != c.kill {
				t.Fatalf("killed at call %d, want %d; %+v", n, c.kill, last.Signals)
			}
			if c.kill == 0 {
				return
			}
			s := last.Signals[0]
			if s.Family != haltd.FamilyStreak || s.Threshold != longStreak || s.Count < longStreak || !strings.Contains(s.Sentence("bot"), "under changing users or sessions") {
				t.Errorf("signal %+v, want the streak", s)
			}
		})
	}
}

// A person who reads and answers is no loop: those calls carry a history.
func TestAStreakIsOfCallsWithoutAHistory(t *testing.T) {
	set, st := DefaultSettings(), newState()
	for i := range longStreak + 4 {
		call := userCall(fresh(i), greeting)
		v := judge(set, st, call, noon)
		for _, s := range v.Signals {
			if s.Family == haltd.FamilyStreak {
				t.Fatalf("call %d: %+v", i, s)
			}
		}
		answer(set, st, v, call, said(reply), noon)
	}
}

// Workers that begin anew for each job and write something else each time do not
// repeat themselves, however equal the acknowledgements and their words are.
func TestOneRoundEachIsNoRepetitionUnlessTheCallIs(t *testing.T) {
	set := DefaultSettings()
	kills := func(pause time.Duration, file func(i int) string) bool {
		st := newState()
		st.SessionID = 7
		for i := range 14 {
			at := noon.Add(time.Duration(i) * pause)
			call := &haltd.Call{Model: "m", Opening: []haltd.Message{{Text: "make the " + file(i) + " page"}},
				Rounds: []haltd.Round{did("write_file", `{"path":"`+file(i)+`"}`, "written")}}
			st.Session = &Session{}
			v := judge(set, st, call, at)
			for _, s := range v.Signals {
				if s.Level == haltd.LevelKill {
					return true
				}
			}
			reply := ran("write_file", `{"path":"`+file(i)+`.css"}`)
			reply.Text = "I go on with this."
			answer(set, st, v, call, reply, at.Add(time.Second))
		}
		return false
	}
	if kills(10*time.Second, func(i int) string {
		return []string{"cactus", "harbor", "lantern", "meadow"}[i%4] + strings.Repeat("x", i)
	}) {
		t.Error("killed, though each wrote something else")
	}
	if !kills(10*time.Second, func(int) string { return "cactus" }) {
		t.Error("not killed, though each did the same")
	}
	if kills(15*time.Minute, func(int) string { return "cactus" }) {
		t.Error("killed, though it is a job that is run every quarter of an hour")
	}
}
