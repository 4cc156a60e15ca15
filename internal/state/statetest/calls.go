package statetest

import (
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// lastOf is the last attempt of a request.
func lastOf(t *testing.T, s state.Port, digest uint64) haltd.Attempt {
	t.Helper()
	a, err := s.Open(t.Context(), state.Question{Attempt: digest}, noon)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return a.Attempt
}

// opened has one call ask for everything at once, and another one, which is
// the retry of a request and a hit like the first.
func opened(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	q := state.Question{
		Attempt: 5, Place: &p,
		Claim: policy.Claim{Draws: draws(1), Hits: []policy.Hit{{Key: "k", Window: time.Hour}}},
	}
	open := func(s state.Port) state.Answer {
		t.Helper()
		a, err := s.Open(t.Context(), q, noon)
		if err != nil || a.Lease == nil {
			t.Fatalf("Open: %v, lease %v", err, a.Lease)
		}
		if a.Limits.Refused >= 0 {
			t.Errorf("draw %d is refused", a.Limits.Refused)
		}
		return a
	}
	a := open(nodes[0])
	if a.Attempt != (haltd.Attempt{}) || len(a.Limits.Counts) != 1 || a.Limits.Counts[0] != 1 {
		t.Errorf("the first call is answered %+v", a)
	}
	a.Lease.Memory().Progress.ReportedLevel = haltd.LevelKill
	if err := a.Lease.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := nodes[1].Ended(t.Context(), 5, haltd.EndedRefused); err != nil {
		t.Fatal(err)
	}
	a = open(nodes[2])
	if a.Attempt.Ending != haltd.EndedRefused || len(a.Limits.Counts) != 1 || a.Limits.Counts[0] != 2 || a.Lease.Memory().Progress.ReportedLevel != haltd.LevelKill {
		t.Errorf("the retry is answered %+v, and its session was told of %v", a, a.Lease.Memory().Progress.ReportedLevel)
	}
	a.Lease.Release()
	q.Attempt = 6
	a = open(nodes[1])
	a.Lease.Release()
	if len(a.Limits.Counts) != 1 || a.Limits.Counts[0] != 3 {
		t.Errorf("hits %v, want the retry counted", a.Limits.Counts)
	}
}

func unsettled(t *testing.T, nodes []state.Port) {
	u := haltd.Unsettled{Model: "m", Time: noon, Tokens: haltd.Usage{Input: 3, Output: 4, CacheRead: 1}, Cost: 5}
	if err := nodes[0].SaveUnsettled(t.Context(), "bot", "resp_1", u); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := nodes[1].Unsettled(t.Context(), "other", "resp_1"); ok || err != nil {
		t.Errorf("another agent's reply is known: %v, %v", ok, err)
	}
	if got, ok, err := nodes[1].Unsettled(t.Context(), "bot", "resp_1"); !ok || err != nil || !got.Time.Equal(u.Time) || got.Tokens != u.Tokens || got.Cost != u.Cost || got.Model != u.Model {
		t.Errorf("%+v, %v, %v; want %+v", got, ok, err, u)
	}
	for i, s := range nodes {
		if _, ok, err := s.TakeUnsettled(t.Context(), "bot", "resp_1"); ok != (i == 0) || err != nil {
			t.Errorf("node %d takes it: %v, %v", i, ok, err)
		}
	}
}

// attempts: how a request ended is known on all nodes, and lost ones in a row
// are counted.
func attempts(t *testing.T, nodes []state.Port) {
	last := func(digest uint64) haltd.Attempt {
		t.Helper()
		return lastOf(t, nodes[1], digest)
	}
	want := haltd.Attempt{}
	if got := last(1); got != want {
		t.Errorf("a request that nobody made: %+v", got)
	}
	for i, how := range []haltd.Ending{haltd.EndedLost, haltd.EndedTimedOut, haltd.EndedLost, haltd.EndedRefused, haltd.EndedLost} {
		if err := nodes[i%len(nodes)].Ended(t.Context(), 1, how); err != nil {
			t.Fatalf("Ended: %v", err)
		}
		want = want.Next(how)
		if got := last(1); got != want {
			t.Errorf("attempt %d: %+v, want %+v", i+1, got, want)
		}
		if got := last(1<<63 | 1); got != (haltd.Attempt{}) {
			t.Errorf("another request: %+v", got)
		}
	}
}

func attemptsConcurrent(t *testing.T, nodes []state.Port) {
	var wg sync.WaitGroup
	for _, s := range nodes {
		wg.Go(func() {
			if err := s.Ended(t.Context(), 1, haltd.EndedLost); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a := lastOf(t, nodes[0], 1); int(a.Lost) != len(nodes) {
		t.Errorf("%d lost, want %d", a.Lost, len(nodes))
	}
}

// guesses: a session that nobody names is one as long as it is used, on
// whichever node, and another one after a long pause.
func guesses(t *testing.T, nodes []state.Port) {
	var want haltd.Guess
	for i, at := range []time.Duration{0, time.Minute, 29 * time.Minute, 2 * time.Hour, 2*time.Hour + time.Minute} {
		now := noon.Add(at)
		began, err := nodes[i%len(nodes)].Use(t.Context(), 7, now)
		if want = want.Next(now); err != nil || !began.Equal(want.Began) {
			t.Errorf("after %v: began %v, %v; want %v", at, began, err, want.Began)
		}
	}
	if began, err := nodes[0].Use(t.Context(), 8, noon.Add(3*time.Hour)); err != nil || !began.IsZero() {
		t.Errorf("another conversation began %v, %v; want none before it", began, err)
	}
}

func replies(t *testing.T, nodes []state.Port) {
	if err := nodes[0].SaveReply(t.Context(), "bot", "resp_1", haltd.PastReply{Session: "ses one", Tokens: 1200}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ agent, reply, want string }{
		{"bot", "resp_1", "ses one"}, {"other", "resp_1", ""}, {"bot", "resp_2", ""}, {"botresp_", "1", ""},
	} {
		want := haltd.PastReply{Session: c.want}
		if c.want != "" {
			want.Tokens = 1200
		}
		got, err := nodes[1].Reply(t.Context(), c.agent, c.reply)
		if err != nil || got != want {
			t.Errorf("reply %s of %s: %+v, %v; want %+v", c.reply, c.agent, got, err, want)
		}
	}
	if err := nodes[1].SaveReply(t.Context(), "bot", "resp_1", haltd.PastReply{Session: "two"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := nodes[0].Reply(t.Context(), "bot", "resp_1"); got != (haltd.PastReply{Session: "two"}) {
		t.Errorf("%+v, want the newest", got)
	}
}
