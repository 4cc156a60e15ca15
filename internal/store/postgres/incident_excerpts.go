package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// writeIncidentExcerpt seals what proves an incident; without a key the
// incident is written without.
func (s *Store) writeIncidentExcerpt(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Incident == nil || c.Incident.Excerpt == nil || s.seal == nil {
		return nil
	}
	i := c.Incident
	text, err := json.Marshal(i.Excerpt)
	if err != nil {
		return table.Unfit("excerpt", err)
	}
	_, err = exec(ctx, tx, "INSERT INTO incident_excerpts (incident, agent, time, sealed) VALUES ($1, $2, $3, $4)",
		i.ID, i.Agent, table.Micros(i.Time), s.seal.aead.Seal(nil, nil, text, []byte(i.ID)))
	return err
}

// IncidentExcerpt implements haltd.ExcerptStore.
func (s *Store) IncidentExcerpt(ctx context.Context, incident string) (e haltd.IncidentExcerpt, ok bool, err error) {
	err = s.do(ctx, "read the excerpt of an incident", func(ctx context.Context) error {
		sealed, err := readOne(ctx, s.pool, value[[]byte], "SELECT sealed FROM incident_excerpts WHERE incident = $1", incident)
		if isNoRows(err) {
			return nil
		}
		if err == nil {
			e, err = s.seal.openIncidentExcerpt(incident, sealed)
			ok = err == nil
		}
		return err
	})
	return e, ok, err
}

func (k *sealer) openIncidentExcerpt(incident string, sealed []byte) (e haltd.IncidentExcerpt, err error) {
	if k == nil {
		return e, errNoKey("the excerpt of an incident")
	}
	text, err := k.aead.Open(nil, nil, sealed, []byte(incident))
	if err != nil {
		return e, unavailable("seal_key is not the one that the excerpt of "+incident+" was written with",
			"Give all nodes the same seal_key and restart them.")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("read the excerpt of %s: %w", incident, err)
	}
	return e, nil
}
