package browser

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asks is what the pages ask of the API, by the path of its description: as
// they ask first, sorted, filtered and searched.
var asks = map[string][]string{
	"/v1/agents":                            {"?limit=50", "?limit=50&sort=cost", "?limit=50&sort=blocked", "?limit=50&state=stopped", "?search=42&limit=6", "?id=agent-0399&id=agent-0398&limit=2"},
	"/v1/agents/{id}":                       {""},
	"/v1/agents/{agent}/sessions/{session}": {""},
	"/v1/alert-rules":                       {""},
	"/v1/alerts/status":                     {""},
	"/v1/audit":                             {"?limit=10"},
	"/v1/channels":                          {""},
	"/v1/config":                            {""},
	"/v1/deliveries":                        {"?limit=50", "?limit=50&status=dead"},
	"/v1/events":                            {"?limit=50", "?limit=50&type=blocked", "?limit=50&agent={agent}", "?limit=50&model=none", "?limit=1000&agent={agent}&session={session}&type=llm_call"},
	"/v1/events/{id}":                       {""},
	"/v1/incidents":                         {"?limit=50", "?limit=50&sort=cost", "?limit=5&status=open&sort=stops", "?limit=6&search=42"},
	"/v1/incidents/counts":                  {"", "?status=open"},
	"/v1/incidents/{id}":                    {""},
	"/v1/incidents/{id}/excerpt":            {""},
	"/v1/incidents/{id}/what-if":            {"?threshold=5"},
	"/v1/keys":                              {""},
	"/v1/me":                                {""},
	"/v1/rules":                             {""},
	"/v1/savings":                           {"?since=24h", "?since=30d"},
	"/v1/sessions":                          {"?limit=50", "?limit=50&sort=cost", "?limit=50&state=stopped", "?limit=50&search=42"},
	"/v1/settings":                          {""},
	"/v1/stats":                             {"?since=24h&step=1h&by=agent&limit=6&series=true", "?since=30d&step=1d&by=agent&limit=25", "?since=30d&step=1d&by=model&limit=25", "?since=24h&step=1h&agent={agent}"},
	"/v1/stats/rungs":                       {"?since=24h"},
	"/v1/status":                            {""},
	"/v1/tokens":                            {""},
	"/v1/users":                             {""},
}

// quickAnswers asks the API all that the pages ask. Where other tests share
// the machine, only the time that haltd itself computes tells something, and
// there it has ten times as much.
func quickAnswers(t *testing.T, n *node) {
	t.Helper()
	for path := range askedByPages(t) {
		if asks[path] == nil {
			t.Errorf("a page asks for %s, and asks says not how", path)
		}
	}
	var found struct {
		Incidents []struct{ ID, Agent, Session string }
		Events    []struct{ ID string }
	}
	n.Must(t, "GET", "/v1/incidents?limit=1&kind=kill_switch", nil, &found)
	n.Must(t, "GET", "/v1/events?limit=1", nil, &found)
	i := found.Incidents[0]
	for path, queries := range asks {
		id := i.ID
		switch {
		case strings.HasPrefix(path, "/v1/agents"):
			id = i.Agent
		case strings.HasPrefix(path, "/v1/events"):
			id = found.Events[0].ID
		}
		names := strings.NewReplacer("{id}", id, "{agent}", i.Agent, "{session}", i.Session)
		for _, query := range queries {
			quickAnswer(t, n, names.Replace(path+query))
		}
	}
}

func quickAnswer(t *testing.T, n *node, path string) {
	t.Helper()
	// The race detector makes fifty times of it, at most.
	const limit, raced = 100 * time.Millisecond, 50
	all := os.Getenv("HALTD_SIZES") == "all"
	times := 1
	if all {
		times = 3
	}
	best, before := time.Hour, computed(t, n)
	for range times {
		began := time.Now()
		if status, answer, err := n.Ask(t.Context(), "GET", path, nil); err != nil || status != 200 && status != 404 {
			t.Fatalf("GET %s: %d %s, %v", path, status, answer, err)
		}
		best = min(best, time.Since(began))
	}
	if each := (computed(t, n) - before) / time.Duration(times); each > raced*limit {
		t.Errorf("haltd computes for %v to answer %s, want %v at most", each, path, raced*limit)
	}
	if all && best > limit {
		t.Errorf("%s takes %v, want %v at most", path, best, limit)
	}
}

// computed is how long haltd has had a processor.
func computed(t *testing.T, n *node) time.Duration {
	t.Helper()
	_, answer, err := n.Ask(t.Context(), "GET", "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`).FindSubmatch(answer)
	if m == nil {
		t.Fatal("the metrics do not tell how long haltd has computed")
	}
	seconds, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// askedByPages are the paths that the sources of the dashboard read.
func askedByPages(t *testing.T) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	reads := regexp.MustCompile(`api\.GET\('([^']+)'`)
	err := filepath.WalkDir("../../web/src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		source, err := os.ReadFile(name)
		for _, m := range reads.FindAllSubmatch(source, -1) {
			paths[string(m[1])] = true
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("the sources of the dashboard read nothing: %v", err)
	}
	return paths
}
