package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// Import fills an empty store with what another one has, in one transaction:
// after an error nothing is there. progress is told how many rows of which
// table have been written, and of how many, or 0 where nobody has counted them.
// Excerpts, and channels with their settings, are
// sealed; without a seal_key excerpts stay behind and channels are refused.
func (s *Store) Import(ctx context.Context, from table.Source, progress func(table string, rows, of int64)) (table.Sums, error) {
	sums, err := from.Sums(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy the record: %w", err)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		full, err := readOne(ctx, tx, value[bool], "SELECT EXISTS (SELECT 1 FROM agents) OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM nodes WHERE until > "+now+")")
		if err != nil {
			return err
		}
		if full {
			return haltd.Errorf(haltd.CodeExists, "the database %s holds a record already, or a haltd uses it", s.place).In("store.url").
				WithFix("Name an empty database, and stop the nodes that use it.")
		}
		if _, err := tx.Exec(ctx, "DELETE FROM shared_secrets"); err != nil {
			return err
		}
		written := map[string]int64{}
		err = from.Export(ctx, func(c table.Chunk) error {
			if err := s.importChunk(ctx, tx, c); err != nil {
				return fmt.Errorf("write %s: %w", c.Table, err)
			}
			written[c.Table] += int64(len(c.Rows))
			progress(c.Table, written[c.Table], sums[c.Table])
			return nil
		})
		if err != nil {
			return err
		}
		if err := continueNumbers(ctx, tx); err != nil {
			return err
		}
		return compare(ctx, tx, sums)
	})
	if err != nil {
		return nil, fmt.Errorf("copy the record: %w", s.explain(ctx, err))
	}
	return sums, nil
}

func (s *Store) importChunk(ctx context.Context, tx pgx.Tx, c table.Chunk) (err error) {
	switch c.Table {
	case "events":
		c = withRaw(c)
	case "excerpts":
		if c, err = s.sealExcerpts(c); err != nil {
			return err
		}
	case "incident_excerpts":
		c = s.sealIncidentExcerpts(c)
	case "channels":
		if c, err = s.sealChannels(c); err != nil {
			return err
		}
	}
	for _, row := range c.Rows {
		mended(row)
	}
	if len(c.Rows) == 0 {
		return nil
	}
	copied, err := tx.CopyFrom(ctx, pgx.Identifier{c.Table}, c.Columns, pgx.CopyFromRows(c.Rows))
	if err == nil && copied != int64(len(c.Rows)) {
		err = differs(fmt.Sprintf("%s: %d rows became %d", c.Table, len(c.Rows), copied))
	}
	return err
}

func differs(how string) error {
	return unavailable("the copy is not the same: "+how, "Look for triggers and rules on the tables of haltd in the database; nothing was copied.")
}

// withRaw adds what the columns of events cannot hold as it is; see rawOf.
func withRaw(c table.Chunk) table.Chunk {
	at := func(row []any, column string) string {
		text, _ := row[slices.Index(c.Columns, column)].(string)
		return text
	}
	for i, row := range c.Rows {
		e := haltd.Event{Session: at(row, "session"), Client: at(row, "client"), Provider: at(row, "provider"), Model: at(row, "model")}
		c.Rows[i] = append(row, rawOf(&e))
	}
	c.Columns = append(slices.Clone(c.Columns), "raw")
	return c
}

func (s *Store) sealExcerpts(c table.Chunk) (table.Chunk, error) {
	out := table.Chunk{Table: c.Table, Columns: []string{"event", "time", "sealed"}}
	if s.seal == nil {
		return out, nil
	}
	for _, row := range c.Rows {
		var texts [3]string
		for i := range texts {
			texts[i], _ = row[i+2].(string)
		}
		id, _ := row[0].(int64)
		sealed, err := s.seal.excerpt(&haltd.Event{ID: haltd.EventID(id), Excerpt: &haltd.Excerpt{Prompt: texts[0], Reply: texts[1], ToolCalls: texts[2]}})
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, []any{row[0], row[1], sealed})
	}
	return out, nil
}

func (s *Store) sealIncidentExcerpts(c table.Chunk) table.Chunk {
	if s.seal == nil {
		c.Rows = nil
	}
	for i, row := range c.Rows {
		id, _ := row[0].(string)
		plain, _ := row[3].([]byte)
		c.Rows[i] = []any{row[0], row[1], row[2], s.seal.aead.Seal(nil, nil, plain, []byte(id))}
	}
	return c
}

func (s *Store) sealChannels(c table.Chunk) (table.Chunk, error) {
	for i, row := range c.Rows {
		body, _ := row[1].(string)
		var channel haltd.Channel
		if err := json.Unmarshal([]byte(body), &channel); err != nil {
			return c, err
		}
		sealed, err := s.seal.channel(channel)
		if err != nil {
			return c, err
		}
		text, err := json.Marshal(sealed)
		if err != nil {
			return c, err
		}
		c.Rows[i] = []any{row[0], string(text)}
	}
	return c, nil
}

// continueNumbers has new rows numbered after those that were copied with
// theirs.
func continueNumbers(ctx context.Context, tx pgx.Tx) error {
	for _, name := range []string{"keys", "tokens", "users", "rules", "alert_rules", "incidents", "notices", "deliveries"} {
		if _, err := tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('"+name+"', 'no'), (SELECT coalesce(max(no), 0) + 1 FROM "+name+"), false)"); err != nil {
			return err
		}
	}
	return nil
}

// compare fails where the copy has not the counts and sums of the original.
func compare(ctx context.Context, tx pgx.Tx, want table.Sums) error {
	var wrong []string
	for _, what := range slices.Sorted(maps.Keys(want)) {
		query, known := sumsSQL[what]
		if !known {
			return fmt.Errorf("nobody knows how to count %s", what)
		}
		got, err := readOne(ctx, tx, value[int64], query)
		if err != nil {
			return err
		}
		if got != want[what] {
			wrong = append(wrong, fmt.Sprintf("%s: %d became %d", what, want[what], got))
		}
	}
	if len(wrong) > 0 {
		return differs(strings.Join(wrong, "; "))
	}
	return nil
}

var sumsSQL = map[string]string{
	"events": "SELECT count(*) FROM events", "agents": "SELECT count(*) FROM agents", "keys": "SELECT count(*) FROM keys",
	"tokens": "SELECT count(*) FROM tokens", "users": "SELECT count(*) FROM users", "changes in the audit log": "SELECT count(*) FROM audits",
	"sessions":  "SELECT count(*) FROM sessions",
	"incidents": "SELECT count(*) FROM incidents", "rules": "SELECT count(*) FROM rules", "channels": "SELECT count(*) FROM channels",
	"deliveries": "SELECT count(*) FROM deliveries", "marks": "SELECT count(*) FROM marks", "stopped sessions": "SELECT count(*) FROM session_standings",
	"money of all hours":    "SELECT coalesce(sum(cost), 0)::bigint FROM usage",
	"calls of all hours":    "SELECT coalesce(sum(calls), 0)::bigint FROM usage",
	"money of all agents":   "SELECT coalesce(sum(cost), 0)::bigint FROM agents",
	"money of all sessions": "SELECT coalesce(sum(cost), 0)::bigint FROM sessions",
	"money of all budgets":  "SELECT coalesce(sum(spent_cost + held_cost), 0)::bigint FROM shares",
	"inactive agents":       "SELECT count(*) FROM agents WHERE NOT active",
}
