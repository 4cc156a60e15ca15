package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd/internal/store/table"
)

// SignOut implements haltd.SignOutStore.
func (s *Store) SignOut(ctx context.Context, digest string, now, until time.Time) (first bool, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.exec(ctx, "DELETE FROM sign_outs WHERE until < ?", table.Micros(now)); err != nil {
			return err
		}
		added, err := s.affect(ctx, "INSERT INTO sign_outs (digest, until) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", digest, table.Micros(until))
		first = added > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("sign out: %w", explain(s.path, err))
	}
	return first, nil
}

// SignedOut implements haltd.SignOutStore.
func (s *Store) SignedOut(ctx context.Context, digest string) (out bool, err error) {
	if err := s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sign_outs WHERE digest = ?)", digest).Scan(&out); err != nil {
		return false, fmt.Errorf("look for a sign-out: %w", explain(s.path, err))
	}
	return out, nil
}
