package haltd

import (
	"testing"
	"time"
)

func TestCheckClock(t *testing.T) {
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	answered := asked.Add(10 * time.Millisecond)
	for ahead, want := range map[time.Duration]string{
		0: CheckOK, 20 * time.Millisecond: CheckOK, -20 * time.Millisecond: CheckOK,
		noticedSkew + time.Second/10: CheckNotice, -noticedSkew - time.Second/10: CheckNotice,
		time.Hour: CheckProblem, -time.Hour: CheckProblem,
	} {
		if c := CheckClock("Redis", asked.Add(ahead), asked, answered); c.Outcome != want || (c.Fix == "") != (want == CheckOK) {
			t.Errorf("%v ahead: %+v, want %s", ahead, c, want)
		}
	}
}
