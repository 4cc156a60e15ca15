package alert

import (
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

func (s *Service) message(n haltd.Notice) outbound.Message {
	m := outbound.Message{Notice: n, Title: title(n)}
	if n.Incident != "" {
		m.URL = s.IncidentURL(n.Incident)
	}
	return m
}

func title(n haltd.Notice) string {
	if n.Recovery {
		switch n.Topic {
		case haltd.IncidentBudgetSoft, haltd.IncidentBudgetHard:
			return "Budget Available Again"
		}
		return "Agent Resumed"
	}
	switch n.Topic {
	case haltd.IncidentGrowth:
		return "Runaway Agent Detected"
	case haltd.IncidentBudgetSoft:
		return "Budget Warning"
	case haltd.IncidentBudgetHard:
		return "Budget Exhausted"
	}
	return "Kill Switch Fired"
}

func testMessage(now time.Time) outbound.Message {
	return outbound.Message{
		Notice: haltd.Notice{
			ID: haltd.NewName("ntc_"), Time: now,
			Sentence: "This is a test message from haltd. Alerts about your agents will arrive here.",
		},
		Title: "Test Message", Test: true,
	}
}
