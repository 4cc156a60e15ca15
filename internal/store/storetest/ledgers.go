package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// saveShares says what a node has spent and holds, which fits.
func saveShares(t *testing.T, s Store, node string, shares ...haltd.Share) []haltd.Ledger {
	t.Helper()
	after, fits, err := s.SaveShares(t.Context(), node, shares)
	if err != nil || !fits {
		t.Fatalf("SaveShares: fits %v, %v", fits, err)
	}
	return after
}

func ledgersSince(t *testing.T, s Store, agent string, at time.Time) []haltd.Ledger {
	t.Helper()
	list, err := s.Ledgers(t.Context(), agent, at)
	if err != nil {
		t.Fatalf("Ledgers: %v", err)
	}
	return list
}

// of is the ledger that has nothing but a share.
func of(sh haltd.Share) haltd.Ledger {
	return haltd.Ledger{Agent: sh.Agent, Period: sh.Period, Start: sh.Start, Spent: sh.Spent, Held: sh.Held}
}

func ledgers(t *testing.T, s Store) {
	join(t, s, "n", long)
	day := start.Truncate(24 * time.Hour)
	month := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour) // begins earlier in another zone
	daily := haltd.Share{Agent: "a", Period: haltd.Daily, Start: day,
		Spent: haltd.Spending{Cost: 123_456_789_012_345_678, Tokens: 5}, Held: haltd.Spending{Cost: 1, Tokens: 2}}
	monthly := haltd.Share{Agent: "a", Period: haltd.Monthly, Start: month, Spent: haltd.Spending{Cost: 7}}
	other := haltd.Share{Agent: "b", Period: haltd.Daily, Start: day}
	saveShares(t, s, "n")
	equal(t, "none", ledgersSince(t, s, "a", time.Time{}), []haltd.Ledger{})
	equal(t, "what is told of them", saveShares(t, s, "n", daily, monthly), []haltd.Ledger{of(daily), of(monthly)})
	saveShares(t, s, "n", other)
	equal(t, "all", ledgersSince(t, s, "a", month), []haltd.Ledger{of(daily), of(monthly)})
	equal(t, "those of the day", ledgersSince(t, s, "a", day), []haltd.Ledger{of(daily)})
	equal(t, "those of another", ledgersSince(t, s, "b", month), []haltd.Ledger{of(other)})
	daily.Spent, daily.Held = haltd.Spending{Cost: 9, Tokens: 9}, haltd.Spending{}
	tomorrow := daily
	tomorrow.Start = day.Add(24 * time.Hour)
	saveShares(t, s, "n", daily, tomorrow)
	saveShares(t, s, "n", daily, tomorrow) // counts once
	equal(t, "after one was replaced", ledgersSince(t, s, "a", month), []haltd.Ledger{of(daily), of(tomorrow), of(monthly)})
	if _, err := s.PruneEvents(t.Context(), day.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	equal(t, "after a prune", ledgersSince(t, s, "a", month), []haltd.Ledger{of(daily), of(tomorrow), of(monthly)})
}

