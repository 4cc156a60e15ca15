package app

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/gateway"
	"github.com/haltd/haltd/internal/record"
)

// recorder is the record as the admin API sees it: with the calls that have
// been answered.
type recorder struct {
	*record.Recorder
	gateway *gateway.Gateway
}

// Flush waits for calls that are answered and being recorded, too.
func (r recorder) Flush(ctx context.Context) error {
	r.gateway.AwaitRecords(ctx)
	return r.Recorder.Flush(ctx)
}

// process is the app as the admin API sees it.
type process struct{ app *App }

// Ready reports why the app cannot take calls now; nil when it can.
func (p process) Ready(ctx context.Context) error {
	if p.app.draining.Load() {
		return haltd.Errorf(haltd.CodeUnavailable, "haltd is shutting down")
	}
	if p.app.isShared() {
		return nil // calls go on while the store is gone
	}
	return p.app.store.Ping(ctx)
}

// Config is the configuration in force, without secrets.
func (p process) Config() ([]byte, error) { return p.app.config.Load().Redacted() }

// Status is the state of the process as it is now.
func (p process) Status() admin.Status {
	a := p.app
	degraded := []string{}
	if a.recorder.Degraded() != nil {
		degraded = append(degraded, "store")
	}
	if a.store.Unsealed() != nil {
		degraded = append(degraded, "secrets")
	}
	if a.shared != nil && a.shared.guard.Degraded() != nil {
		degraded = append(degraded, "state")
	}
	cfg := a.config.Load()
	return admin.Status{
		Gateway: a.GatewayURL(), Admin: a.AdminURL(), Started: a.started,
		StoreBytes: a.store.Size(), Degraded: degraded, Pricing: a.prices.Load().Source(),
		Upstreams: a.gateway.Upstreams(), Nodes: a.member.nodes(), Node: a.member.self().ID,
		Excerpts: string(cfg.Excerpts), ExcerptsKept: int64(cfg.Retention.Excerpts.Seconds()),
		BlockStatus: cfg.Gateway.BlockStatus,
	}
}
