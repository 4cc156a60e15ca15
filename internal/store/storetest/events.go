package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// full is an event with every field set.
func full(id int) haltd.Event {
	return haltd.Event{
		ID: haltd.EventID(id), Time: start.Add(123456 * time.Microsecond), Type: haltd.EventWarning,
		Agent: "billing-bot", Label: `a "label"`, Session: "s\n1 – ü", Client: "claude-code",
		Provider: "anthropic", Format: "anthropic-messages", Path: "/v1/messages", Model: "claude-sonnet-4-5",
		Status: 200, Stream: true, Tokens: haltd.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, Estimated: true,
		Cost: 123_456_789, Unpriced: true,
		Latency: haltd.Duration(1234567 * time.Microsecond), FirstByte: haltd.Duration(7 * time.Microsecond),
		Blocked: true, BlockReason: "loop_detected", Incident: "inc_x", Shadow: true, Retry: true,
		Score: 10.5, Rule: "no opus", Tags: []string{"night", "dear"},
		Finish: "tool_use", ToolCalls: []string{"read", `wri"te`}, PromptHash: "abc", PromptLen: 10, ReplyHash: "def", ReplyLen: 20,
		Unread: "too long", Error: "client_left", Verdict: verdict(),
		Audit: audit(),
	}
}

// verdict has every field set.
func verdict() *haltd.Verdict {
	return &haltd.Verdict{
		Version: haltd.VerdictVersion, Action: haltd.Kill, Check: "stall", Reason: haltd.ReasonLoop, Sentence: `a "b" <c> & d`,
		Level: haltd.LevelKill, Score: 10.5, Parts: haltd.ScoreParts{Prompts: 1, Responses: 4, ToolCalls: 1}, Certainty: 96.4,
		Unmet: "no second signal", Grace: true, Bypass: true,
		Findings: []haltd.Finding{{
			Check: "stall", Action: haltd.Kill, Reason: haltd.ReasonLoop, Sentence: "stuck", Name: "n", Shadow: true,
			RetryAfter: 7, Delay: haltd.Duration(1500 * time.Microsecond), Tag: "t", Spent: &haltd.Spending{Cost: 5, Tokens: 6},
		}},
		Signals: []haltd.Signal{{
			Detector: haltd.DetectorStall, Family: haltd.FamilyRepeat, Level: haltd.LevelKill, Score: 96.4, Threshold: 90,
			Certainty: 96.4, WarnAt: 50, KillAt: 90,
			Reasons: []haltd.Contribution{{Name: "r", Family: haltd.FamilyRepeat, Text: "the same again", Points: -3}},
			Tools:   []string{"read"}, Count: 3, Outcome: "error", Session: "s",
			Rounds:  []haltd.RoundEvidence{{Index: 2, Letter: "A", Tool: "read", Outcome: "error", Act: "1f", Result: "2e", Certainty: 11.6, Family: haltd.FamilyRepeat}},
			Matches: []haltd.Match{{Entry: 1 << 60, Time: start, PromptDistance: -1, ResponseDistance: 2, SameTools: true}},
			Parts:   &haltd.ScoreParts{Prompts: 1}, Window: 20, Tokens: []int64{1000, 1400}, Unmet: "u",
		}},
		Basis: &haltd.Basis{Calls: 20, Rounds: 6, Features: 1, Weights: "2026-11-15"},
	}
}

// brokenVerdict is one that no record can hold.
func brokenVerdict() *haltd.Verdict { return &haltd.Verdict{Certainty: math.NaN()} }

