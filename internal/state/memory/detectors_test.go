package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/statetest"
)

func TestConformance(t *testing.T) {
	statetest.Run(t, func(_ *testing.T, nodes int) []state.Port {
		one := New(100, 100, 1e6)
		all := make([]state.Port, nodes)
		for i := range all {
			all[i] = one
		}
		return all
	})
}

// use changes a state in one step.
func use(t *testing.T, d *Detectors, p state.Place, now time.Time, f func(detection.Memory)) {
	t.Helper()
	l, err := d.Acquire(t.Context(), p, now)
	if err != nil {
		t.Fatal(err)
	}
	f(l.Memory())
	if err := l.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDetectorsForgetAfterADay(t *testing.T) {
	d := NewDetectors(10, 1e6)
	now := time.Unix(1_800_000_000, 0)
	told := func(at time.Time) (before haltd.Level) {
		use(t, d, state.Place{Agent: "bot", Session: "a"}, at, func(m detection.Memory) {
			before, m.Progress.ReportedLevel = m.Progress.ReportedLevel, haltd.LevelWarn
		})
		return before
	}
	told(now)
	if got := told(now.Add(23 * time.Hour)); got != haltd.LevelWarn {
		t.Errorf("after 23 hours: %v, want it remembered", got)
	}
	if got := told(now.Add(48 * time.Hour)); got != haltd.LevelPass {
		t.Errorf("25 hours later: %v, want it forgotten", got)
	}
}

// Many sessions with long histories stay within the bound.
func TestDetectorsAreBoundedByWeight(t *testing.T) {
	const words = 20_000
	d := NewDetectors(1000, words)
	cache := detection.NewCache(1000)
	for i := range 200 {
		call := &haltd.Call{Opening: []haltd.Message{{Text: "go"}}}
		for j := range 20 {
			call.Rounds = append(call.Rounds, haltd.Round{Text: fmt.Sprintf("step %d of %d with quite some words in it", j, i)})
		}
		use(t, d, state.Place{Agent: "bot", Session: fmt.Sprint(i)}, time.Now(), func(m detection.Memory) {
			h := detection.Read(cache, call, m.Session.Pending())
			detection.Judge(detection.DefaultSettings(), detection.State{Window: m.Window, Session: m.Session}, h, time.Now())
		})
	}
	sum := 0
	for _, l := range d.sessions.All {
		sum += l.value.weight()
	}
	if sum == 0 || sum > words*3/2 {
		t.Errorf("200 sessions hold %d words, the bound is %d", sum, words)
	}
}

func BenchmarkAcquire(b *testing.B) {
	d := NewDetectors(1000, 1e6)
	p, now := state.Place{Agent: "bot", Session: "a"}, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		l, err := d.Acquire(b.Context(), p, now)
		if err != nil {
			b.Fatal(err)
		}
		l.Memory()
		_ = l.Commit(b.Context())
	}
}

// An idle session is kept as bytes, and is the same afterwards.
func TestIdleSessionsAreWritten(t *testing.T) {
	d := NewDetectors(10, 1e6)
	now, p := time.Unix(1_800_000_000, 0), state.Place{Agent: "bot", Session: "a"}
	set := detection.DefaultSettings()
	ask := func(answered bool) {
		use(t, d, p, now, func(m detection.Memory) {
			st := detection.State{Window: m.Window, Session: m.Session}
			call := &haltd.Call{Opening: []haltd.Message{{Text: "what is the time?"}}}
			entry := detection.Admit(set, st, detection.Judge(set, st, detection.Read(detection.NewCache(10), call, m.Session.Pending()), now), now)
			m.Progress.Tally.Call(1)
			if answered {
				detection.Observe(set, st, entry, detection.Source{}, detection.ReadFirstReply(&haltd.Reply{Text: "noon", Complete: true}), now)
			}
		})
	}
	kept := func() *session {
		e, _ := d.sessions.Peek(d.hash(sessionKey{agent: "bot", session: "a"}))
		return &e.value
	}
	ask(false)
	if s := kept(); s.memory == nil || s.written != nil {
		t.Error("a session that awaits a reply is written")
	}
	ask(true)
	if s := kept(); s.memory != nil || len(s.written) == 0 || s.weight() != len(s.written)/8 {
		t.Errorf("an idle session is kept as %+v", s)
	}
	use(t, d, p, now, func(m detection.Memory) {
		if got := m.Progress.Tally.Calls; got != 2 {
			t.Errorf("%d calls are counted, want 2", got)
		}
	})
}
