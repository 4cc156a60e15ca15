package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const incidentColumns = "SELECT i.no, i.time, i.status, i.verdict, i.body, i.closed_at, i.closed_by, i.note, i.seen_at, i.seen_by, i.comments FROM incidents i"

// Incidents implements haltd.IncidentStore.
func (s *Store) Incidents(ctx context.Context, q haltd.IncidentQuery) (incidents []haltd.Incident, next string, err error) {
	var w table.Conditions
	w.Incidents(q)
	err = s.do(ctx, "list incidents", func(ctx context.Context) error {
		incidents, next, err = list(ctx, s.pool, listing[haltd.Incident]{
			columns: incidentColumns, at: "i.time", no: "i.no", kind: 'i', scan: table.ScanIncident, where: w, page: q.Page,
		})
		return err
	})
	return incidents, next, err
}

// Incident implements haltd.IncidentStore.
func (s *Store) Incident(ctx context.Context, id string) (i haltd.Incident, err error) {
	err = s.do(ctx, "read incident", func(ctx context.Context) error {
		scan := func(row scanner) (haltd.Incident, error) {
			i, _, err := table.ScanIncident(row)
			return i, err
		}
		i, err = readOne(ctx, s.pool, scan, incidentColumns+" WHERE i.id = $1", id)
		if isNoRows(err) {
			err = table.NoIncident(id)
		}
		return err
	})
	return i, err
}

func writeIncident(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Incident == nil {
		return nil
	}
	i := *c.Incident
	if err := refuseRepeated(ctx, tx, &i); err != nil {
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
	_, err = exec(ctx, tx, `INSERT INTO incidents (id, time, kind, detector, action, status, shadow, scope, agent, session, once, verdict, body, closed_at, closed_by, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		i.ID, table.Micros(i.Time), string(i.Kind), string(i.Detector), i.Action.String(), string(i.Status), i.Shadow, string(i.Scope), i.Agent, i.Session, table.OptionalText(i.Once),
		table.OptionalText(string(verdict)), string(body), table.PointerMicros(i.ClosedAt), i.ClosedBy, i.Note)
	return err
}

// refuseRepeated looks for an incident that says the same, under a lock: of
// two that come together one is raised.
func refuseRepeated(ctx context.Context, tx pgx.Tx, i *haltd.Incident) error {
	if i.Once == "" {
		return nil
	}
	if _, err := exec(ctx, tx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", "incident:"+i.Once); err != nil {
		return err
	}
	earlier, err := read(ctx, tx, value[string], "SELECT id FROM incidents WHERE md5(once) = md5($1) AND once = $1 AND time > $2 ORDER BY time DESC LIMIT 1",
		i.Once, table.Micros(i.Time.Add(-i.OnceFor)))
	if err != nil || len(earlier) == 0 {
		return err
	}
	return haltd.Errorf(haltd.CodeExists, "incident %s says the same already", earlier[0])
}

func writeClosing(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Closing == nil {
		return nil
	}
	d := c.Closing
	w := table.Conditions{Args: []any{string(d.Status), table.OptionalMicros(d.At), d.By, d.Note}}
	if d.ID != "" {
		w.Add("id = ?", d.ID)
	} else {
		w.Add("agent = ? AND kind = ? AND status = ? AND NOT shadow", d.Agent, string(haltd.IncidentKillSwitch), string(haltd.IncidentOpen))
		scope := haltd.ScopeAgent
		if d.Session != "" {
			scope = haltd.ScopeSession
			w.Add("session = ?", d.Session)
		}
		w.Add("scope = ?", string(scope))
	}
	closed, err := exec(ctx, tx, numbered("UPDATE incidents SET status = ?, closed_at = ?, closed_by = ?, note = ?"+w.Where()), w.Args...)
	if err == nil && closed == 0 && d.ID != "" {
		err = table.NoIncident(d.ID)
	}
	return err
}

// pruneIncidents deletes what was raised before t and nobody decided about. A
// spent budget is left for its period to end.
func pruneIncidents(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return deleteIncidents(ctx, tx, "i.status = '"+string(haltd.IncidentOpen)+"' AND i.kind NOT IN ('"+
		string(haltd.IncidentBudgetSoft)+"', '"+string(haltd.IncidentBudgetHard)+"')", t, most)
}

// forgetIncidents deletes what was raised before t and decided since.
func forgetIncidents(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return deleteIncidents(ctx, tx, "i.status <> '"+string(haltd.IncidentOpen)+"'", t, most)
}

// deleteIncidents spares those that say why somebody is stopped now.
func deleteIncidents(ctx context.Context, tx pgx.Tx, which string, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM incidents WHERE no IN (SELECT i.no FROM incidents i WHERE i.time < $1 AND `+which+`
		AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.incident = i.id AND `+notable+`)
		AND NOT EXISTS (SELECT 1 FROM session_standings t WHERE t.incident = i.id)
		LIMIT $2)`, table.Micros(t), most)
}

const (
	scoreColumns = "SELECT e.id, e.time, s.agent, s.id, e.score, coalesce(e.detail::jsonb #>> '{verdict,unmet}', '')"

	scoresSQL = scoreColumns + ` FROM sessions s JOIN events e ON e.agent = s.agent AND e.session = s.id AND e.id BETWEEN s.first_event AND s.last_event
		WHERE s.id = $1 AND s.agent = $2 AND ` + scored + ` ORDER BY e.id`

	// The events of a session are looked at only when its peak is above the
	// threshold.
	peaksSQL = scoreColumns + ` FROM sessions s CROSS JOIN LATERAL (SELECT e.id, e.time, e.score, e.detail FROM events e
			WHERE e.agent = s.agent AND e.session = s.id AND e.id BETWEEN s.first_event AND s.last_event
			AND e.time >= $2 AND ` + scored + ` AND e.score > $1
			AND (NOT $4 OR coalesce(e.detail::jsonb #>> '{verdict,unmet}', '') = '') ORDER BY e.id LIMIT 1) e
		WHERE s.agent = $5 AND s.peak_score > $1 AND s.last_seen >= $2 ORDER BY e.id DESC LIMIT $3`

	// scored are the types of events that are calls.
	scored = "e.type IN ('" + string(haltd.EventCall) + "', '" + string(haltd.EventBlocked) + "', '" + string(haltd.EventKillSwitch) +
		"', '" + string(haltd.EventHalt) + "')"
)

// Scores implements haltd.IncidentStore. A session that is unknown, or gone
// with the retention, has none.
func (s *Store) Scores(ctx context.Context, agent, session string) (points []haltd.ScorePoint, err error) {
	err = s.do(ctx, "read scores", func(ctx context.Context) error {
		points, err = read(ctx, s.pool, table.ScanScore, scoresSQL, session, agent)
		return err
	})
	return points, err
}

// Peaks implements haltd.IncidentStore.
func (s *Store) Peaks(ctx context.Context, q haltd.PeakQuery) (points []haltd.ScorePoint, err error) {
	err = s.do(ctx, "read peaks", func(ctx context.Context) error {
		points, err = read(ctx, s.pool, table.ScanScore, peaksSQL, q.Threshold, table.Micros(q.Since), table.Limit(q.Limit), q.Corroborated, q.Agent)
		return err
	})
	return points, err
}
