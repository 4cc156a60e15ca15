package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/harness"
)

var noon = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

// journal gives ids to events and keeps those that were announced.
type journal struct {
	mu        sync.Mutex
	ids       haltd.EventIDs
	announced []haltd.Event
}

func (j *journal) Stamp(e *haltd.Event) { e.ID = j.ids.Next(noon) }

func (*journal) Abandon([]haltd.Event) {}

func (j *journal) Announce(events []haltd.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.announced = append(j.announced, events...)
}

// flaky is a store that fails while fail is set.
type flaky struct {
	haltd.ControlStore
	mu   sync.Mutex
	fail error
}

func (f *flaky) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *flaky) failing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail
}

func (f *flaky) Commit(ctx context.Context, c haltd.Change) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.ControlStore.Commit(ctx, c)
}

func (f *flaky) ForgetSessions(ctx context.Context, node string, sessions []haltd.Target, since time.Time) ([]haltd.Target, error) {
	if err := f.failing(); err != nil {
		return nil, err
	}
	return f.ControlStore.ForgetSessions(ctx, node, sessions, since)
}

type bench struct {
	*Control
	store   *sqlite.Store
	flaky   *flaky
	journal *journal
	path    string
	passed  atomic.Int64 // since noon
	cuts    []haltd.Target
	notices int    // that were announced
	flush   func() // writes what was raised and ends control
}

func open(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{journal: &journal{}, path: path}
	var err error
	if b.store, err = sqlite.Open(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	b.flaky = &flaky{ControlStore: b.store}
	b.Control, err = New(context.Background(), Options{
		Store: b.flaky, Incidents: b.store, Journal: b.journal,
		Cut: func(t haltd.Target) { b.cuts = append(b.cuts, t) }, Notify: func() { b.notices++ },
		Clock: func() time.Time { return noon.Add(time.Duration(b.passed.Load())) }, Logger: slog.New(slog.DiscardHandler),
	}, haltd.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.flush = sync.OnceFunc(func() { b.Control.Close(context.Background()) })
	t.Cleanup(func() { b.flush(); b.store.Close() })
	return b
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "haltd.db"))
}

func (b *bench) reopen(t *testing.T) *bench {
	t.Helper()
	b.flush()
	b.store.Close()
	return open(t, b.path)
}

func incident(id, session string) haltd.Incident {
	return haltd.Incident{ID: id, Time: noon, Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Agent: "bot", Session: session, Sentence: "bot repeats itself."}
}

func event(kind haltd.EventType) haltd.Event {
	return haltd.Event{Time: noon, Type: kind, Agent: "bot"}
}

func (b *bench) kill(t *testing.T, target haltd.Target, id string) haltd.Standing {
	t.Helper()
	killed, err := b.Kill(t.Context(), target, incident(id, target.Session), event(haltd.EventKillSwitch))
	if err != nil || !killed {
		t.Fatalf("killed %v, %v", killed, err)
	}
	s, _ := b.Standing(target)
	return s
}

