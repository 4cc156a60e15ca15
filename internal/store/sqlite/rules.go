package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/haltd/haltd"
)

var rules = documents[haltd.Rule]{table: "rules", what: "rule"}

// readRules answers the highest priority first, the oldest of equals.
func readRules(ctx context.Context, db querier) ([]haltd.Rule, error) {
	list, err := rules.all(ctx, db)
	slices.SortStableFunc(list, func(a, b haltd.Rule) int { return cmp.Compare(b.Priority, a.Priority) })
	return list, err
}

func (s *Store) writeRule(ctx context.Context, c *haltd.Change) error {
	if c.Rule == nil {
		return nil
	}
	return rules.save(ctx, s, c.Rule.ID, *c.Rule)
}

func (s *Store) removeRule(ctx context.Context, c *haltd.Change) error {
	if c.DeleteRule == "" {
		return nil
	}
	return rules.remove(ctx, s, c.DeleteRule)
}
