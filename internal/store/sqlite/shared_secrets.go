package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

// SharedSecret implements haltd.SecretStore. An empty name or secret is
// CodeInvalid.
func (s *Store) SharedSecret(ctx context.Context, name string, fresh []byte) (secret []byte, err error) {
	if name == "" || len(fresh) == 0 {
		return nil, haltd.Errorf(haltd.CodeInvalid, "a shared secret needs a name and a value").In("name")
	}
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.exec(ctx, "INSERT INTO shared_secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
			return err
		}
		return s.writer.conn.QueryRowContext(ctx, "SELECT value FROM shared_secrets WHERE name = ?", name).Scan(&secret)
	})
	if err != nil {
		return nil, fmt.Errorf("read the shared secret %s: %w", name, explain(s.path, err))
	}
	return secret, nil
}
