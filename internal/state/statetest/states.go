package statetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
)

// update changes a state in one step, as often as another one was faster.
func update(t *testing.T, s state.Port, p state.Place, now time.Time, f func(detection.Memory)) {
	t.Helper()
	for {
		l, err := s.Acquire(t.Context(), p, now)
		if err != nil {
			t.Errorf("Acquire: %v", err)
			return
		}
		f(l.Memory())
		err = l.Commit(t.Context())
		if haltd.ErrorCode(err) == haltd.CodeConflict {
			continue
		}
		if err != nil {
			t.Errorf("Commit: %v", err)
		}
		return
	}
}

// look looks at a state without changing it.
func look(t *testing.T, s state.Port, p state.Place, f func(detection.Memory)) {
	t.Helper()
	l, err := s.Acquire(t.Context(), p, noon)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	defer l.Release()
	f(l.Memory())
}

// admit puts a call into the window and notes that its session was told of
// something.
func admit(t *testing.T, s state.Port, p state.Place, now time.Time) {
	t.Helper()
	update(t, s, p, now, func(m detection.Memory) {
		m.Window.Add(detection.Prompt{Hash: 1, Exact: 2}, 1000, now)
		m.Progress.ReportedLevel++
	})
}

// counts are the calls in the window, and what the session was told of.
func counts(t *testing.T, s state.Port, p state.Place) (window, told int) {
	t.Helper()
	look(t, s, p, func(m detection.Memory) { window, told = m.Window.Len(), int(m.Progress.ReportedLevel) })
	return window, told
}

func want(t *testing.T, s state.Port, p state.Place, window, told int) {
	t.Helper()
	if w, n := counts(t, s, p); w != window || n != told {
		t.Errorf("%+v: %d calls in the window and %d of the session, want %d and %d", p, w, n, window, told)
	}
}

func scope(t *testing.T, nodes []state.Port) {
	a, b := state.Place{Agent: "bot", Session: "a"}, state.Place{Agent: "bot", Session: "b"}
	admit(t, nodes[0], a, noon)
	admit(t, nodes[0], b, noon)
	want(t, nodes[0], a, 2, 1)
	want(t, nodes[0], b, 2, 1)
	want(t, nodes[0], state.Place{Agent: "other", Session: "a"}, 0, 0)
	own := state.Place{Agent: "bot", Session: "a", WindowPerSession: true}
	want(t, nodes[0], own, 0, 1)
	admit(t, nodes[0], own, noon)
	want(t, nodes[0], own, 1, 2)
	want(t, nodes[0], a, 2, 2)
	// Ids may hold what adapters separate them by.
	admit(t, nodes[0], state.Place{Agent: "x", Session: "y:z", WindowPerSession: true}, noon)
	want(t, nodes[0], state.Place{Agent: "x:y", Session: "z", WindowPerSession: true}, 0, 0)
}

// committed looks at all that a state is made of, from another node.
func committed(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	set, cache := detection.DefaultSettings(), detection.NewCache(1000)
	call := &haltd.Call{Opening: []haltd.Message{{Text: "go on"}}}
	var entry uint64
	for i := range 12 {
		now := noon.Add(time.Duration(i) * time.Second)
		h := detection.Read(cache, call, nil)
		update(t, nodes[i%len(nodes)], p, now, func(m detection.Memory) {
			st := detection.State{Window: m.Window, Session: m.Session, Mark: m.Progress.Mark}
			entry = detection.Admit(set, st, detection.Judge(set, st, h, now), now)
		})
		reply := &haltd.Reply{Text: "still the same", Calls: []haltd.ToolCall{{ID: fmt.Sprint(i), Name: "read", Arguments: `{"path":"a"}`}}, Complete: true}
		update(t, nodes[(i+1)%len(nodes)], p, now, func(m detection.Memory) {
			detection.Observe(set, detection.State{Window: m.Window, Session: m.Session}, entry, detection.Source{}, detection.ReadReply(reply, true), now)
		})
		call.Rounds = append(call.Rounds, haltd.Round{Text: reply.Text, Calls: reply.Calls,
			Results: []haltd.ToolResult{{CallID: fmt.Sprint(i), Text: "no such file"}}})
	}
	h := detection.Read(cache, call, nil)
	for i, s := range nodes {
		look(t, s, p, func(m detection.Memory) {
			if n := m.Window.Len(); n != 12 {
				t.Errorf("node %d: %d calls in the window, want 12", i, n)
			}
			if n := len(m.Session.Rounds(detection.Mark{})); n != 11 {
				t.Errorf("node %d: %d rounds, want 11", i, n)
			}
		})
	}
	update(t, nodes[0], p, noon.Add(15*time.Second), func(m detection.Memory) {
		st := detection.State{Window: m.Window, Session: m.Session}
		if v := detection.Judge(set, st, h, noon.Add(15*time.Second)); v.Level != haltd.LevelKill {
			t.Errorf("a loop over all nodes is %v, want a kill", v.Level)
		}
	})
}

