// Package control knows who may call and under which policy. It keeps all of
// it in memory, so that the path of a request never waits for the store, and
// makes every change durable before it takes effect; only a stop, and the bypass,
// hold from the moment they are decided. It decides nothing: the judge or a person has decided on
// each change.
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/lock"
	"github.com/haltd/haltd/internal/policy"
)

// Journal gives ids to events that are written outside of the queue, and sends
// them to subscribers. It does not fail.
type Journal interface {
	Stamp(e *haltd.Event)
	Announce(events []haltd.Event)
	// Abandon takes back the ids of events that could not be written.
	Abandon(events []haltd.Event)
}

// Incidents reads what was raised. An unknown incident is CodeNotFound, a
// store that does not answer CodeUnavailable.
type Incidents interface {
	Incident(ctx context.Context, id string) (haltd.Incident, error)
	Incidents(ctx context.Context, q haltd.IncidentQuery) (incidents []haltd.Incident, next string, err error)
}

// Options are control's neighbours. All are needed but where it says
// otherwise.
type Options struct {
	Store     haltd.ControlStore
	Incidents Incidents
	Journal   Journal
	// Feed tells what other nodes change; nil where there are none. Node is
	// the id of this one.
	Feed haltd.ChangeFeed
	Node string
	// Leads says whether this node forgets sessions and starts budgets again,
	// for all; nil where there is one.
	Leads func(context.Context) bool
	// ReloadKeys loads the gateway keys again, which have changed; nil where
	// nobody has to know.
	ReloadKeys func(context.Context) error
	// ReloadPrices does the same with the price table.
	ReloadPrices func(context.Context) error
	// Cut ends the calls of a target that are in flight.
	Cut func(haltd.Target)
	// Notify is called when a notice waits in the outbox.
	Notify func()
	Clock  haltd.Clock
	Logger *slog.Logger
}

// Control is the one place where standings, overrides, rules and the bypass
// change.
type Control struct {
	store     haltd.ControlStore
	incidents Incidents
	journal   Journal
	feed      haltd.ChangeFeed
	node      string
	keys      func(context.Context) error
	prices    func(context.Context) error
	leads     func(context.Context) bool
	cut       func(haltd.Target)
	notify    func()
	clock     haltd.Clock
	log       *slog.Logger

	seen     atomic.Int64 // the version that the feed was followed to
	ownUntil atomic.Int64 // up to where this node follows its own changes, too
	applying sync.Mutex   // locked while changes of other nodes are applied
	locks    lock.Keyed   // held while the store and the table change together
	swap     sync.Mutex   // locked while the table is replaced, and over nothing else
	table    atomic.Pointer[table]
	pending  pendingStops
	bypass   atomic.Pointer[heldBypass] // nil where it is as the table says
	raised   chan haltd.Change
	worker   sync.WaitGroup
	stop     context.CancelFunc
	// stopWatching ends watching, and with it the periodic workers; stop ends
	// all workers.
	watching     context.Context
	stopWatching context.CancelFunc

	raising sync.Mutex
	closed  bool
	once    map[string]time.Time // what this process has raised, by Incident.Once
}

// table is all that control knows at one moment. It never changes.
type table struct {
	defaults  haltd.Policy
	file      map[string]haltd.PolicyOverride
	overrides map[string]haltd.PolicyOverride // of the API
	agents    map[string]*Agent               // with a policy or standing of their own
	others    *Agent                          // all the rest
	list      []haltd.Rule
	rules     *policy.Ruleset
	bypass    haltd.Bypass
}

// New loads what the store knows. Policies come from defaults and, by agent,
// from the file and from the API. Close ends it.
func New(ctx context.Context, o Options, defaults haltd.Policy, file map[string]haltd.PolicyOverride) (*Control, error) {
	known, err := o.Store.Control(ctx)
	if err != nil {
		return nil, fmt.Errorf("load who may call: %w", err)
	}
	c := &Control{
		store: o.Store, incidents: o.Incidents, journal: o.Journal, feed: o.Feed, node: o.Node, keys: o.ReloadKeys, prices: o.ReloadPrices, leads: o.Leads, cut: o.Cut, notify: o.Notify, clock: o.Clock, log: o.Logger,
		raised: make(chan haltd.Change, raiseQueue), once: map[string]time.Time{},
	}
	if c.leads == nil {
		c.leads = func(context.Context) bool { return true }
	}
	c.table.Store(newTable(known, defaults, file))
	c.seen.Store(known.Version)
	background, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.worker.Go(func() { c.writeRaised(background) })
	c.watching, c.stopWatching = context.WithCancel(background)
	c.worker.Go(func() { c.recoverPeriodically(c.watching) })
	c.worker.Go(func() { c.evictPeriodically(c.watching) })
	if c.feed != nil {
		c.worker.Go(func() { c.watchChanges(c.watching) })
	}
	return c, nil
}