func TestEverythingIsThereAfterARestart(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.kill(t, haltd.Target{Agent: "bot"}, "inc_a")
	b.kill(t, haltd.Target{Agent: "other", Session: "s"}, "inc_b")
	if _, err := b.Deactivate(ctx, haltd.Target{Agent: "third"}, true, "ann", "why"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Activate(ctx, haltd.Target{Agent: "fourth"}, time.Hour, "ann", "why"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Override(ctx, "bot", "ann", func(o *haltd.PolicyOverride) error {
		return o.Patch([]byte(`{"kill_switch": {"window_size": 7}}`), haltd.Policy{})
	}); err != nil {
		t.Fatal(err)
	}
	rule, err := b.SaveRule(ctx, haltd.Rule{Name: "r", Enabled: true, Action: haltd.RuleWarn}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetBypass(ctx, true, "ann", "why"); err != nil {
		t.Fatal(err)
	}
	after := b.reopen(t)
	for _, id := range []string{"bot", "other", "third", "fourth", "nobody"} {
		if diff := cmp.Diff(*b.Agent(id), *after.Agent(id), cmp.AllowUnexported(Agent{}), cmpopts.EquateEmpty(), cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
			t.Errorf("%s (-before +after):\n%s", id, diff)
		}
	}
	if diff := cmp.Diff(b.Bypass(), after.Bypass()); diff != "" {
		t.Errorf("bypass (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]haltd.Rule{rule}, after.Rules()); diff != "" {
		t.Errorf("rules (-before +after):\n%s", diff)
	}
	if _, ok := after.MatchRule(policy.RuleQuery{}); !ok {
		t.Error("the rule does not act")
	}
	if s, stopped := after.Agent("other").Stopped("s"); !stopped || s.Incident != "inc_b" {
		t.Errorf("the session stands %+v", s)
	}
	if _, stopped := after.Agent("other").Stopped("t"); stopped {
		t.Error("another session is stopped as well")
	}
}

func TestWhatIsNotWrittenHasNotHappened(t *testing.T) {
	b := newBench(t)
	rule, err := b.SaveRule(t.Context(), haltd.Rule{Name: "r", Enabled: true, Action: haltd.RuleWarn}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	before, announced := b.table.Load(), len(b.journal.announced)
	b.flaky.set(haltd.Errorf(haltd.CodeUnavailable, "the disk is full"))
	ctx, target := t.Context(), haltd.Target{Agent: "bot"}
	for name, change := range map[string]func() error{
		"kill": func() error {
			_, err := b.Kill(ctx, target, incident("inc_a", "s"), event(haltd.EventKillSwitch))
			return err
		},
		"activate":   func() error { _, err := b.Activate(ctx, target, 0, "ann", ""); return err },
		"deactivate": func() error { _, err := b.Deactivate(ctx, target, true, "ann", ""); return err },
		"override": func() error {
			_, err := b.Override(ctx, "bot", "ann", func(o *haltd.PolicyOverride) error {
				*o = haltd.MustOverride(`{"time_zone": "Asia/Tokyo"}`)
				return nil
			})
			return err
		},
		"save rule": func() error {
			_, err := b.SaveRule(ctx, haltd.Rule{Name: "x", Action: haltd.RuleWarn}, "ann")
			return err
		},
		"delete rule": func() error { return b.DeleteRule(ctx, rule.ID, "ann") },
		"bypass":      func() error { _, err := b.SetBypass(ctx, true, "ann", ""); return err },
	} {
		if err := change(); haltd.ErrorCode(err) != haltd.CodeUnavailable {
			t.Errorf("%s: %v, want the store's error", name, err)
		}
	}
	b.flaky.set(fmt.Errorf("begin: %w", context.DeadlineExceeded))
	var slow *haltd.Error
	if _, err := b.SetBypass(ctx, true, "ann", ""); !errors.As(err, &slow) || slow.Code != haltd.CodeUnavailable || slow.Fix == "" {
		t.Errorf("a store that is slow: %v, want it unavailable, and what to do", err)
	}
	if b.table.Load() != before || len(b.journal.announced) != announced || b.notices != 0 || len(b.cuts) != 0 {
		t.Errorf("table changed %v, %d events announced, %d notices, cuts %v; want nothing", b.table.Load() != before, len(b.journal.announced)-announced, b.notices, b.cuts)
	}
}

func TestStandingsFollowEachOther(t *testing.T) {
	b := newBench(t)
	target := haltd.Target{Agent: "bot"}
	b.kill(t, target, "inc_a")
	killed, err := b.Kill(t.Context(), target, incident("inc_b", "s"), event(haltd.EventKillSwitch))
	if s, _ := b.Standing(target); err != nil || killed || s.Incident != "inc_a" {
		t.Errorf("killed again: %v, %+v, %v", killed, s, err)
	}
	// A person's stop over a kill is a person's; what stopped it stays known.
	s, err := b.Deactivate(t.Context(), target, true, "ann", "mine")
	if err != nil || *s.DeactivatedBy != haltd.ByManual || s.Incident != "inc_a" || len(b.cuts) != 1 || b.cuts[0] != target {
		t.Errorf("deactivated %+v, %v, cuts %v", s, err, b.cuts)
	}
	s, err = b.Activate(t.Context(), target, 0, "ann", "fine")
	if err != nil || !s.Active || s.DeactivatedBy != nil || s.Incident != "" || !s.GraceUntil.IsZero() || !s.ActivatedAt.Equal(noon) {
		t.Errorf("activated %+v, %v", s, err)
	}
	if i, err := b.store.Incident(t.Context(), "inc_a"); err != nil || i.Status != haltd.IncidentResumed {
		t.Errorf("incident %q, %v; want it resumed", i.Status, err)
	}
	notices, _ := b.store.Notices(t.Context(), 10)
	if len(notices) != 2 || notices[0].Recovery || !notices[1].Recovery || b.notices != 2 {
		t.Errorf("notices %+v, announced %d times", notices, b.notices)
	}
	// Activating what is active is no recovery.
	if _, err := b.Activate(t.Context(), target, 0, "ann", ""); err != nil || b.notices != 2 {
		t.Errorf("%v, announced %d times", err, b.notices)
	}
}

func TestASessionStandsByItself(t *testing.T) {
	b := newBench(t)
	b.kill(t, haltd.Target{Agent: "bot", Session: "s"}, "inc_a")
	if !b.Agent("bot").Active("t") || b.Agent("bot").Active("s") {
		t.Error("want the session stopped and no other")
	}
	if _, err := b.Activate(t.Context(), haltd.Target{Agent: "bot", Session: "s"}, time.Hour, "ann", ""); err != nil {
		t.Fatal(err)
	}
	a := b.Agent("bot")
	if !a.Active("s") || !a.Activated("s").Equal(noon) || !a.Activated("t").IsZero() {
		t.Errorf("s active %v since %v, t since %v", a.Active("s"), a.Activated("s"), a.Activated("t"))
	}
	if !a.InGrace("s", noon.Add(59*time.Minute)) || a.InGrace("s", noon.Add(time.Hour)) || a.InGrace("t", noon) {
		t.Error("want grace for an hour, in the session alone")
	}
}

func TestOverrides(t *testing.T) {
	b := newBench(t)
	b.Configure(haltd.DefaultPolicy(), map[string]haltd.PolicyOverride{"bot": haltd.MustOverride(`{"time_zone": "Europe/Berlin", "rate_limits": {"requests_per_minute": 5}}`)})
	p, err := b.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
		return o.Patch([]byte(`{"rate_limits": {"requests_per_minute": 9}}`), haltd.Policy{})
	})
	if err != nil || p.Rates.Requests != 9 || p.TimeZone != "Europe/Berlin" || b.Agent("bot").Zone.String() != "Europe/Berlin" {
		t.Errorf("policy %+v, %v; want the API over the file over the defaults", p, err)
	}
	if _, err := b.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
		if err := o.Patch([]byte(`{"rate_limits": {"requests_per_minute": 100}}`), haltd.Policy{}); err != nil {
			t.Error(err)
		}
		return errors.New("changed my mind")
	}); err == nil || b.Agent("bot").Policy.Rates.Requests != 9 {
		t.Errorf("a change that was given up is in force: %+v", b.Agent("bot").Policy.Rates)
	}
	if _, own := b.Policy("bot"); own.Over(haltd.Policy{}).Rates.Requests != 9 {
		t.Errorf("it reached into what is in force: %+v", own)
	}
	_, err = b.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
		return o.Patch([]byte(`{"kill_switch": {"window_size": 1}}`), haltd.Policy{})
	})
	if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), "kill_switch.window_size") {
		t.Errorf("%v, want the field named", err)
	}
	_, err = b.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error { *o = haltd.PolicyOverride{}; return nil })
	if _, own := b.Policy("bot"); err != nil || !own.IsZero() || b.Agent("bot").Policy.Rates.Requests != 5 {
		t.Errorf("after it was taken back %+v, %v; want the file's", b.Agent("bot").Policy.Rates, err)
	}
}

