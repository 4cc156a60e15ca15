package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/store"
	"github.com/haltd/haltd/internal/store/postgres"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// openStore opens the store that the configuration names, and says for how
// long a node that uses it has a lease.
func openStore(ctx context.Context, cfg *config.Config) (store.Port, time.Duration, error) {
	if url := cfg.Store.URL.Reveal(); url != "" {
		s, err := postgres.Open(ctx, url, cfg.SealKey.Reveal())
		if err != nil {
			return nil, 0, err
		}
		return s, nodeLease, nil
	}
	s, err := sqlite.Open(ctx, filepath.Join(cfg.DataDir, "haltd.db"))
	if err != nil {
		return nil, 0, err
	}
	return s, soleLease, nil
}

// isShared says that other nodes may use the store as well.
func (a *App) isShared() bool { return a.member.lease != soleLease }

// sharedToken is the admin token of nodes that share a store, where the
// configuration has none: what the first of them had. It is kept in the data
// directory as well, where the command line finds it.
func sharedToken(ctx context.Context, store haltd.SecretStore, cfg *config.Config) (string, error) {
	own, err := adminToken(cfg)
	if err != nil || cfg.Admin.Token != "" {
		return own, err
	}
	secret, err := store.SharedSecret(ctx, haltd.SecretAdminToken, []byte(own))
	if err != nil || string(secret) == own {
		return own, err
	}
	path := filepath.Join(cfg.DataDir, tokenFile)
	if err := os.WriteFile(path, append(secret, '\n'), 0o600); err != nil {
		return "", haltd.Errorf(haltd.CodeUnavailable, "The admin token file %s cannot be written: %v", path, cause(err)).
			WithFix("Give this user write access to the data directory.")
	}
	return string(secret), nil
}
