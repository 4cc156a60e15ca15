package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// writeIncidentExcerpt seals what proves an incident. Where that cannot be
// done, the incident is more important than its words.
func (s *Store) writeIncidentExcerpt(ctx context.Context, i *haltd.Incident) error {
	if i.Excerpt == nil {
		return nil
	}
	plain, err := json.Marshal(i.Excerpt)
	if err != nil {
		return table.Unfit("excerpt", err)
	}
	aead, err := s.secrets.key(true)
	if err != nil {
		return nil
	}
	return s.exec(ctx, "INSERT INTO incident_excerpts (incident, agent, time, sealed) VALUES (?, ?, ?, ?)",
		i.ID, i.Agent, table.Micros(i.Time), aead.Seal(nil, nil, plain, []byte(i.ID)))
}

// IncidentExcerpt implements haltd.ExcerptStore.
func (s *Store) IncidentExcerpt(ctx context.Context, incident string) (e haltd.IncidentExcerpt, ok bool, err error) {
	var sealed []byte
	err = s.readers.QueryRowContext(ctx, "SELECT sealed FROM incident_excerpts WHERE incident = ?", incident).Scan(&sealed)
	if isNoRows(err) {
		return e, false, nil
	}
	if err != nil {
		return e, false, fmt.Errorf("read the excerpt of an incident: %w", explain(s.path, err))
	}
	aead, err := s.secrets.key(false)
	if err != nil {
		return e, false, err
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(incident))
	if err != nil {
		return e, false, unavailable("the key file "+s.secrets.path+" is not the one that the excerpt was sealed with",
			"Put the right file back and restart haltd.")
	}
	if err := json.Unmarshal(plain, &e); err != nil {
		return e, false, fmt.Errorf("read the excerpt of an incident: %w", err)
	}
	return e, true, nil
}
