package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const (
	keyIDPrefix = "key_"
	keyColumns  = "id, agent, name, created_at, revoked_at, limits, last_used_at"
)

// CreateKey implements haltd.KeyStore. A key without an id of the form
// "key_…" or without an agent, or one that is there already, is CodeInvalid.
func (s *Store) CreateKey(ctx context.Context, k haltd.Key, hash haltd.KeyHash) error {
	err := s.createKey(ctx, k, hash)
	if isConstraint(err) {
		err = haltd.Errorf(haltd.CodeInvalid, "the key %s, or its secret, exists already", k.ID).In("id")
	}
	if err != nil {
		return fmt.Errorf("create key: %w", explain(s.path, err))
	}
	s.changed.Ring()
	return nil
}

func (s *Store) createKey(ctx context.Context, k haltd.Key, hash haltd.KeyHash) error {
	if rest, ok := strings.CutPrefix(k.ID, keyIDPrefix); !ok || rest == "" {
		return haltd.Errorf(haltd.CodeInvalid, "%q is not a key id", k.ID).In("id").WithFix("Key ids are key_ and letters.")
	}
	if k.Agent == "" {
		return haltd.Errorf(haltd.CodeInvalid, "a key needs the agent it names").In("agent")
	}
	limits, err := json.Marshal(k.KeyLimits)
	if err != nil {
		return err
	}
	return s.writer.write(ctx, func(ctx context.Context) error {
		_, err := s.writer.conn.ExecContext(ctx, `INSERT INTO keys (id, agent, name, hash, created_at, revoked_at, limits, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			k.ID, k.Agent, k.Name, hash[:], table.Micros(k.CreatedAt), table.PointerMicros(k.RevokedAt), string(limits), table.PointerMicros(k.LastUsedAt))
		if err != nil {
			return err
		}
		return s.writeChange(ctx, &haltd.Change{Keys: true})
	})
}

// Keys implements haltd.KeyStore.
func (s *Store) Keys(ctx context.Context) ([]haltd.Key, error) {
	keys := []haltd.Key{}
	err := s.readKeys(ctx, "SELECT "+keyColumns+" FROM keys ORDER BY created_at, no", func(rows *sql.Rows) error {
		k, err := table.ScanKey(rows)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", explain(s.path, err))
	}
	return keys, nil
}

// KeyHashes implements haltd.KeyStore.
func (s *Store) KeyHashes(ctx context.Context) (map[haltd.KeyHash]haltd.Key, error) {
	keys := map[haltd.KeyHash]haltd.Key{}
	err := s.readKeys(ctx, "SELECT "+keyColumns+", hash FROM keys WHERE revoked_at IS NULL", func(rows *sql.Rows) error {
		var hash []byte
		k, err := table.ScanKey(rows, &hash)
		if err == nil && len(hash) != len(haltd.KeyHash{}) {
			err = fmt.Errorf("key %s: its hash has %d bytes", k.ID, len(hash))
		}
		if err == nil {
			keys[haltd.KeyHash(hash)] = k
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", explain(s.path, err))
	}
	return keys, nil
}

func (s *Store) readKeys(ctx context.Context, query string, each func(*sql.Rows) error) error {
	rows, err := s.readers.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RevokeKey implements haltd.KeyStore.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) (haltd.Key, error) {
	var k haltd.Key
	err := s.writer.write(ctx, func(ctx context.Context) (err error) {
		row := s.writer.conn.QueryRowContext(ctx, `UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? RETURNING `+keyColumns, table.Micros(at), id)
		if k, err = table.ScanKey(row); err != nil {
			return err
		}
		return s.writeChange(ctx, &haltd.Change{Keys: true})
	})
	if isNoRows(err) {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no key %q", id)
	}
	if err != nil {
		return haltd.Key{}, fmt.Errorf("revoke key: %w", explain(s.path, err))
	}
	s.changed.Ring()
	return k, nil
}

// ChangeKey implements haltd.KeyStore.
func (s *Store) ChangeKey(ctx context.Context, id string, change func(*haltd.Key) error) (haltd.Key, error) {
	var k haltd.Key
	err := s.writer.write(ctx, func(ctx context.Context) (err error) {
		if k, err = table.ScanKey(s.writer.conn.QueryRowContext(ctx, "SELECT "+keyColumns+" FROM keys WHERE id = ?", id)); err != nil {
			return err
		}
		if err := change(&k); err != nil {
			return err
		}
		limits, err := json.Marshal(k.KeyLimits)
		if err != nil {
			return err
		}
		if _, err := s.writer.conn.ExecContext(ctx, "UPDATE keys SET name = ?, limits = ? WHERE id = ?", k.Name, string(limits), id); err != nil {
			return err
		}
		return s.writeChange(ctx, &haltd.Change{Keys: true})
	})
	if isNoRows(err) {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no key %q", id)
	}
	if err != nil {
		return haltd.Key{}, fmt.Errorf("change key: %w", explain(s.path, err))
	}
	s.changed.Ring()
	return k, nil
}

// UseKeys implements haltd.KeyUseStore.
func (s *Store) UseKeys(ctx context.Context, used map[string]time.Time) error {
	err := s.writer.write(ctx, func(ctx context.Context) error {
		for id, at := range used {
			if _, err := s.writer.conn.ExecContext(ctx, "UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?", table.Micros(at), id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note the use of keys: %w", explain(s.path, err))
	}
	return nil
}
