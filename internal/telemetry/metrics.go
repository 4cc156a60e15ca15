package telemetry

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// decisions are what becomes of a request; the gateway says which.
var decisions = []string{"allow", "passed", "warn", "throttle", "steer", "reject", "block", "halt", "kill", "refuse", "error"}

// otherProvider is the label of a request whose provider is not configured,
// so that a client cannot add labels.
const otherProvider = "other"

// Metrics is the one registry of the process. It is safe for concurrent use;
// what the path of a request counts costs an atomic operation and no
// allocation.
type Metrics struct {
	registry *prometheus.Registry

	requests   *prometheus.CounterVec
	handles    atomic.Pointer[map[string]*counters] // by provider
	overhead   prometheus.Histogram
	detect     prometheus.Histogram
	inFlight   prometheus.Gauge
	counts     map[string]prometheus.Counter // by the gateway's names
	kills      *prometheus.CounterVec
	rungs      *prometheus.CounterVec
	outcomes   *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	panics     *prometheus.CounterVec
	cost       *prometheus.CounterVec
	tokens     *prometheus.CounterVec
	firstByte  *prometheus.HistogramVec
	upstream   *prometheus.HistogramVec
}

// counters are those of one provider.
type counters struct {
	requests                             map[string]prometheus.Counter // by decision
	cost                                 prometheus.Counter
	input, output, cacheRead, cacheWrite prometheus.Counter
	firstByte, upstream                  prometheus.Observer
}

// NewMetrics makes the registry of a process of this version; SetProviders
// names the providers it counts by.
func NewMetrics(version string) *Metrics {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "haltd_build_info",
		Help:        "Always 1; the version is a label.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m := &Metrics{
		overhead: histogram("haltd_overhead_seconds", "Time that haltd itself added to a request."),
		detect:   histogram("haltd_detect_seconds", "Time that the detectors took for a request."),
		counts: map[string]prometheus.Counter{
			"unread":           counter("haltd_replies_unread_total", "Replies that passed through but could not be read."),
			"body_refused":     counter("haltd_bodies_refused_total", "Requests that were refused because bodies in flight took all the memory they may."),
			"invalid_agent_id": counter("haltd_invalid_agent_ids_total", "Agent ids in headers or bodies that were ignored because they are invalid."),
		},
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "haltd_in_flight", Help: "Requests on their way through the gateway now.",
		}),
		registry: prometheus.NewRegistry(),
		kills: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_kills_total", Help: "Agents and sessions that were killed, by the detector that was certain.",
		}, []string{"reason"}),
		rungs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_rungs_total", Help: "Rungs that were taken, from a warning to a kill, by action and by detector.",
		}, []string{"action", "reason"}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_rung_outcomes_total", Help: "What came of steers and halts: recovered, unmoved or continued.",
		}, []string{"outcome"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_alert_deliveries_total", Help: "Tries to deliver a notice, by kind of channel and result.",
		}, []string{"channel", "result"}),
		panics: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_panics_total", Help: "Faults of haltd that a call survived, by where: the call passed without that check, or unread.",
		}, []string{"where"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_requests_total", Help: "Requests by provider and by what became of them.",
		}, []string{"provider", "decision"}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_cost_usd_total", Help: "What calls cost, in US dollars.",
		}, []string{"provider"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "haltd_tokens_total", Help: "Tokens of calls by kind: input, of which cache_read and cache_write are parts, and output.",
		}, []string{"provider", "kind"}),
		firstByte: upstreamHistogram("haltd_upstream_first_byte_seconds", "Time from sending a request to an upstream until it began to answer."),
		upstream:  upstreamHistogram("haltd_upstream_seconds", "Time from sending a request to an upstream until its reply had ended."),
	}
	m.registry.MustRegister(
		m.overhead, m.detect, build, m.inFlight, m.requests, m.kills, m.rungs, m.outcomes, m.deliveries, m.panics, m.cost, m.tokens, m.firstByte, m.upstream,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, c := range m.counts {
		m.registry.MustRegister(c)
	}
	m.SetProviders(nil)
	m.startAtZero()
	return m
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: help,
		// Fine around a millisecond, which is what haltd may take.
		Buckets: []float64{
			50e-6, 100e-6, 200e-6, 300e-6, 400e-6, 500e-6, 600e-6, 700e-6, 800e-6, 900e-6,
			1e-3, 1.25e-3, 1.5e-3, 2e-3, 3e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3,
		},
	})
}

// upstreamHistogram has room for a model that thinks for minutes.
func upstreamHistogram(name, help string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help,
		Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640},
	}, []string{"provider"})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// startAtZero shows counters before they count: Prometheus sees no increase in a
// series that begins at one, and the first kill, or the first alert that does
// not arrive, is the one that matters.
func (m *Metrics) startAtZero() {
	for _, detector := range []string{string(haltd.CheckSimilarity), string(haltd.CheckStall)} {
		m.kills.WithLabelValues(detector)
		for _, action := range []haltd.Action{haltd.Warn, haltd.Steer, haltd.Halt, haltd.Kill} {
			m.rungs.WithLabelValues(action.String(), detector)
		}
	}
	for _, outcome := range []haltd.IncidentStatus{haltd.IncidentRecovered, haltd.IncidentUnmoved, haltd.IncidentContinued} {
		m.outcomes.WithLabelValues(string(outcome))
	}
	for _, channel := range []string{"slack", "webhook", "email"} {
		for _, result := range []string{"delivered", "failed", "dead"} {
			m.deliveries.WithLabelValues(channel, result)
		}
	}
	for _, where := range []string{"detector", "exact", "hours", "rate", "record", "rule", "session", "state", "tap"} {
		m.panics.WithLabelValues(where)
	}
}

