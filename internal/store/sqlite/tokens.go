package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

var tokens = documents[haltd.Token]{table: "tokens", what: "token"}

// CreateToken implements haltd.TokenStore.
func (s *Store) CreateToken(ctx context.Context, t haltd.Token, hash string) error {
	text, err := json.Marshal(t)
	if err == nil {
		err = s.writer.write(ctx, func(ctx context.Context) error {
			return s.exec(ctx, "INSERT INTO tokens (id, hash, body) VALUES (?, ?, ?)", t.ID, hash, string(text))
		})
	}
	if isConstraint(err) {
		err = haltd.Errorf(haltd.CodeExists, "there is a token %q already", t.ID)
	}
	if err != nil {
		return fmt.Errorf("create token: %w", explain(s.path, err))
	}
	return nil
}

// RevokeToken implements haltd.TokenStore.
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) (t haltd.Token, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if t, err = s.token(ctx, s.writer.conn, "id", id); err != nil || t.RevokedAt != nil {
			return err
		}
		at = at.UTC().Truncate(time.Microsecond)
		t.RevokedAt = &at
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		return s.exec(ctx, "UPDATE tokens SET body = ? WHERE id = ?", string(text), id)
	})
	if err != nil {
		return haltd.Token{}, fmt.Errorf("revoke token: %w", explain(s.path, err))
	}
	return t, nil
}

// Tokens implements haltd.TokenStore.
func (s *Store) Tokens(ctx context.Context) ([]haltd.Token, error) {
	list, err := tokens.all(ctx, s.readers)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", explain(s.path, err))
	}
	return list, nil
}

// TokenByHash implements haltd.TokenStore.
func (s *Store) TokenByHash(ctx context.Context, hash string) (haltd.Token, error) {
	t, err := s.token(ctx, s.readers, "hash", hash)
	if err != nil {
		return haltd.Token{}, fmt.Errorf("find token: %w", explain(s.path, err))
	}
	return t, nil
}

// token finds one by a column, which is constant text.
func (s *Store) token(ctx context.Context, db querier, column, value string) (haltd.Token, error) {
	found, err := read(ctx, db, scanDocument[haltd.Token], "SELECT body FROM tokens WHERE "+column+" = ?", value)
	if err != nil {
		return haltd.Token{}, err
	}
	if len(found) == 0 {
		return haltd.Token{}, haltd.Errorf(haltd.CodeNotFound, "there is no such token")
	}
	return found[0], nil
}
