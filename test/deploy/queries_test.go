package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	"go.yaml.in/yaml/v3"
)

// Every query of the dashboard and of the alert rules runs, by Prometheus' own
// engine, on what a haltd with traffic tells, and finds something. Of an alert it
// is what is compared that must be there: an alert about a series that nobody
// writes would never fire, and look like peace.
func TestQueriesFindWhatHaltdTells(t *testing.T) {
	_, url := harness.Provider(t, fakellm.ByModel)
	n := harness.Start(t, harness.Providers(url))
	n.Must(t, "PATCH", "/v1/agents/bot/kill-switch", map[string]any{"enabled": true}, nil)
	end := time.Now()
	series := &memory{}
	series.add(t, n, end.Add(-time.Minute))
	killed := false
	for i := 0; i < 60 && !killed; i++ {
		killed = call(t, n.Gateway+"/agents/bot/v1/chat/completions") == http.StatusBadRequest
	}
	if !killed {
		t.Fatal("the loop is not killed")
	}
	series.add(t, n, end)

	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: 10 * time.Second, LookbackDelta: 5 * time.Minute})
	queries := append(dashboard(t), rules(t)...)
	if len(queries) < 30 {
		t.Fatalf("%d queries", len(queries))
	}
	for _, text := range queries {
		query, err := engine.NewInstantQuery(t.Context(), series, nil, text, end)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		result := query.Exec(t.Context())
		found, err := result.Vector()
		if err != nil || result.Err != nil {
			t.Errorf("%s: %v %v", text, err, result.Err)
		} else if len(found) == 0 {
			t.Errorf("%s finds nothing", text)
		}
		query.Close()
	}
}

// compared are the queries whose results an expression compares: itself, where it
// compares nothing.
func compared(e parser.Expr) []string {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return compared(e.Expr)
	case *parser.BinaryExpr:
		if e.Op.IsSetOperator() {
			return append(compared(e.LHS), compared(e.RHS)...)
		}
		if e.Op.IsComparisonOperator() {
			return compared(e.LHS)
		}
	}
	return []string{e.String()}
}

func call(t *testing.T, url string) int {
	t.Helper()
	body := `{"model":"loop","messages":[{"role":"user","content":"go on"}]}`
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// dashboard lists the queries of Grafana.
func dashboard(t *testing.T) (queries []string) {
	t.Helper()
	var board struct {
		Panels []struct {
			Targets []struct{ Expr string }
			Panels  []struct{ Targets []struct{ Expr string } }
		}
	}
	if err := json.Unmarshal(file(t, "grafana/haltd.json"), &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			queries = append(queries, filled(target.Expr))
		}
		for _, inner := range p.Panels {
			for _, target := range inner.Targets {
				queries = append(queries, filled(target.Expr))
			}
		}
	}
	return queries
}

// filled is a query with what Grafana puts in.
func filled(query string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(query)
}

// rules lists what the alert rules compare.
func rules(t *testing.T) (queries []string) {
	t.Helper()
	var groups struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(file(t, "prometheus/haltd-rules.yaml"), &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if strings.HasPrefix(r.Expr, "up{") {
				continue // which Prometheus writes itself
			}
			whole, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
			if err != nil {
				t.Errorf("%s: %v", r.Alert, err)
				continue
			}
			queries = append(queries, compared(whole)...)
		}
	}
	return queries
}

// memory is what was scraped, as Prometheus would have stored it.
type memory struct{ series map[string]*stored }

type stored struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// add scrapes haltd, at a time of the test's own.
func (m *memory) add(t *testing.T, n *harness.Node, at time.Time) {
	t.Helper()
	res, err := n.Open(t.Context(), "GET", "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res.StatusCode, err)
	}
	if m.series == nil {
		m.series = map[string]*stored{}
	}
	families := expfmt.NewTextParser(model.UTF8Validation)
	read, err := families.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range read {
		extracted, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(at.UnixNano())}, family)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range extracted {
			b := labels.NewBuilder(labels.EmptyLabels())
			for name, value := range s.Metric {
				b.Set(string(name), string(value))
			}
			l := b.Set("job", "haltd").Set("instance", "127.0.0.1:7071").Labels()
			if m.series[l.String()] == nil {
				m.series[l.String()] = &stored{labels: l}
			}
			m.series[l.String()].samples = append(m.series[l.String()].samples, sample{at.UnixMilli(), float64(s.Value)})
		}
	}
}

type sample struct {
	t int64
	f float64
}

func (s sample) ST() int64                     { return 0 }
func (s sample) T() int64                      { return s.t }
func (s sample) F() float64                    { return s.f }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// Querier implements storage.Queryable.
func (m *memory) Querier(int64, int64) (storage.Querier, error) { return m, nil }

func (m *memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
next:
	for _, s := range m.series {
		for _, matcher := range matchers {
			if !matcher.Matches(s.labels.Get(matcher.Name)) {
				continue next
			}
		}
		found = append(found, storage.NewListSeries(s.labels, s.samples))
	}
	slices.SortFunc(found, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return &set{series: found, at: -1}
}

// set walks over series.
type set struct {
	series []storage.Series
	at     int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *set) At() storage.Series                { return s.series[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

func (m *memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (m *memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (m *memory) Close() error { return nil }
