package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// Control implements haltd.ControlStore.
func (s *Store) Control(ctx context.Context) (haltd.Control, error) {
	c, err := s.control(ctx)
	if err != nil {
		return haltd.Control{}, fmt.Errorf("read control: %w", explain(s.path, err))
	}
	return c, nil
}

func (s *Store) control(ctx context.Context) (c haltd.Control, err error) {
	// All parts are read of one state of the database.
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	if c.Standings, err = readStandings(ctx, tx); err != nil {
		return c, err
	}
	if c.Overrides, err = readOverrides(ctx, tx); err != nil {
		return c, err
	}
	if c.Rules, err = readRules(ctx, tx); err != nil {
		return c, err
	}
	if c.Bypass, err = readBypass(ctx, tx); err != nil {
		return c, err
	}
	c.Version, err = readVersion(ctx, tx)
	return c, err
}

// Commit implements haltd.ControlStore. A change that can never be made is
// CodeInvalid.
func (s *Store) Commit(ctx context.Context, c haltd.Change) error {
	err := table.CheckChange(&c)
	if err == nil {
		err = s.writer.write(ctx, func(ctx context.Context) error { return s.commit(ctx, &c) })
	}
	if err != nil {
		return fmt.Errorf("commit change: %w", explain(s.path, err))
	}
	s.changed.Ring()
	s.committed.Ring()
	return nil
}

// commit writes the parts of a change inside the transaction of its caller.
func (s *Store) commit(ctx context.Context, c *haltd.Change) error {
	for _, write := range []func(context.Context, *haltd.Change) error{
		s.refuseOutdated, s.writeStanding, s.writeOverride, s.writeBypass, s.writeRule, s.removeRule, s.writeMark,
		s.writeIncident, s.writeClosing, s.writeRemark, s.writeEvents, s.writeNotices, s.writeChange,
	} {
		if err := write(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) writeEvents(ctx context.Context, c *haltd.Change) error {
	if len(c.Events) == 0 {
		return nil
	}
	return s.writeNew(ctx, c.Events)
}

func (s *Store) writeBypass(ctx context.Context, c *haltd.Change) error {
	if c.Bypass == nil {
		return nil
	}
	text, err := json.Marshal(c.Bypass)
	if err != nil {
		return table.Unfit("bypass", err)
	}
	return s.exec(ctx, "INSERT OR REPLACE INTO bypass (no, body) VALUES (1, ?)", string(text))
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
