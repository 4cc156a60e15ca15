package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

// A ladder with steer goes on to its next rung when a run is certain to be
// stuck twice more, and not when its next rounds bring something new.
func TestLadders(t *testing.T) {
	stall := func(level haltd.Level, family haltd.Family) []haltd.Signal {
		return []haltd.Signal{{Detector: haltd.DetectorStall, Level: level, Rounds: []haltd.RoundEvidence{{Family: family}}}}
	}
	at := 4
	after := func(said ...[]haltd.Signal) followed {
		f := followed{Outcome: Outcome{Firing: Firing{WarnStep: &at, KillStep: &at}}, after: aftermath{certain: 1}}
		for _, s := range said {
			if !f.after.ends() {
				f.after.look(s)
			}
		}
		return f
	}
	again, news := stall(haltd.LevelKill, "repeat"), stall(haltd.LevelKill, "")
	outcomes := []followed{
		after(again, again),                               // goes on
		after(again, nil, again),                          // passes after the second note
		after(news, news, again),                          // brings news twice
		after(news, again, again),                         // news once is not enough
		after(again),                                      // its run ends
		{Outcome: Outcome{Firing: Firing{WarnStep: &at}}}, // only warned of
	}
	want := []LadderCount{
		{Ladder: haltd.LadderOf(haltd.Warn), Warned: 6},
		{Ladder: haltd.LadderOf(haltd.Kill), Warned: 6, Killed: 5},
		{Ladder: haltd.LadderOf(haltd.Halt, haltd.Kill), Warned: 6, Halted: 5},
		{Ladder: haltd.LadderOf(haltd.Steer, haltd.Kill), Warned: 6, Steered: 5, Recovered: 3, Killed: 2},
		{Ladder: haltd.LadderOf(haltd.Steer, haltd.Halt, haltd.Kill), Warned: 6, Steered: 5, Recovered: 3, Halted: 2},
	}
	if diff := cmp.Diff(want, countLadders(outcomes)); diff != "" {
		t.Errorf("ladders (-want +got):\n%s", diff)
	}
}
