package telemetry

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"
)

// registered are all metrics of haltd itself, with their labels.
func registered(t *testing.T) map[string][]string {
	t.Helper()
	m := NewMetrics("1.2.3")
	m.CountDropped(func() int64 { return 0 })
	m.WatchDependency("store", func() bool { return false })
	m.WatchBodies(func() int64 { return 0 })
	m.WatchBypass(func() bool { return false })
	found := map[string][]string{}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		m.registry.Describe(descriptions)
		close(descriptions)
	}()
	shape := regexp.MustCompile(`fqName: "(haltd_\w+)".*constLabels: \{(.*?)\}, variableLabels: \{(.*?)\}`)
	for d := range descriptions {
		f := shape.FindStringSubmatch(d.String())
		if f == nil {
			continue
		}
		var labels []string
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(f[2], -1) {
			labels = append(labels, l[1])
		}
		labels = append(labels, regexp.MustCompile(`\w+`).FindAllString(f[3], -1)...)
		slices.Sort(labels)
		found[f[1]] = labels
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEveryMetricIsDocumented(t *testing.T) {
	documented := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(haltd_\\w+)` \\| \\w+ \\|([^|]*)\\|").FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		labels := regexp.MustCompile(`\w+`).FindAllString(row[2], -1)
		slices.Sort(labels)
		documented[row[1]] = labels
	}
	if diff := cmp.Diff(registered(t), documented); diff != "" {
		t.Errorf("metrics and labels (-registered +docs/metrics.md):\n%s", diff)
	}
}

var (
	text     = regexp.MustCompile(`"[^"]*"`)
	metricIn = regexp.MustCompile(`\b(haltd_\w+|process_\w+|go_\w+|up)\b(?:\{([^}]*)\})?`)
	labelIn  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	byIn     = regexp.MustCompile(`\b(?:by|on|without) \(([^)]*)\)`)
)

// checkQuery finds metrics and labels that a query names and that do not exist.
func checkQuery(t *testing.T, where, query string, metrics map[string][]string) (used []string) {
	t.Helper()
	known := []string{"instance", "job"} // which a scrape adds
	plain := text.ReplaceAllString(query, `""`)
	for _, m := range metricIn.FindAllStringSubmatch(plain, -1) {
		name := m[1]
		labels, ok := metrics[name]
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if base, cut := strings.CutSuffix(name, part); cut && !ok {
				if labels, ok = metrics[base]; ok {
					name, labels = base, append(slices.Clone(labels), "le")
				}
			}
		}
		if !ok && strings.HasPrefix(name, "haltd_") {
			t.Errorf("%s: there is no metric %s in %s", where, m[1], query)
			continue
		}
		used, known = append(used, name), append(known, labels...)
		for _, l := range labelIn.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(append(labels, "instance", "job"), l[1]) {
				t.Errorf("%s: %s has no label %s in %s", where, m[1], l[1], query)
			}
		}
	}
	if len(used) == 0 {
		t.Errorf("%s: no metric in %q", where, query)
	}
	for _, by := range byIn.FindAllStringSubmatch(plain, -1) {
		for _, l := range regexp.MustCompile(`\w+`).FindAllString(by[1], -1) {
			if !slices.Contains(known, l) {
				t.Errorf("%s: nothing has a label %s in %s", where, l, query)
			}
		}
	}
	return used
}

func TestQueriesOfDashboardAndAlertRulesHold(t *testing.T) {
	metrics := registered(t)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "deploy/grafana/haltd.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, name := range checkQuery(t, "panel "+p.Title, target.Expr, metrics) {
				shown[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !shown[name] {
			t.Errorf("the dashboard shows nothing of %s", name)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/haltd-rules.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			checkQuery(t, "alert "+r.Alert, r.Expr, metrics)
			if r.Annotations["summary"] == "" {
				t.Errorf("alert %s has no summary", r.Alert)
			}
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.Command(promtool, "check", "rules", "../../deploy/prometheus/haltd-rules.yaml").CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

func TestAWrongQueryIsFound(t *testing.T) {
	for _, query := range []string{`haltd_costs_total`, `haltd_requests_total{agent="x"}`, `sum by (model) (haltd_tokens_total)`, `vector(1)`} {
		probe := &testing.T{}
		checkQuery(probe, "probe", query, registered(t))
		if !probe.Failed() {
			t.Errorf("%s passes", query)
		}
	}
}
