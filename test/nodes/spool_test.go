//go:build faults

package nodes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

// spoolBytes is the bound of what waits on disk, as docs/scaling.md says it.
const spoolBytes = 256 << 20

// fill has what waits on the disk of a node that does not run take nearly all of
// the room: more copies of it than one write takes, and then lines that are
// damaged, which the next process leaves out.
func fill(t *testing.T, path string, room int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := strings.Repeat(read(t, path), 200)
	size := len(text) + len(text)/200
	for damaged := 1 << 20; size < spoolBytes-room; size += damaged {
		damaged = min(damaged, spoolBytes-room-size)
		text += strings.Repeat("x", damaged-1) + "\n"
		if len(text) > 32<<20 {
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
			text = ""
		}
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// dropped is how many events a node says it has lost.
func dropped(t *testing.T, n *harness.Node) (count int) {
	t.Helper()
	_, text, err := n.Ask(t.Context(), "GET", "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nhaltd_events_dropped_total ")
	if _, err := fmt.Sscan(rest, &count); err != nil {
		t.Fatalf("no count of lost events: %v\n%s", err, text)
	}
	return count
}

// TestSpoolIsBounded: PostgreSQL is gone for so long that there is no more room
// for events on the disk of a node. Calls go on, the file does not grow, and what
// is lost is counted; what is not arrives, once, and so does what comes after.
func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	n := c.nodes[0]
	path := filepath.Join(n.Config.DataDir, "spool.jsonl")
	made := func(calls int) {
		t.Helper()
		for range calls {
			if status, reason := ask(t, n, request{agent: "spooled", model: "echo"}); status != 200 {
				t.Fatalf("a call: %d %s", status, reason)
			}
		}
	}
	// The next process must find the database, and it must take no event.
	c.database.SQL(t, c.database.URL,
		"CREATE FUNCTION haltd.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$",
		"CREATE TRIGGER refuse BEFORE INSERT ON haltd.events FOR EACH STATEMENT EXECUTE FUNCTION haltd.refuse()")
	const early, late, after, room = 5, 60, 3, 16 << 10
	made(early)
	n.Eventually(t, "keeping events on disk", func() bool { return spooled(t, n.Config.DataDir) == early })
	n.Kill(t)
	fill(t, path, room)
	n.Run(t)
	c.database.Stop(t)
	before := dropped(t, n)
	for range late / 5 { // few at a time: what is written at once fits as a whole or not
		size := sizeOf(t, path)
		already := dropped(t, n)
		made(5)
		n.Eventually(t, "keeping events on disk, or counting them as lost", func() bool {
			return sizeOf(t, path) > size || dropped(t, n) > already
		})
	}
	if dropped(t, n) == before || !strings.Contains(n.Log(), "the spool is full") {
		t.Errorf("%d events are lost, want some, and the log to say why", dropped(t, n)-before)
	}
	if size := sizeOf(t, path); size > spoolBytes || size <= spoolBytes-room {
		t.Errorf("the file has %d bytes, want %d at most", size, spoolBytes)
	}
	if !slices.Contains(degraded(t, n), "store") {
		t.Error("the node does not say that it does without its store")
	}
	c.database.Start(t)
	c.database.SQL(t, c.database.URL, "DROP TRIGGER refuse ON haltd.events")
	n.Eventually(t, "well again", func() bool { return !slices.Contains(degraded(t, n), "store") })
	made(after)
	lost := dropped(t, n) - before
	want := early + late + after - lost
	if events := n.Events(t, "agent=spooled&type=llm_call&limit=500", want); len(events) != want || lost >= late {
		t.Errorf("%d events of %d calls, %d lost", len(events), early+late+after, lost)
	}
	var agent struct{ Totals struct{ Calls int } }
	n.Must(t, "GET", "/v1/agents/spooled", nil, &agent)
	if agent.Totals.Calls != want {
		t.Errorf("the agent has %d calls, want %d", agent.Totals.Calls, want)
	}
	n.Eventually(t, "empty on disk", func() bool { return sizeOf(t, path) == 0 })
}
