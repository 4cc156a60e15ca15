package table

import (
	"database/sql"

	"github.com/haltd/haltd"
)

// StandingColumns are those of agents and of session_standings alike.
const StandingColumns = "active, deactivated_by, incident, changed_by, why, changed_at, activated_at, grace_until"

// StandingRow is StandingColumns as they are scanned, all NULL where there is
// no row.
type StandingRow struct {
	active                         sql.NullBool
	deactivated, incident, by, why sql.NullString
	at, activated, grace           sql.NullInt64
}

// Columns are where to scan StandingColumns to.
func (r *StandingRow) Columns() []any {
	return []any{&r.active, &r.deactivated, &r.incident, &r.by, &r.why, &r.at, &r.activated, &r.grace}
}

// Of is the standing of that agent or session. Without a row it is active.
func (r *StandingRow) Of(agent, session string) haltd.Standing {
	s := haltd.Standing{
		Agent: agent, Session: session, Active: !r.active.Valid || r.active.Bool,
		Incident: r.incident.String, By: r.by.String, Why: r.why.String,
		At: OptionalTime(r.at), ActivatedAt: OptionalTime(r.activated), GraceUntil: OptionalTime(r.grace),
	}
	if r.deactivated.Valid {
		s.DeactivatedBy = new(haltd.DeactivatedBy(r.deactivated.String))
	}
	return s
}

// StandingValues are the values of StandingColumns.
func StandingValues(s *haltd.Standing) []any {
	var deactivated string
	if s.DeactivatedBy != nil {
		deactivated = string(*s.DeactivatedBy)
	}
	return []any{s.Active, OptionalText(deactivated), OptionalText(s.Incident), OptionalText(s.By), OptionalText(s.Why),
		OptionalMicros(s.At), OptionalMicros(s.ActivatedAt), OptionalMicros(s.GraceUntil)}
}
