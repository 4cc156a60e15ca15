//go:build faults

package nodes

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

// doctorSays wants doctor to say something within the patience of tests, on a line that
// also says what to do.
func (c *cluster) doctorSays(t *testing.T, node int, want, fix string) {
	t.Helper()
	said := ""
	n := c.nodes[node]
	defer func() {
		if t.Failed() {
			t.Logf("doctor says:\n%s", said)
		}
	}()
	n.Eventually(t, "told by doctor: "+want, func() bool {
		said, _ = doctor(t, n)
		for line := range strings.Lines(said) {
			if strings.Contains(line, want) && strings.Contains(line, fix) {
				return true
			}
		}
		return false
	})
}

// TestDoctorOfWhatIsBehind: doctor names a replica that does not keep up, and a
// node that stands still.
func TestDoctorOfWhatIsBehind(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	replica := closing(t, c.database.Replica)
	c.doctorSays(t, 0, "ok: Replicas: 1, none more than 1s behind", "")
	c.doctorSays(t, 0, "ok: 2 nodes live, all seen within", "")
	replica.SQL(t, replica.URL, "SELECT pg_wal_replay_pause()")
	thaw := freeze(t, c.nodes[1])
	c.doctorSays(t, 0, "was last seen", "Look at its machine, its way to the database and its log")
	c.doctorSays(t, 0, "notice: A replica is", "Look at the replica's disk and network")
	thaw()
	replica.SQL(t, replica.URL, "SELECT pg_wal_replay_resume()")
	c.doctorSays(t, 0, "ok: Replicas: 1, none more than 1s behind", "")
	c.doctorSays(t, 0, "ok: 2 nodes live, all seen within", "")
}

// TestDoctorOfClocks: PostgreSQL and Redis are minutes ahead of the machine of a
// node. Doctor says so and what to do, and nothing else changes: nodes go by the
// clock of the database.
func TestDoctorOfClocks(t *testing.T) {
	t.Parallel()
	c := startShared(t, 2, killYAML)
	c.doctorSays(t, 0, "ok: The clock of PostgreSQL differs", "")
	c.doctorSays(t, 0, "ok: The clock of Redis differs", "")
	c.budget(t, "rich", "1")
	const ahead = 5 * time.Minute
	c.redis.SetClock(t, ahead)
	c.doctorSays(t, 0, "problem: The clock of Redis differs from this machine's by 5m0", "NTP")
	for _, ahead := range []time.Duration{ahead, -ahead} {
		c.database.SetClock(t, ahead)
		c.doctorSays(t, 1, "problem: The clock of PostgreSQL differs from this machine's by ", "NTP")
		for _, n := range c.nodes {
			n.Eventually(t, "well again", func() bool { return len(degraded(t, n)) == 0 })
			n.Eventually(t, "going by the database's clock", func() bool {
				return strings.Contains(n.Log(), "the clock of this machine differs from the database's")
			})
		}
		c.sell(t, c.nodes[0], "seller", 10)
		c.sell(t, c.nodes[1], "seller", 10)
		for i, n := range c.nodes {
			n.Eventually(t, "let spend a hard budget", func() bool {
				status, _ := ask(t, n, request{agent: "rich", model: dear, tokens: 100})
				return status == http.StatusOK
			})
			agent := []string{"first", "second"}[i] + ahead.String()
			stoppedAt(t, c.nodes, agent, func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, agent, i) })
		}
	}
	c.recorded(t, 40)
}
