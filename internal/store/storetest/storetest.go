// Package storetest holds what every store must do, as one suite that each
// adapter runs in its own tests. It sees a store through the ports only.
package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store"
)

// Store is all that an adapter implements.
type Store = store.Port

// Run runs the suite. open answers a new, empty store and closes it when its
// test ends.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"events come back as they went in", roundTrip},
		{"the last event is known", lastEvent},
		{"an id is counted once", idempotent},
		{"a batch is all or nothing", atomic},
		{"events that cannot be kept are refused", refused},
		{"filters", filters},
		{"session ids are per agent", sessionsPerAgent},
		{"paging is stable under inserts", paging},
		{"concurrent appends", concurrent},
		{"events are told in the order of their commits", eventFeed},
		{"concurrent commits are told, each once", eventFeedConcurrent},
		{"prune", prune},
		{"a canceled context stops work", canceled},
		{"excerpts go with their events", excerpts},
		{"excerpts are all or nothing with their events", excerptsAtomic},
		{"prune of excerpts", pruneExcerpts},
		{"deleting an agent forgets what it said", deleteExcerpts},
		{"excerpts of incidents", incidentExcerpts},
		{"agents", agents},
		{"agent totals", totals},
		{"agent paging and search", agentListing},
		{"sessions", sessions},
		{"session paging and search", sessionListing},
		{"cursors of others are refused", cursors},
		{"stats", stats},
		{"stats groups", statsGroups},
		{"stats of a wrong query", statsInvalid},
		{"keys", keys},
		{"sign-outs", signOuts},
		{"API tokens", tokens},
		{"users", users},
		{"the audit log is kept apart", audits},
		{"keys that cannot be kept are refused", keysRefused},
		{"an empty store lets everybody call", emptyControl},
		{"standings of agents", agentStandings},
		{"standings of sessions", sessionStandings},
		{"agents by standing", agentsByStanding},
		{"overrides", overrides},
		{"bypass", bypass},
		{"rules", rules},
		{"marks", marks},
		{"a change makes its agent", changeMakesAgent},
		{"a change counts its events", changeEvents},
		{"a change is all or nothing", changeAtomic},
		{"changes that cannot be kept are refused", changeRefused},
		{"concurrent changes", changesConcurrent},
		{"changes are told", changesTold},
		{"changes are awaited", changesAwaited},
		{"concurrent changes are told in their order", changesInOrder},
		{"a change that another node made first conflicts", changesConflict},
		{"deleting an agent forgets its record", deleteAgent},
		{"deleting an agent lifts no kill", deleteKilled},
		{"prune keeps who may call", pruneKeepsControl},
		{"stopped sessions are forgotten when they have been silent", sessionsForgotten},
		{"deleting an agent forgets no stopped session sooner", deletingStopped},
		{"sums are kept for their time", sumsKept},
		{"ledgers of past periods are forgotten", ledgersKept},
		{"agents that are gone are forgotten", agentsKept},
		{"incidents are kept for their time", incidentsKept},
		{"sums of very many models", manyModels},
		{"sums of very many providers", manyProviders},
		{"incidents", incidents},
		{"remarks on incidents", remarks},
		{"counts of incidents", incidentCounts},
		{"the order of agents and sessions", agentOrder},
		{"groups of sums", statGroups},
		{"incident filters and paging", incidentListing},
		{"an incident is raised once", incidentOnce},
		{"concurrent incidents are raised once", incidentOnceConcurrent},
		{"closing one incident", closingOne},
		{"closing all that stopped an agent", closingAll},
		{"scores", scores},
		{"peaks", peaks},
		{"ledgers", ledgers},
		{"ledgers of several nodes", ledgersOfNodes},
		{"concurrent shares of a ledger", ledgersConcurrent},
		{"a ledger at one moment", ledgersAtOneMoment},
		{"spent", spent},
		{"notices", notices},
		{"deliveries", deliveries},
		{"a delivery is tried by one at a time", claims},
		{"of many who want deliveries each gets its own", claimsConcurrent},
		{"delivery filters and paging", deliveryListing},
		{"prune keeps what is on its way", pruneOutbox},
		{"channels", channels},
		{"alert rules", alertRules},
		{"a shared secret is made once", sharedSecrets},
		{"the price table that was loaded", prices},
		{"nodes have numbers of their own", nodeNumbers},
		{"concurrent nodes have numbers of their own", nodesConcurrent},
		{"a node lives as long as its lease", nodeLeases},
		{"the clock of all nodes", clock},
		{"nodes whose clocks differ agree", skew},
		{"one node leads", leaders},
		{"of nodes that want to lead at once one does", leadersConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// start is when the suite's events happen: half past an hour.
var start = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)

// call is a plain, complete call.
func call(id int, at time.Time, agent, session string) haltd.Event {
	return haltd.Event{
		ID: haltd.EventID(id), Time: at, Type: haltd.EventCall,
		Agent: agent, Session: session, Client: "sdk",
		Provider: "openai", Path: "/v1/chat/completions", Model: "gpt-5",
		Status: 200, Tokens: haltd.Usage{Input: 100, Output: 10, CacheRead: 5, CacheWrite: 1}, Cost: haltd.Dollar,
	}
}

func add(t *testing.T, s Store, events ...haltd.Event) {
	t.Helper()
	if err := s.AppendEvents(t.Context(), events); err != nil {
		t.Fatalf("AppendEvents: %v", err)
	}
}

// ids asks for events and answers their ids.
func ids(t *testing.T, s Store, q haltd.EventQuery) []int {
	t.Helper()
	events, err := s.Events(t.Context(), q)
	if err != nil {
		t.Fatalf("Events(%+v): %v", q, err)
	}
	list := []int{}
	for _, e := range events {
		list = append(list, int(e.ID))
	}
	return list
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if got := haltd.ErrorCode(err); got != code {
		t.Errorf("%s: code %q, want %q (error: %v)", what, got, code, err)
	}
}