// audit has every field set.
func audit() *haltd.Audit {
	return &haltd.Audit{
		Change: "activated", By: "ann", Why: "enough", Subject: "key_x", GraceUntil: new(start),
		Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`)), Rule: &haltd.Rule{ID: "rul_x", Name: "no opus", CreatedAt: start, UpdatedAt: start},
		Incident: "inc_x", Status: haltd.IncidentKept,
	}
}

func lastEvent(t *testing.T, s Store) {
	last := func(want haltd.EventID) {
		t.Helper()
		if got, err := s.LastEvent(t.Context()); got != want || err != nil {
			t.Errorf("the last event is %d, %v; want %d", got, err, want)
		}
	}
	last(0)
	add(t, s, call(3, start, "a", "s"), call(7, start, "a", "s"))
	last(7)
	add(t, s, call(5, start, "a", "s"))
	last(7)
}

func roundTrip(t *testing.T, s Store) {
	want := []haltd.Event{
		full(5),
		{ID: 4, Time: start, Type: haltd.EventError, Session: "nobody's", Status: 401, Error: haltd.CodeUnauthorized},
		{ID: 3, Time: start, Type: haltd.EventPolicy, Agent: "billing-bot"},
		{ID: 2, Type: haltd.EventAlert},
		{ID: 1, Time: start.Add(-time.Hour), Type: haltd.EventCall, Agent: "a", Model: "bad \x00 byte"},
	}
	for _, e := range slices.Backward(want) {
		add(t, s, e)
	}
	got, err := s.Events(t.Context(), haltd.EventQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "events", got, want)
}

func idempotent(t *testing.T, s Store) {
	first := call(10, start, "a", "s")
	add(t, s, first, call(11, start, "a", "s"))
	changed := first
	changed.Model = "other"
	add(t, s, changed, call(12, start, "a", "s"), call(12, start, "a", "s"))
	add(t, s, changed)

	equal(t, "ids", ids(t, s, haltd.EventQuery{}), []int{12, 11, 10})
	equal(t, "events of the changed model", ids(t, s, haltd.EventQuery{Model: "other"}), []int{})
	a, err := s.Agent(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of the agent", a.Totals.Calls, 3)
	session, err := s.Session(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals of the session", session.Totals, a.Totals)
	st, err := s.Stats(t.Context(), haltd.StatsQuery{Since: start, Until: start.Add(time.Minute), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals of the hour", st.Totals, a.Totals)
}

func atomic(t *testing.T, s Store) {
	bad := call(3, start, "a", "s")
	bad.Verdict = brokenVerdict()
	if err := s.AppendEvents(t.Context(), []haltd.Event{call(2, start, "a", "s"), bad}); err == nil {
		t.Fatal("a batch with a broken event was accepted")
	}
	equal(t, "ids", ids(t, s, haltd.EventQuery{}), []int{})
	_, err := s.Agent(t.Context(), "a")
	wantCode(t, "agent of the refused batch", err, haltd.CodeNotFound)
}

func refused(t *testing.T, s Store) {
	broken := call(1, start, "a", "s")
	broken.Verdict = brokenVerdict()
	endless := call(1, start, "a", "s")
	endless.Score = math.Inf(1)
	for name, e := range map[string]haltd.Event{"no id": call(0, start, "a", "s"), "broken verdict": broken, "endless score": endless} {
		wantCode(t, name, s.AppendEvents(t.Context(), []haltd.Event{e}), haltd.CodeInvalid)
	}
	if err := s.AppendEvents(t.Context(), nil); err != nil {
		t.Errorf("no events: %v", err)
	}
}

func filters(t *testing.T, s Store) {
	events := []haltd.Event{
		call(1, start, "a", "s1"),
		call(2, start.Add(time.Minute), "a", "s2"),
		call(3, start.Add(2*time.Hour), "b", "s1"),
		call(4, start.Add(3*time.Hour), "b", "s3"),
		call(5, start.Add(26*time.Hour), "a", "s1"),
	}
	events[1].Client, events[1].Provider, events[1].Model = "codex", "groq", "llama"
	events[2].Type, events[2].Blocked = haltd.EventBlocked, true
	events[3].Type = haltd.EventGrowth
	add(t, s, events...)
	add(t, s, haltd.Event{ID: 6, Time: start, Type: haltd.EventError})

	yes, no := true, false
	for name, c := range map[string]struct {
		q    haltd.EventQuery
		want []int
	}{
		"all":                 {haltd.EventQuery{}, []int{6, 5, 4, 3, 2, 1}},
		"one type":            {haltd.EventQuery{Types: []haltd.EventType{haltd.EventGrowth}}, []int{4}},
		"two types":           {haltd.EventQuery{Types: []haltd.EventType{haltd.EventGrowth, haltd.EventBlocked}}, []int{4, 3}},
		"agent":               {haltd.EventQuery{Agent: "a"}, []int{5, 2, 1}},
		"unknown agent":       {haltd.EventQuery{Agent: "zed"}, []int{}},
		"session":             {haltd.EventQuery{Session: "s1"}, []int{5, 3, 1}},
		"session of an agent": {haltd.EventQuery{Session: "s1", Agent: "a"}, []int{5, 1}},
		"unknown session":     {haltd.EventQuery{Session: "s9"}, []int{}},
		"session elsewhere":   {haltd.EventQuery{Session: "s3", Agent: "a"}, []int{}},
		"client":              {haltd.EventQuery{Client: "codex"}, []int{2}},
		"provider":            {haltd.EventQuery{Provider: "groq"}, []int{2}},
		"model":               {haltd.EventQuery{Model: "gpt-5"}, []int{5, 4, 3, 1}},
		"blocked":             {haltd.EventQuery{Blocked: &yes}, []int{3}},
		"not blocked":         {haltd.EventQuery{Blocked: &no}, []int{6, 5, 4, 2, 1}},
		"since is inclusive":  {haltd.EventQuery{Since: start.Add(3 * time.Hour)}, []int{5, 4}},
		"until is exclusive":  {haltd.EventQuery{Until: start.Add(time.Minute)}, []int{6, 1}},
		"between":             {haltd.EventQuery{Since: start.Add(time.Second), Until: start.Add(25 * time.Hour)}, []int{4, 3, 2}},
		"an empty hour":       {haltd.EventQuery{Since: start.Add(5 * time.Hour), Until: start.Add(6 * time.Hour)}, []int{}},
		"since the future":    {haltd.EventQuery{Since: start.Add(99 * time.Hour)}, []int{}},
		"before":              {haltd.EventQuery{Before: 3}, []int{2, 1}},
		"limit":               {haltd.EventQuery{Limit: 2}, []int{6, 5}},
		"together":            {haltd.EventQuery{Agent: "a", Model: "gpt-5", Client: "sdk", Before: 5, Since: start, Limit: 9}, []int{1}},
		"quotes are data":     {haltd.EventQuery{Agent: "a' OR '1'='1", Model: `"`}, []int{}},
	} {
		equal(t, name, ids(t, s, c.q), c.want)
	}
}

