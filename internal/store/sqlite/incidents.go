package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const incidentColumns = "SELECT i.no, i.time, i.status, i.verdict, i.body, i.closed_at, i.closed_by, i.note, i.seen_at, i.seen_by, i.comments FROM incidents i"

// Incidents implements haltd.IncidentStore.
func (s *Store) Incidents(ctx context.Context, q haltd.IncidentQuery) ([]haltd.Incident, string, error) {
	var w table.Conditions
	w.Incidents(q)
	incidents, next, err := list(ctx, s.readers, listing[haltd.Incident]{
		columns: incidentColumns, at: "i.time", no: "i.no", kind: 'i', scan: table.ScanIncident, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list incidents: %w", explain(s.path, err))
	}
	return incidents, next, nil
}

// Incident implements haltd.IncidentStore.
func (s *Store) Incident(ctx context.Context, id string) (haltd.Incident, error) {
	i, _, err := table.ScanIncident(s.readers.QueryRowContext(ctx, incidentColumns+" WHERE i.id = ?", id))
	if isNoRows(err) {
		err = table.NoIncident(id)
	}
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("read incident: %w", explain(s.path, err))
	}
	return i, nil
}

func (s *Store) writeIncident(ctx context.Context, c *haltd.Change) error {
	if c.Incident == nil {
		return nil
	}
	i := *c.Incident
	if err := s.refuseRepeated(ctx, &i); err != nil {
		return err
	}
	var verdict []byte
	if i.Verdict != nil {
		var err error
		if verdict, err = json.Marshal(i.Verdict); err != nil {
			return table.Unfit("verdict", err)
		}
	}
	i.Verdict = nil
	body, err := json.Marshal(i)
	if err != nil {
		return table.Unfit("incident", err)
	}
	if err := s.writeIncidentExcerpt(ctx, &i); err != nil {
		return err
	}
	return s.exec(ctx, `INSERT INTO incidents (id, time, kind, detector, action, status, shadow, agent, session, once, verdict, body, closed_at, closed_by, note)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		i.ID, table.Micros(i.Time), string(i.Kind), string(i.Detector), i.Action.String(), string(i.Status), i.Shadow, i.Agent, i.Session, table.OptionalText(i.Once),
		table.OptionalText(string(verdict)), string(body), table.PointerMicros(i.ClosedAt), i.ClosedBy, i.Note)
}

// refuseRepeated looks for an incident that says the same, inside the
// transaction that would raise i: of two that come together one is raised.
func (s *Store) refuseRepeated(ctx context.Context, i *haltd.Incident) error {
	if i.Once == "" {
		return nil
	}
	var earlier string
	err := s.writer.conn.QueryRowContext(ctx, "SELECT id FROM incidents WHERE once = ? AND time > ? ORDER BY time DESC LIMIT 1",
		i.Once, table.Micros(i.Time.Add(-i.OnceFor))).Scan(&earlier)
	if isNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return haltd.Errorf(haltd.CodeExists, "incident %s says the same already", earlier)
}

func (s *Store) writeClosing(ctx context.Context, c *haltd.Change) error {
	if c.Closing == nil {
		return nil
	}
	d := c.Closing
	var w table.Conditions
	if d.ID != "" {
		w.Add("id = ?", d.ID)
	} else {
		w.Add("agent = ? AND kind = ? AND status = ? AND shadow = 0", d.Agent, string(haltd.IncidentKillSwitch), string(haltd.IncidentOpen))
		scope := haltd.ScopeAgent
		if d.Session != "" {
			scope = haltd.ScopeSession
			w.Add("session = ?", d.Session)
		}
		w.Add("body ->> 'scope' = ?", string(scope))
	}
	closed, err := s.affect(ctx, "UPDATE incidents SET status = ?, closed_at = ?, closed_by = ?, note = ?"+w.Where(),
		append([]any{string(d.Status), table.OptionalMicros(d.At), d.By, d.Note}, w.Args...)...)
	if err == nil && closed == 0 && d.ID != "" {
		err = table.NoIncident(d.ID)
	}
	return err
}

// pruneIncidents deletes what was raised before t and nobody decided about. A
// spent budget is left for its period to end.
func (s *Store) pruneIncidents(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.deleteIncidents(ctx, "i.status = '"+string(haltd.IncidentOpen)+"' AND i.kind NOT IN ('"+
		string(haltd.IncidentBudgetSoft)+"', '"+string(haltd.IncidentBudgetHard)+"')", t, most)
}

// forgetIncidents deletes what was raised before t and decided since.
func (s *Store) forgetIncidents(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.deleteIncidents(ctx, "i.status <> '"+string(haltd.IncidentOpen)+"'", t, most)
}

// deleteIncidents spares those that say why somebody is stopped now.
func (s *Store) deleteIncidents(ctx context.Context, which string, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM incidents WHERE no IN (SELECT i.no FROM incidents i WHERE i.time < ? AND `+which+`
		AND i.id NOT IN (SELECT incident FROM agents WHERE incident IS NOT NULL
			UNION ALL SELECT incident FROM session_standings WHERE incident IS NOT NULL)
		LIMIT ?)`, table.Micros(t), most)
}
