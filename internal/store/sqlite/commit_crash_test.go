package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// crashCommitEnv tells the process of crashPathEnv to commit kills in place
// of appending events.
const crashCommitEnv = "HALTD_CRASH_TEST_COMMIT"

func commitUntilKilled(path string) int {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for id := 1; ; id++ {
		at := crashStart.Add(time.Duration(id) * time.Millisecond)
		agent, incident := fmt.Sprint("agent-", id), fmt.Sprint("inc_", id)
		err := s.Commit(ctx, haltd.Change{
			Standing: &haltd.Standing{Agent: agent, DeactivatedBy: new(haltd.ByKillSwitch), Incident: incident, At: at},
			Incident: &haltd.Incident{ID: incident, Time: at, Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Agent: agent},
			Events:   []haltd.Event{{ID: haltd.EventID(id), Time: at, Type: haltd.EventKillSwitch, Agent: agent, Blocked: true, Incident: incident}},
			Notices:  []haltd.Notice{{ID: fmt.Sprint("ntc_", id), Time: at, Agent: agent, Incident: incident}},
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(id)
	}
}

// TestKilledAgentsStayKilled kills a process that kills agents, and wants
// every kill that it acknowledged, and of each kill all or nothing.
func TestKilledAgentsStayKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	t.Setenv(crashCommitEnv, "1")
	acknowledged := runUntilKilled(t, path, 40)
	s := openTest(t, path)

	c, err := s.Control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Standings) < acknowledged {
		t.Fatalf("%d standings, but %d were acknowledged", len(c.Standings), acknowledged)
	}
	const all = 1_000_000
	incidents, _, err := s.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: all}})
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Events(t.Context(), haltd.EventQuery{Limit: all})
	if err != nil {
		t.Fatal(err)
	}
	notices, err := s.Notices(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := s.Agents(t.Context(), haltd.AgentQuery{Active: new(false), Page: haltd.Page{Limit: all}})
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{
		"incidents": len(incidents), "events": len(events), "notices": len(notices), "inactive agents": len(agents),
	} {
		if n != len(c.Standings) {
			t.Errorf("%d %s, but %d standings", n, what, len(c.Standings))
		}
	}
}