func TestRulesAreInOrder(t *testing.T) {
	b := newBench(t)
	var ids []string
	for i, priority := range []int{1, 5, 3} {
		r, err := b.SaveRule(t.Context(), haltd.Rule{Name: fmt.Sprint(priority), Enabled: true, Priority: priority, Action: haltd.RuleWarn}, "ann")
		if err != nil || r.ID == "" || !r.CreatedAt.Equal(noon) {
			t.Fatalf("rule %d: %+v, %v", i, r, err)
		}
		ids = append(ids, r.ID)
	}
	names := func() (all string) {
		for _, r := range b.Rules() {
			all += r.Name
		}
		return all
	}
	if names() != "531" {
		t.Errorf("in the order %s", names())
	}
	if _, err := b.SaveRule(t.Context(), haltd.Rule{ID: ids[0], Name: "1", Enabled: true, Priority: 9, Action: haltd.RuleWarn}, "ann"); err != nil || names() != "153" {
		t.Errorf("after a change in the order %s, %v", names(), err)
	}
	if err := b.DeleteRule(t.Context(), ids[1], "ann"); err != nil || names() != "13" {
		t.Errorf("after a deletion in the order %s, %v", names(), err)
	}
	if err := b.DeleteRule(t.Context(), ids[1], "ann"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := b.SaveRule(t.Context(), haltd.Rule{ID: "rul_none", Name: "x", Action: haltd.RuleWarn}, "ann"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("changed a rule that is not there: %v", err)
	}
	if _, err := b.SaveRule(t.Context(), haltd.Rule{Name: "x", Action: "explode"}, "ann"); haltd.ErrorCode(err) != haltd.CodeInvalid {
		t.Errorf("an action that does not exist: %v", err)
	}
}

func TestRaisedOnce(t *testing.T) {
	b := newBench(t)
	raise := func(id string, at time.Time) {
		i := incident(id, "s")
		i.Time, i.Once, i.OnceFor = at, "growth:bot s", time.Hour
		b.Raise(i, event(haltd.EventGrowth), NoticeOf(&i))
	}
	raise("inc_a", noon)
	raise("inc_b", noon.Add(59*time.Minute))
	raise("inc_c", noon.Add(time.Hour))
	b = b.reopen(t)
	raise("inc_d", noon.Add(90*time.Minute)) // another process: the store remembers
	b.flush()
	raise("inc_e", noon.Add(5*time.Hour)) // too late, and no harm
	found, _, err := b.store.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: 10}})
	if err != nil || len(found) != 2 || found[0].ID != "inc_c" || found[1].ID != "inc_a" {
		t.Errorf("incidents %+v, %v; want inc_c and inc_a", found, err)
	}
	if n, _ := b.store.Notices(t.Context(), 10); len(n) != 2 {
		t.Errorf("%d notices, want two", len(n))
	}
}