// SetProviders says which providers are configured. Counts of providers that
// are no longer among them stay.
func (m *Metrics) SetProviders(names []string) {
	handles := make(map[string]*counters, len(names)+1)
	for _, name := range append([]string{otherProvider}, names...) {
		c := &counters{
			requests: make(map[string]prometheus.Counter, len(decisions)),
			cost:     m.cost.WithLabelValues(name),
			input:    m.tokens.WithLabelValues(name, "input"), output: m.tokens.WithLabelValues(name, "output"),
			cacheRead: m.tokens.WithLabelValues(name, "cache_read"), cacheWrite: m.tokens.WithLabelValues(name, "cache_write"),
			firstByte: m.firstByte.WithLabelValues(name), upstream: m.upstream.WithLabelValues(name),
		}
		for _, d := range decisions {
			c.requests[d] = m.requests.WithLabelValues(name, d)
		}
		handles[name] = c
	}
	m.handles.Store(&handles)
}

// of are the counters of a provider; one that is not configured counts as
// "other".
func (m *Metrics) of(provider string) *counters {
	handles := *m.handles.Load()
	if c, ok := handles[provider]; ok {
		return c
	}
	return handles[otherProvider]
}

// Request counts one request to a provider and what became of it. An unknown
// decision counts as "error".
func (m *Metrics) Request(provider, decision string) {
	requests := m.of(provider).requests
	c, ok := requests[decision]
	if !ok {
		c = requests["error"]
	}
	c.Inc()
}

// Usage counts the tokens of a call and what it cost.
func (m *Metrics) Usage(provider string, tokens haltd.Usage, cost haltd.Money) {
	if tokens == (haltd.Usage{}) && cost == 0 {
		return
	}
	c := m.of(provider)
	c.cost.Add(max(cost.Dollars(), 0))
	for _, k := range [...]struct {
		counter prometheus.Counter
		n       int64
	}{{c.input, tokens.Input}, {c.output, tokens.Output}, {c.cacheRead, tokens.CacheRead}, {c.cacheWrite, tokens.CacheWrite}} {
		k.counter.Add(float64(max(k.n, 0)))
	}
}

// Upstream notes how long an upstream took to begin a reply and to end it.
func (m *Metrics) Upstream(provider string, began, ended time.Duration) {
	c := m.of(provider)
	c.firstByte.Observe(began.Seconds())
	c.upstream.Observe(ended.Seconds())
}

// Overhead notes the time that haltd itself added to one request.
func (m *Metrics) Overhead(d time.Duration) { m.overhead.Observe(d.Seconds()) }

// Detect notes the time that the detectors took for one request.
func (m *Metrics) Detect(d time.Duration) { m.detect.Observe(d.Seconds()) }

// InFlight adds to the number of requests on their way through the gateway.
func (m *Metrics) InFlight(delta int) { m.inFlight.Add(float64(delta)) }

// Count counts one of what the gateway counts by name; other names count
// nothing.
func (m *Metrics) Count(what string) {
	if c, ok := m.counts[what]; ok {
		c.Inc()
	}
}

// Rung counts a rung that a detector took: a session that it warned about, a
// call that it steered or rejected, a turn that it halted, an agent or a
// session that it killed.
func (m *Metrics) Rung(a haltd.Action, by haltd.Check) {
	if a == haltd.Kill {
		m.kills.WithLabelValues(string(by)).Inc()
	}
	m.rungs.WithLabelValues(a.String(), string(by)).Inc()
}

// Outcome counts what came of a steer or a halt, as its incident says.
func (m *Metrics) Outcome(s haltd.IncidentStatus) { m.outcomes.WithLabelValues(string(s)).Inc() }

// Panic counts a fault of haltd that a call survived.
func (m *Metrics) Panic(where string) { m.panics.WithLabelValues(where).Inc() }

// AlertDelivery counts a try to deliver a notice.
func (m *Metrics) AlertDelivery(channel, result string) {
	m.deliveries.WithLabelValues(channel, result).Inc()
}

// WatchBypass shows whether enforcement is switched off.
func (m *Metrics) WatchBypass(on func() bool) {
	m.registry.MustRegister(flag("haltd_bypass", "1 while nothing is enforced except stops by hand.", nil, on))
}

// WatchBodies shows how much memory the bodies in flight take.
func (m *Metrics) WatchBodies(bytes func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "haltd_body_bytes", Help: "Memory that the bodies of calls in flight take now.",
	}, func() float64 { return float64(bytes()) }))
}

// CountDropped counts the events that could not be kept in the record.
func (m *Metrics) CountDropped(dropped func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "haltd_events_dropped_total", Help: "Events that could not be kept in the record.",
	}, func() float64 { return float64(dropped()) }))
}

// WatchDependency shows whether haltd has to do without a dependency.
func (m *Metrics) WatchDependency(name string, degraded func() bool) {
	m.registry.MustRegister(flag("haltd_degraded", "1 while haltd works without this dependency.",
		prometheus.Labels{"dependency": name}, degraded))
}

func flag(name, help string, labels prometheus.Labels, on func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 {
		if on() {
			return 1
		}
		return 0
	})
}

// Handler answers a Prometheus scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