func shadow(t *testing.T, nodes []state.Port) {
	enforced, tried := state.Place{Agent: "bot", Session: "a"}, state.Place{Agent: "bot", Session: "a", Shadow: true}
	admit(t, nodes[0], enforced, noon)
	want(t, nodes[1], tried, 0, 0)
	admit(t, nodes[1], tried, noon)
	admit(t, nodes[1], tried, noon)
	want(t, nodes[0], enforced, 1, 1)
	want(t, nodes[0], tried, 2, 2)
}

func emptied(t *testing.T, nodes []state.Port) {
	before := state.Place{Agent: "bot", Session: "a"}
	after := before
	after.Since = noon
	admit(t, nodes[0], before, noon)
	admit(t, nodes[0], after, noon)
	want(t, nodes[1], after, 1, 2)
	// A reply to a call from before must not empty it again.
	admit(t, nodes[1], before, noon)
	want(t, nodes[0], after, 2, 3)
}

func rejections(t *testing.T, nodes []state.Port) {
	incident := func(p state.Place) (id string) {
		look(t, nodes[1], p, func(m detection.Memory) { id = m.Similar.Incident })
		return id
	}
	update(t, nodes[0], state.Place{Agent: "bot", Session: "a"}, noon, func(m detection.Memory) { m.Similar.Incident = "inc_a" })
	for _, c := range []struct {
		place state.Place
		want  string
	}{
		{state.Place{Agent: "bot", Session: "b"}, "inc_a"},
		{state.Place{Agent: "bot", Session: "c", WindowPerSession: true}, ""},
		{state.Place{Agent: "bot", Session: "a", Since: noon}, ""},
	} {
		if got := incident(c.place); got != c.want {
			t.Errorf("%+v has %q, want %q", c.place, got, c.want)
		}
	}
}

func released(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	admit(t, nodes[0], p, noon)
	var first, second uint64
	look(t, nodes[0], p, func(m detection.Memory) { first = m.Version })
	look(t, nodes[1], p, func(m detection.Memory) { second = m.Version })
	if first != second {
		t.Errorf("version %d, then %d, though nobody changed anything", first, second)
	}
	l, err := nodes[0].Acquire(t.Context(), p, noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Release() // does nothing, and frees nobody else's lease
	want(t, nodes[1], p, 1, 1)
}

// concurrent has sessions that share a window change it on all nodes at once.
func concurrent(t *testing.T, nodes []state.Port) {
	const calls = 60
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			admit(t, nodes[i%len(nodes)], state.Place{Agent: "bot", Session: string(rune('a' + i%4))}, noon)
		})
	}
	wg.Wait()
	for i := range 4 {
		want(t, nodes[0], state.Place{Agent: "bot", Session: string(rune('a' + i))}, calls, calls/4)
	}
}

// skew has nodes whose clocks are seconds apart change the same session.
func skew(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a", Since: noon.Add(-time.Hour)}
	for i := range 12 {
		admit(t, nodes[i%len(nodes)], p, noon.Add(time.Duration(i%len(nodes)-1)*5*time.Second))
	}
	want(t, nodes[0], p, 12, 12)
}

func awaited(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	admit(t, nodes[0], p, noon)
	var version uint64
	look(t, nodes[1], p, func(m detection.Memory) { version = m.Version })
	changed := make(chan error, 1)
	go func() { changed <- nodes[1].Await(t.Context(), p, version) }()
	// Another session of the agent, and the shadow of this one, are others.
	admit(t, nodes[0], state.Place{Agent: "bot", Session: "b"}, noon)
	admit(t, nodes[0], state.Place{Agent: "bot", Session: "a", Shadow: true}, noon)
	select {
	case err := <-changed:
		t.Fatalf("a change of something else was told: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	admit(t, nodes[2], p, noon)
	select {
	case err := <-changed:
		if err != nil {
			t.Errorf("Await: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the change was not told")
	}
	if err := nodes[1].Await(t.Context(), p, version); err != nil {
		t.Errorf("a change that has happened already: %v", err)
	}
}

func awaitedInVain(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	admit(t, nodes[0], p, noon)
	var version uint64
	look(t, nodes[0], p, func(m detection.Memory) { version = m.Version })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := nodes[1].Await(ctx, p, version); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Await: %v, want the end of the context", err)
	}
	admit(t, nodes[1], p, noon) // nobody who waited is in the way
}

func canceled(t *testing.T, nodes []state.Port) {
	p := state.Place{Agent: "bot", Session: "a"}
	l, err := nodes[0].Acquire(t.Context(), p, noon)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Either it waits for the lease, and is let go, or leases are not
	// exclusive, and then it may have one.
	if other, err := nodes[0].Acquire(ctx, p, noon); err == nil {
		other.Release()
	}
	l.Release()
	admit(t, nodes[1], p, noon)
}
