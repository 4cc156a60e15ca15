package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// notice is one with every field set.
func notice(id string, at time.Time) haltd.Notice {
	return haltd.Notice{
		ID: id, Time: at, Topic: haltd.IncidentKillSwitch, Recovery: true, Agent: "a", Session: "s",
		Incident: "inc_" + id, Sentence: "It is over.", Tokens: []int64{1000, 1400},
	}
}

func notify(t *testing.T, s Store, list ...haltd.Notice) {
	t.Helper()
	commit(t, s, haltd.Change{Notices: list})
}

func noticeIDs(t *testing.T, s Store) []string {
	t.Helper()
	list, err := s.Notices(t.Context(), 1000)
	if err != nil {
		t.Fatalf("Notices: %v", err)
	}
	ids := []string{}
	for _, n := range list {
		ids = append(ids, n.ID)
	}
	return ids
}

// delivery is a pending one of a notice.
func delivery(id, channel string, n haltd.Notice, next time.Time) haltd.Delivery {
	return haltd.Delivery{ID: id, Notice: n, Channel: channel, Status: haltd.DeliveryPending, NextAt: next, UpdatedAt: start}
}

func dispatch(t *testing.T, s Store, notice string, list ...haltd.Delivery) {
	t.Helper()
	if err := s.Dispatch(t.Context(), notice, list); err != nil {
		t.Fatalf("Dispatch: %v", err)
	}
}

func claim(t *testing.T, s Store, q haltd.Claim) []haltd.Delivery {
	t.Helper()
	list, err := s.Claim(t.Context(), q)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return append([]haltd.Delivery{}, list...)
}

// due are the deliveries that are due, which stay so.
func due(t *testing.T, s Store, now time.Time, limit int) []haltd.Delivery {
	t.Helper()
	return claim(t, s, haltd.Claim{Now: now, Limit: limit})
}

