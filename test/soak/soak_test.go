// Package soak runs haltd for a long time under load while everything around
// it fails at random, and closes with a ledger: what clients, the provider and
// the receiver of notices have counted themselves, against what haltd says. It
// drives haltd through its listeners only.
package soak

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// lengthVariable says how long to run, seedVariable which faults come when:
// the same seed plans the same calls and faults, though not to the same
// moment.
const (
	lengthVariable = "SOAK"
	seedVariable   = "SOAK_SEED"
	slice          = 30 * time.Second // where nobody says how long
)

const (
	callers = 6
	// rest is how long a caller pauses between calls, at most: faults are to
	// be met, not the limits of the machine.
	rest = 100 * time.Millisecond
)

// budget is what an agent may spend in a month, in dollars: several times what
// it does spend. A crash charges the lease, which is one percent of it, to the
// agents that were at work.
const (
	budget      = 20
	largeBudget = 1_000_000
	lease       = budget * haltd.Dollar / 100
)

// run is one soak.
type run struct {
	node     *harness.Node
	provider *provider
	notices  *receiver
	client   *http.Client
	seed     uint64

	next  atomic.Int64 // number of the next call
	light atomic.Bool  // nothing large is sent: see lightBelow
	stop  chan struct{}
	calls calls
	loops loops

	mu      sync.Mutex
	faults  []fault
	dropped int64 // events, as processes said before they were killed
}

// fault is a time in which calls may fail that would not otherwise.
type fault struct {
	kind       faultKind
	began, end time.Time // end is zero while it lasts
}

type faultKind string

const (
	crash    faultKind = "kill -9"
	readOnly faultKind = "read-only disk"
	fullDisk faultKind = "full disk"
)

func TestSoak(t *testing.T) {
	length, seed := plan(t)
	t.Logf("soak of %v, %s=%d", length, seedVariable, seed)
	s := start(t, seed)
	idle := s.vitals(t)

	var working sync.WaitGroup
	for i := range callers {
		working.Go(func() { s.work(rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	working.Go(func() { s.loop(rand.New(rand.NewPCG(seed, 1000))) })
	s.disturb(t, length*3/4, rand.New(rand.NewPCG(seed, 2000)))
	s.light.Store(length/4 < lightBelow)
	floors := s.watch(t, length/4)
	close(s.stop)
	working.Wait()

	s.settle(t)
	l := s.balance(t, idle, s.vitals(t))
	s.balanceTrend(l, floors)
	t.Logf("\n%s", l)
	for _, line := range l.broken() {
		t.Errorf("does not hold: %s (%s=%d)", line, seedVariable, seed)
	}
}

// plan reads how long to run and by which seed.
func plan(t *testing.T) (time.Duration, uint64) {
	t.Helper()
	length, seed := slice, rand.Uint64()
	var err error
	if text := os.Getenv(lengthVariable); text != "" {
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", lengthVariable, err)
		}
	}
	if text := os.Getenv(seedVariable); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	return length, seed
}

// start runs a haltd with hard budgets that nobody reaches, so that money is
// reserved for every call, before a provider of known prices.
func start(t *testing.T, seed uint64) *run {
	t.Helper()
	s := &run{provider: newProvider(t), notices: newReceiver(t), seed: seed, stop: make(chan struct{})}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport}
	s.node = harness.New(t, t.TempDir())
	s.node.Config.Write(t, harness.Providers(s.provider.url)+fmt.Sprintf(`log: {level: error}
pricing: {models: {"soak-*": {input: %d, output: %d}}}
defaults: {budgets: {month: {hard_usd: %d}}}
agents: {%s: {budgets: {month: {hard_usd: %d}}}}
alerts: {channels: [{name: soak, kind: webhook, url: %q, secret: %q}]}
`, inputPrice, outputPrice, budget, largeAgent, largeBudget, s.notices.url, noticeSecret))
	s.node.Run(t)
	return s
}

// disturb lets one fault follow the other, with pauses between them, until the
// time is over.
func (s *run) disturb(t *testing.T, length time.Duration, r *rand.Rand) {
	t.Helper()
	end := time.Now().Add(length)
	pause := min(max(length/12, time.Second), 20*time.Second)
	for {
		wait := pause/2 + rand.N(pause)
		if time.Until(end) < wait+pause {
			time.Sleep(max(0, time.Until(end)))
			return
		}
		time.Sleep(wait)
		switch r.IntN(4) {
		case 0, 1:
			s.dropped += s.vitals(t).dropped
			s.during(crash, func() { s.node.Kill(t); s.node.Run(t) })
		case 2:
			s.dropped += s.vitals(t).dropped
			s.during(readOnly, func() { s.startReadOnly(t) })
		case 3:
			s.during(fullDisk, func() {
				fill(t, s.node.PID())
				time.Sleep(pause / 4)
				empty(t, s.node.PID())
				s.node.Eventually(t, "writing again", func() bool { return len(s.degraded(t)) == 0 })
			})
		}
	}
}

// during notes a fault from its beginning to its end.
func (s *run) during(kind faultKind, f func()) {
	s.mu.Lock()
	n := len(s.faults)
	s.faults = append(s.faults, fault{kind: kind, began: time.Now()})
	s.mu.Unlock()
	f()
	s.mu.Lock()
	s.faults[n].end = time.Now()
	s.mu.Unlock()
}

// startReadOnly pulls the plug and starts on a disk that cannot be written:
// haltd must say so and not pretend to serve.
func (s *run) startReadOnly(t *testing.T) {
	t.Helper()
	s.node.Kill(t)
	lift := makeReadOnly(t, s.node.Config.DataDir)
	if _, errs, code := harness.CLI(t, nil, "serve", "--config", s.node.Config.Path); code != 1 || errs == "" {
		t.Errorf("on a disk that cannot be written haltd starts: exit %d, %s", code, errs)
	}
	lift()
	s.node.Run(t)
}

// excused reports whether a call that lasted from one time to another met a
// fault that may have cost it its reply; also says what the fault was.
func (s *run) excused(from, to time.Time, kinds ...faultKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		for _, k := range kinds {
			if f.kind == k && !to.Before(f.began) && (f.end.IsZero() || !from.After(f.end)) {
				return true
			}
		}
	}
	return false
}

func (s *run) degraded(t *testing.T) []string {
	t.Helper()
	var status struct{ Degraded []string }
	s.node.Must(t, http.MethodGet, "/v1/status", nil, &status)
	return status.Degraded
}

// settle waits until all is written and told.
func (s *run) settle(t *testing.T) {
	t.Helper()
	s.client.CloseIdleConnections()
	s.node.Eventually(t, "done with its calls", func() bool {
		return s.provider.busy.Load() == 0 && metric(s.metrics(t), "haltd_in_flight") == 0
	})
	s.node.Eventually(t, "done with its deliveries", func() bool {
		var page struct{ Deliveries []struct{ ID string } }
		s.node.Must(t, http.MethodGet, "/v1/deliveries?status=pending", nil, &page)
		return len(page.Deliveries) == 0
	})
}
