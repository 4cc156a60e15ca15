package control

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/harness"
)

// node is one of several that share a store.
type node struct {
	*Control
	mu    sync.Mutex
	cuts  []haltd.Target
	loads atomic.Int64 // of keys
}

func (n *node) wasCut() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.cuts)
}

// slow is a feed that tells nothing before it is let go.
type slow struct {
	haltd.ChangeFeed
	free chan struct{}
}

func (s slow) Changes(ctx context.Context, after int64) ([]haltd.Change, error) {
	if _, hurried := ctx.Deadline(); !hurried { // who was overtaken asks with one
		select {
		case <-s.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.ChangeFeed.Changes(ctx, after)
}

func join(t *testing.T, store *sqlite.Store, feed haltd.ChangeFeed, name string) *node {
	t.Helper()
	return joinStore(t, store, store, feed, name)
}

func joinStore(t *testing.T, store haltd.ControlStore, incidents Incidents, feed haltd.ChangeFeed, name string) *node {
	t.Helper()
	n := &node{}
	var err error
	n.Control, err = New(t.Context(), Options{
		Store: store, Incidents: incidents, Journal: &journal{}, Feed: feed, Node: name,
		ReloadKeys: func(context.Context) error { n.loads.Add(1); return nil },
		Cut: func(t haltd.Target) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.cuts = append(n.cuts, t)
		},
		Notify: func() {}, Clock: func() time.Time { return noon }, Logger: slog.New(slog.DiscardHandler),
	}, haltd.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	if err := harness.Until(t.Context(), happened); err != nil {
		t.Fatalf("%s, on the other node: %v", what, err)
	}
}

// What one node changes holds on the other.
func TestNodesFollowEachOther(t *testing.T) {
	store := newBench(t).store
	a, b := join(t, store, store, "a"), join(t, store, store, "b")
	ctx := t.Context()
	if killed, err := a.Kill(ctx, haltd.Target{Agent: "bot"}, incident("inc_1", "s"), event(haltd.EventKillSwitch)); !killed || err != nil {
		t.Fatalf("killed %v, %v", killed, err)
	}
	await(t, "a kill", func() bool { return !b.Agent("bot").Active("s") })
	if _, err := b.Activate(ctx, haltd.Target{Agent: "bot"}, 0, "ann", ""); err != nil {
		t.Fatal(err)
	}
	await(t, "a resume", func() bool { return a.Agent("bot").Active("s") && !a.Agent("bot").WindowResetAt.IsZero() })
	if _, err := a.Deactivate(ctx, haltd.Target{Agent: "bot", Session: "s"}, true, "ann", ""); err != nil {
		t.Fatal(err)
	}
	await(t, "the cut of calls", func() bool { return b.wasCut() == 1 })
	if n := a.wasCut(); n != 1 {
		t.Errorf("calls were cut %d times where it was asked for, want once", n)
	}
	if b.Agent("bot").Active("s") || !b.Agent("bot").Active("t") {
		t.Error("the session is active on the other node, or another one is not")
	}
	_, err := a.Override(ctx, "bot", "ann", func(o *haltd.PolicyOverride) error {
		*o = haltd.MustOverride(`{"kill_switch": {"enabled": true}}`)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "an override", func() bool { p, _ := b.Policy("bot"); return p.KillSwitch.Enabled })
	rule, err := a.SaveRule(ctx, haltd.Rule{Name: "r", Enabled: true, Action: haltd.RuleBlock}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	matches := func(c *Control) bool { _, ok := c.MatchRule(policy.RuleQuery{}); return ok }
	await(t, "a rule", func() bool { return matches(b.Control) && len(b.Rules()) == 1 })
	if err := b.DeleteRule(ctx, rule.ID, "bob"); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of a rule", func() bool { return !matches(a.Control) && len(a.Rules()) == 0 })
	if _, err := a.SetBypass(ctx, true, "ann", ""); err != nil {
		t.Fatal(err)
	}
	await(t, "the bypass", func() bool { return b.Bypass().On })
	if err := store.CreateKey(ctx, haltd.Key{ID: "key_a", Agent: "bot", CreatedAt: noon}, haltd.HashKey("haltd_1")); err != nil {
		t.Fatal(err)
	}
	await(t, "a key", func() bool { return a.loads.Load() > 0 && b.loads.Load() > 0 })
	if err := a.Delete(ctx, "bot", "ann"); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of an override", func() bool { p, _ := b.Policy("bot"); return !p.KillSwitch.Enabled })
}

// Two nodes that see the same loop kill it once, and a person's word on one is
// not undone by what the other did not know yet.
func TestOfTwoNodesOneKills(t *testing.T) {
	store := newBench(t).store
	free := make(chan struct{})
	a, b := join(t, store, slow{store, free}, "a"), join(t, store, slow{store, free}, "b")
	kills := 0
	for i, n := range []*node{a, b} {
		killed, err := n.Kill(t.Context(), haltd.Target{Agent: "bot"}, incident([]string{"inc_a", "inc_b"}[i], "s"), event(haltd.EventKillSwitch))
		if err != nil {
			t.Fatal(err)
		}
		if killed {
			kills++
		}
	}
	open, _, err := store.Incidents(t.Context(), haltd.IncidentQuery{})
	if err != nil || kills != 1 || len(open) != 1 {
		t.Errorf("%d kills, %d incidents, %v; want one of each", kills, len(open), err)
	}
	if s, _ := b.Standing(haltd.Target{Agent: "bot"}); s.Incident != "inc_a" {
		t.Errorf("the slower node has the standing %+v, want that of the faster", s)
	}
	// b does not know of the override that a makes: it adds to it all the same.
	for _, change := range []struct {
		n    *node
		text string
	}{{a, `{"kill_switch": {"enabled": true}}`}, {b, `{"kill_switch": {"threshold": 7}}`}} {
		_, err := change.n.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
			return o.Patch([]byte(change.text), haltd.DefaultPolicy())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if p, _ := b.Policy("bot"); !p.KillSwitch.Enabled || p.KillSwitch.Threshold != 7 {
		t.Errorf("kill switch %+v, want what both have set", p.KillSwitch)
	}
	close(free)
}

// A node that was away for longer than changes are kept loads all anew.
func TestANodeThatWasAwayLoadsAnew(t *testing.T) {
	store := newBench(t).store
	free := make(chan struct{})
	a, b := join(t, store, store, "a"), join(t, store, slow{store, free}, "b")
	if _, err := a.Kill(t.Context(), haltd.Target{Agent: "bot"}, incident("inc_1", "s"), event(haltd.EventKillSwitch)); err != nil {
		t.Fatal(err)
	}
	if err := store.Forget(t.Context(), time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	close(free)
	await(t, "what was changed meanwhile", func() bool { return !b.Agent("bot").Active("s") })
}

// replaced is a store whose place another one has taken since.
type replaced struct{ now atomic.Pointer[sqlite.Store] }

func (r *replaced) Control(ctx context.Context) (haltd.Control, error) {
	return r.now.Load().Control(ctx)
}

func (r *replaced) Commit(ctx context.Context, c haltd.Change) error {
	return r.now.Load().Commit(ctx, c)
}

func (r *replaced) Mark(ctx context.Context, agent, session string) (haltd.Mark, bool, error) {
	return r.now.Load().Mark(ctx, agent, session)
}

func (r *replaced) ForgetSessions(ctx context.Context, node string, sessions []haltd.Target, since time.Time) ([]haltd.Target, error) {
	return r.now.Load().ForgetSessions(ctx, node, sessions, since)
}

func (r *replaced) DeleteAgent(ctx context.Context, node, id string) error {
	return r.now.Load().DeleteAgent(ctx, node, id)
}

// Changes asks again each moment, as nodes that share a database do.
func (r *replaced) Changes(ctx context.Context, after int64) ([]haltd.Change, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		list, err := r.now.Load().Changes(limited, after)
		asked := limited.Err() == nil || ctx.Err() != nil
		cancel()
		if err == nil || asked {
			return list, err
		}
	}
}

// A replica that was behind takes over: nodes follow what is changed there from
// then on, and who was stopped stays so.
func TestAStoreThatWasSetBack(t *testing.T) {
	old, behind := newBench(t).store, newBench(t).store
	var store replaced
	store.now.Store(old)
	n := joinStore(t, &store, old, &store, "n")
	for _, name := range []string{"bot", "other", "third"} {
		if _, err := n.Deactivate(t.Context(), haltd.Target{Agent: name}, false, "ann", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Deactivate(t.Context(), haltd.Target{Agent: "fourth", Session: "s"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	await(t, "its own changes", func() bool { return n.seen.Load() == 4 })
	store.now.Store(behind)
	m := joinStore(t, &store, behind, &store, "m")
	if _, err := m.Deactivate(t.Context(), haltd.Target{Agent: "late"}, false, "bob", ""); err != nil {
		t.Fatal(err)
	}
	await(t, "a stop in the store that took over", func() bool { return !n.Agent("late").Active("s") })
	if n.Agent("bot").Active("s") || n.Agent("fourth").Active("s") || !n.Agent("fourth").Active("t") {
		t.Error("who was stopped before may call, or who was not may not")
	}
	if _, err := n.Activate(t.Context(), haltd.Target{Agent: "bot"}, 0, "ann", ""); err != nil || !n.Agent("bot").Active("s") {
		t.Errorf("resumed: %v; want it to call", err)
	}
}
