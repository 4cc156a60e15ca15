package record

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

// In whatever order events are written, subscribers get them in the order of
// their ids, each once, and none before all that came earlier is written.
func TestSubscribersGetEventsInTheOrderOfTheirIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o order
		var sent []haltd.EventID
		open, lost := map[haltd.EventID]bool{}, map[haltd.EventID]bool{}
		next := haltd.EventID(0)
		send := func(events []haltd.Event) {
			for _, e := range events {
				for id := range open {
					if id < e.ID {
						t.Fatalf("%d is sent before %d is written", e.ID, id)
					}
				}
				sent = append(sent, e.ID)
			}
		}
		end := func(id haltd.EventID, without bool) {
			delete(open, id)
			lost[id] = without
			o.end([]haltd.Event{{ID: id}}, without, send)
			for id := range open {
				if o.committedUpTo() >= id {
					t.Fatalf("committed up to %d though %d is not written", o.committedUpTo(), id)
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(open) == 0 || rapid.Bool().Draw(t, "take") {
				next++
				o.take(next)
				open[next] = true
				continue
			}
			ids := []haltd.EventID{}
			for id := range open {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			end(rapid.SampledFrom(ids).Draw(t, "id"), rapid.IntRange(0, 9).Draw(t, "lost") == 0)
		}
		for id := range next {
			if open[id+1] {
				end(id+1, false)
			}
		}
		want := []haltd.EventID{}
		for id := range next {
			if !lost[id+1] {
				want = append(want, id+1)
			}
		}
		if !slices.Equal(sent, want) {
			t.Fatalf("sent %v, want %v", sent, want)
		}
	})
}

// acceptingStore takes all events.
type acceptingStore struct{ EventAppender }

func (acceptingStore) AppendEvents(context.Context, []haltd.Event) error { return nil }

// A kill that is written before a call in the queue is sent after it.
func TestAnAnnouncedEventWaitsForTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(acceptingStore{}, Options{})
		live, end := r.Subscribe(10)
		defer end()
		r.Record(haltd.Event{Agent: "queued"})
		kill := haltd.Event{Agent: "killed"}
		r.Stamp(&kill)
		failed := haltd.Event{Agent: "failed"}
		r.Stamp(&failed)
		after := haltd.Event{Agent: "after"}
		r.Stamp(&after)
		r.Announce([]haltd.Event{kill, after})
		if r.CommittedUpTo() >= kill.ID || len(live) > 0 {
			t.Error("an event is shown before the queue is written")
		}
		time.Sleep(time.Second)
		r.Abandon([]haltd.Event{failed})
		for _, want := range []string{"queued", "killed", "after"} {
			if e := <-live; e.Agent != want {
				t.Errorf("%s comes where %s should", e.Agent, want)
			}
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
