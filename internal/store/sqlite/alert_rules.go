package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

var alertRules = documents[haltd.AlertRule]{table: "alert_rules", what: "alert rule"}

// AlertRules implements haltd.AlertRuleStore, the oldest first.
func (s *Store) AlertRules(ctx context.Context) ([]haltd.AlertRule, error) {
	list, err := alertRules.all(ctx, s.readers)
	if err != nil {
		return nil, fmt.Errorf("list alert rules: %w", explain(s.path, err))
	}
	return list, nil
}

// SaveAlertRule implements haltd.AlertRuleStore.
func (s *Store) SaveAlertRule(ctx context.Context, r haltd.AlertRule) error {
	err := s.writer.write(ctx, func(ctx context.Context) error { return alertRules.save(ctx, s, r.ID, r) })
	if err != nil {
		return fmt.Errorf("save alert rule: %w", explain(s.path, err))
	}
	return nil
}

// DeleteAlertRule implements haltd.AlertRuleStore.
func (s *Store) DeleteAlertRule(ctx context.Context, id string) error {
	err := s.writer.write(ctx, func(ctx context.Context) error { return alertRules.remove(ctx, s, id) })
	if err != nil {
		return fmt.Errorf("delete alert rule: %w", explain(s.path, err))
	}
	return nil
}
