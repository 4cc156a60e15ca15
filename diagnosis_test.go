package haltd

import (
	"testing"
	"time"
)

func TestDiagnoseClock(t *testing.T) {
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	answered := asked.Add(10 * time.Millisecond)
	for ahead, want := range map[time.Duration]string{
		0: DiagnosisOK, 20 * time.Millisecond: DiagnosisOK, -20 * time.Millisecond: DiagnosisOK,
		noticedSkew + time.Second/10: DiagnosisNotice, -noticedSkew - time.Second/10: DiagnosisNotice,
		time.Hour: DiagnosisProblem, -time.Hour: DiagnosisProblem,
	} {
		if c := DiagnoseClock("Redis", asked.Add(ahead), asked, answered); c.Outcome != want || (c.Fix == "") != (want == DiagnosisOK) {
			t.Errorf("%v ahead: %+v, want %s", ahead, c, want)
		}
	}
}
