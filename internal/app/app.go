// Package app wires the rooms together and owns their life: New opens what
// must be open, Run serves until told to stop, Reload reads the configuration
// again, and at the end nothing that was recorded is lost.
package app

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/alert"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/gateway"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/pricing"
	"github.com/haltd/haltd/internal/record"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/store"
	"github.com/haltd/haltd/internal/telemetry"
)

// stateEntries is how many requests, replies, buckets and counters are kept
// before the oldest are evicted.
const stateEntries = 50_000

// The detectors keep the state of at least so many sessions, or of as many as
// take so many words of eight bytes.
const (
	sessions     = 10_000
	sessionWords = 8 << 20
)

// Options say how to start.
type Options struct {
	ConfigPath string // "" runs on defaults and environment
	Env        func(string) (string, bool)
	Stderr     io.Writer
	Version    string
	Host       string // of this machine; "" where nobody can say
	Clock      haltd.Clock
	// StatePatience is how long a call waits for the state that nodes share,
	// where that is not state.Patience.
	StatePatience time.Duration
}

// App is a haltd that holds its listeners and is ready to serve.
type App struct {
	opts    Options
	log     *slog.Logger
	level   slog.LevelVar
	started time.Time

	reload sync.Mutex
	config atomic.Pointer[config.Config]
	prices atomic.Pointer[pricing.Table]
	// pricing is held while prices is made anew, from the file or the table that
	// was loaded.
	pricing sync.Mutex
	loaded  *pricing.List // nil for none; pricing guards it

	lock     io.Closer
	store    store.Port
	member   *member
	clock    *sharedClock // nil where nobody else uses the store
	key      []byte       // of the digests of requests
	state    state.Port
	shared   *sharedState  // nil where the state is in memory
	spool    *record.Spool // nil where nobody else uses the store
	recent   *record.Spool
	recorder *record.Recorder
	control  *control.Control
	ledgers  *ledger.Ledgers
	alerts   *alert.Service
	signIn   *admin.SignIn
	judge    *judge.Judge
	keys     *gateway.Keyring
	gateway  *gateway.Gateway
	serving  atomic.Pointer[gateway.Gateway] // the same, once it is there
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer // nil where nobody collects traces

	gatewayListener, adminListener net.Listener
	gatewayTLS, adminTLS           *certificate // nil for plain HTTP
	gatewayServer, adminServer     server
	endStreams                     context.CancelFunc // ends live streams of the admin API
	draining                       atomic.Bool
}

