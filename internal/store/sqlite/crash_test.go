package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// crashPathEnv tells the test binary, started again, to write to the database
// at that path until it is killed.
const crashPathEnv = "HALTD_CRASH_TEST_DATABASE"

var crashStart = time.Date(2026, 3, 1, 12, 59, 59, 0, time.UTC)

func appendUntilKilled(path string) int {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for id := 1; ; {
		batch := make([]haltd.Event, 50)
		for i := range batch {
			batch[i] = haltd.Event{
				ID: haltd.EventID(id), Time: crashStart.Add(time.Duration(id) * time.Millisecond), Type: haltd.EventCall,
				Agent: fmt.Sprint("agent-", id%3), Session: fmt.Sprint("session-", id%7), Provider: "openai", Model: "gpt-5",
				Status: 200, Tokens: haltd.Usage{Input: int64(id), Output: 1}, Cost: haltd.Money(id),
			}
			id++
		}
		if err := s.AppendEvents(ctx, batch); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(id - 1)
	}
}

// TestKilledProcess kills a process that writes, with SIGKILL and at no
// chosen moment, and looks at what it left.
func TestKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	acknowledged := runUntilKilled(t, path, 40)
	s := openTest(t, path)

	events, err := s.Events(t.Context(), haltd.EventQuery{Limit: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(events) < acknowledged {
		t.Fatalf("%d events, but %d were acknowledged", len(events), acknowledged)
	}
	sums := map[string]haltd.Totals{}
	count := func(key string, e *haltd.Event) {
		sum := sums[key]
		sum.Calls++
		sum.Tokens = sum.Tokens.Add(e.Tokens)
		sum.Cost += e.Cost
		sums[key] = sum
	}
	for i := range events {
		e := &events[i]
		if want := haltd.EventID(len(events) - i); e.ID != want {
			t.Fatalf("event %d where %d should be", e.ID, want)
		}
		count("all", e)
		count(e.Agent, e)
		count(e.Agent+"/"+e.Session, e)
	}
	if diff := cmp.Diff(sums, storedSums(t, s)); diff != "" {
		t.Errorf("totals (-sum of the events +stored):\n%s", diff)
	}
}

// runUntilKilled answers the last id that the process acknowledged.
func runUntilKilled(t *testing.T, path string, batches int) (last int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashPathEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("the process said %q", lines.Text())
		}
		if n == batches {
			if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || last == 0 {
		t.Fatalf("the process ended by itself after id %d (error %v)", last, err)
	}
	return last
}

func storedSums(t *testing.T, s *Store) map[string]haltd.Totals {
	t.Helper()
	sums := map[string]haltd.Totals{}
	agents, _, err := s.Agents(t.Context(), haltd.AgentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		sums[a.ID] = a.Totals
	}
	sessions, _, err := s.Sessions(t.Context(), haltd.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range sessions {
		sums[session.Agent+"/"+session.ID] = session.Totals
	}
	stats, err := s.Stats(t.Context(), haltd.StatsQuery{Since: crashStart, Until: crashStart.Add(1000 * time.Hour), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	sums["all"] = stats.Totals
	return sums
}
