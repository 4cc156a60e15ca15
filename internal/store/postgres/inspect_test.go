package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// What a test cannot have a real server be: an old one.
func TestInspectAnOldServer(t *testing.T) {
	for number, want := range map[int]string{140011: haltd.DiagnosisProblem, 150000: haltd.DiagnosisOK, 170002: haltd.DiagnosisOK} {
		i := &inspection{}
		i.version(number, "14.11 (Debian 14.11-1)")
		if c := i.checks[0]; c.Outcome != want || !strings.Contains(c.Message, "14.11") || (c.Fix == "") != (want == haltd.DiagnosisOK) {
			t.Errorf("version %d: %+v, want %s", number, c, want)
		}
	}
}

// Replicas that are behind, and those that a user may not see; test/nodes has a
// real one.
func TestInspectReplicas(t *testing.T) {
	for _, c := range []struct {
		all, hidden   int
		lag           time.Duration
		outcome, said string
	}{
		{0, 0, 0, "", ""},
		{2, 0, time.Millisecond, haltd.DiagnosisOK, "Replicas: 2, none more than 1s behind"},
		{2, 0, 8 * time.Second, haltd.DiagnosisNotice, "A replica is 8s behind"},
		{1, 1, 0, haltd.DiagnosisNotice, "User ann may not see how far"},
	} {
		i := &inspection{}
		i.replicas("ann", c.all, c.hidden, c.lag)
		if c.all == 0 && len(i.checks) == 0 {
			continue
		}
		if len(i.checks) != 1 || i.checks[0].Outcome != c.outcome || !strings.Contains(i.checks[0].Message, c.said) || (i.checks[0].Fix == "") != (c.outcome == haltd.DiagnosisOK) {
			t.Errorf("%+v: %+v", c, i.checks)
		}
	}
}

// Nodes that are silent, lost, or of another version are named, with their
// machines; one that has left, or was replaced on its machine, is not.
func TestInspectNodes(t *testing.T) {
	url := server.Database(t)
	s := open(t, url)
	for _, n := range []struct{ id, host, version, seen, until string }{
		{"well", "web-1", "v1", "0", "10"},
		{"silent", "web-2", "v1", "-7", "3"},
		{"lost", "web-3", "v1", "-130", "-120"},
		{"replaced", "web-1", "v1", "-130", "-120"},
		{"left", "web-4", "v1", "-130", "-130"},
		{"forgotten", "web-5", "v1", "-7200", "-7190"},
		{"new", "", "v2", "0", "10"},
	} {
		_, err := s.pool.Exec(t.Context(), `INSERT INTO nodes (id, number, host, version, started_at, seen_at, until)
			VALUES ($1, (SELECT count(*) FROM nodes), $2, $3, 0, `+now+` + $4::bigint * 1000000, `+now+` + $5::bigint * 1000000)`, n.id, n.host, n.version, n.seen, n.until)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE nodes SET until = seen_at WHERE id = 'left'"); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, c := range Inspect(t.Context(), url) {
		said += c.Outcome + ": " + c.Message + "\n"
		if c.Outcome != haltd.DiagnosisOK && c.Fix == "" {
			t.Errorf("%q does not say what to do", c.Message)
		}
	}
	for _, want := range []string{
		"ok: 3 nodes live\n", "notice: Node web-2 (silent) was last seen 7s ago\n", "notice: Node web-3 (lost) ended without a word, 2m10s ago\n",
		"notice: Nodes run different versions: v1 on web-1 (well), web-2 (silent); v2 on new\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	for _, id := range []string{"replaced", "left", "forgotten"} {
		if strings.Contains(said, id) {
			t.Errorf("it names %s:\n%s", id, said)
		}
	}
}
