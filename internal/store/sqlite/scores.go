package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const (
	// scoreColumns takes the score as the text that it was written as, so
	// that it is read back the same.
	scoreColumns = "SELECT e.id, e.time, a.id, s.id, coalesce(e.detail -> '$.score', '0'), coalesce(e.detail ->> '$.verdict.unmet', '')"

	scoresSQL = scoreColumns + ` FROM sessions s JOIN agents a ON a.no = s.agent
		JOIN events e ON e.agent = s.agent AND e.session = s.no AND e.id BETWEEN s.first_event AND s.last_event
		WHERE s.id = ? AND a.id = ? AND ` + scored + ` ORDER BY e.id`

	// The events of a session are looked at only when its peak is above the
	// threshold.
	peaksSQL = scoreColumns + ` FROM sessions s JOIN agents a ON a.no = s.agent
		JOIN events e ON e.id = (SELECT min(e.id) FROM events e
			WHERE e.agent = s.agent AND e.session = s.no AND e.id BETWEEN s.first_event AND s.last_event
			AND e.time >= ? AND ` + scored + ` AND coalesce(e.detail ->> '$.score', 0) > ?
			AND (NOT ? OR coalesce(e.detail ->> '$.verdict.unmet', '') = ''))
		WHERE a.id = ? AND s.peak_score > ? AND s.last_seen >= ? ORDER BY e.id DESC LIMIT ?`

	// scored are the types of events that are calls.
	scored = "e.type IN ('" + string(haltd.EventCall) + "', '" + string(haltd.EventBlocked) + "', '" + string(haltd.EventKillSwitch) +
		"', '" + string(haltd.EventHalt) + "')"
)

// Scores implements haltd.IncidentStore. A session that is unknown, or gone
// with the retention, has none.
func (s *Store) Scores(ctx context.Context, agent, session string) ([]haltd.ScorePoint, error) {
	points, err := read(ctx, s.readers, table.ScanScore, scoresSQL, session, agent)
	if err != nil {
		return nil, fmt.Errorf("read scores: %w", explain(s.path, err))
	}
	return points, nil
}

// Peaks implements haltd.IncidentStore.
func (s *Store) Peaks(ctx context.Context, q haltd.PeakQuery) ([]haltd.ScorePoint, error) {
	since := table.Micros(q.Since)
	points, err := read(ctx, s.readers, table.ScanScore, peaksSQL, since, q.Threshold, q.Corroborated, q.Agent, q.Threshold, since, table.Limit(q.Limit))
	if err != nil {
		return nil, fmt.Errorf("read peaks: %w", explain(s.path, err))
	}
	return points, nil
}
