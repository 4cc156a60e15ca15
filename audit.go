package haltd

import "time"

// ChangeActivated is the change of an agent or session that may call again.
const ChangeActivated = "activated"

// Resumes reports an event that lets a session of its agent go on: the
// session itself was resumed, or the whole agent.
func (e *Event) Resumes(session string) bool {
	return e.Audit != nil && e.Audit.Change == ChangeActivated && (e.Session == "" || e.Session == session)
}

// Audit says who changed what, and why. A policy_change event carries one.
type Audit struct {
	Change string `json:"change" doc:"activated, deactivated, policy, rule_saved, rule_deleted, bypass_on, bypass_off, incident_closed, incident_reopened, deleted, key_created, key_revoked, channel_saved, channel_deleted, alert_rule_saved or alert_rule_deleted."`
	By     string `json:"by"`
	Why    string `json:"why,omitempty"`
	// Subject names what was changed where no other field does: a key, a
	// channel, an alert rule.
	Subject    string          `json:"subject,omitempty" doc:"The key, channel or alert rule that was changed."`
	GraceUntil *time.Time      `json:"grace_until,omitempty"`
	Override   *PolicyOverride `json:"override,omitempty"`
	Rule       *Rule           `json:"rule,omitempty"`
	Incident   string          `json:"incident,omitempty"`
	Status     IncidentStatus  `json:"status,omitempty"`
}
