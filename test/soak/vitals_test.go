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
	memory              int64 // resident bytes
}

func (s *run) vitals(t *testing.T) vitals {
	t.Helper()
	text := s.metrics(t)
	return vitals{
		goroutines: metric(text, "go_goroutines"), dropped: metric(text, "haltd_events_dropped_total"),
		memory: metric(text, "process_resident_memory_bytes"),
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

// moreHeap is how much larger what haltd keeps may be at the end than a quarter
// of the time before: its caches fill, and what is in flight differs.
const moreHeap = 32 << 20

// lightBelow is how long the heap must be watched at least for bodies of 30 MB
// to be sent meanwhile: on a busy machine one is in flight for seconds, and the
// heap does not fall before.
const lightBelow = time.Minute

// watch looks at the heap while calls go on and nothing else fails, and says
// what it fell to after collections in each quarter of the time. What is kept
// for good shows there, whatever comes and goes.
func (s *run) watch(t *testing.T, length time.Duration) (floors [quarters]int64) {
	t.Helper()
	for i := range floors {
		for end := time.Now().Add(length / quarters); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if heap := metric(s.metrics(t), "go_memstats_heap_alloc_bytes"); floors[i] == 0 || heap < floors[i] {
				floors[i] = heap
			}
		}
	}
	return floors
}

// balanceMemory holds the heap to being as large in the end as before.
func (s *run) balanceMemory(l *ledger, floors [quarters]int64) {
	before, last := floors[quarters-2], floors[quarters-1]
	text := ""
	for _, f := range floors {
		text += fmt.Sprintf("%d ", f>>20)
	}
	l.add("heap by quarters, MiB", last > 0 && last <= before+moreHeap, fmt.Sprintf("grows by %d at most in the last", moreHeap>>20), strings.TrimSpace(text))
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
