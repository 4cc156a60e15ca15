package judge

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/detection"
)

// limitsSession reports whether the agent's sessions have limits.
func (ev *evaluation) limitsSession() bool {
	return ev.agent.Policy.Sessions != (haltd.SessionLimits{})
}

// loadTally reads what a session has used before this process knew of it. A
// store that does not answer is asked again at the next call.
func (j *Judge) loadTally(ctx context.Context, r *Request) *detection.Tally {
	s, err := j.sessions.Session(ctx, r.Agent, r.Session)
	switch {
	case haltd.ErrorCode(err) == haltd.CodeNotFound:
		return &detection.Tally{Began: r.Now}
	case err != nil:
		j.log.Warn("session limits count from now on: the record of the session cannot be read", "agent", r.Agent, "error", err)
		return &detection.Tally{}
	}
	u := s.Totals
	return &detection.Tally{Began: s.FirstSeen, Calls: u.Calls - u.Blocked, Cost: u.Cost, Tokens: u.Tokens.Input + u.Tokens.Output}
}

// checkSession stops a session that has reached one of its limits. Where there
// are none, nothing is counted.
func (ev *evaluation) checkSession(m detection.Memory, recorded *detection.Tally) {
	t := &m.Progress.Tally
	if !ev.limitsSession() {
		*t = detection.Tally{} // limits that come later begin with what is recorded
		return
	}
	if t.Began.IsZero() && recorded != nil {
		t.Began = recorded.Began
		t.Calls, t.Cost, t.Tokens = max(t.Calls, recorded.Calls), max(t.Cost, recorded.Cost), max(t.Tokens, recorded.Tokens)
	}
	t.Begin(ev.decision.Detected.Turn)
	if f, ok := sessionFinding(ev.request.Agent, &ev.agent.Policy.Sessions, t, ev.request.Now); ok {
		ev.decision.add(f)
	}
}

// admitSession counts a call that is forwarded, unless it is the retry of one.
func (ev *evaluation) admitSession(m detection.Memory) {
	if ev.limitsSession() && !ev.request.Retry && !ev.request.ingested {
		m.Progress.Tally.Call(1)
		ev.counted = true
	}
}

// sessionFinding is about the first limit that a session has reached.
func sessionFinding(agent string, l *haltd.SessionLimits, t *detection.Tally, now time.Time) (haltd.Finding, bool) {
	minutes := int64(0)
	if !t.Began.IsZero() {
		minutes = int64(now.Sub(t.Began) / time.Minute)
	}
	for _, c := range [...]struct {
		name        string
		limit, used int64
		text        func(int64) string
		span, verb  string
	}{
		{"calls", l.Calls, t.Calls, countOf("call"), "session", "made"},
		{"usd", int64(l.USD), int64(t.Cost), dollars, "session", "cost"},
		{"tokens", l.Tokens, t.Tokens, countOf("token"), "session", "used"},
		{"minutes", l.Minutes, minutes, countOf("minute"), "session", "lasted"},
		{"turn.calls", l.Turn.Calls, t.TurnCalls, countOf("call"), "turn", "made"},
		{"turn.usd", int64(l.Turn.USD), int64(t.TurnCost), dollars, "turn", "cost"},
	} {
		if c.limit <= 0 || c.used < c.limit {
			continue
		}
		return haltd.Finding{
			Check: haltd.CheckSession, Action: haltd.Block, Reason: haltd.ReasonSession, Name: "session." + c.name,
			Sentence: fmt.Sprintf("This %s of %s has %s %s, and session.%s allows %s.", c.span, agent, c.verb, c.text(c.used), c.name, c.text(c.limit)),
		}, true
	}
	return haltd.Finding{}, false
}

func countOf(what string) func(int64) string {
	return func(n int64) string {
		if n == 1 {
			return "1 " + what
		}
		return grouped(n) + " " + what + "s"
	}
}

func dollars(n int64) string { return "$" + haltd.Money(n).String() }

// raiseSession raises an incident about a limit that a session has reached,
// once a session.
func (j *Judge) raiseSession(ev *evaluation) {
	for _, f := range ev.decision.Findings {
		if f.Check != haltd.CheckSession || f.Shadow {
			continue
		}
		d := decisionOn(ev.request.Agent, f, detection.Detection{})
		i := ev.incident(&d, haltd.IncidentSession, ev.request.Now)
		i.Once, i.OnceFor = onceKey(f.Name, ev.request), forever
		e := ev.event(&d, haltd.EventAlert, i.ID)
		e.Shadow = false
		j.incidents.Raise(i, e, control.NoticeOf(&i))
	}
}

// checkOther counts a request that generates and is no LLM call for its
// session, where that has limits and a name.
func (j *Judge) checkOther(ctx context.Context, ev *evaluation) {
	r := ev.request
	if !r.Generates || r.Session == "" || !ev.limitsSession() {
		return
	}
	ev.place = ev.statePlace()
	before, recorded := ev.judgement, (*detection.Tally)(nil)
	try := func(m detection.Memory) bool {
		if m.Progress.Tally.Began.IsZero() && recorded == nil {
			return false
		}
		ev.judgement = before
		ev.checkSession(m, recorded)
		if !ev.decision.Action.Stops() {
			ev.admitSession(m)
		}
		return true
	}
	err := j.update(ctx, ev.place, r.Now, try)
	if err == nil && !ev.counted && !ev.decision.Action.Stops() {
		recorded = j.loadTally(ctx, r)
		err = j.update(ctx, ev.place, r.Now, try)
	}
	if err != nil {
		ev.judgement = before
		j.log.Warn("session limits not checked: their state cannot be had", "agent", r.Agent, "error", err)
	}
}

// Spend says what the call has cost its session. It counts with the reply, or
// when the ticket is settled.
func (t *Ticket) Spend(s haltd.Spending) {
	if t.limitsSession() && t.place.Agent != "" {
		t.spent = s
	}
}

// tallySpent counts what was spent and is not counted yet.
func (ev *evaluation) tallySpent(m detection.Memory) {
	m.Progress.Tally.Spend(ev.spent)
}

// flushSpent writes what a call has cost that had no reply to be observed.
func (t *Ticket) flushSpent(ctx context.Context, now time.Time) {
	if t.spent == (haltd.Spending{}) {
		return
	}
	if err := t.judge.update(lasting(ctx), t.place, now, func(m detection.Memory) bool { t.tallySpent(m); return true }); err != nil {
		t.judge.log.Warn("a call is not counted for its session: the state cannot be had", "agent", t.request.Agent, "error", err)
	}
	t.spent = haltd.Spending{}
}
