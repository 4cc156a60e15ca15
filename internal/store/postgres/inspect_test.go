package postgres

import (
	"strings"
	"testing"

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
