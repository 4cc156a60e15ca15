package alert

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

func (s *Service) message(n haltd.Notice) outbound.Message {
	m := outbound.Message{Notice: n, Title: title(n), Next: next(n)}
	if n.Incident != "" || isMany(n) {
		m.URL = s.deps.IncidentURL(n.Incident)
	}
	return m
}

// isMany reports a notice that stands for those of several incidents.
func isMany(n haltd.Notice) bool {
	switch n.Topic {
	case haltd.TopicUpstream, haltd.TopicBypass, haltd.TopicStore: // of which there is no incident
		return false
	}
	return n.Together > 0
}

// price says what it cost so far; an alert does not wait for that.
func (s *Service) price(ctx context.Context, n *haltd.Notice) {
	if s.deps.Spent == nil {
		return
	}
	if cost, of, err := s.deps.Spent(ctx, *n); err == nil {
		n.Cost, n.CostOf = cost, of
	}
}

func title(n haltd.Notice) string {
	if n.Recovery {
		switch n.Topic {
		case haltd.IncidentBudgetSoft, haltd.IncidentBudgetHard:
			return "Budget Available Again"
		case haltd.TopicUpstream:
			return "Upstream Answers Again"
		case haltd.TopicBypass:
			return "Bypass Off"
		case haltd.TopicStore:
			return "Storage Answers Again"
		}
		if n.Session != "" {
			return "Session Resumed"
		}
		return "Agent Resumed"
	}
	if n.Together > 0 {
		return "Many Incidents"
	}
	switch n.Topic {
	case haltd.TopicShadow:
		return "Kill Switch Would Have Fired"
	case haltd.TopicUpstream:
		return "Upstream Failing"
	case haltd.TopicBypass:
		return "Bypass On"
	case haltd.TopicStore:
		return "Storage Does Not Answer"
	case haltd.IncidentGrowth:
		return "Runaway Agent Detected"
	case haltd.IncidentBudgetSoft:
		return "Budget Warning"
	case haltd.IncidentBudgetHard:
		return "Budget Exhausted"
	case haltd.IncidentSession:
		return "Session Limit Reached"
	}
	switch n.Action {
	case haltd.Reject:
		return "Loop Rejected"
	case haltd.Halt:
		return "Turn Halted"
	}
	return "Kill Switch Fired"
}

// next is what it means for the reader.
func next(n haltd.Notice) string {
	if n.Recovery {
		return ""
	}
	switch n.Topic {
	case haltd.TopicShadow:
		return "Nothing is blocked: the Kill Switch is off. Look at what the agent repeats, then turn the switch on."
	case haltd.TopicUpstream:
		return "Look at its status page and at the network. haltd doctor --network tries to reach each provider."
	case haltd.TopicBypass:
		return "Runaway agents are not stopped. haltd bypass off ends it."
	case haltd.TopicStore:
		return "haltd doctor tells what is wrong with it."
	}
	if n.Together > 0 {
		return "The list of incidents has them all."
	}
	switch n.Topic {
	case haltd.IncidentGrowth:
		return "Nothing is blocked. Look at the session before it gets expensive."
	case haltd.IncidentBudgetSoft:
		return "Nothing is blocked yet. Look at what the money goes into, or raise the budget."
	case haltd.IncidentBudgetHard:
		return "Further calls are blocked until the next period begins or someone raises the budget."
	case haltd.IncidentSession:
		return "Further calls of this session are blocked; other sessions go on. A limit of a turn ends with the next message of a person."
	}
	switch {
	case n.Action == haltd.Reject:
		return "Its calls are rejected as long as it repeats itself. Look at what it repeats."
	case n.Action == haltd.Halt:
		return "This session continues when a person writes to it; other sessions go on."
	case n.Scope == haltd.ScopeSession:
		return "This session is stopped until someone resumes it; other sessions go on."
	}
	return "The agent is stopped until someone resumes it. Look at what it repeated and decide."
}

func testMessage(now time.Time) outbound.Message {
	return outbound.Message{
		Notice: haltd.Notice{
			ID: haltd.NewName("msg_"), Time: now,
			Sentence: "This is a test message from haltd. Alerts about your agents will arrive here.",
		},
		Title: "Test Message", Test: true,
	}
}