func sessionsPerAgent(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "same"), call(2, start, "b", "same"), call(3, start, "a", "same"))
	equal(t, "events of a's session", ids(t, s, haltd.EventQuery{Agent: "a", Session: "same"}), []int{3, 1})
	for agent, calls := range map[string]int64{"a": 2, "b": 1} {
		session, err := s.Session(t.Context(), agent, "same")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "calls of the session of "+agent, session.Totals.Calls, calls)
	}
}

// paging reads page by page while newer events arrive: all that was there at
// the start is seen once, in order.
func paging(t *testing.T, s Store) {
	const first, pages, size = 100, 5, 4
	for i := range pages * size {
		add(t, s, call(first+i, start, fmt.Sprint("agent-", i%2), "s"))
	}
	newer := first + pages*size
	var seen []int
	q := haltd.EventQuery{Limit: size}
	for {
		page := ids(t, s, q)
		if len(page) == 0 {
			break
		}
		seen = append(seen, page...)
		q.Before = haltd.EventID(page[len(page)-1])
		add(t, s, call(newer, start, "agent-0", "s"))
		newer++
	}
	want := []int{}
	for i := pages*size - 1; i >= 0; i-- {
		want = append(want, first+i)
	}
	equal(t, "ids over all pages", seen, want)
}

func concurrent(t *testing.T, s Store) {
	const writers, batches, size = 4, 5, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for b := range batches {
				var batch []haltd.Event
				for i := range size {
					batch = append(batch, call(1+w+writers*(b*size+i), start, "a", fmt.Sprint("s", w)))
				}
				if err := s.AppendEvents(t.Context(), batch); err != nil {
					t.Errorf("AppendEvents: %v", err)
				}
				if _, err := s.Events(t.Context(), haltd.EventQuery{Agent: "a", Limit: 3}); err != nil {
					t.Errorf("Events: %v", err)
				}
			}
		})
	}
	wg.Wait()
	equal(t, "number of events", len(ids(t, s, haltd.EventQuery{Limit: 1000})), writers*batches*size)
	a, err := s.Agent(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", a.Totals.Calls, writers*batches*size)
}

func prune(t *testing.T, s Store) {
	add(t, s,
		call(1, start.Add(-48*time.Hour), "a", "old"),
		call(2, start.Add(-time.Minute), "a", "old"),
		call(3, start, "a", "edge"),
		call(4, start.Add(-time.Second), "a", "both"),
		call(5, start.Add(time.Second), "a", "both"),
		haltd.Event{ID: 6, Time: start.Add(-time.Hour), Type: haltd.EventError},
	)
	before, err := s.Agent(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.PruneEvents(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "events gone", gone, 4)
	equal(t, "ids left", ids(t, s, haltd.EventQuery{}), []int{5, 3})
	after, err := s.Agent(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the agent after", after, before)
	_, err = s.Session(t.Context(), "a", "old")
	wantCode(t, "a session last seen before", err, haltd.CodeNotFound)
	both, err := s.Session(t.Context(), "a", "both")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of a session that goes on", both.Totals.Calls, 2)
	st, err := s.Stats(t.Context(), haltd.StatsQuery{Since: start.Add(-72 * time.Hour), Until: start.Add(time.Hour), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals of the hours", st.Totals.Calls, 5)

	add(t, s, call(7, start.Add(time.Minute), "a", "old"))
	equal(t, "a session that came back", ids(t, s, haltd.EventQuery{Agent: "a", Session: "old"}), []int{7})
	if gone, err = s.PruneEvents(t.Context(), start); err != nil || gone != 0 {
		t.Errorf("a second prune: %d gone, error %v", gone, err)
	}
}

func canceled(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, eventsErr := s.Events(ctx, haltd.EventQuery{})
	_, pruneErr := s.PruneEvents(ctx, start.Add(time.Hour))
	for name, err := range map[string]error{
		"AppendEvents": s.AppendEvents(ctx, []haltd.Event{call(2, start, "a", "s")}),
		"Events":       eventsErr,
		"PruneEvents":  pruneErr,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
	equal(t, "ids", ids(t, s, haltd.EventQuery{}), []int{1})
}
