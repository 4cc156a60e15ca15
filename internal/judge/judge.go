// Package judge decides about requests. It joins the findings of policy and
// detectors with what is known of the agent and session: the strictest action
// wins, and the evidence of all is kept. A decision is plain data; a ticket
// stands for what the request holds until it is settled or released. The
// package opens nothing itself: standings come from control, money from ledger,
// and the short-lived state is a port. The clock comes with each request.
package judge

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// cacheWords is the size of the cache of message features, in words of eight
// bytes. A history that is sent again is not read again.
const cacheWords = 4 << 20

// Options are the judge's neighbours. All are needed.
type Options struct {
	Agents    Agents
	Incidents Incidents
	Marks     Marks
	Budgets   Budgets
	States    States
	// Later runs what no call waits for; nil where the state is at hand, and
	// nothing is worth it.
	Later    *state.Later
	Sessions Sessions
	Prices   Prices
	// Record takes an event and must not block.
	Record func(haltd.Event)
	// Key makes fingerprints unforgeable.
	Key    []byte
	Meter  Meter
	Clock  haltd.Clock
	Logger *slog.Logger
}

// Judge judges requests.
type Judge struct {
	agents    Agents
	incidents Incidents
	marks     Marks
	budgets   Budgets
	states    States
	later     *state.Later
	sessions  Sessions
	prices    Prices
	record    func(haltd.Event)
	key       *policy.FingerprintKey
	meter     Meter
	clock     haltd.Clock
	log       *slog.Logger
	cache     *detection.Cache
}

// New makes a judge.
func New(o Options) *Judge {
	return &Judge{
		agents: o.Agents, incidents: o.Incidents, marks: o.Marks, budgets: o.Budgets,
		states: o.States, later: o.Later, sessions: o.Sessions, prices: o.Prices, record: o.Record,
		key: policy.NewFingerprintKey(o.Key), meter: o.Meter, clock: o.Clock, log: o.Logger, cache: detection.NewCache(cacheWords),
	}
}

// Request is a request as the checks see it.
type Request struct {
	Agent, Session string
	Shared         bool   // a default agent: window and kill are per session
	Caller         string // tells apart who share such an agent; "" where nothing does
	// Interactive says that nobody named the agent and a person sits before its
	// client: a kill ends the turn, and the person goes on.
	Interactive bool
	// Named says that the client names its sessions. Calls that are alike
	// are not excused by sessions that are only guessed from the first
	// message.
	Named bool
	// Shown says that the session was guessed, and that the provider keeps no
	// history for it: every call shows how it began.
	Shown bool

	Call *haltd.Call // nil for what is no LLM call
	// Known is what is known of the first rounds of the conversation; Call then
	// has the others alone, and Whole reads it as a whole. Both are nil where
	// Call has all of them.
	Known *detection.Known
	Whole func() *haltd.Call
	// Attempt is the keyed digest of the request, 0 for none, and Claimed says
	// that its client calls it a retry. Whether it is the transport's retry,
	// which is no evidence, is found out by Judge.
	Attempt      uint64
	Claimed      bool
	Retry        bool
	Provider     string
	Model        string
	Path         string
	PromptTokens int64 // estimated

	// Generates says that the request is priced though it is no LLM call.
	Generates bool
	Models    []string    // that may answer beside Model; the dearest is reserved for
	Names     []string    // how the request calls them, where that differs
	MaxTokens int64       // that it names for all replies together
	Open      int64       // replies for which it names none
	Predicted int64       // tokens that are billed beside the reply
	Flat      haltd.Money // what it costs at least where nobody counts its tokens
	Stream    bool
	// FetchesPaidReply says that the reply which it fetches is paid for already.
	FetchesPaidReply bool
	// Key is the gateway key that it was made with, where that has budgets of
	// its own.
	Key *haltd.Key

	Policies    []*policy.RequestPolicy // that select it
	Descriptors func(*policy.RequestPolicy) map[string]string
	Identity    policy.Identity // for exact; agent and policy are filled in

	// Event is what is known of the request so far. When the request is a
	// kill, it is written with the kill and must not be recorded again.
	Event haltd.Event
	// Excerpt is what the request says, for the event of a kill; nil where
	// excerpts are off.
	Excerpt func() *haltd.Excerpt
	// Quote redacts and cuts what an incident quotes of the request; nil where
	// nothing is kept.
	Quote func(*haltd.IncidentExcerpt)
	// TakesNote reports whether the request has a place for the note of a steer;
	// nil where nobody can add one.
	TakesNote func() bool
	Now       time.Time

	ingested bool // it was made already: see Ingest
}

// isPriced reports whether the request costs money.
func (r *Request) isPriced() bool { return r.Call != nil || r.Generates }

// readWhole makes sure that the call has all of its rounds.
func (r *Request) readWhole() {
	if r.Known != nil {
		r.Call, r.Known = r.Whole(), nil
	}
}

func (r *Request) sessionID() uint64 {
	if !r.Named {
		return 0
	}
	return xxhash.Sum64String(r.Session)
}