// claims: a delivery that somebody tries is nobody else's until its lease
// ends, and those of a channel without a free lane stand in nobody's way.
func claims(t *testing.T, s Store) {
	n := notice("n", start)
	notify(t, s, n)
	a, b, c := delivery("a", "slack", n, start), delivery("b", "slack", n, start.Add(time.Second)), delivery("c", "mail", n, start.Add(time.Minute))
	dispatch(t, s, "n", a, b, c)
	later := start.Add(time.Hour)
	equal(t, "one lane for each channel", claim(t, s, haltd.Claim{Now: later, Lease: long, Limit: 10, Lanes: 1, Busy: map[string]int{"hook": 5}}), []haltd.Delivery{a, c})
	equal(t, "a channel that is busy", claim(t, s, haltd.Claim{Now: later, Lease: long, Limit: 10, Lanes: 2, Busy: map[string]int{"slack": 2}}), []haltd.Delivery{})
	equal(t, "what is left", claim(t, s, haltd.Claim{Now: later, Lease: brief, Limit: 10}), []haltd.Delivery{b})
	await(t, "the lease of one that nobody saved ends", func() bool {
		return len(claim(t, s, haltd.Claim{Now: later, Lease: long, Limit: 10})) == 1
	})
	a.Attempts, a.NextAt = 1, later
	if err := s.SaveDelivery(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	equal(t, "one that was tried and is due again", claim(t, s, haltd.Claim{Now: later, Lease: long, Limit: 10}), []haltd.Delivery{a})
}

func claimsConcurrent(t *testing.T, s Store) {
	n := notice("n", start)
	notify(t, s, n)
	var all []haltd.Delivery
	for i := range 40 {
		all = append(all, delivery(fmt.Sprint(i), fmt.Sprint("channel-", i%4), n, start))
	}
	dispatch(t, s, "n", all...)
	var mu sync.Mutex
	tried := map[string]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				list, err := s.Claim(t.Context(), haltd.Claim{Now: start, Lease: long, Limit: 3})
				if err != nil {
					t.Errorf("Claim: %v", err)
				}
				mu.Lock()
				for _, d := range list {
					tried[d.ID]++
				}
				done := len(tried) == len(all) || t.Failed()
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	wg.Wait()
	for id, times := range tried {
		if times != 1 {
			t.Errorf("delivery %s was handed out %d times", id, times)
		}
	}
}

func notices(t *testing.T, s Store) {
	late, early := notice("late", start.Add(time.Hour)), notice("early", start)
	notify(t, s, late)
	notify(t, s, early, notice("last", start.Add(2*time.Hour)))
	got, err := s.Notices(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "notices, oldest first", got, []haltd.Notice{early, late})

	early.Cost, early.CostOf = haltd.Dollar, "in this session" // as the deliveries have it
	dispatch(t, s, "early", delivery("one", "slack", early, start))
	dispatch(t, s, "late")
	equal(t, "notices left", noticeIDs(t, s), []string{"last"})
	dispatch(t, s, "early", delivery("again", "slack", early, start))
	dispatch(t, s, "late", delivery("again", "slack", late, start))
	equal(t, "due after dispatching again", due(t, s, start, 10), []haltd.Delivery{delivery("one", "slack", early, start)})

	wantCode(t, "dispatching an unknown notice", s.Dispatch(t.Context(), "none", nil), haltd.CodeNotFound)
	last := notice("last", start.Add(2*time.Hour))
	err = s.Dispatch(t.Context(), "last", []haltd.Delivery{delivery("new", "slack", last, start), delivery("one", "slack", last, start)})
	wantCode(t, "a delivery's id again", err, haltd.CodeInvalid)
	equal(t, "notices after a dispatch that failed", noticeIDs(t, s), []string{"last"})
	equal(t, "due after a dispatch that failed", len(due(t, s, start, 10)), 1)
}

func deliveries(t *testing.T, s Store) {
	n := notice("n", start)
	notify(t, s, n)
	a, b, c := delivery("a", "slack", n, start.Add(time.Minute)), delivery("b", "mail", n, start), delivery("c", "hook", n, start.Add(time.Hour))
	dispatch(t, s, "n", a, b, c)
	equal(t, "due, the longest first", due(t, s, start.Add(time.Minute), 10), []haltd.Delivery{b, a})
	equal(t, "one due", due(t, s, start.Add(time.Minute), 1), []haltd.Delivery{b})
	equal(t, "none due", due(t, s, start.Add(-time.Second), 10), []haltd.Delivery{})

	at := start.Add(2 * time.Minute)
	a.Attempts, a.NextAt, a.Answers, a.UpdatedAt = 2, start.Add(2*time.Hour), []string{"503", "500: try later"}, at
	b.Status, b.Attempts, b.Answers, b.UpdatedAt = haltd.DeliveryDelivered, 1, []string{"ok"}, at
	c.Status, c.Attempts, c.Answers, c.UpdatedAt = haltd.DeliveryDead, 9, []string{"no such channel"}, at
	for _, d := range []haltd.Delivery{a, b, c} {
		if err := s.SaveDelivery(t.Context(), d); err != nil {
			t.Fatalf("SaveDelivery: %v", err)
		}
	}
	equal(t, "due after the tries", due(t, s, start.Add(3*time.Hour), 10), []haltd.Delivery{a})
	list, next, err := s.Deliveries(t.Context(), haltd.DeliveryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "deliveries, newest first", list, []haltd.Delivery{c, b, a})
	equal(t, "next", next, "")
	c.Status, c.NextAt = haltd.DeliveryPending, start
	if err := s.SaveDelivery(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	equal(t, "due after a dead one is tried again", due(t, s, start, 10), []haltd.Delivery{c})
	wantCode(t, "saving an unknown delivery", s.SaveDelivery(t.Context(), haltd.Delivery{ID: "none"}), haltd.CodeNotFound)
}

func deliveryListing(t *testing.T, s Store) {
	var all []string
	for i := range 3 {
		n := notice(fmt.Sprint(i), start.Add(time.Duration(-i)*time.Hour))
		notify(t, s, n)
		one, two := delivery(fmt.Sprint(i, "-slack"), "slack", n, start), delivery(fmt.Sprint(i, "-mail"), "mail", n, start)
		two.Status = haltd.DeliveryDelivered
		dispatch(t, s, n.ID, one, two)
		all = append(all, one.ID, two.ID)
	}
	slices.Reverse(all)
	for name, c := range map[string]struct {
		q    haltd.DeliveryQuery
		want []string
	}{
		"all":      {haltd.DeliveryQuery{}, all},
		"status":   {haltd.DeliveryQuery{Status: haltd.DeliveryDelivered}, []string{"2-mail", "1-mail", "0-mail"}},
		"channel":  {haltd.DeliveryQuery{Channel: "slack"}, []string{"2-slack", "1-slack", "0-slack"}},
		"incident": {haltd.DeliveryQuery{Incident: "inc_1"}, []string{"1-mail", "1-slack"}},
		"together": {haltd.DeliveryQuery{Incident: "inc_1", Channel: "mail", Status: haltd.DeliveryDelivered}, []string{"1-mail"}},
		"none":     {haltd.DeliveryQuery{Channel: "pager"}, []string{}},
	} {
		for size := 1; size <= len(all)+1; size++ {
			got := []string{}
			q := c.q
			q.Limit = size
			for {
				page, next, err := s.Deliveries(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range page {
					got = append(got, d.ID)
				}
				if q.Cursor = next; next == "" {
					break
				}
			}
			equal(t, fmt.Sprintf("%s by pages of %d", name, size), got, c.want)
		}
	}
	_, _, err := s.Deliveries(t.Context(), haltd.DeliveryQuery{Page: haltd.Page{Cursor: "x"}})
	wantCode(t, "deliveries after a broken cursor", err, haltd.CodeInvalid)
}

func pruneOutbox(t *testing.T, s Store) {
	n, silent := notice("n", start), notice("silent", start)
	notify(t, s, n, silent, notice("waiting", start))
	pending, ended, fresh := delivery("pending", "slack", n, start), delivery("ended", "mail", n, start), delivery("fresh", "hook", n, start)
	ended.Status, fresh.Status, fresh.UpdatedAt = haltd.DeliveryDead, haltd.DeliveryDelivered, start.Add(2*time.Hour)
	dispatch(t, s, "n", pending, ended, fresh)
	dispatch(t, s, "silent")
	if _, err := s.PruneEvents(t.Context(), start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	list, _, err := s.Deliveries(t.Context(), haltd.DeliveryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "deliveries left", list, []haltd.Delivery{fresh, pending})
	equal(t, "notices left", noticeIDs(t, s), []string{"waiting"})
}
