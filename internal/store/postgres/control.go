package postgres

import (
	"context"
	"encoding/json"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// Control implements haltd.ControlStore, of one state of the database.
func (s *Store) Control(ctx context.Context) (c haltd.Control, err error) {
	err = s.snapshot(ctx, "read control", func(ctx context.Context, tx pgx.Tx) error {
		if c.Standings, err = readStandings(ctx, tx); err != nil {
			return err
		}
		if c.Overrides, err = readOverrides(ctx, tx); err != nil {
			return err
		}
		if c.Rules, err = readRules(ctx, tx); err != nil {
			return err
		}
		if c.Bypass, err = readBypass(ctx, tx); err != nil {
			return err
		}
		c.Version, err = readOne(ctx, tx, value[int64], "SELECT value FROM counters WHERE name = 'changes'")
		return err
	})
	if err != nil {
		return haltd.Control{}, err
	}
	return c, nil
}

// Commit implements haltd.ControlStore. A change that can never be made is
// CodeInvalid.
func (s *Store) Commit(ctx context.Context, c haltd.Change) error {
	return s.do(ctx, "commit change", func(ctx context.Context) error {
		if err := table.CheckChange(&c); err != nil {
			return err
		}
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.commit(ctx, tx, &c) })
		if isConstraint(err) && len(c.Events) > 0 { // another wrote one of the events meanwhile
			err = s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.commit(ctx, tx, &c) })
		}
		return err
	})
}

// commit writes the parts of a change. The version comes first, because it is
// the lock under which a change is compared with those of others, and events
// come last, because all nodes wait for the number of their commit.
func (s *Store) commit(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	version, err := takeVersion(ctx, tx, c)
	if err != nil {
		return err
	}
	for _, write := range []func(context.Context, pgx.Tx, *haltd.Change) error{
		refuseOutdated, writeStanding, writeOverride, writeBypass, writeRule, removeRule, writeMark,
		writeIncident, s.writeIncidentExcerpt, writeClosing, writeRemark, writeNotices,
	} {
		if err := write(ctx, tx, c); err != nil {
			return err
		}
	}
	if err := writeChange(ctx, tx, c, version); err != nil || len(c.Events) == 0 {
		return err
	}
	return s.appendNew(ctx, tx, c.Events)
}

func writeBypass(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Bypass == nil {
		return nil
	}
	text, err := json.Marshal(c.Bypass)
	if err != nil {
		return table.Unfit("bypass", err)
	}
	_, err = exec(ctx, tx, "INSERT INTO bypass (no, body) VALUES (1, $1) ON CONFLICT (no) DO UPDATE SET body = excluded.body", string(text))
	return err
}

// readBypass answers the zero Bypass, which is off, when nobody ever
// switched.
func readBypass(ctx context.Context, db querier) (b haltd.Bypass, err error) {
	switched, err := read(ctx, db, scanDocument[haltd.Bypass], "SELECT body FROM bypass")
	if err != nil || len(switched) == 0 {
		return b, err
	}
	return switched[0], nil
}
