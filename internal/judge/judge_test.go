package judge_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/internal/store/sqlite"
)

var start = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

// bench is a judge with its neighbours and a clock that stands still.
type bench struct {
	*judge.Judge
	control *control.Control
	ledgers *ledger.Ledgers
	now     time.Time
	store   *sqlite.Store
	flush   func() // writes what was raised; nothing can be raised afterwards

	mu     sync.Mutex
	events []haltd.Event
	ids    haltd.EventIDs
}

// clock is also asked in the background, so that it moves under a lock.
func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) move(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
}

func (b *bench) Stamp(e *haltd.Event) { e.ID = b.ids.Next(start) }

func (b *bench) Announce(events []haltd.Event) {
	for _, e := range events {
		b.record(e)
	}
}

func (b *bench) record(e haltd.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
}

func (b *bench) Detect(time.Duration)           {}
func (b *bench) Rung(haltd.Action, haltd.Check) {}
func (b *bench) Outcome(haltd.IncidentStatus)   {}
func (b *bench) Panic(string)                   {}
func (b *bench) Abandon([]haltd.Event)          {}

// perToken are prices of one unit for each token.
type perToken struct{}

func (perToken) Cost(_, _ string, u haltd.Usage) (haltd.Money, bool) {
	return haltd.Money(u.Input + u.Output), true
}
func (perToken) MaxOutput(string, string) int64 { return 0 }

