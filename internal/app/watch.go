package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/gateway"
)

const (
	watchEvery = time.Second
	// keysEvery is after how many of these the use of gateway keys is written.
	keysEvery = 10
	// failuresTold is how many calls in a row an upstream fails before somebody
	// is told of it.
	failuresTold = 5
	// storePatience is how long the store may fail before somebody is told.
	storePatience = 2 * time.Second
)

// withIngest lets agents report calls to the listener that they call anyway.
func withIngest(g *gateway.Gateway, ingest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == admin.IngestPath {
			ingest.ServeHTTP(w, r)
			return
		}
		g.ServeHTTP(w, r)
	})
}

// watch tells people of what is no agent's doing: upstreams that fail, and a
// store that cannot be written. It writes when keys were used on the way, and sets
// the pace of the collector.
func (a *App) watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	w := watcher{app: a, failing: map[string]bool{}}
	memory := newCollection(a.opts.Env)
	defer w.sending.Wait()
	for tick := 1; ; tick++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.upstreams(ctx)
			w.store(ctx)
			memory.follow()
			if tick%keysEvery == 0 {
				if err := a.keys.Flush(ctx); err != nil {
					a.log.Warn("the use or the end of gateway keys is not written yet", "error", err)
				}
			}
		}
	}
}

// watcher knows what was told.
type watcher struct {
	app       *App
	failing   map[string]bool // upstreams, by name
	storeDown time.Time       // since when; zero while it works
	storeTold bool
	sending   sync.WaitGroup // of what goes past the outbox
}

func (w *watcher) upstreams(ctx context.Context) {
	for _, u := range w.app.gateway.Upstreams() {
		switch {
		case u.State == haltd.UpstreamFailing && u.Failures >= failuresTold && !w.failing[u.Name]:
			w.failing[u.Name] = w.tell(ctx, haltd.TopicUpstream, false, fmt.Sprintf(
				"The last %d calls to %s failed: %s. Agents that call it get errors.", u.Failures, u.Name, u.Error))
		case u.State == haltd.UpstreamOK && w.failing[u.Name]:
			w.failing[u.Name] = !w.tell(ctx, haltd.TopicUpstream, true, fmt.Sprintf("%s answers again.", u.Name))
		}
	}
}

func (w *watcher) store(ctx context.Context) {
	a, now := w.app, w.app.opts.Clock()
	err := a.recorder.Degraded()
	switch {
	case err == nil && w.storeTold:
		w.storeTold = !w.tell(ctx, haltd.TopicStore, true, fmt.Sprintf("The record can be written again, after %v.", now.Sub(w.storeDown).Round(time.Second)))
		if !w.storeTold {
			w.storeDown = time.Time{}
		}
	case err == nil:
		w.storeDown = time.Time{}
	case w.storeDown.IsZero():
		w.storeDown = now
	case !w.storeTold && now.Sub(w.storeDown) >= storePatience:
		w.storeTold = true
		n := w.notice(haltd.TopicStore, false, "The record cannot be written: events wait in memory, and hard budgets refuse calls. Look at the disk or database of haltd, and at its log.")
		w.sending.Go(func() { a.alerts.SendNow(ctx, n) }) // the outbox is in the store
	}
}

func (w *watcher) notice(topic haltd.IncidentKind, recovery bool, sentence string) haltd.Notice {
	return haltd.Notice{ID: haltd.NewName("msg_"), Time: w.app.opts.Clock().UTC(), Topic: topic, Recovery: recovery, Sentence: sentence}
}

// tell writes a notice into the outbox; false where the store does not take it.
func (w *watcher) tell(ctx context.Context, topic haltd.IncidentKind, recovery bool, sentence string) bool {
	if err := w.app.control.Tell(ctx, w.notice(topic, recovery, sentence)); err != nil {
		w.app.log.Warn("a notice is not written yet", "error", err)
		return false
	}
	return true
}

// spent is what a notice is about has cost so far: its session or, where it is
// about none, all agents in the last day.
func (a *App) spent(ctx context.Context, n haltd.Notice) (haltd.Money, string, error) {
	_ = a.recorder.TryFlush(ctx) // or the last calls are not counted
	if n.Session != "" {
		s, err := a.store.Session(ctx, n.Agent, n.Session)
		return s.Totals.Cost, "in this session", err
	}
	now := a.opts.Clock()
	stats, err := a.store.Stats(ctx, haltd.StatsQuery{Since: now.Add(-23 * time.Hour), Until: now.Add(time.Hour), Step: time.Hour, Agent: n.Agent})
	if n.Agent != "" {
		return stats.Totals.Cost, "by this agent in the last 24 hours", err
	}
	return stats.Totals.Cost, "by all agents in the last 24 hours", err
}
