package control

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func TestSessionsThatAreSilentAreForgotten(t *testing.T) {
	session := haltd.Target{Agent: "bot", Session: "s"}
	killed := func(t *testing.T, b *bench) { b.kill(t, session, "inc_a") }
	try := func(at time.Time) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) {
			killed(t, b)
			e := haltd.Event{ID: 1, Time: at, Type: haltd.EventBlocked, Agent: "bot", Session: "s", Blocked: true}
			if err := b.store.AppendEvents(t.Context(), []haltd.Event{e}); err != nil {
				t.Fatal(err)
			}
			if _, err := b.store.PruneEvents(t.Context(), noon.AddDate(1, 0, 0)); err != nil { // also where events are kept for a day
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name      string
		do        func(*testing.T, *bench)
		passed    time.Duration
		forgotten bool
	}{
		{"killed long ago", killed, haltd.KeepStopped + time.Hour, true},
		{"killed lately", killed, haltd.KeepStopped, false},
		{"tried again since", try(noon.Add(2 * time.Hour)), haltd.KeepStopped + time.Hour, false},
		{"tried again, and that was long ago", try(noon.Add(2 * time.Hour)), haltd.KeepStopped + 3*time.Hour, true},
		{"resumed long ago", func(t *testing.T, b *bench) {
			killed(t, b)
			if _, err := b.Activate(t.Context(), session, 0, "ann", ""); err != nil {
				t.Fatal(err)
			}
		}, haltd.KeepStopped + time.Hour, true},
		{"stopped by a person", func(t *testing.T, b *bench) {
			if _, err := b.Deactivate(t.Context(), session, false, "ann", ""); err != nil {
				t.Fatal(err)
			}
		}, 100 * haltd.KeepStopped, false},
		{"killed, and kept off by a person", func(t *testing.T, b *bench) {
			killed(t, b)
			if _, err := b.Deactivate(t.Context(), session, false, "ann", ""); err != nil {
				t.Fatal(err)
			}
		}, 100 * haltd.KeepStopped, false},
		{"the store fails", func(t *testing.T, b *bench) {
			killed(t, b)
			b.flaky.set(errors.New("down"))
		}, haltd.KeepStopped + time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			tc.do(t, b)
			b.passed.Store(int64(tc.passed))
			err := b.EvictSessions(t.Context())
			if fails := tc.name == "the store fails"; (err != nil) != fails {
				t.Errorf("error %v", err)
			}
			if _, known := b.Standing(session); known == tc.forgotten {
				t.Errorf("remembered in memory: %v, want %v", known, !tc.forgotten)
			}
			if _, known := b.table.Load().agents["bot"]; known == tc.forgotten {
				t.Errorf("agent remembered in memory: %v, want %v", known, !tc.forgotten)
			}
			if _, known := b.reopen(t).Standing(session); known == tc.forgotten {
				t.Errorf("remembered after a restart: %v, want %v", known, !tc.forgotten)
			}
		})
	}
}

// Evicting sessions leaves alone all else that is known of their agents.
func TestAgentsAreNotForgottenWithTheirSessions(t *testing.T) {
	b := newBench(t)
	for i := range 3 {
		b.kill(t, haltd.Target{Agent: "bot", Session: fmt.Sprint(i)}, fmt.Sprint("inc_", i))
	}
	b.kill(t, haltd.Target{Agent: "killed"}, "inc_a")
	b.kill(t, haltd.Target{Agent: "limited", Session: "s"}, "inc_b")
	if _, err := b.Override(t.Context(), "limited", "ann", func(o *haltd.PolicyOverride) error {
		*o = haltd.MustOverride(`{"time_zone": "Europe/Berlin"}`)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.passed.Store(int64(2 * haltd.KeepStopped))
	if _, err := b.Deactivate(t.Context(), haltd.Target{Agent: "bot", Session: "1"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if err := b.EvictSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*bench{b, b.reopen(t)} {
		for session, stopped := range map[string]bool{"0": false, "1": true, "2": false} {
			if _, got := b.Agent("bot").Stopped(session); got != stopped {
				t.Errorf("session %s stopped: %v, want %v", session, got, stopped)
			}
		}
		if s, stopped := b.Agent("killed").Stopped("any"); !stopped || s.Incident != "inc_a" {
			t.Errorf("the killed agent stands as %+v", s)
		}
		if p, _ := b.Policy("limited"); p.TimeZone != "Europe/Berlin" {
			t.Errorf("the policy of the other has zone %q", p.TimeZone)
		}
	}
}