func newBench(t *testing.T, p haltd.Policy, change ...func(*judge.Options)) *bench {
	t.Helper()
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	b := &bench{now: start}
	var err error
	if b.store, err = sqlite.Open(ctx, filepath.Join(t.TempDir(), "haltd.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Join(ctx, haltd.Node{ID: "node"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	b.control, err = control.New(ctx, control.Options{
		Store: b.store, Incidents: b.store, Journal: b, Cut: func(haltd.Target) {}, Notify: func() {}, Clock: b.clock, Logger: log,
	}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.ledgers = ledger.Open(b.store, "node", func(context.Context) error { return nil }, b.clock, log)
	b.flush = sync.OnceFunc(func() { b.control.Close(ctx) })
	t.Cleanup(func() { b.flush(); _ = b.ledgers.Close(ctx); b.store.Close() })
	o := judge.Options{
		Agents: b.control, Incidents: b.control, Marks: b.control, Budgets: b.ledgers, Sessions: b.store,
		States: memory.New(100, 100, 1e6),
		Prices: perToken{},
		Record: b.record, Key: []byte("k"), Meter: b, Clock: b.clock, Logger: log,
	}
	for _, f := range change {
		f(&o)
	}
	b.Judge = judge.New(o)
	return b
}

// killing is a policy with the switch on.
func killing() haltd.Policy {
	p := haltd.DefaultPolicy()
	p.KillSwitch.Enabled = true
	return p
}

// stuck is a conversation in which the same call failed n times.
func stuck(n int) *haltd.Call {
	c := &haltd.Call{Opening: []haltd.Message{{Text: "Read the settings."}}}
	for range n {
		c.Rounds = append(c.Rounds, haltd.Round{
			Calls:   []haltd.ToolCall{{ID: "c", Name: "read_file", Arguments: `{"path":"/etc/x"}`}},
			Results: []haltd.ToolResult{{CallID: "c", Text: "ENOENT: no such file or directory", Error: true}},
		})
	}
	return c
}

func saying(text string) *haltd.Call {
	return &haltd.Call{Model: "m", Opening: []haltd.Message{{Text: text}}}
}

func (b *bench) request(session string, c *haltd.Call) *judge.Request {
	return &judge.Request{
		Agent: "bot", Session: session, Named: true, Call: c, Model: "m", Provider: "p", PromptTokens: 10, MaxTokens: 100,
		Descriptors: func(*policy.RequestPolicy) map[string]string { return nil },
		Identity:    policy.Identity{Method: "POST", Path: "/v1/x", BodyHash: []byte(session)},
		Event:       haltd.Event{Time: b.now, Agent: "bot", Session: session},
		Now:         b.now,
	}
}

// judged is a decision with its ticket.
type judged struct {
	judge.Decision
	*judge.Ticket
}

func (b *bench) judge(r *judge.Request) judged {
	d, t := b.Judge.Judge(context.Background(), r)
	return judged{d, t}
}

func (b *bench) ask(session string, c *haltd.Call) judged { return b.judge(b.request(session, c)) }

func (b *bench) rule(t *testing.T, action haltd.RuleAction) {
	t.Helper()
	r := haltd.Rule{Name: "rule", Enabled: true, Action: action}
	if action == haltd.RuleThrottle {
		r.Config.DelayMS = 5
	}
	if _, err := b.control.SaveRule(t.Context(), r, "ann"); err != nil {
		t.Fatal(err)
	}
}

// spend uses up the budgets of bot.
func (b *bench) spend(t *testing.T, n int64) {
	t.Helper()
	p, _ := b.control.Policy("bot")
	if _, err := b.ledgers.Charge(t.Context(), ledger.Booking{Agent: "bot", Budgets: p.Budgets, Zone: time.UTC, Amount: haltd.Spending{Tokens: n}, Now: b.now}); err != nil {
		t.Fatal(err)
	}
}

func loopPolicy(t *testing.T, action policy.LoopAction, shadow bool) []*policy.RequestPolicy {
	t.Helper()
	spec := policy.Spec{
		Selector:      policy.Selector{PathPrefix: "/"},
		LoopDetection: &policy.LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 2, Action: action},
	}
	if shadow {
		spec.Mode = "shadow"
	}
	set, err := policy.NewSet([]policy.Document{{ID: "loops", Spec: spec}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.Match("POST", "", "/v1/x")
}

func TestTheStrictestDecides(t *testing.T) {
	budget := func(p *haltd.Policy) { p.Budgets.Day.HardTokens = 1000 }
	hours := func(p *haltd.Policy) { p.Hours = []haltd.HourRange{{From: "01:00", To: "02:00"}} }
	rate := func(p *haltd.Policy) { p.Rates.Requests = 1 }
	warnOnly := func(p *haltd.Policy) {
		p.KillSwitch.Stall, p.KillSwitch.Similarity = haltd.LadderOf(haltd.Warn), haltd.LadderOf(haltd.Warn)
	}
	rejecting := func(p *haltd.Policy) {
		p.KillSwitch.Stall, p.KillSwitch.Similarity = haltd.LadderOf(haltd.Reject), haltd.LadderOf(haltd.Reject)
	}
	off := func(p *haltd.Policy) { p.KillSwitch.Enabled = false }
	type changes = []func(*haltd.Policy)
	for _, tc := range []struct {
		name   string
		policy changes
		rule   haltd.RuleAction
		loop   policy.LoopAction // of exact, which is at its threshold
		spent  bool              // budget and rate are used up
		rounds int
		check  haltd.Check // that decides
		action haltd.Action
		found  []haltd.Check // in order; stall may speak more than once
	}{
		{name: "nothing", check: "", action: haltd.Allow},
		{name: "budget before all", policy: changes{budget, hours, rate}, rule: haltd.RuleBlock, loop: policy.LoopReject, spent: true,
			check: "budget", action: haltd.Block, found: []haltd.Check{"budget", "hours", "rate", "rule", "exact"}},
		{name: "hours before rules", policy: changes{hours}, rule: haltd.RuleBlock, check: "hours", action: haltd.Block, found: []haltd.Check{"hours", "rule"}},
		{name: "rate before reject rules", policy: changes{rate}, rule: haltd.RuleReject, loop: policy.LoopReject, spent: true,
			check: "rate", action: haltd.Reject, found: []haltd.Check{"rate", "rule", "exact"}},
		{name: "a block is stricter than a rate", policy: changes{rate}, rule: haltd.RuleBlock, spent: true, check: "rule", action: haltd.Block, found: []haltd.Check{"rate", "rule"}},
		{name: "rules before exact", rule: haltd.RuleThrottle, loop: policy.LoopThrottle, check: "rule", action: haltd.Throttle, found: []haltd.Check{"rule", "exact"}},
		{name: "exact before stall", policy: changes{rejecting}, loop: policy.LoopReject, rounds: 12, check: "exact", action: haltd.Reject, found: []haltd.Check{"exact", "stall"}},
		{name: "a kill is the strictest", policy: changes{budget, hours, rate}, rule: haltd.RuleBlock, loop: policy.LoopReject, spent: true, rounds: 12,
			check: "stall", action: haltd.Kill, found: []haltd.Check{"budget", "hours", "rate", "rule", "exact", "stall"}},
		{name: "a warning switches nothing off", policy: changes{warnOnly}, rule: haltd.RuleWarn, loop: policy.LoopWarn, rounds: 12,
			check: "rule", action: haltd.Warn, found: []haltd.Check{"rule", "exact", "stall"}},
		{name: "a warning before a kill", rule: haltd.RuleWarn, rounds: 12, check: "stall", action: haltd.Kill, found: []haltd.Check{"rule", "stall"}},
		{name: "allow ends rules only", rule: haltd.RuleAllow, rounds: 12, check: "stall", action: haltd.Kill, found: []haltd.Check{"rule", "stall"}},
		{name: "a shadow decides nothing", policy: changes{off}, loop: policy.LoopThrottle, rounds: 12, check: "exact", action: haltd.Throttle, found: []haltd.Check{"exact", "stall"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := killing()
			b := newBench(t, p)
			r := b.request("s", stuck(tc.rounds))
			if tc.loop != "" {
				r.Policies = loopPolicy(t, tc.loop, false)
				first := *r
				first.Call = nil
				b.judge(&first).Release(t.Context())
			}
			if tc.spent {
				p.Rates.Requests, p.Budgets.Day.HardTokens = 1, 1000
				b.control.Configure(p, nil)
				b.ask("other", saying("something else")) // takes the rate token
				b.spend(t, 1000)
				p = killing()
			}
			for _, change := range tc.policy {
				change(&p)
			}
			b.control.Configure(p, nil)
			if tc.rule != "" {
				b.rule(t, tc.rule)
			}
			v := b.judge(r)
			if v.Check != tc.check || v.Action != tc.action {
				t.Errorf("decided by %q: %v, want %q: %v", v.Check, v.Action, tc.check, tc.action)
			}
			var found []haltd.Check
			for _, f := range v.Findings {
				if len(found) == 0 || found[len(found)-1] != f.Check {
					found = append(found, f.Check)
				}
			}
			if diff := cmp.Diff(tc.found, found); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInactiveEndsJudging(t *testing.T) {
	p := killing()
	p.Hours = []haltd.HourRange{{From: "01:00", To: "02:00"}}
	b := newBench(t, p)
	b.rule(t, haltd.RuleBlock)
	if _, err := b.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	v := b.ask("s", stuck(12))
	if len(v.Findings) != 1 || v.Check != "inactive" || v.Reason != haltd.ReasonManual {
		t.Errorf("findings %+v, want inactive alone", v.Findings)
	}
}

// A request that is stopped takes nothing: no rate token, no money, no place
// in the window. It is a hit of exact all the same.
func TestWhatIsStoppedTakesNothing(t *testing.T) {
	p := killing()
	p.Rates.Requests, p.Rates.Tokens = 3, 1000
	p.Budgets.Day.HardTokens = 1000
	b := newBench(t, p)
	b.rule(t, haltd.RuleBlock)
	loops := loopPolicy(t, policy.LoopWarn, false)
	var v judged
	for range 6 {
		r := b.request("s", saying("the same words again"))
		r.Policies = loops
		if v = b.judge(r); v.Action != haltd.Block {
			t.Fatalf("decision %+v", v.Finding)
		}
	}
	if f := v.Findings[len(v.Findings)-1]; f.Check != "exact" || !strings.Contains(f.Sentence, "6") {
		t.Errorf("the last finding is %+v, want exact with all six hits", f)
	}
	if err := b.control.DeleteRule(t.Context(), b.control.Rules()[0].ID, "ann"); err != nil {
		t.Fatal(err)
	}
	if s, _ := b.Spending(t.Context(), "bot"); s[0].Held != (haltd.Spending{}) {
		t.Errorf("%+v is held", s[0].Held)
	}
	for i := range 3 {
		v := b.ask("s", saying("the same words again"))
		if v.Action != haltd.Allow || v.Detected.Parts.Prompts != i {
			t.Errorf("request %d after the rule: %v with %d like it in the window, want it to pass as number %d", i, v.Action, v.Detected.Parts.Prompts, i)
		}
	}
	if v := b.ask("s", saying("the same words again")); v.Reason != haltd.ReasonRate {
		t.Errorf("the fourth: %+v, want the rate", v.Finding)
	}
	if s, _ := b.Spending(t.Context(), "bot"); s[0].Held.Tokens != 3*110 {
		t.Errorf("%d tokens held, want those of three calls", s[0].Held.Tokens)
	}
}

// Two requests that both look good race for the last of something: one wins,
// and the other keeps nothing.
func TestTheLastTokenIsTakenOnce(t *testing.T) {
	p := killing()
	p.Rates.Requests = 5
	p.Budgets.Day.HardTokens = 1_000_000
	b := newBench(t, p)
	var mu sync.Mutex
	counts := map[haltd.Action]int{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			v := b.ask(fmt.Sprint(i), saying(fmt.Sprintf("%s %s", things[i%18], things[(i+7)%18])))
			mu.Lock()
			defer mu.Unlock()
			counts[v.Action]++
		})
	}
	wg.Wait()
	if counts[haltd.Allow] != 5 || counts[haltd.Reject] != 35 {
		t.Errorf("%v, want 5 allowed and 35 rejected", counts)
	}
	if s, _ := b.Spending(t.Context(), "bot"); s[0].Held.Tokens != 5*110 {
		t.Errorf("%d tokens held, want those of five calls", s[0].Held.Tokens)
	}
}

func TestRecheckGivesBack(t *testing.T) {
	p := killing()
	p.Rates.Requests = 1
	p.Budgets.Day.HardTokens = 1000
	b := newBench(t, p)
	v := b.ask("s", saying("hello"))
	if d, ok := v.Recheck(t.Context()); !ok || d.Action != haltd.Allow {
		t.Fatalf("an active agent: %+v", d.Finding)
	}
	if _, err := b.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if d, ok := v.Recheck(t.Context()); ok || d.Check != "inactive" {
		t.Errorf("decision %+v, want inactive", d.Finding)
	}
	if _, err := b.control.Activate(t.Context(), haltd.Target{Agent: "bot"}, 0, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if s, _ := b.Spending(t.Context(), "bot"); s[0].Held != (haltd.Spending{}) {
		t.Errorf("%+v is held", s[0].Held)
	}
	if v := b.ask("s", saying("hello")); v.Action != haltd.Allow || v.Detected.Parts.Prompts != 0 {
		t.Errorf("then: %+v with %d like it; want an empty window and the token back", v.Finding, v.Detected.Parts.Prompts)
	}
}

// A reply that comes after its request was taken back finds no place.
func TestObserveAfterRelease(t *testing.T) {
	b := newBench(t, killing())
	v := b.ask("s", saying("hello"))
	v.Release(t.Context())
	v.Release(t.Context())
	v.Observe(t.Context(), &haltd.Reply{Text: "an answer"}, b.now)
	v.Settle(t.Context(), haltd.Usage{Input: 5}, 5, b.now)
	w, err := b.Window(t.Context(), "bot", "")
	if err != nil || len(w.Entries) != 0 {
		t.Errorf("the window holds %+v, %v", w.Entries, err)
	}
}

// The retry of a call is no evidence: it has no place in the window. Only exact
// counts it, which counts every hit.
func TestRetriesHaveNoPlaceInTheWindow(t *testing.T) {
	b := newBench(t, killing())
	for i := range 5 {
		r := b.request("s", saying("the same words again"))
		r.Retry, r.Policies = true, loopPolicy(t, policy.LoopReject, false)
		v := b.judge(r)
		if want := i > 0; v.Action.Stops() != want || want && (v.Check != "exact" || v.Action != haltd.Reject) {
			t.Fatalf("retry %d: %+v; want exact to reject from the second hit on", i+1, v.Finding)
		}
	}
	if w, err := b.Window(t.Context(), "bot", ""); err != nil || len(w.Entries) != 0 {
		t.Errorf("the window holds %+v, %v", w.Entries, err)
	}
}

func TestShadowPoliciesCountApart(t *testing.T) {
	b := newBench(t, killing())
	r := b.request("s", nil)
	r.Policies = append(loopPolicy(t, policy.LoopReject, true), loopPolicy(t, policy.LoopReject, false)...)
	first := b.judge(r)
	second := b.judge(r)
	if first.Action != haltd.Allow || second.Action != haltd.Reject || second.Shadow {
		t.Errorf("%+v, then %+v; want the second hit of each to be its second", first.Finding, second.Finding)
	}
	if len(second.Findings) != 2 || !second.Findings[0].Shadow || second.Findings[1].Shadow {
		t.Errorf("findings %+v", second.Findings)
	}
}
