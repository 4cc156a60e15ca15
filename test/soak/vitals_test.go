package soak

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
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