// What does not fit into the queue is raised when it comes again.
func TestADroppedIncidentComesAgain(t *testing.T) {
	b := newBench(t)
	b.flaky.set(haltd.Errorf(haltd.CodeUnavailable, "the disk is full"))
	for i := range raiseQueue + 10 {
		b.Raise(incident(fmt.Sprint("inc_", i), "s"), event(haltd.EventWarning))
	}
	late := incident("inc_late", "s")
	late.Once, late.OnceFor = "budget", 24*time.Hour
	b.Raise(late, event(haltd.EventAlert))
	b.flaky.set(nil)
	if err := harness.Until(t.Context(), func() bool { return len(b.raised) == 0 }); err != nil {
		t.Fatalf("%d incidents are still in the queue: %v", len(b.raised), err)
	}
	b.Raise(late, event(haltd.EventAlert))
	b.flush()
	if _, err := b.store.Incident(t.Context(), "inc_late"); err != nil {
		t.Error(err)
	}
}

func TestOneOfManyKills(t *testing.T) {
	b := newBench(t)
	var mu sync.Mutex
	kills, incidents := 0, map[string]bool{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			killed, err := b.Kill(context.Background(), haltd.Target{Agent: "bot"}, incident(fmt.Sprint("inc_", i), "s"), event(haltd.EventKillSwitch))
			s, _ := b.Standing(haltd.Target{Agent: "bot"})
			mu.Lock()
			defer mu.Unlock()
			if incidents[s.Incident] = true; err != nil {
				t.Error(err)
			}
			if killed {
				kills++
			}
		})
	}
	wg.Wait()
	if kills != 1 || len(incidents) != 1 {
		t.Errorf("%d kills, incidents %v", kills, incidents)
	}
}

func TestDecideKeepsAPersonsWord(t *testing.T) {
	b := newBench(t)
	b.kill(t, haltd.Target{Agent: "bot"}, "inc_a")
	i, err := b.Decide(t.Context(), "inc_a", haltd.IncidentFalsePositive, "ann", "it was a poll")
	if err != nil || i.Status != haltd.IncidentFalsePositive || i.ClosedBy != "ann" || i.Note != "it was a poll" {
		t.Errorf("%+v, %v", i, err)
	}
	if b.Agent("bot").Standing.Active {
		t.Error("a decision resumed the agent")
	}
	if _, err := b.Decide(t.Context(), "inc_none", haltd.IncidentKept, "ann", ""); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("an incident that is not there: %v", err)
	}
}

func TestDeletingLiftsNoKill(t *testing.T) {
	b := newBench(t)
	b.kill(t, haltd.Target{Agent: "bot"}, "inc_a")
	if _, err := b.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
		*o = haltd.MustOverride(`{"time_zone": "Asia/Tokyo"}`)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), "bot", "ann"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*bench{"at once": b, "after a restart": b.reopen(t)} {
		if a := c.Agent("bot"); a.Standing.Active || a.Policy.TimeZone != "UTC" {
			t.Errorf("%s: active %v, zone %s; want it killed still and its policy forgotten", name, a.Standing.Active, a.Policy.TimeZone)
		}
	}
}

func TestMarksAreKept(t *testing.T) {
	b := newBench(t)
	m := haltd.Mark{Agent: "bot", Session: "s", ActivatedAt: noon, Round: 1<<63 + 5, Count: 3}
	if err := b.SaveMark(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := b.reopen(t).Mark(t.Context(), "bot", "s"); err != nil || !ok || !got.ActivatedAt.Equal(noon) || got.Round != m.Round || got.Count != 3 {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
}