// ledgersOfNodes: each node has its share, and what one held that is gone is
// charged.
func ledgersOfNodes(t *testing.T, s Store) {
	for _, id := range []string{"n", "m"} {
		join(t, s, id, long)
	}
	day := start.Truncate(24 * time.Hour)
	share := func(spent, held, limit int64) haltd.Share {
		return haltd.Share{Agent: "a", Period: haltd.Daily, Start: day, Spent: haltd.Spending{Tokens: spent}, Held: haltd.Spending{Tokens: held}, Limit: haltd.Spending{Tokens: limit}}
	}
	want := func(what string, spent, held int64) {
		t.Helper()
		l := ledgersSince(t, s, "a", day)
		if len(l) != 1 || l[0].Spent.Tokens != spent || l[0].Held.Tokens != held {
			t.Errorf("%s: ledgers %+v, want %d spent and %d held", what, l, spent, held)
		}
	}
	refused := func(what, node string, sh haltd.Share) {
		t.Helper()
		if _, fits, err := s.SaveShares(t.Context(), node, []haltd.Share{sh}); err != nil || fits {
			t.Errorf("%s: fits %v, %v; want it refused", what, fits, err)
		}
	}
	saveShares(t, s, "n", share(10, 20, 100))
	saveShares(t, s, "m", share(30, 40, 100))
	want("both", 40, 60)
	refused("more than is left", "n", share(10, 21, 100))
	want("after a refusal", 40, 60)
	saveShares(t, s, "n", share(25, 5, 50)) // no more than before
	want("a share that does not grow", 55, 45)
	over := share(25, 30, 101)
	over.Alone = true
	saveShares(t, s, "n", over)
	alone := share(30, 60, 1000)
	alone.Limit.Tokens, alone.Alone = 126, true
	refused("a second one alone", "m", alone)
	saveShares(t, s, "n", share(25, 0, 0))
	saveShares(t, s, "m", alone)
	want("alone after the other", 55, 60)
	saveShares(t, s, "m", share(30, 40, 0))

	all, mine, err := s.OpenLedger(t.Context(), "m", haltd.Ledger{Agent: "a", Period: haltd.Daily, Start: day, Spent: haltd.Spending{Tokens: 90}})
	if err != nil || all.Spent.Tokens != 55 || all.Held.Tokens != 40 || mine.Spent.Tokens != 30 || mine.Held.Tokens != 40 {
		t.Errorf("opened as %+v, mine %+v, %v; want it as it was", all, mine, err)
	}
	all, _, err = s.OpenLedger(t.Context(), "new", haltd.Ledger{Agent: "a", Period: haltd.Daily, Start: day, Spent: haltd.Spending{Cost: 3, Tokens: 100}})
	if err != nil || all.Spent != (haltd.Spending{Cost: 3, Tokens: 60}) || all.Held.Tokens != 40 {
		t.Errorf("opened as %+v, %v; want what the record knows beyond it to be spent", all, err)
	}
	if err := s.Leave(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.SaveShares(t.Context(), "m", []haltd.Share{share(30, 0, 0)})
	wantCode(t, "a node whose lease has ended", err, haltd.CodeConflict)
	for range 2 { // once is enough
		if err := s.ChargeHeld(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("after a node is gone", 100, 0)
	}
	equal(t, "what is told the other", saveShares(t, s, "n", share(26, 1, 0))[0].Spent.Tokens, int64(101))
}

// ledgersConcurrent: nodes that want the last of a budget at once never get
// more than there is.
func ledgersConcurrent(t *testing.T, s Store) {
	day := start.Truncate(24 * time.Hour)
	var mu sync.Mutex
	held := int64(0)
	var wg sync.WaitGroup
	for n := range 4 {
		id := fmt.Sprint("node", n)
		join(t, s, id, long)
		wg.Go(func() {
			for want := int64(1); want <= 40; want++ {
				sh := haltd.Share{Agent: "a", Period: haltd.Daily, Start: day, Held: haltd.Spending{Tokens: want}, Limit: haltd.Spending{Tokens: 100}}
				_, fits, err := s.SaveShares(t.Context(), id, []haltd.Share{sh})
				if err != nil {
					t.Errorf("SaveShares: %v", err)
				}
				if !fits {
					return
				}
				mu.Lock()
				held++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	l := ledgersSince(t, s, "a", day)
	if len(l) != 1 || l[0].Held.Tokens != 100 || held != 100 {
		t.Errorf("%d were let through, the ledger says %+v; want 100", held, l)
	}
}

// ledgersAtOneMoment: who opens a ledger while its own share is being saved sees
// all shares and its own as of one moment, so that what others hold is the rest.
func ledgersAtOneMoment(t *testing.T, s Store) {
	day := start.Truncate(24 * time.Hour)
	join(t, s, "n", long)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int64(200) {
			sh := haltd.Share{Agent: "a", Period: haltd.Daily, Start: day, Held: haltd.Spending{Tokens: 10 * (i % 7)}}
			if _, _, err := s.SaveShares(t.Context(), "n", []haltd.Share{sh}); err != nil {
				t.Errorf("SaveShares: %v", err)
			}
		}
	}()
	for {
		all, mine, err := s.OpenLedger(t.Context(), "n", haltd.Ledger{Agent: "a", Period: haltd.Daily, Start: day})
		if err != nil || all.Held != mine.Held {
			t.Errorf("all hold %+v, this node %+v, %v; want the same: there is no other", all.Held, mine.Held, err)
			<-done
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func spent(t *testing.T, s Store) {
	other := call(3, start.Add(time.Hour), "a", "s")
	other.Model = "gpt-6"
	add(t, s, call(1, start.Add(-time.Hour), "a", "s"), call(2, hour, "a", "s"), other, call(4, start, "b", "s"))
	one := haltd.Spending{Cost: haltd.Dollar, Tokens: 110}
	for name, c := range map[string]struct {
		agent string
		since time.Time
		want  haltd.Spending
	}{
		"from the start of the hour": {"a", start, one.Add(one)},
		"from earlier on":            {"a", start.Add(-time.Hour), one.Add(one).Add(one)},
		"from the last hour":         {"a", start.Add(time.Hour), one},
		"nothing yet":                {"a", start.Add(2 * time.Hour), haltd.Spending{}},
		"another agent":              {"b", start, one},
		"an unknown agent":           {"zed", start, haltd.Spending{}},
	} {
		got, err := s.Spent(t.Context(), c.agent, c.since)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, got, c.want)
	}
}
