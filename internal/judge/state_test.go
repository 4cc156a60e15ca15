package judge_test

import (
	"context"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/memory"
)

// contended is a state that another node changes first, so many times.
type contended struct {
	*memory.State
	left int
}

// late is a lease whose holder is too late.
type late struct {
	state.Lease
	of *contended
}

func (c *contended) Acquire(ctx context.Context, p state.Place, now time.Time) (state.Lease, error) {
	l, err := c.State.Acquire(ctx, p, now)
	return late{l, c}, err
}

func (c *contended) Open(ctx context.Context, q state.Question, now time.Time) (state.Answer, error) {
	a, err := c.State.Open(ctx, q, now)
	a.Lease = late{a.Lease, c}
	return a, err
}

func (l late) Commit(ctx context.Context) error {
	if l.of.left > 0 {
		l.of.left--
		l.Memory().Window.Clear()
		return haltd.Errorf(haltd.CodeConflict, "another node was faster")
	}
	return l.Lease.Commit(ctx)
}

// Who was too late judges again by what the faster one left, and from the
// start: nothing is found twice. Who is too late again and again is judged by
// what he saw, and leaves nothing behind.
func TestASlowerCallIsJudgedAgain(t *testing.T) {
	for _, tc := range []struct{ faster, window int }{{0, 1}, {1, 1}, {2, 1}, {3, 0}} {
		states := &contended{State: memory.New(100, 100, 1e6), left: tc.faster}
		b := newBench(t, haltd.DefaultPolicy(), func(o *judge.Options) { o.States = states })
		b.rule(t, haltd.RuleWarn)
		v := b.ask("s", stuck(12))
		rules, stalls := 0, 0
		for _, f := range v.Findings {
			switch f.Check {
			case "rule":
				rules++
			case haltd.CheckStall:
				stalls++
			}
		}
		if want := min(1, tc.window); rules != 1 || stalls != want {
			t.Errorf("%d faster calls: %d findings of the rule and %d of stall, want 1 and %d", tc.faster, rules, stalls, want)
		}
		w, err := b.Window(t.Context(), "bot", "")
		if err != nil || len(w.Entries) != tc.window {
			t.Errorf("%d faster calls: %d calls in the window, %v; want %d", tc.faster, len(w.Entries), err, tc.window)
		}
		v.Release(t.Context())
	}
}

// A client that sends its next call before the reply was observed is judged
// with the reply, and one whose reply never is observed is not kept.
func TestACallWaitsForTheReplyBeforeIt(t *testing.T) {
	for _, observed := range []bool{true, false} {
		b := newBench(t, killing())
		first := b.ask("s", stuck(1))
		began := time.Now()
		next := make(chan judged)
		go func() { next <- b.ask("s", stuck(2)) }()
		if observed {
			time.AfterFunc(5*time.Millisecond, func() { first.Observe(context.Background(), &haltd.Reply{Text: "well"}, start) })
		}
		second := <-next
		if took := time.Since(began); observed != (took < 50*time.Millisecond) || took > time.Second {
			t.Errorf("observed %v: the next call was judged after %v, want 50 ms at most, and them where nobody observes", observed, took)
		}
		replies := 0
		w, err := b.Window(t.Context(), "bot", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Entries {
			if e.ResponseHash != "" {
				replies++
			}
		}
		if observed != (replies == 1) {
			t.Errorf("observed %v: %d replies in the window", observed, replies)
		}
		// A call of another session, or one that goes on from something else,
		// waits for nobody.
		began = time.Now()
		b.ask("t", saying("hello")).Release(t.Context())
		b.ask("s", saying("something else altogether")).Release(t.Context())
		if took := time.Since(began); took > 40*time.Millisecond {
			t.Errorf("calls that go on from nothing took %v", took)
		}
		second.Release(t.Context())
		first.Release(t.Context())
	}
}
