package app

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/gateway"
	"github.com/haltd/haltd/internal/record"
)

// Reload reads the configuration again and says in the log how it went. A
// bad one changes nothing.
func (a *App) Reload() {
	a.reload.Lock()
	defer a.reload.Unlock()
	next, err := config.Load(a.opts.ConfigPath, a.opts.Env)
	if err != nil {
		a.log.Error("configuration not reloaded; the old one stays in force", "config", a.opts.ConfigPath, "error", err)
		return
	}
	for _, w := range next.Warnings() {
		a.log.Warn(w)
	}
	old := a.config.Load()
	for _, field := range config.RestartNeeded(old, next) {
		a.log.Warn("a change takes effect after a restart", "field", field)
	}
	if err := a.alerts.Configure(channels(next), next.Alerts.AllowInternal); err != nil {
		a.log.Error("configuration not reloaded; the old one stays in force", "config", a.opts.ConfigPath, "error", err)
		return
	}
	a.gateway.Configure(gateway.NewSettings(next, a.gateway.Settings()))
	a.control.Configure(next.Defaults.Policy, next.Agents)
	a.apply(next)
	a.log.Info("configuration reloaded", "config", a.opts.ConfigPath)
}

// Run serves until ctx ends, then lets streams finish within the configured
// time and writes every event that is still in memory.
func (a *App) Run(ctx context.Context) error {
	failed := make(chan error, 2)
	go func() { failed <- a.gatewayServer.Serve(a.gatewayListener) }()
	go func() { failed <- a.adminServer.Serve(a.adminListener) }()
	sending, stopSending := context.WithCancel(context.Background())
	var sender sync.WaitGroup
	sender.Go(func() { a.alerts.Run(sending) })
	sender.Go(func() { a.watch(sending) })
	if a.isShared() {
		sender.Go(func() { a.member.run(sending, a.clock.set, a.rejoined, a.store.ChargeHeld) })
		sender.Go(func() { a.ledgers.Follow(sending, a.judge.BudgetSpent) })
		if a.shared == nil {
			a.log.Warn("windows and rate limits are those of each node by itself: state.url names no Redis")
		} else {
			sender.Go(func() { a.member.count(sending) })
		}
	}
	a.log.Info("haltd is ready; haltd sign-in prints a link to the dashboard", "gateway", secured("http://"+a.gatewayListener.Addr().String(), a.gatewayTLS), "admin", secured("http://"+a.adminListener.Addr().String(), a.adminTLS), "data_dir", a.DataDir(), "version", a.opts.Version, "node", a.member.self().ID)

	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	limit := a.config.Load().Gateway.ShutdownTimeout
	ended := make(chan error, 1)
	go func() {
		a.drain(limit)
		stopSending() // while the outbox can still be written
		sender.Wait()
		ended <- a.close()
	}()
	select {
	case closeErr := <-ended:
		return errors.Join(err, closeErr)
	case <-time.After(limit + writeTime):
		// A disk that hangs, or a call that does not end, must not keep the
		// process: whoever stopped it waits for that.
		return errors.Join(err, haltd.Errorf(haltd.CodeUnavailable, "haltd ended %v after gateway.shutdown_timeout (%v) with work undone: %d events are not written", writeTime, limit, a.recorder.Stats().Pending).
			WithFix("Check the disk that holds %s.", a.DataDir()))
	}
}

// rejoined goes on as another node, after the lease of this one had ended.
func (a *App) rejoined(n haltd.Node) {
	a.recorder.SetNode(n.Number)
	a.ledgers.SetNode(n.ID)
}

// writeTime is how long what is left in memory may take to be written, after
// the time for calls in flight.
const writeTime = 5 * time.Second

// drain lets calls in flight finish, within the limit.
func (a *App) drain(limit time.Duration) {
	a.draining.Store(true)
	a.log.Info("shutting down; calls in flight may finish", "limit", limit)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := a.gatewayServer.Shutdown(ctx); err != nil {
		a.log.Warn("calls were cut at the limit", "limit", limit)
		a.gatewayServer.Close()
	}
	a.gateway.Wait() // a cut call still records itself
	a.endStreams()
	if err := a.adminServer.Shutdown(ctx); err != nil {
		a.adminServer.Close()
	}
}

// close frees what New opened, in the reverse order; it is safe on an App
// that New did not finish.
func (a *App) close() error {
	var errs []error
	if a.endStreams != nil {
		a.endStreams()
	}
	for _, l := range []net.Listener{a.gatewayListener, a.adminListener} {
		if l != nil {
			_ = l.Close() // the servers close them as well
		}
	}
	if a.gateway != nil {
		a.gateway.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime-time.Second) // to say what is lost
	defer cancel()
	a.shared.close()
	if a.control != nil {
		a.control.Close(ctx)
	}
	if a.ledgers != nil {
		errs = append(errs, a.ledgers.Close(ctx))
	}
	if a.keys != nil {
		errs = append(errs, a.keys.Flush(ctx))
	}
	if a.recorder != nil {
		errs = append(errs, a.recorder.Close(ctx))
	}
	for _, s := range []*record.Spool{a.spool, a.recent} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if err := a.tracer.Close(ctx); err != nil {
		a.log.Warn("the last spans and metrics were not sent", "error", err)
	}
	if a.member != nil {
		a.member.leave(ctx)
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}
