package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// What people said is gone from the file when it is deleted, not only from
// the tables.
func TestDeletedExcerptsLeaveNoTrace(t *testing.T) {
	const phrase = "the harbour at dusk"
	now := time.Now()
	for name, remove := range map[string]func(*Store) error{
		"prune":        func(s *Store) error { _, err := s.PruneExcerpts(t.Context(), now.Add(time.Hour)); return err },
		"prune events": func(s *Store) error { _, err := s.PruneEvents(t.Context(), now.Add(time.Hour)); return err },
		"delete":       func(s *Store) error { return s.DeleteAgent(t.Context(), "n", "a") },
	} {
		path := filepath.Join(t.TempDir(), "record.db")
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var events []haltd.Event
		for i := range excerptChunk + 10 {
			e := event(i+1, now)
			times := 3
			if i%50 == 0 {
				times = 400 // more than a page
			}
			e.Excerpt = &haltd.Excerpt{Prompt: strings.Repeat(fmt.Sprint(phrase, i), times)}
			events = append(events, e)
		}
		if err := s.AppendEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
		if err := remove(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(content, []byte(phrase)); n > 0 {
			t.Errorf("%s: the file still holds %d times what was said", name, n)
		}
	}
}

// Events that are pruned by the thousand take their excerpts along.
func TestPruneCountsExcerptsOverChunks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	now := time.Now()
	var events []haltd.Event
	for i := range 2*excerptChunk + 1 {
		e := event(i+1, now)
		e.Excerpt = &haltd.Excerpt{Reply: "x"}
		events = append(events, e)
	}
	if err := s.AppendEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.PruneExcerpts(t.Context(), now.Add(time.Second)); err != nil || gone != int64(len(events)) {
		t.Errorf("%d excerpts gone, error %v; want %d", gone, err, len(events))
	}
}
