package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// What a test cannot have a real server be: an old one.
func TestInspectAnOldServer(t *testing.T) {
	for number, want := range map[int]string{140011: haltd.CheckProblem, 150000: haltd.CheckOK, 170002: haltd.CheckOK} {
		i := &inspection{}
		i.version(number, "14.11 (Debian 14.11-1)")
		if c := i.checks[0]; c.Outcome != want || !strings.Contains(c.Said, "14.11") || (c.Fix == "") != (want == haltd.CheckOK) {
			t.Errorf("version %d: %+v, want %s", number, c, want)
		}
	}
}

// Nor does it have replicas.
func TestInspectReplicas(t *testing.T) {
	for _, c := range []struct {
		all, hidden   int
		lag           time.Duration
		outcome, said string
	}{
		{0, 0, 0, "", ""},
		{2, 0, time.Millisecond, haltd.CheckOK, "Replicas: 2, none more than 1s behind"},
		{2, 0, 8 * time.Second, haltd.CheckNotice, "A replica is 8s behind"},
		{1, 1, 0, haltd.CheckNotice, "User ann may not see how far"},
	} {
		i := &inspection{}
		i.replicas("ann", c.all, c.hidden, c.lag)
		if c.all == 0 && len(i.checks) == 0 {
			continue
		}
		if len(i.checks) != 1 || i.checks[0].Outcome != c.outcome || !strings.Contains(i.checks[0].Said, c.said) || (i.checks[0].Fix == "") != (c.outcome == haltd.CheckOK) {
			t.Errorf("%+v: %+v", c, i.checks)
		}
	}
}
