package telemetry

import (
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestMetricsVocabularyIsPinned(t *testing.T) {
	m := NewMetrics("1.2.3")
	m.CountDropped(func() int64 { return 0 })
	m.WatchDependency("store", func() bool { return false })
	m.WatchBodies(func() int64 { return 0 })
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (haltd_\w+ \w+)`).FindAllStringSubmatch(scrape(m), -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	want := []string{
		"haltd_alert_deliveries_total counter", "haltd_bodies_refused_total counter", "haltd_body_bytes gauge", "haltd_build_info gauge", "haltd_cost_usd_total counter", "haltd_degraded gauge", "haltd_detect_seconds histogram", "haltd_events_dropped_total counter",
		"haltd_in_flight gauge", "haltd_invalid_agent_ids_total counter", "haltd_kills_total counter", "haltd_overhead_seconds histogram", "haltd_panics_total counter",
		"haltd_replies_unread_total counter", "haltd_requests_total counter", "haltd_rung_outcomes_total counter", "haltd_rungs_total counter",
		"haltd_tokens_total counter", "haltd_upstream_first_byte_seconds histogram", "haltd_upstream_seconds histogram",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("metrics (-pinned +now):\n%s", diff)
	}
}

func TestMetricsShowWhatWasCounted(t *testing.T) {
	m := NewMetrics("1.2.3")
	m.SetProviders([]string{"openai", "lab"})
	m.Request("openai", "allow")
	m.Request("openai", "allow")
	m.Request("lab", "refuse")
	m.Request("made-up-by-a-client", "passed")
	m.Request("lab", "unheard-of")
	m.Overhead(400 * time.Microsecond)
	m.InFlight(2)
	m.InFlight(-1)
	m.Count("unread")
	m.Count("invalid_agent_id")
	m.Count("unheard of")
	m.CountDropped(func() int64 { return 3 })
	m.WatchDependency("store", func() bool { return true })
	m.WatchDependency("other", func() bool { return false })
	page := scrape(m)
	for _, want := range []string{
		`haltd_requests_total{decision="allow",provider="openai"} 2`,
		`haltd_requests_total{decision="refuse",provider="lab"} 1`,
		`haltd_requests_total{decision="passed",provider="other"} 1`,
		`haltd_requests_total{decision="error",provider="lab"} 1`,
		`haltd_overhead_seconds_bucket{le="5e-05"} 0`,
		`haltd_overhead_seconds_bucket{le="0.0005"} 1`,
		`haltd_overhead_seconds_bucket{le="0.1"} 1`,
		`haltd_in_flight 1`,
		`haltd_events_dropped_total 3`,
		`haltd_replies_unread_total 1`,
		`haltd_invalid_agent_ids_total 1`,
		`haltd_degraded{dependency="store"} 1`,
		`haltd_degraded{dependency="other"} 0`,
		`haltd_build_info{version="1.2.3"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics page lacks %q", want)
		}
	}
	if strings.Contains(page, "made-up") {
		t.Error("a client could add a provider label")
	}
}

func TestCountsSurviveAChangeOfProviders(t *testing.T) {
	m := NewMetrics("dev")
	m.SetProviders([]string{"openai"})
	m.Request("openai", "allow")
	m.SetProviders([]string{"openai", "groq"})
	m.Request("openai", "allow")
	if want := `haltd_requests_total{decision="allow",provider="openai"} 2`; !strings.Contains(scrape(m), want) {
		t.Errorf("the metrics page lacks %q", want)
	}
}

func TestRequestCounterCostsNoAllocation(t *testing.T) {
	m := NewMetrics("dev")
	m.SetProviders([]string{"openai"})
	if n := testing.AllocsPerRun(100, func() { m.Request("openai", "allow") }); n != 0 {
		t.Errorf("counting a request allocates %v times", n)
	}
}