// open opens the store and the listeners. On an error nothing stays open.
func open(ctx context.Context, o Options) (_ *App, err error) {
	cfg, err := config.Load(o.ConfigPath, o.Env)
	if err != nil {
		return nil, err
	}
	a := &App{opts: o, started: o.Clock(), metrics: telemetry.NewMetrics(o.Version)}
	a.apply(cfg)
	if a.log, err = telemetry.NewLogger(o.Stderr, cfg.Log.Format, &a.level); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	for _, w := range cfg.Warnings() {
		a.log.Warn(w)
	}
	if err := a.openData(ctx, cfg); err != nil {
		return nil, err
	}
	if a.keys, err = gateway.NewKeyring(ctx, a.store, a.opts.Clock); err != nil {
		return nil, err
	}
	if err := a.reloadPrices(ctx); err != nil {
		return nil, err
	}
	if err := a.openAlerts(cfg); err != nil {
		return nil, err
	}
	if err := a.openJudge(ctx, cfg); err != nil {
		return nil, err
	}
	token, err := a.adminToken(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if file := filepath.Join(cfg.DataDir, tokenFile); cfg.Admin.Token == "" && readableByOthers(file) {
		a.log.Warn("other users of this machine can read the admin token; run chmod 600 on its file", "file", file)
	}
	if a.tracer, err = telemetry.NewTracer(ctx, o.Env, o.Version, a.log); err != nil {
		return nil, err
	}
	a.gateway = gateway.New(gateway.Options{
		Keys: a.keys, AdminToken: token, Judge: a.judge, Recorder: a.recorder, Prices: prices{a}, Meter: a.metrics, Usage: a.metrics,
		Attempts: a.state, Replies: a.state, Guesses: a.state,
		Key: a.key, Tracer: a.gatewayTracer(),
		Clock: a.opts.Clock, Logger: a.log,
	}, gateway.NewSettings(cfg, nil))
	a.serving.Store(a.gateway)
	a.metrics.WatchBodies(a.gateway.BodyBytes)

	if err := a.openCertificates(cfg); err != nil {
		return nil, err
	}
	if a.gatewayListener, err = listen("gateway", cfg.Gateway.Listen); err != nil {
		return nil, err
	}
	if !isLoopback(a.gatewayListener.Addr()) && !cfg.Gateway.RequireKeys {
		a.log.Warn("others can reach the gateway and name themselves as they like; gateway.require_keys ends that", "gateway", cfg.Gateway.Listen)
	}
	if a.adminListener, err = listen("admin", cfg.Admin.Listen); err != nil {
		return nil, err
	}
	a.signIn = admin.NewSignIn(a.opts.Clock, a.dashboardURL, token)
	a.newServers(cfg, token)
	return a, nil
}

// gatewayTracer is what the gateway tells of calls; nil where nobody listens.
func (a *App) gatewayTracer() gateway.Tracer {
	if a.tracer == nil {
		return nil
	}
	return a.tracer
}

// openCertificates reads those of the listeners that have one.
func (a *App) openCertificates(cfg *config.Config) (err error) {
	if cfg.Gateway.TLS.On() {
		if a.gatewayTLS, err = openCertificate("gateway", cfg.Gateway.TLS, a.opts.Clock, a.log); err != nil {
			return err
		}
	}
	if cfg.Admin.TLS.On() {
		a.adminTLS, err = openCertificate("admin", cfg.Admin.TLS, a.opts.Clock, a.log)
	}
	return err
}

// adminToken is the one of this node or, where the store is shared, of all.
func (a *App) adminToken(ctx context.Context, cfg *config.Config) (string, error) {
	if a.isShared() {
		return sharedToken(ctx, a.store, cfg)
	}
	return adminToken(cfg)
}

// secure says that browsers come by https, to haltd itself or through a proxy
// that ends it.
func secure(cfg *config.Config) bool {
	return cfg.Admin.TLS.On() || cfg.Alerts.PublicURL != nil && cfg.Alerts.PublicURL.Scheme == "https"
}

// openData takes the data directory and opens the record in it.
func (a *App) openData(ctx context.Context, cfg *config.Config) (err error) {
	if a.lock, err = lockDataDir(cfg.DataDir); err != nil {
		return err
	}
	var lease time.Duration
	if a.store, lease, err = openStore(ctx, cfg); err != nil {
		return err
	}
	if lease != soleLease {
		a.clock = &sharedClock{own: a.opts.Clock, store: a.store, log: a.log}
		if err := a.clock.set(ctx, clockTries); err != nil {
			return err
		}
		a.opts.Clock = a.clock.now
		a.started = a.opts.Clock()
	}
	if a.member, err = join(ctx, a.store, lease, haltd.Node{Host: a.opts.Host, Version: a.opts.Version, StartedAt: a.started}, a.opts.Clock, a.log); err != nil {
		return err
	}
	if err := a.store.ChargeHeld(ctx); err != nil {
		return err
	}
	fresh := make([]byte, 32)
	rand.Read(fresh)
	if a.key, err = a.store.SharedSecret(ctx, haltd.SecretRequests, fresh); err != nil {
		return err
	}
	if a.recent, err = record.OpenSpool(filepath.Join(cfg.DataDir, recentFile)); err != nil {
		return err
	}
	if err := record.Recover(ctx, a.store, a.recent); err != nil {
		return err
	}
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	if a.isShared() {
		if a.spool, err = record.OpenSpool(filepath.Join(cfg.DataDir, "spool.jsonl")); err != nil {
			return err
		}
	}
	a.recorder = record.New(a.store, record.Options{
		Spool:     a.spool,
		Recent:    a.recent,
		Node:      a.member.node.Number,
		Leads:     a.member.leading(taskPrune),
		After:     last,
		Retention: func() record.Retention { return record.Retention(a.config.Load().Retention) },
		Clock:     a.opts.Clock, Logger: a.log,
	})
	a.metrics.WatchDependency("store", func() bool { return a.recorder.Degraded() != nil })
	a.metrics.WatchDependency("secrets", func() bool { return a.store.Unsealed() != nil })
	if err := a.store.Unsealed(); err != nil {
		a.log.Error("secrets of channels are on disk in plain text: they cannot be sealed", "error", err)
	}
	a.metrics.CountDropped(func() int64 {
		s := a.recorder.Stats()
		return s.Dropped + s.Rejected
	})
	return nil
}

// openAlerts makes the service that sends notices; Run starts it.
func (a *App) openAlerts(cfg *config.Config) (err error) {
	slack, _ := a.opts.Env("SLACK_WEBHOOK_URL")
	a.alerts, err = alert.New(alert.Options{
		Outbox: a.store, Channels: a.store, Rules: a.store, SlackURL: slack,
		IncidentURL: a.incidentURL, Spent: a.spent, Tell: func(ctx context.Context, n haltd.Notice) error { return a.control.Tell(ctx, n) },
		Leads: a.member.leading(taskNotices), Clock: a.opts.Clock, Metrics: a.metrics, Logger: a.log,
	})
	if err != nil {
		return err
	}
	return a.alerts.Configure(channels(cfg), cfg.Alerts.AllowInternal)
}

func channels(cfg *config.Config) []haltd.Channel {
	list := make([]haltd.Channel, len(cfg.Alerts.Channels))
	for i, c := range cfg.Alerts.Channels {
		list[i] = c.Channel()
	}
	return list
}

// incidentURL is the page of an incident, as people reach it.
func (a *App) incidentURL(id string) string {
	if id == "" {
		return a.dashboardURL() + "/incidents"
	}
	return a.dashboardURL() + "/incidents/" + url.PathEscape(id)
}

// openJudge loads who may call.
func (a *App) openJudge(ctx context.Context, cfg *config.Config) (err error) {
	a.control, err = control.New(ctx, control.Options{
		Store: a.store, Incidents: a.store, Journal: a.recorder,
		Feed: a.store, Node: a.member.node.ID, ReloadKeys: a.keys.Reload, ReloadPrices: a.reloadPrices, Leads: a.member.leading(taskControl),
		Cut:    a.cut,
		Notify: a.alerts.Wake,
		Clock:  a.opts.Clock, Logger: a.log,
	}, cfg.Defaults.Policy, cfg.Agents)
	if err != nil {
		return err
	}
	a.metrics.WatchBypass(func() bool { return a.control.Bypass().On })
	if b := a.control.Bypass(); b.On {
		a.log.Warn("bypass is on: nothing is enforced except stops by hand", "by", b.By, "reason", b.Why)
	}
	if err := a.openState(ctx, cfg); err != nil {
		return err
	}
	a.ledgers = ledger.Open(a.store, a.member.node.ID, a.recorder.TryFlush, a.opts.Clock, a.log)
	a.judge = judge.New(judge.Options{
		Agents: a.control, Incidents: a.control, Marks: a.control, Budgets: a.ledgers, Sessions: a.store,
		States: a.state, Later: a.laterState(),
		Prices: prices{a}, Record: a.recorder.Record, Key: a.key,
		Meter: a.metrics, Clock: a.opts.Clock, Logger: a.log,
	})
	return nil
}

// cut ends calls in flight, as a person on this node or another wants it.
func (a *App) cut(t haltd.Target) {
	if g := a.serving.Load(); g != nil {
		g.Cut(t)
	}
}

// apply makes a configuration the one in force.
func (a *App) apply(cfg *config.Config) {
	names := make([]string, 0, len(cfg.Providers))
	for _, p := range cfg.Providers {
		names = append(names, p.Name)
	}
	a.level.Set(cfg.Log.Level)
	a.metrics.SetProviders(names)
	a.config.Store(cfg)
	a.applyPrices(nil)
}

// GatewayURL is where agents call.
func (a *App) GatewayURL() string {
	return secured(callableURL(a.gatewayListener.Addr()), a.gatewayTLS)
}

// AdminURL is where the API is.
func (a *App) AdminURL() string { return secured(callableURL(a.adminListener.Addr()), a.adminTLS) }

// DataDir is where the record lives.
func (a *App) DataDir() string { return a.config.Load().DataDir }