// newTable is what the store knows, under these policies.
func newTable(known haltd.Control, defaults haltd.Policy, file map[string]haltd.PolicyOverride) *table {
	t := &table{
		defaults: defaults, file: file, overrides: known.Overrides,
		agents: map[string]*Agent{}, others: &Agent{}, bypass: known.Bypass,
		list: sortRules(known.Rules), rules: policy.Compile(known.Rules),
	}
	for _, s := range known.Standings {
		t.setStanding(s)
	}
	t.applyPolicies()
	return t
}

// reload loads what has changed elsewhere, where somebody wants to know.
func reload(ctx context.Context, load func(context.Context) error) error {
	if load == nil {
		return nil
	}
	return load(ctx)
}

// Configure makes other defaults and file policies effective for the next
// request.
func (c *Control) Configure(defaults haltd.Policy, file map[string]haltd.PolicyOverride) {
	c.update(func(t *table) {
		t.defaults, t.file = defaults, file
		t.applyPolicies()
	})
}

// update replaces the table by a changed copy of the one in force.
func (c *Control) update(change func(*table)) {
	c.swap.Lock()
	defer c.swap.Unlock()
	next := c.table.Load().clone()
	change(next)
	c.table.Store(next)
}

// Agent is the snapshot of an agent as it is now.
func (c *Control) Agent(id string) *Agent {
	pending := c.pending.of(id) // first: a stop that is written leaves it for the table
	a := c.table.Load().agent(id)
	if pending == nil {
		return a
	}
	stopped := *a
	stopped.pending = pending
	return &stopped
}

// MatchRule is the rule that decides about a call.
func (c *Control) MatchRule(q policy.RuleQuery) (haltd.Rule, bool) {
	return c.table.Load().rules.Match(q)
}

func (t *table) agent(id string) *Agent {
	if a := t.agents[id]; a != nil {
		return a
	}
	return t.others
}

// clone is a table that may be changed; what its maps hold may not.
func (t *table) clone() *table {
	next := *t
	next.agents = maps.Clone(t.agents)
	next.overrides = maps.Clone(t.overrides)
	if next.overrides == nil {
		next.overrides = map[string]haltd.PolicyOverride{}
	}
	return &next
}

// applyPolicies works out the policy of every agent.
func (t *table) applyPolicies() {
	t.others = &Agent{Policy: t.defaults, Zone: zone(t.defaults.TimeZone), Standing: haltd.Standing{Active: true}}
	for _, ids := range []map[string]haltd.PolicyOverride{t.file, t.overrides} {
		for id := range ids {
			if t.agents[id] == nil {
				t.agents[id] = &Agent{Standing: haltd.Standing{Agent: id, Active: true}}
			}
		}
	}
	for id := range t.agents {
		t.applyPolicy(id)
	}
}

func (t *table) applyPolicy(id string) {
	next := Agent{Standing: haltd.Standing{Agent: id, Active: true}}
	if a := t.agents[id]; a != nil {
		next = *a
	}
	next.Policy = t.policy(id, t.overrides[id])
	next.Zone = zone(next.Policy.TimeZone)
	t.agents[id] = &next
}

func (t *table) policy(id string, own haltd.PolicyOverride) haltd.Policy {
	file := t.file[id]
	return own.Over(file.Over(t.defaults))
}

// zone loads a time zone. The policy was checked: an unknown one cannot come
// here.
func zone(name string) *time.Location {
	if z, err := time.LoadLocation(name); err == nil {
		return z
	}
	return time.UTC
}

// commit writes a change and, when it is written, applies it to the table; nil
// where the table does not show it. Whoever changes the table, or what it has
// read before, holds the lock of it.
func (c *Control) commit(ctx context.Context, change haltd.Change, apply func(*table)) error {
	// A change that has begun is finished, also when its caller is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	for i := range change.Events {
		c.journal.Stamp(&change.Events[i])
		if change.Incident != nil {
			change.Incident.Event = change.Events[i].ID
		}
	}
	change.Node, change.Seen = c.node, c.seen.Load()
	if err := c.store.Commit(ctx, change); err != nil {
		c.journal.Abandon(change.Events)
		for i := range change.Events {
			change.Events[i].ID = 0 // a retry takes a new one: readers go by their order
		}
		if errors.Is(err, context.DeadlineExceeded) && haltd.ErrorCode(err) != haltd.CodeUnavailable {
			return fmt.Errorf("%w (%w)", haltd.Errorf(haltd.CodeUnavailable, "the store has not taken the change within %v", commitTimeout).
				WithFix("Check the disk or the database, look whether the change holds, and try again."), err)
		}
		return err
	}
	if apply != nil {
		c.update(apply)
	}
	c.journal.Announce(change.Events)
	if len(change.Notices) > 0 {
		c.notify()
	}
	return nil
}

const commitTimeout = 10 * time.Second

// audit is the event of a person's change.
func audit(now time.Time, t haltd.Target, a haltd.Audit) haltd.Event {
	return haltd.Event{Time: now, Type: haltd.EventPolicy, Agent: t.Agent, Session: t.Session, Audit: &a}
}

// now is the time at the precision of the store, so that a standing reads back
// as it was written.
func (c *Control) now() time.Time { return c.clock().UTC().Truncate(time.Microsecond) }
