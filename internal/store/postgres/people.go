package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

var tokens = documents[haltd.Token]{table: "tokens", what: "token"}

// CreateToken implements haltd.TokenStore.
func (s *Store) CreateToken(ctx context.Context, t haltd.Token, hash string) error {
	return s.do(ctx, "create token", func(ctx context.Context) error {
		text, err := json.Marshal(t)
		if err != nil {
			return table.Unfit("token", err)
		}
		_, err = exec(ctx, s.pool, "INSERT INTO tokens (id, hash, body) VALUES ($1, $2, $3)", t.ID, hash, string(text))
		if isConstraint(err) {
			return haltd.Errorf(haltd.CodeExists, "there is a token %q already", t.ID)
		}
		return err
	})
}

// RevokeToken implements haltd.TokenStore.
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) (t haltd.Token, err error) {
	err = s.write(ctx, "revoke token", func(ctx context.Context, tx pgx.Tx) error {
		if t, err = token(ctx, tx, "id = $1 FOR UPDATE", id); err != nil || t.RevokedAt != nil {
			return err
		}
		at = at.UTC().Truncate(time.Microsecond)
		t.RevokedAt = &at
		return tokens.update(ctx, tx, id, t)
	})
	return t, err
}

// update replaces a document that is there.
func (d documents[T]) update(ctx context.Context, db querier, id string, document T) error {
	text, err := json.Marshal(document)
	if err != nil {
		return table.Unfit(d.what, err)
	}
	_, err = exec(ctx, db, "UPDATE "+d.table+" SET body = $2 WHERE id = $1", id, string(text))
	return err
}

// Tokens implements haltd.TokenStore.
func (s *Store) Tokens(ctx context.Context) (list []haltd.Token, err error) {
	err = s.do(ctx, "list tokens", func(ctx context.Context) error {
		list, err = tokens.all(ctx, s.pool)
		return err
	})
	return list, err
}

// TokenByHash implements haltd.TokenStore.
func (s *Store) TokenByHash(ctx context.Context, hash string) (t haltd.Token, err error) {
	err = s.do(ctx, "find token", func(ctx context.Context) error {
		t, err = token(ctx, s.pool, "hash = $1", hash)
		return err
	})
	return t, err
}

// token finds one by a condition, which is constant text.
func token(ctx context.Context, db querier, where, value string) (haltd.Token, error) {
	found, err := read(ctx, db, scanDocument[haltd.Token], "SELECT body FROM tokens WHERE "+where, value)
	if err == nil && len(found) == 0 {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no such token")
	}
	if err != nil {
		return haltd.Token{}, err
	}
	return found[0], nil
}

// writeAudits keeps who changed what apart from the events that tell it.
func writeAudits(ctx context.Context, tx pgx.Tx, events []haltd.Event) error {
	for i := range events {
		e := &events[i]
		if e.Audit == nil {
			continue
		}
		text, err := json.Marshal(e.Audit)
		if err != nil {
			return table.Unfit("event "+e.ID.String(), err)
		}
		if _, err := exec(ctx, tx, "INSERT INTO audits (id, time, by, change, agent, session, body) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
			int64(e.ID), table.Micros(e.Time), e.Audit.By, e.Audit.Change, e.Agent, e.Session, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// Audits implements haltd.AuditStore.
func (s *Store) Audits(ctx context.Context, q haltd.AuditQuery) (list []haltd.AuditEntry, err error) {
	query, args := "SELECT id, time, agent, session, body FROM audits WHERE true", []any{}
	where := func(condition string, arg any) { query, args = query+" AND "+condition, append(args, arg) }
	for _, c := range []struct{ column, value string }{{"by", q.By}, {"change", q.Change}, {"agent", q.Agent}} {
		if c.value != "" {
			where(c.column+" = ?", c.value)
		}
	}
	if !q.Since.IsZero() {
		where("time >= ?", table.Micros(q.Since))
	}
	if !q.Until.IsZero() {
		where("time < ?", table.Micros(q.Until))
	}
	if q.Before != 0 {
		where("id < ?", int64(q.Before))
	}
	err = s.do(ctx, "read the audit log", func(ctx context.Context) error {
		list, err = read(ctx, s.pool, table.ScanAudit, numbered(query+" ORDER BY id DESC LIMIT ?"), append(args, q.Limit)...)
		return err
	})
	return list, err
}

// PruneAudits implements haltd.AuditStore.
func (s *Store) PruneAudits(ctx context.Context, t time.Time) (total int64, err error) {
	err = s.inChunks(ctx, "prune the audit log", t, func(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
		gone, err := exec(ctx, tx, "DELETE FROM audits WHERE id IN (SELECT id FROM audits WHERE time < $1 LIMIT $2)", table.Micros(t), most)
		total += gone
		return gone, err
	})
	return total, err
}
