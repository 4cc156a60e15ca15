package table

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
)

// Row is a row that a database answers. Its columns stand in the order in which
// the store asks for them.
type Row interface{ Scan(dest ...any) error }

// ScanAgent reads a row of an agent with its standing.
func ScanAgent(row Row) (a haltd.Agent, at Position, err error) {
	var standing StandingRow
	var first int64
	t := &a.Totals
	err = row.Scan(append([]any{&at.No, &a.ID, &a.Shared, &first, &at.At,
		&t.Calls, &t.Blocked, &t.Errors, &t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, (*int64)(&t.Cost)},
		standing.Columns()...)...)
	a.FirstSeen, a.LastSeen = FromMicros(first), FromMicros(at.At)
	a.Standing = standing.Of(a.ID, "")
	a.Active, a.DeactivatedBy = a.Standing.Active, a.Standing.DeactivatedBy
	return a, at, err
}

// ScanSession reads a row of a session with its standing.
func ScanSession(row Row) (s haltd.Session, at Position, err error) {
	var standing StandingRow
	var first int64
	t := &s.Totals
	err = row.Scan(append([]any{&at.No, &s.ID, &s.Agent, &s.Client, &s.Model, &first, &at.At, &s.PeakScore,
		&t.Calls, &t.Blocked, &t.Errors, &t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, (*int64)(&t.Cost)},
		standing.Columns()...)...)
	s.FirstSeen, s.LastSeen = FromMicros(first), FromMicros(at.At)
	s.Standing = standing.Of(s.Agent, s.ID)
	return s, at, err
}

// ScanIncident reads a row of an incident.
func ScanIncident(row Row) (i haltd.Incident, at Position, err error) {
	var verdict sql.NullString
	var body, comments []byte
	var status, by, note, seenBy string
	var closed, seen sql.NullInt64
	if err := row.Scan(&at.No, &at.At, &status, &verdict, &body, &closed, &by, &note, &seen, &seenBy, &comments); err != nil {
		return i, at, err
	}
	if err := json.Unmarshal(body, &i); err != nil {
		return i, at, fmt.Errorf("read incident: %w", err)
	}
	i.Time, i.Status, i.Verdict = FromMicros(at.At), haltd.IncidentStatus(status), nil
	if verdict.Valid {
		i.Verdict = ReadVerdict(verdict.String)
	}
	i.ClosedAt, i.ClosedBy, i.Note = PointerTime(closed), by, note
	i.SeenAt, i.SeenBy, i.Comments = PointerTime(seen), seenBy, nil
	if comments != nil {
		if err := json.Unmarshal(comments, &i.Comments); err != nil {
			return i, at, fmt.Errorf("read comments: %w", err)
		}
	}
	return i, at, nil
}

// ScanScore reads a point of the chart of scores.
func ScanScore(row Row) (p haltd.ScorePoint, err error) {
	var id, at int64
	err = row.Scan(&id, &at, &p.Agent, &p.Session, &p.Score, &p.Unmet)
	p.Event, p.Time = haltd.EventID(id), FromMicros(at)
	return p, err
}

// ScanDelivery reads a row of a delivery and its notice.
func ScanDelivery(row Row) (d haltd.Delivery, at Position, err error) {
	var next, updated int64
	var answers string
	var body []byte
	err = row.Scan(&at.No, &d.ID, &d.Channel, &d.Status, &d.Attempts, &next, &answers, &updated, &body)
	if err != nil {
		return d, at, err
	}
	at.At, d.Answers = at.No, FromLines(answers)
	d.NextAt, d.UpdatedAt = FromMicros(next), FromMicros(updated)
	if err := json.Unmarshal(body, &d.Notice); err != nil {
		return d, at, fmt.Errorf("read the notice of delivery %s: %w", d.ID, err)
	}
	return d, at, nil
}

// ScanKey reads a row of a gateway key, and then more.
func ScanKey(row Row, more ...any) (k haltd.Key, err error) {
	var created int64
	var revoked, used sql.NullInt64
	var limits string
	if err := row.Scan(append([]any{&k.ID, &k.Agent, &k.Name, &created, &revoked, &limits, &used}, more...)...); err != nil {
		return k, err
	}
	k.CreatedAt, k.RevokedAt, k.LastUsedAt = FromMicros(created), PointerTime(revoked), PointerTime(used)
	if err := json.Unmarshal([]byte(limits), &k.KeyLimits); err != nil {
		return k, fmt.Errorf("read the limits of key %s: %w", k.ID, err)
	}
	return k, nil
}

// ScanAudit reads an entry of the audit log.
func ScanAudit(row Row) (e haltd.AuditEntry, err error) {
	var id, at int64
	var text []byte
	if err := row.Scan(&id, &at, &e.Agent, &e.Session, &text); err != nil {
		return e, err
	}
	e.ID, e.Time = haltd.EventID(id), FromMicros(at)
	return e, json.Unmarshal(text, &e.Audit)
}
