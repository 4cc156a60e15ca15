package statetest

import (
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// attempts: how a request ended is known on all nodes, and lost ones in a row
// are counted.
func attempts(t *testing.T, nodes []State) {
	last := func(digest uint64) haltd.Attempt {
		t.Helper()
		a, err := nodes[1].Attempts.Last(t.Context(), digest)
		if err != nil {
			t.Fatalf("Last: %v", err)
		}
		return a
	}
	want := haltd.Attempt{}
	if got := last(1); got != want {
		t.Errorf("a request that nobody made: %+v", got)
	}
	for i, how := range []haltd.Ending{haltd.EndedLost, haltd.EndedTimedOut, haltd.EndedLost, haltd.EndedRefused, haltd.EndedLost} {
		if err := nodes[i%len(nodes)].Attempts.Ended(t.Context(), 1, how); err != nil {
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

func attemptsConcurrent(t *testing.T, nodes []State) {
	var wg sync.WaitGroup
	for _, s := range nodes {
		wg.Go(func() {
			if err := s.Attempts.Ended(t.Context(), 1, haltd.EndedLost); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a, err := nodes[0].Attempts.Last(t.Context(), 1); err != nil || int(a.Lost) != len(nodes) {
		t.Errorf("%d lost, %v; want %d", a.Lost, err, len(nodes))
	}
}

// guesses: a session that nobody names is one as long as it is used, on
// whichever node, and another one after a long pause.
func guesses(t *testing.T, nodes []State) {
	var want haltd.Guess
	for i, at := range []time.Duration{0, time.Minute, 29 * time.Minute, 2 * time.Hour, 2*time.Hour + time.Minute} {
		now := noon.Add(at)
		began, err := nodes[i%len(nodes)].Guesses.Use(t.Context(), 7, now)
		if want = want.Next(now); err != nil || !began.Equal(want.Began) {
			t.Errorf("after %v: began %v, %v; want %v", at, began, err, want.Began)
		}
	}
	if began, err := nodes[0].Guesses.Use(t.Context(), 8, noon.Add(3*time.Hour)); err != nil || !began.IsZero() {
		t.Errorf("another conversation began %v, %v; want none before it", began, err)
	}
}

func replies(t *testing.T, nodes []State) {
	if err := nodes[0].Replies.SaveReply(t.Context(), "bot", "resp_1", "ses one"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ agent, reply, want string }{
		{"bot", "resp_1", "ses one"}, {"other", "resp_1", ""}, {"bot", "resp_2", ""}, {"botresp_", "1", ""},
	} {
		got, err := nodes[1].Replies.Session(t.Context(), c.agent, c.reply)
		if err != nil || got != c.want {
			t.Errorf("reply %s of %s: session %q, %v; want %q", c.reply, c.agent, got, err, c.want)
		}
	}
	if err := nodes[1].Replies.SaveReply(t.Context(), "bot", "resp_1", "two"); err != nil {
		t.Fatal(err)
	}
	if got, _ := nodes[0].Replies.Session(t.Context(), "bot", "resp_1"); got != "two" {
		t.Errorf("session %q, want that of the newest", got)
	}
}
