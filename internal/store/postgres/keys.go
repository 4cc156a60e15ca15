package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const (
	keyIDPrefix = "key_"
	keyColumns  = "id, agent, name, created_at, revoked_at, limits, last_used_at"
)

// CreateKey implements haltd.KeyStore. A key without an id of the form
// "key_…" or without an agent, or one that is there already, is CodeInvalid.
func (s *Store) CreateKey(ctx context.Context, k haltd.Key, hash haltd.KeyHash) error {
	return s.write(ctx, "create key", func(ctx context.Context, tx pgx.Tx) error {
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
		_, err = exec(ctx, tx, "INSERT INTO keys (id, agent, name, hash, created_at, revoked_at, limits, last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			k.ID, k.Agent, k.Name, hash[:], table.Micros(k.CreatedAt), table.PointerMicros(k.RevokedAt), string(limits), table.PointerMicros(k.LastUsedAt))
		if isConstraint(err) {
			return haltd.Errorf(haltd.CodeInvalid, "the key %s, or its secret, exists already", k.ID).In("id")
		}
		if err != nil {
			return err
		}
		return logChange(ctx, tx, haltd.Change{Keys: true})
	})
}

// Keys implements haltd.KeyStore.
func (s *Store) Keys(ctx context.Context) (keys []haltd.Key, err error) {
	err = s.do(ctx, "list keys", func(ctx context.Context) error {
		scan := func(row scanner) (haltd.Key, error) { return table.ScanKey(row) }
		keys, err = read(ctx, s.pool, scan, "SELECT "+keyColumns+" FROM keys ORDER BY created_at, no")
		return err
	})
	return keys, err
}

// KeyHashes implements haltd.KeyStore.
func (s *Store) KeyHashes(ctx context.Context) (keys map[haltd.KeyHash]haltd.Key, err error) {
	keys = map[haltd.KeyHash]haltd.Key{}
	scan := func(row scanner) (hash []byte, err error) {
		k, err := table.ScanKey(row, &hash)
		if err == nil && len(hash) != len(haltd.KeyHash{}) {
			err = fmt.Errorf("key %s: its hash has %d bytes", k.ID, len(hash))
		}
		if err == nil {
			keys[haltd.KeyHash(hash)] = k
		}
		return hash, err
	}
	err = s.do(ctx, "read keys", func(ctx context.Context) error {
		_, err := read(ctx, s.pool, scan, "SELECT "+keyColumns+", hash FROM keys WHERE revoked_at IS NULL")
		return err
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// RevokeKey implements haltd.KeyStore.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) (k haltd.Key, err error) {
	err = s.write(ctx, "revoke key", func(ctx context.Context, tx pgx.Tx) error {
		scan := func(row scanner) (haltd.Key, error) { return table.ScanKey(row) }
		k, err = readOne(ctx, tx, scan, "UPDATE keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING "+keyColumns, table.Micros(at), id)
		if isNoRows(err) {
			return haltd.Errorf(haltd.CodeNotFound, "there is no key %q", id)
		}
		if err != nil {
			return err
		}
		return logChange(ctx, tx, haltd.Change{Keys: true})
	})
	if err != nil {
		return haltd.Key{}, err
	}
	return k, nil
}

// ChangeKey implements haltd.KeyStore.
func (s *Store) ChangeKey(ctx context.Context, id string, change func(*haltd.Key) error) (k haltd.Key, err error) {
	err = s.write(ctx, "change key", func(ctx context.Context, tx pgx.Tx) error {
		scan := func(row scanner) (haltd.Key, error) { return table.ScanKey(row) }
		k, err = readOne(ctx, tx, scan, "SELECT "+keyColumns+" FROM keys WHERE id = $1 FOR UPDATE", id)
		if isNoRows(err) {
			return haltd.Errorf(haltd.CodeNotFound, "there is no key %q", id)
		}
		if err != nil {
			return err
		}
		if err := change(&k); err != nil {
			return err
		}
		limits, err := json.Marshal(k.KeyLimits)
		if err != nil {
			return err
		}
		if _, err := exec(ctx, tx, "UPDATE keys SET name = $1, limits = $2 WHERE id = $3", k.Name, string(limits), id); err != nil {
			return err
		}
		return logChange(ctx, tx, haltd.Change{Keys: true})
	})
	if err != nil {
		return haltd.Key{}, err
	}
	return k, nil
}

// UseKeys implements haltd.KeyUseStore. Keys are taken in one order, so that two
// nodes do not wait for each other.
func (s *Store) UseKeys(ctx context.Context, used map[string]time.Time) error {
	return s.write(ctx, "note the use of keys", func(ctx context.Context, tx pgx.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(used)) {
			if _, err := exec(ctx, tx, "UPDATE keys SET last_used_at = greatest(last_used_at, $1) WHERE id = $2", table.Micros(used[id]), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// SharedSecret implements haltd.SecretStore. An empty name or secret is
// CodeInvalid.
func (s *Store) SharedSecret(ctx context.Context, name string, fresh []byte) (secret []byte, err error) {
	if name == "" || len(fresh) == 0 {
		return nil, haltd.Errorf(haltd.CodeInvalid, "a shared secret needs a name and a value").In("name")
	}
	err = s.do(ctx, "read the shared secret "+name, func(ctx context.Context) error {
		if _, err := exec(ctx, s.pool, "INSERT INTO shared_secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
			return err
		}
		secret, err = readOne(ctx, s.pool, value[[]byte], "SELECT value FROM shared_secrets WHERE name = $1", name)
		return err
	})
	return secret, err
}

// SignOut implements haltd.SignOutStore.
func (s *Store) SignOut(ctx context.Context, digest string, now, until time.Time) (first bool, err error) {
	err = s.write(ctx, "sign out", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := exec(ctx, tx, "DELETE FROM sign_outs WHERE until < $1", table.Micros(now)); err != nil {
			return err
		}
		added, err := exec(ctx, tx, "INSERT INTO sign_outs (digest, until) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING", digest, table.Micros(until))
		first = added > 0
		return err
	})
	return first && err == nil, err
}

// SignedOut implements haltd.SignOutStore.
func (s *Store) SignedOut(ctx context.Context, digest string) (out bool, err error) {
	err = s.do(ctx, "look for a sign-out", func(ctx context.Context) error {
		out, err = readOne(ctx, s.pool, value[bool], "SELECT EXISTS (SELECT 1 FROM sign_outs WHERE digest = $1)", digest)
		return err
	})
	return out, err
}
