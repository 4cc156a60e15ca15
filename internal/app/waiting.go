package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/store/postgres"
	"github.com/haltd/haltd/internal/telemetry"
)

const (
	// askAgain is how long a start waits before it asks the database again.
	askAgain = time.Second
	// remindAfter is how often the log says that a start still waits.
	remindAfter = 30 * time.Second
)

// New opens the store and the listeners. A database that nodes share and that
// does not answer, as while a replica takes over, is waited for: a node that
// ended instead would be missing after it, or be started again and again.
// Meanwhile nobody can call, because only the database knows who is stopped.
// What a person has to change ends the start with an error, and then nothing
// stays open.
func New(ctx context.Context, o Options) (*App, error) {
	for {
		a, err := open(ctx, o)
		if !postgres.IsAway(err) {
			return a, err
		}
		if err := awaitDatabase(ctx, o, err); err != nil {
			return nil, err
		}
	}
}

// awaitDatabase answers on the admin listener that this node is not ready, until
// the database answers and takes writes or ctx ends. Nothing listens for calls:
// a connection that is refused every load balancer takes elsewhere, and a call
// that was answered with 503 none that is careful.
func awaitDatabase(ctx context.Context, o Options, away error) error {
	cfg, err := config.Load(o.ConfigPath, o.Env)
	if err != nil {
		return err
	}
	var level slog.LevelVar
	level.Set(cfg.Log.Level)
	a := &App{opts: o}
	if a.log, err = telemetry.NewLogger(o.Stderr, cfg.Log.Format, &level); err != nil {
		return err
	}
	server, err := a.serveWaiting(cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	lastReason, at := "", time.Time{}
	for {
		if away.Error() != lastReason || time.Since(at) >= remindAfter {
			lastReason, at = away.Error(), time.Now()
			a.log.Warn("haltd waits for the database and takes no calls before it is there", "error", away)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(askAgain):
		}
		// A store.url that was mended meanwhile counts, a file that is being
		// written does not.
		if next, err := config.Load(o.ConfigPath, o.Env); err == nil {
			cfg = next
		}
		if away = postgres.Probe(ctx, cfg.Store.URL.Reveal()); !postgres.IsAway(away) {
			return nil // what else is wrong with it, open says
		}
	}
}

// serveWaiting takes the admin listener and answers that this node is not ready.
func (a *App) serveWaiting(cfg *config.Config) (server, error) {
	if err := a.openCertificates(cfg); err != nil {
		return nil, err
	}
	l, err := listen("admin", cfg.Admin.Listen)
	if err != nil {
		return nil, err
	}
	s := a.adminTLS.secure(&http.Server{
		Handler: admin.Waiting(), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		MaxHeaderBytes: maxHeader, ErrorLog: a.serverLog(),
	})
	go func() { _ = s.Serve(l) }() // it ends with the server
	return s, nil
}
