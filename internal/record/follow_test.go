package record

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// Who follows the record on one node sees what all nodes record, each once.
func TestSubscribersSeeAllNodes(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var nodes [2]*Recorder
	for i := range nodes {
		nodes[i] = New(store, Options{Node: i, Feed: store, Interval: time.Millisecond})
		defer nodes[i].Close(t.Context())
	}
	live, end := nodes[0].Subscribe(100)
	defer end()
	// The feed is followed from some moment on: until then nothing of the
	// other node comes.
	seen := map[haltd.EventID]int{}
	for deadline := time.After(5 * time.Second); len(seen) == 0; {
		nodes[1].Record(haltd.Event{Time: time.Now(), Type: haltd.EventCall, Agent: "first"})
		select {
		case e := <-live:
			seen[e.ID]++
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing of the other node is seen")
		}
	}
	for range 10 {
		for i := range nodes {
			nodes[i].Record(haltd.Event{Time: time.Now(), Type: haltd.EventCall, Agent: "bot"})
		}
	}
	nodes[0].Record(haltd.Event{Time: time.Now(), Type: haltd.EventCall, Agent: "last"})
	bots, last := 0, false
	for deadline := time.After(5 * time.Second); bots < 20 || !last; {
		select {
		case e := <-live:
			if seen[e.ID]++; seen[e.ID] > 1 {
				t.Errorf("event %s of node %d comes again", e.ID, e.ID.Node())
			}
			if e.Agent == "bot" {
				bots++
			}
			last = last || e.Agent == "last"
		case <-deadline:
			t.Fatalf("%d of 20 events of both nodes", bots)
		}
	}
}
