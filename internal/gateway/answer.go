package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// denial is the answer to a request that the decision stops: the standard
// inactive answer, which no client tries again, or a rejection that passes
// with time. Names and evidence are hostile text: a sentence with words that
// would make a client try again is left out.
func (x *exchange) denial() error {
	v := &x.decision
	d := wire.Denied{
		Status: x.settings.blockStatus, Code: string(v.Reason), Blocked: true, Incident: v.Incident,
	}
	if v.Action == haltd.Reject {
		d.Status, d.RetryAfter = http.StatusTooManyRequests, max(v.RetryAfter, 1)
		if v.Reason == haltd.ReasonUnsaved {
			d.Status = http.StatusServiceUnavailable
		}
		d.Message = "haltd: " + v.Sentence + " " + x.remedy()
		return refusal{d}
	}
	evidence := v.Sentence
	if !wire.Calm(evidence) {
		evidence = spelled(evidence)
	}
	if !wire.Calm(evidence) {
		evidence = genericEvidence[v.Reason]
	}
	d.Message = wire.CalmMessage("haltd stopped this call.", evidence, x.incidentSentence(), x.remedy())
	return refusal{d}
}

var digitNames = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// spelled writes every number that a client could take for a status digit by
// digit, as words: a limit of 500 calls is to be named all the same.
func spelled(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if n < 0 {
			n = len(text)
		}
		if n > 0 && !wire.Calm(text[:n]) {
			for i, d := range text[:n] {
				if i > 0 {
					b.WriteByte('-')
				}
				b.WriteString(digitNames[d-'0'])
			}
		} else {
			n = max(n, 1)
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// genericEvidence is a sentence without names and figures.
var genericEvidence = map[haltd.Reason]string{
	haltd.ReasonLoop:    "The agent repeats itself and makes no progress.",
	haltd.ReasonKilled:  "The agent was stopped by the kill switch because it repeated itself.",
	haltd.ReasonHalted:  "The turn was halted because the agent repeated itself.",
	haltd.ReasonManual:  "The agent was stopped by a person.",
	haltd.ReasonBudget:  "The budget of the agent is spent.",
	haltd.ReasonHours:   "The agent may not call at this hour.",
	haltd.ReasonRule:    "A rule of the operator stops this call.",
	haltd.ReasonSession: "This session has reached its limit.",
}

func (x *exchange) incidentSentence() string {
	if x.decision.Incident == "" {
		return ""
	}
	return "Incident " + x.decision.Incident + " shows why."
}

// resume says what to resume, and how. Where a session alone is stopped,
// resuming its agent would change nothing. A session's name that a shell could
// read as more than a name is not put into a command.
func (x *exchange) resume(agent string) string {
	if x.decision.Scope != haltd.ScopeSession {
		return "agent with: haltd agents resume " + agent
	}
	how := "session with: haltd agents resume " + agent + " --session "
	session := x.event.Session
	if strings.ContainsFunc(session, needsQuoting) || !wire.Calm(how+session) {
		session = "SESSION"
	}
	return how + session
}

// needsQuoting reports a character that a shell may interpret.
func needsQuoting(r rune) bool {
	return !strings.ContainsRune("-._:@/", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}

// remedy says what to do now.
func (x *exchange) remedy() string {
	agent := x.event.Agent
	if !wire.Calm(agent) {
		agent = "AGENT"
	}
	switch v := &x.decision; v.Reason {
	case haltd.ReasonLoop, haltd.ReasonKilled, haltd.ReasonHalted:
		switch {
		case v.Action == haltd.Halt || v.Reason == haltd.ReasonHalted:
			return "Send a message to continue, or resume the " + x.resume(agent)
		case v.Action == haltd.Reject:
			return "Change what the agent does before it calls again."
		case v.Action == haltd.Block && v.Incident == "":
			return "Look at what the agent repeats before it calls again."
		}
		return "Look at it, then resume the " + x.resume(agent)
	case haltd.ReasonManual:
		return "Resume the " + x.resume(agent)
	case haltd.ReasonBudget:
		switch {
		case v.Key != "" && v.Action == haltd.Reject:
			return "Wait " + strconv.Itoa(v.RetryAfter) + " s for them to end."
		case v.Key != "" && v.Asked != nil:
			return "Ask for a shorter reply or stream it, ask the operator for a key with a larger budget, or wait for the next period."
		case v.Key != "":
			return "Ask the operator for a key with a larger budget, or wait for the next period."
		case v.Action == haltd.Reject:
			return "Wait " + strconv.Itoa(v.RetryAfter) + " s for them to end, or raise budgets." + v.Name + " of " + agent + "."
		case v.Asked != nil:
			return "Ask for a shorter reply or stream it, raise budgets." + v.Name + " of " + agent + ", or wait for the next period."
		}
		return "Raise the budget of " + agent + " or wait for the next period."
	case haltd.ReasonHours:
		return "Change allowed_hours of " + agent + " to let it call now."
	case haltd.ReasonRule:
		return "Ask the operator about the rule."
	case haltd.ReasonSession:
		if strings.HasPrefix(v.Name, "session.turn.") {
			return "Send a message to begin another turn, or raise " + v.Name + " of " + agent + "."
		}
		return "Begin a new session, or raise " + v.Name + " of " + agent + "."
	case haltd.ReasonRate:
		return "Wait " + strconv.Itoa(v.RetryAfter) + " s or raise the limit."
	}
	return "The log of haltd says more."
}

// explain says in headers why an answer is not a plain allow.
func (x *exchange) explain(h http.Header, reason, incident string) {
	h.Set("X-Haltd-Reason", reason)
	if incident != "" {
		h.Set("X-Haltd-Incident", incident)
	}
}

// explainFinding adds the finding about a request to the headers of its reply.
func (x *exchange) explainFinding(h http.Header) {
	d := &x.decision
	if d.Action == haltd.Allow {
		return
	}
	x.explain(h, string(d.Reason), x.decision.Incident)
	if d.Action == haltd.Throttle {
		h.Set("X-Haltd-Loop-Delay", strconv.FormatInt(time.Duration(d.Delay).Milliseconds(), 10))
	}
}
