package haltd

import (
	"context"
	"time"
)

// What somebody can change.
const (
	ChangeActivated   = "activated" // an agent or session may call again
	ChangeDeactivated = "deactivated"
	ChangePolicy      = "policy"
	ChangeDeleted     = "deleted" // an agent

	ChangeRuleSaved   = "rule_saved"
	ChangeRuleDeleted = "rule_deleted"
	ChangeBypassOn    = "bypass_on"
	ChangeBypassOff   = "bypass_off"

	ChangeIncidentClosed   = "incident_closed"
	ChangeIncidentReopened = "incident_reopened"
	ChangeAcknowledged     = "incident_acknowledged" // which decides nothing
	ChangeCommented        = "incident_commented"    // nor does this

	ChangeKeyCreated   = "key_created"
	ChangeKeyChanged   = "key_changed"
	ChangeKeyRevoked   = "key_revoked"
	ChangeTokenCreated = "token_created"
	ChangeTokenRevoked = "token_revoked"

	ChangeUserCreated    = "user_created"
	ChangeUserChanged    = "user_changed"
	ChangeUserLinkMade   = "user_link_made" // a new one-time link, which ends the sign-ins of before
	ChangeUserDeleted    = "user_deleted"
	ChangePasswordChosen = "password_chosen"

	ChangePricesLoaded = "prices_loaded"
	ChangePricesReset  = "prices_reset"

	ChangeChannelSaved     = "channel_saved"
	ChangeChannelDeleted   = "channel_deleted"
	ChangeAlertRuleSaved   = "alert_rule_saved"
	ChangeAlertRuleDeleted = "alert_rule_deleted"
)

// Resumes reports an event that lets a session of its agent go on: the
// session itself was resumed, or the whole agent.
func (e *Event) Resumes(session string) bool {
	return e.Audit != nil && e.Audit.Change == ChangeActivated && (e.Session == "" || e.Session == session)
}

// Audit says who changed what, and why. A policy_change event carries one.
type Audit struct {
	Change string `json:"change" doc:"activated, deactivated, policy, rule_saved, rule_deleted, bypass_on, bypass_off, incident_closed, incident_reopened, incident_acknowledged, incident_commented, deleted, key_created, key_changed, key_revoked, prices_loaded, prices_reset, token_created, token_revoked, user_created, user_changed, user_link_made, user_deleted, password_chosen, channel_saved, channel_deleted, alert_rule_saved or alert_rule_deleted."`
	By     string `json:"by"`
	Why    string `json:"why,omitempty"`
	// Subject names what was changed where no other field does: a key, a
	// channel, an alert rule, a user.
	Subject    string          `json:"subject,omitempty" doc:"The key, channel, alert rule or user that was changed."`
	GraceUntil *time.Time      `json:"grace_until,omitempty"`
	Override   *PolicyOverride `json:"override,omitempty"`
	Rule       *Rule           `json:"rule,omitempty"`
	Incident   string          `json:"incident,omitempty"`
	Status     IncidentStatus  `json:"status,omitempty"`
}

// AuditEntry is one line of the audit log: a change that somebody made. It is
// kept apart from events, also when the agent is deleted.
type AuditEntry struct {
	ID      EventID   `json:"id"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Audit
}

// AuditQuery selects entries of the audit log; what is empty selects all.
type AuditQuery struct {
	By, Change, Agent string
	Since, Until      time.Time // Until is exclusive
	Before            EventID   // 0 begins with the newest
	Limit             int
}

// AuditStore keeps the audit log. AppendEvents and Commit write into it every
// event that has an Audit.
type AuditStore interface {
	// Audits are entries, the newest first.
	Audits(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// PruneAudits deletes entries from before t and says how many.
	PruneAudits(ctx context.Context, t time.Time) (int64, error)
}
