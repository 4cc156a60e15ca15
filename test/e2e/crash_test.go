package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// What a store has not taken within half a second outlives the process: it is
// on disk beside the store, and the next process writes it, once.
func TestWhatASlowStoreHasNotTakenOutlivesACrash(t *testing.T) {
	t.Parallel() // it waits
	s := newStage(t, "")
	bot := s.agent(t, "bot")
	bot.ask("What is the first?", "one")
	bot.has(haltd.EventCall, 1)

	db := lockStore(t, s.Config.DataDir)
	bot.ask("What is the second?", "two")
	bot.ask("What is the third?", "three")
	s.Eventually(t, "keeping what the store does not take", func() bool {
		kept, err := os.ReadFile(filepath.Join(s.Config.DataDir, "recent.jsonl"))
		return err == nil && strings.Count(string(kept), "\n") == 2
	})
	s.Kill(t)
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
	bot.has(haltd.EventCall, 3)
	if kept, err := os.ReadFile(filepath.Join(s.Config.DataDir, "recent.jsonl")); err != nil || len(kept) > 0 {
		t.Errorf("%d bytes are kept of events that are written, %v", len(kept), err)
	}
	if calls := bot.view().Totals.Calls; calls != 3 {
		t.Errorf("%d calls in the totals of the agent, want 3", calls)
	}
}