// isLoose reports a call that carries no history.
func (r *Request) isLoose() bool { return r.Call != nil && len(r.Call.Rounds) == 0 }

// isFirst reports the first call of a session all of whose calls show it.
func (r *Request) isFirst() bool { return r.Shown && r.Call != nil && detection.IsFirst(r.Call) }

// Judge judges a request. What passes has taken its rate tokens, holds its
// reservation and stands in the window, all on the ticket; what is stopped has
// taken nothing, and its ticket is ended already. The ticket is never nil.
func (j *Judge) Judge(ctx context.Context, r *Request) (Decision, *Ticket) {
	t := &Ticket{covered: -1, evaluation: evaluation{
		judge: j, request: r, agent: j.agents.Agent(r.Agent), loose: r.isLoose(), first: r.isFirst(),
		judgement: judgement{decision: Decision{Agent: r.Agent, Bypass: j.agents.Bypass().On}},
	}}
	judged := false
	defer func() {
		if !judged || t.decision.Action.Stops() {
			t.Release(ctx)
		}
	}()
	j.evaluate(ctx, &t.evaluation)
	judged = true
	t.decision.Findings = slices.Clip(t.decision.Findings) // what is found later does not reach into copies
	return t.decision, t
}

// evaluate runs all checks in their order and, when nothing stops the request,
// reserves its money. Its rate tokens it has by then; who is stopped returns
// them with the ticket.
func (j *Judge) evaluate(ctx context.Context, ev *evaluation) {
	if ev.agent.AwaitStop(ctx, ev.request.Session) {
		ev.agent = j.agents.Agent(ev.request.Agent)
	}
	if ev.inactive() {
		return
	}
	j.checkBudget(ctx, ev) // money is not guarded: what a call may cost must be known
	j.guard(ev, "hours", func() { j.checkHours(ev) })
	if ev.request.Call != nil {
		j.guard(ev, "detector", func() { ev.history = j.readHistory(ev.request) })
	}
	j.guard(ev, "state", func() { j.open(ctx, ev) })
	defer ev.releaseLease()
	j.guard(ev, "rate", func() { j.checkRates(ev) })
	j.guard(ev, "rule", func() { j.checkRules(ev) })
	j.guard(ev, "exact", func() { j.checkExact(ev) })
	if ev.request.Call != nil {
		began := j.clock()
		j.guard(ev, "detector", func() { j.detect(ctx, ev) })
		j.meter.Detect(j.clock().Sub(began))
	} else {
		j.guard(ev, "session", func() { j.checkOther(ctx, ev) })
	}
	ev.decision.decide()
	switch {
	case ev.decision.Action == haltd.Kill:
		j.kill(ctx, ev)
	case ev.decision.Action == haltd.Halt:
		j.halt(ctx, ev)
	case !ev.decision.Action.Stops():
		// Another request may have been faster: then this one is refused
		// after all and its ticket released.
		j.reserve(ctx, ev)
	}
	j.guard(ev, "session", func() { j.raiseSession(ev) })
	j.guard(ev, "exact", func() { j.raiseExact(ev) })
	j.guard(ev, "detector", func() { j.reportSteer(ev) })
	j.guard(ev, "detector", func() { j.report(ev) })
}

// guard runs a check that a call can do without. A fault of haltd in it is told
// and counted, and the call goes on: what the other checks found stays.
func (j *Judge) guard(ev *evaluation, where string, check func()) {
	defer func() {
		if p := recover(); p != nil {
			j.meter.Panic(where)
			j.log.Error("a call passes without a check because of a fault of haltd; please report it",
				"agent", ev.request.Agent, "reason", where, "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
	}()
	check()
}

// refuseUnsaved rejects a call whose reservation cannot be written.
func (j *Judge) refuseUnsaved(ctx context.Context, ev *evaluation, why string, err error) {
	if ctx.Err() == nil { // or the client did not wait for it
		j.log.Error("call refused: its reservation cannot be written", "agent", ev.request.Agent, "error", err)
	}
	ev.decision.add(haltd.Finding{
		Check: haltd.CheckBudget, Action: haltd.Reject, Reason: haltd.ReasonUnsaved, RetryAfter: 5,
		Sentence: "haltd cannot write to its store, and " + why + " that must not be forgotten.",
	})
}

// reserve holds back the most that the call can cost. While the bypass is on,
// it is reserved even if the budget is spent.
func (j *Judge) reserve(ctx context.Context, ev *evaluation) {
	r := ev.request
	reservation, over, err := j.budgets.Reserve(ctx, ev.booking())
	budgets := &ev.agent.Policy.Budgets
	switch {
	case err != nil && (ev.decision.Bypass || !budgets.Day.IsHard() && !budgets.Month.IsHard()):
		j.log.Warn("nothing is reserved for a call", "agent", r.Agent, "error", err)
		j.reserveOfKey(ctx, ev)
	case err != nil:
		j.refuseUnsaved(ctx, ev, "this agent has a hard budget", err)
	case len(over) > 0:
		ev.decision.add(j.budgetFinding(ev, over[0]))
	default:
		ev.holding.agent = reservation
		j.reserveOfKey(ctx, ev)
	}
}
