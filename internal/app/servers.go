package app

import (
	"context"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/http1"
	"github.com/haltd/haltd/web"
)

// maxHeader bounds the header of a request, which takes memory before anybody
// is asked whether there is any: clients send a few KB, a ticket of Kerberos 64.
const maxHeader = 128 << 10

// server serves a listener. Shutdown lets the requests in work end, Close does not.
type server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

func (a *App) newServers(cfg *config.Config, token string) {
	a.gatewayServer = a.newGatewayServer(cfg, withIngest(a.gateway, admin.NewIngest(admin.IngestOptions{
		Ingester: a.gateway, Keys: a.keys, Version: a.opts.Version, Logger: a.log,
	})))
	streams, end := context.WithCancel(context.Background())
	a.endStreams = end
	a.adminServer = a.newServer(cfg, a.adminTLS, admin.New(admin.Options{
		Feed:   a.eventFeed(),
		Agents: a.store, Events: a.store, Excerpts: a.store, Incidents: a.store, Recorder: recorder{a.recorder, a.gateway},
		Control: a.control, Remarks: a.control, Policies: a.control, Standings: a.control, Rules: a.control, BreakGlass: a.control,
		Spendings: a.judge, Ledgers: a.store, Windows: a.judge, Ingester: a.gateway, Calls: a.gateway, Alerts: a.alerts, Keys: a.keys,
		Process: process{a}, Prices: prices{a}, Metrics: a.metrics.Handler(),
		Dashboard: web.FS(), Audit: a.store, TracePage: a.tracePage,
		Access: admin.Access{
			Token: token, SignIn: a.signIn, SignOuts: a.store, Tokens: a.store, Users: a.store, Metrics: a.metricsAccess,
			Secure: secure(cfg), Hosts: cfg.Admin.Hosts, Public: a.publicHost, Loopback: isLoopback(a.adminListener.Addr()), Trusted: a.trusted,
		},
		Streams: streams, Version: a.opts.Version, Clock: a.opts.Clock, Logger: a.log,
	}))
}

// A client has headerTimeout to send the head of a request, and idleTimeout until it begins
// the next one.
const headerTimeout, idleTimeout = 10 * time.Second, 2 * time.Minute

// newGatewayServer serves plain HTTP at a lower price where it can.
func (a *App) newGatewayServer(cfg *config.Config, h http.Handler) server {
	if a.gatewayTLS != nil || !http1.CanServe() {
		return a.newServer(cfg, a.gatewayTLS, h)
	}
	return &http1.Server{Handler: h, HeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeader: maxHeader, Log: a.serverLog()}
}

func (a *App) newServer(cfg *config.Config, c *certificate, h http.Handler) server {
	return c.secure(&http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    maxHeader,
		IdleTimeout:       idleTimeout,
		HTTP2:             http2(cfg),
		ErrorLog:          a.serverLog(),
	})
}

func (a *App) serverLog() *log.Logger { return log.New(serverLog{a.log}, "", 0) }

// metricsAccess is who may read metrics besides those who may read all.
func (a *App) metricsAccess() (token string, open bool) {
	cfg := a.config.Load()
	return cfg.Admin.MetricsToken.Reveal(), cfg.Admin.OpenMetrics
}

// tracePage is where a trace is shown; "" where the file does not say.
func (a *App) tracePage(id string) string { return a.config.Load().Admin.TracePage(id) }

// trusted are the proxies that say for whom they call.
func (a *App) trusted() []netip.Prefix { return a.config.Load().Trusted }

// eventFeed is what live streams follow where several nodes record.
func (a *App) eventFeed() haltd.EventFeed {
	if a.isShared() {
		return a.store
	}
	return nil
}
