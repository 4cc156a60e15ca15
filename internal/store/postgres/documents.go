package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// documents is a table of what people make in small numbers: JSON by id, in
// the order of making.
type documents[T any] struct {
	table string // constant text
	what  string // what a person calls one of them
}

var (
	rules      = documents[haltd.Rule]{table: "rules", what: "rule"}
	channels   = documents[haltd.Channel]{table: "channels", what: "channel"}
	alertRules = documents[haltd.AlertRule]{table: "alert_rules", what: "alert rule"}
)

func (d documents[T]) all(ctx context.Context, db querier) ([]T, error) {
	return read(ctx, db, scanDocument[T], "SELECT body FROM "+d.table+" ORDER BY no")
}

// save makes or replaces a document.
func (d documents[T]) save(ctx context.Context, db querier, id string, document T) error {
	if id == "" {
		return haltd.Errorf(haltd.CodeInvalid, "the %s has none", d.what).In("id")
	}
	text, err := json.Marshal(document)
	if err != nil {
		return table.Unfit(d.what, err)
	}
	_, err = exec(ctx, db, "INSERT INTO "+d.table+" (id, body) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body", id, string(text))
	return err
}

// remove deletes a document.
func (d documents[T]) remove(ctx context.Context, db querier, id string) error {
	gone, err := exec(ctx, db, "DELETE FROM "+d.table+" WHERE id = $1", id)
	if err == nil && gone == 0 {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no %s %q", d.what, id)
	}
	return err
}

func scanDocument[T any](row scanner) (document T, err error) {
	var text []byte
	if err := row.Scan(&text); err != nil {
		return document, err
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return document, fmt.Errorf("read %T: %w", document, err)
	}
	return document, nil
}

// readRules answers the highest priority first, the oldest of equals.
func readRules(ctx context.Context, db querier) ([]haltd.Rule, error) {
	list, err := rules.all(ctx, db)
	slices.SortStableFunc(list, func(a, b haltd.Rule) int { return cmp.Compare(b.Priority, a.Priority) })
	return list, err
}

func writeRule(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Rule == nil {
		return nil
	}
	return rules.save(ctx, tx, c.Rule.ID, *c.Rule)
}

func removeRule(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.DeleteRule == "" {
		return nil
	}
	return rules.remove(ctx, tx, c.DeleteRule)
}

// AlertRules implements haltd.AlertRuleStore, the oldest first.
func (s *Store) AlertRules(ctx context.Context) (list []haltd.AlertRule, err error) {
	err = s.do(ctx, "list alert rules", func(ctx context.Context) error {
		list, err = alertRules.all(ctx, s.pool)
		return err
	})
	return list, err
}

// SaveAlertRule implements haltd.AlertRuleStore.
func (s *Store) SaveAlertRule(ctx context.Context, r haltd.AlertRule) error {
	return s.do(ctx, "save alert rule", func(ctx context.Context) error { return alertRules.save(ctx, s.pool, r.ID, r) })
}

// DeleteAlertRule implements haltd.AlertRuleStore.
func (s *Store) DeleteAlertRule(ctx context.Context, id string) error {
	return s.do(ctx, "delete alert rule", func(ctx context.Context) error { return alertRules.remove(ctx, s.pool, id) })
}

// Channels implements haltd.ChannelStore, the oldest first. One whose settings
// cannot be read for want of their key is switched off.
func (s *Store) Channels(ctx context.Context) (list []haltd.Channel, err error) {
	err = s.do(ctx, "list channels", func(ctx context.Context) error {
		list, err = channels.all(ctx, s.pool)
		return err
	})
	for i := range list {
		list[i] = s.seal.openChannel(list[i])
	}
	return list, err
}

// SaveChannel implements haltd.ChannelStore.
func (s *Store) SaveChannel(ctx context.Context, c haltd.Channel) error {
	return s.do(ctx, "save channel", func(ctx context.Context) error {
		sealed, err := s.seal.channel(c)
		if err != nil {
			return err
		}
		return channels.save(ctx, s.pool, c.ID, sealed)
	})
}

// DeleteChannel implements haltd.ChannelStore.
func (s *Store) DeleteChannel(ctx context.Context, id string) error {
	return s.do(ctx, "delete channel", func(ctx context.Context) error { return channels.remove(ctx, s.pool, id) })
}
