package soak

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// vitals are what the process tells of itself.
type vitals struct {
	goroutines, dropped int64
	memory              int64 // held by Go: what the race detector keeps beside it is none of haltd
}

func (s *run) vitals(t *testing.T) vitals {
	t.Helper()
	text := s.metrics(t)
	return vitals{
		goroutines: metric(text, "go_goroutines"), dropped: metric(text, "haltd_events_dropped_total"),
		memory: metric(text, "go_memstats_sys_bytes") - metric(text, "go_memstats_heap_released_bytes"),
	}
}

func (s *run) metrics(t *testing.T) string {
	t.Helper()
	status, body, err := s.node.Ask(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET /metrics: %d, %v", status, err)
	}
	return string(body)
}

// quarters are of the time in which one haltd is watched under load.
const quarters = 4

// What haltd keeps may be larger in the last quarter than in the best one before
// it by so much: its caches fill, and what is in flight differs.
const (
	moreHeap   = 32 << 20
	lateBodies = 128 << 20 // of 30 MB, begun before, in flight for a whole quarter of a short run
	// Each caller, and the one that loops, may have a connection to haltd and
	// haltd one to the provider for it, of two goroutines each.
	moreInFlight = (callers + 1) * 4
)

// warm is how many calls a haltd that was just started is sent before it is
// watched: until then it has no connections, which would pass for a leak later.
const warm = 10 * callers

// lightBelow is how long the heap must be watched at least for bodies of 30 MB
// to be sent meanwhile: on a busy machine one is in flight for seconds, the next
// begins before it ends, and the heap may not fall for a quarter of a minute or two.
const lightBelow = 5 * time.Minute

// floor is the least that a quarter of the time has seen: what is kept for good
// shows there, whatever comes and goes.
type floor struct{ heap, goroutines, calls int64 }

// watch looks at heap and goroutines while calls go on and nothing else fails.
func (s *run) watch(t *testing.T, length time.Duration) (floors [quarters]floor) {
	t.Helper()
	begun := s.next.Load()
	s.node.Eventually(t, "warm", func() bool { return s.next.Load() >= begun+warm })
	for i := range floors {
		f := &floors[i]
		for end := time.Now().Add(length / quarters); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			text := s.metrics(t)
			if heap := metric(text, "go_memstats_heap_alloc_bytes"); f.heap == 0 || heap < f.heap {
				f.heap, f.calls = heap, s.next.Load()
			}
			if n := metric(text, "go_goroutines"); f.goroutines == 0 || n < f.goroutines {
				f.goroutines = n
			}
		}
	}
	return floors
}

// balanceTrend holds memory and goroutines to being no larger in the end than
// they were before.
func (s *run) balanceTrend(l *ledger, floors [quarters]floor) {
	last, best := floors[quarters-1], floors[0]
	var heap, goroutines string
	for i, f := range floors {
		heap += fmt.Sprintf("%.1f ", float64(f.heap)/(1<<20))
		goroutines += fmt.Sprintf("%d ", f.goroutines)
		if i < quarters-1 {
			best.heap, best.goroutines = min(best.heap, f.heap), min(best.goroutines, f.goroutines)
		}
	}
	more := int64(moreHeap)
	if s.light.Load() {
		more += lateBodies
	}
	l.add("heap by quarters, MiB", last.heap > 0 && last.heap <= best.heap+more,
		fmt.Sprintf("at last %d more at most", more>>20), fmt.Sprintf("%s(%d calls)", heap, last.calls-floors[0].calls))
	l.add("goroutines by quarters", last.goroutines > 0 && last.goroutines <= best.goroutines+moreInFlight,
		fmt.Sprintf("at last %d more at most", moreInFlight), strings.TrimSpace(goroutines))
}

// metric is the value of a metric without labels; 0 where there is none.
func metric(text, name string) int64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int64(f)
		}
	}
	return 0
}

func decode[T any](t *testing.T, body []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}
