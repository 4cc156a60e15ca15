package detection

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// forgetFilters lets the next request of each conversation make its filters anew.
func forgetFilters() {
	kept.Lock()
	defer kept.Unlock()
	kept.filters = nil
}

// checkKept holds the filters that are kept of a conversation to those that are made
// anew.
func checkKept(t *testing.T, s *strand) {
	t.Helper()
	w := takeKept(s, len(s.past))
	if w == nil {
		return
	}
	anew := new(filters)
	anew.seen.add(s.opening.words)
	anew.seen.add(s.opening.names)
	c := comparison{seen: &anew.seen, acted: &anew.acted}
	for i := range s.past {
		c.remember(&s.past[i])
	}
	if w.seen != anew.seen || w.acted != anew.acted {
		t.Fatalf("the filters that are kept of %d rounds have other words", len(s.past))
	}
	w.release(s)
}

// Filters that are kept say the same as those that are made anew, whatever clients do
// to their histories, and however many conversations go on at once.
func TestKeptFiltersChangeNoVerdict(t *testing.T) {
	const conversations, steps = mostKept + 10, 40
	play := func(forget bool) (all []string) {
		forgetFilters()
		r := rand.New(rand.NewPCG(3, 5))
		cache := NewCache(1 << 20)
		states, calls := make([]State, conversations), make([]*haltd.Call, conversations)
		for i := range states {
			states[i] = newState()
			calls[i] = &haltd.Call{Opening: []haltd.Message{{Text: fmt.Sprintf("Repair part %d of the plant.", i%7)}}}
		}
		for step := range steps {
			for i, call := range calls {
				if r.IntN(3) == 0 {
					continue // it goes on later
				}
				n := r.IntN(6)
				id := fmt.Sprint("call_", step)
				call.Rounds = append(call.Rounds, haltd.Round{
					Text:    fmt.Sprintf("%s as in lib/part_%d.go.", prose(60, r.IntN(30)), r.IntN(100)),
					Calls:   []haltd.ToolCall{{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"src/file%d.go"}`, n)}},
					Results: []haltd.ToolResult{{CallID: id, Name: "read_file", Text: prose(300, n+r.IntN(2))}},
				})
				switch r.IntN(30) {
				case 0:
					call.Rounds = call.Rounds[len(call.Rounds)/2:] // the client drops the oldest
				case 1:
					call.Rounds[r.IntN(len(call.Rounds))].Results[0].Text = "[cleared]"
				case 2:
					call.Opening[0].Text = "The story so far: " + prose(200, r.IntN(9))
				case 3:
					call.Rounds[len(call.Rounds)-1].Inputs = []haltd.Message{{Role: haltd.RoleUser, Text: "And now the next."}}
				}
				if forget {
					forgetFilters()
				}
				d := Judge(DefaultSettings(), states[i], Read(cache, call, nil), noon.Add(time.Duration(step)*time.Second))
				checkKept(t, &states[i].Session.strand)
				all = append(all, fmt.Sprint(i, " ", step, " ", d.Certainty, " ", d.Level, " ", len(d.Signals)))
			}
		}
		return all
	}
	if diff := cmp.Diff(play(true), play(false)); diff != "" {
		t.Errorf("with kept filters verdicts differ:\n%s", diff)
	}
	kept.Lock()
	defer kept.Unlock()
	if n := len(kept.filters); n != mostKept {
		t.Errorf("%d filters are kept, want %d", n, mostKept)
	}
}

func TestFiltersFitTheirOpening(t *testing.T) {
	forgetFilters()
	s := &strand{opening: opening{digest: 7, words: []uint32{2, 4}}}
	for i := range worthKeeping {
		s.past = append(s.past, seenRound{round: &round{id: uint64(i)}})
	}
	acquireFilters(s, 0).release(s)
	s.opening.words = []uint32{2, 4, 6}
	if w := acquireFilters(s, len(s.past)); len(w.rounds) != 0 || !w.seen.has(6) {
		t.Error("an opening whose words were read later has the filters of the one before")
	}
}
