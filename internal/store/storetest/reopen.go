package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Reopen fills s and wants to find all of it in what reopen answers: the same
// store, closed and opened again.
func Reopen(t *testing.T, s Store, reopen func() Store) {
	day := start.Truncate(24 * time.Hour)
	on := notice("ntc_on", start)
	commit(t, s, everything("a", 1))
	stand(t, s, killed("b", "s"), resumed("c", ""))
	notify(t, s, on)
	dispatch(t, s, on.ID, delivery("dlv", "chn", on, start))
	join(t, s, "n", long)
	saveShares(t, s, "n", haltd.Share{Agent: "a", Period: haltd.Daily, Start: day, Held: haltd.Spending{Cost: 1, Tokens: 2}})
	for what, err := range map[string]error{
		"SaveChannel":   s.SaveChannel(t.Context(), channel("chn")),
		"SaveAlertRule": s.SaveAlertRule(t.Context(), alertRule("alr")),
		"SavePriceFile": s.SavePriceFile(t.Context(), []byte(`{"date": "2026-11-01"}`)),
		"CreateToken":   s.CreateToken(t.Context(), haltd.Token{ID: "tok_a", Name: "ann", Role: haltd.AccessViewer, CreatedAt: start}, haltd.HashToken("one")),
		"CreateKey": s.CreateKey(t.Context(), haltd.Key{ID: "key_a", Agent: "a", CreatedAt: start,
			KeyLimits: haltd.KeyLimits{Models: []string{"gpt-5*"}, BudgetDay: 5 * haltd.Dollar}}, haltd.HashKey("haltd_1")),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if err := s.UseKeys(t.Context(), map[string]time.Time{"key_a": start}); err != nil {
		t.Fatal(err)
	}
	before := lookAt(t, s)
	for i, all := 0, reflect.ValueOf(before); i < all.NumField(); i++ {
		if all.Field(i).IsZero() {
			t.Errorf("%s is empty before the store is closed", all.Type().Field(i).Name)
		}
	}
	equal(t, "what is there after reopening", lookAt(t, reopen()), before)
}

// contents is what the ports show of a store.
type contents struct {
	Control    haltd.Control
	Mark       haltd.Mark
	Agents     []haltd.Agent
	Sessions   []haltd.Session
	Events     []haltd.Event
	Excerpt    haltd.Excerpt
	Incidents  []haltd.Incident
	Ledgers    []haltd.Ledger
	Notices    []haltd.Notice
	Deliveries []haltd.Delivery
	Channels   []haltd.Channel
	AlertRules []haltd.AlertRule
	Keys       []haltd.Key
	Tokens     []haltd.Token
	PriceFile  []byte
}

func lookAt(t *testing.T, s Store) (c contents) {
	t.Helper()
	var errs [15]error
	c.Control, errs[0] = s.Control(t.Context())
	c.Mark, _, errs[1] = s.Mark(t.Context(), "a", "s")
	c.Agents, _, errs[2] = s.Agents(t.Context(), haltd.AgentQuery{})
	c.Sessions, _, errs[3] = s.Sessions(t.Context(), haltd.SessionQuery{})
	c.Events, errs[4] = s.Events(t.Context(), haltd.EventQuery{})
	c.Excerpt, _, errs[5] = s.Excerpt(t.Context(), 1)
	c.Incidents, _, errs[6] = s.Incidents(t.Context(), haltd.IncidentQuery{})
	c.Ledgers, errs[7] = s.Ledgers(t.Context(), "a", time.Time{})
	c.Notices, errs[8] = s.Notices(t.Context(), 10)
	c.Deliveries, _, errs[9] = s.Deliveries(t.Context(), haltd.DeliveryQuery{})
	c.Channels, errs[10] = s.Channels(t.Context())
	c.AlertRules, errs[11] = s.AlertRules(t.Context())
	c.Keys, errs[12] = s.Keys(t.Context())
	c.Tokens, errs[13] = s.Tokens(t.Context())
	c.PriceFile, errs[14] = s.PriceFile(t.Context())
	for i, err := range errs {
		if err != nil {
			t.Fatalf("read %s: %v", reflect.TypeFor[contents]().Field(i).Name, err)
		}
	}
	return c
}
