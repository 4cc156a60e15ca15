package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// measured is a run of two rounds whose figures are easy to follow.
func measured(haltdCPU, haltdMB, ownP99 float64) *run {
	r := &run{
		targets: []*target{{name: "direct"}, {name: "reverseproxy"}, {name: "haltd"}},
		cells:   cells([]int{64}, 300, 100<<10),
		samples: map[cell]map[string][]sample{},
	}
	for _, c := range r.cells {
		kb := float64(c.BodyBytes >> 10)
		r.samples[c] = map[string][]sample{
			"direct":       {{Requests: 10, SentKB: kb, PerSecond: 30000, P50: 0.5, P99: 2}, {Requests: 10, SentKB: kb, PerSecond: 32000, P50: 0.5, P99: 3}},
			"reverseproxy": {{Requests: 10, SentKB: kb, PerSecond: 9000, P50: 3, P99: 9, CPU: 100, ResidentMB: 20}, {Requests: 10, SentKB: kb, PerSecond: 9000, P50: 3, P99: 9, CPU: 80, ResidentMB: 20}},
			"haltd": {
				{Requests: 10, SentKB: kb, PerSecond: 8000, P50: 4, P99: 10, CPU: haltdCPU, ResidentMB: haltdMB, OwnP50: 0.1, OwnP99: ownP99, P999: 12, FirstByte: 3.5, Allocations: 200},
				{Requests: 10, SentKB: kb, PerSecond: 8000, P50: 4, P99: 10, CPU: haltdCPU, ResidentMB: haltdMB, OwnP50: 0.1, OwnP99: ownP99, P999: 12, FirstByte: 3.5, Allocations: 200},
			},
		}
	}
	return r
}

func reportOf(r *run) *report {
	rep := newReport(r)
	rep.Haltd = &haltdReport{Sent: 20, Decisions: map[string]int64{"allow": 20}, Recorded: 20, PeakMB: 44}
	rep.Haltd.addLatency(r)
	return rep
}

func TestReportPrintsTables(t *testing.T) {
	r := measured(100, 40, 0.75)
	r.cells = []cell{{Kind: oneShot, BodyBytes: 1 << 10, Concurrency: 64}, {Kind: growing, Stream: true, BodyBytes: 10 << 10, Rate: 300}}
	var out strings.Builder
	if err := reportOf(r).print(&out); err != nil {
		t.Fatal(err)
	}
	const want = `     calls  reply  body KB  mean     load        target  req/s  p50 ms  p99 ms  p99.9 ms  first byte ms  allocs  CPU µs/req  RSS MB  CPU / reverseproxy
  one-shot   JSON        1     1  64 busy        direct  31000   0.500   2.500     0.000          0.000       –           –       –                   –
  one-shot   JSON        1     1  64 busy  reverseproxy   9000   3.000   9.000     0.000          0.000       –          90      20                1.00
  one-shot   JSON        1     1  64 busy         haltd   8000   4.000  10.000    12.000          3.500     200         100      40    1.12 (1.00–1.25)

   growing    SSE       10    10    300/s        direct  31000   0.500   2.500     0.000          0.000       –           –       –                   –
   growing    SSE       10    10    300/s  reverseproxy   9000   3.000   9.000     0.000          0.000       –          90      20                1.00
   growing    SSE       10    10    300/s         haltd   8000   4.000  10.000    12.000          3.500     200         100      40    1.12 (1.00–1.25)

Latency that haltd adds, ms: p50 and p99 over direct, and what haltd_overhead_seconds says
     calls  reply  body KB     load   p50               p99  own p50  own p99
  one-shot   JSON        1  64 busy  3.50  7.50 (7.00–8.00)     0.10     0.75
   growing    SSE       10    300/s  3.50  7.50 (7.00–8.00)     0.10     0.75

haltd: 20 requests sent, 20 allowed, 20 events recorded; memory at its highest 44 MB
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, megabytes, ownP99 float64
		rate                   int
		want                   []string
	}{
		"within all":      {105, 45, 0.4, 300, nil},
		"processor time":  {150, 40, 0.3, 300, []string{"one-shot, JSON replies, bodies of 1 KB, concurrency 64: haltd takes 1.69 times", "one-shot, SSE replies, bodies of 1 KB", "growing, JSON replies, bodies of 100 KB"}},
		"memory":          {100, 46, 0.3, 300, []string{"46 MB"}},
		"overhead":        {100, 40, 0.7, 300, []string{"JSON replies, bodies of 10 KB, 300 requests a second: haltd adds 0.70 ms", "SSE replies, bodies of 100 KB"}},
		"no comparison":   {0, 40, 0.3, 300, []string{"6 loads that are checked were not measured"}},
		"no rate at all ": {100, 40, 0.3, 0, []string{"4 loads that are checked were not measured"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(c.cpu, c.megabytes, c.ownP99)
			r.cells = cells([]int{64}, c.rate, 100<<10)
			err := reportOf(r).check()
			if (err != nil) != (c.want != nil) {
				t.Fatalf("check says %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("check says %v, want %q", err, want)
				}
			}
		})
	}
}

func TestCompleteWantsARecordAndAHealthyLoad(t *testing.T) {
	rep := reportOf(measured(100, 40, 0.5))
	if err := rep.complete(); err != nil {
		t.Errorf("a complete record: %v", err)
	}
	rep.Haltd.Recorded--
	if err := rep.complete(); err == nil || !strings.Contains(err.Error(), "19 events for 20") {
		t.Errorf("a missing event: %v", err)
	}
	rep.Haltd.Recorded, rep.Haltd.Decisions = 20, map[string]int64{"allow": 18, "warn": 2}
	if err := rep.complete(); err == nil || !strings.Contains(err.Error(), "allow:18 warn:2") {
		t.Errorf("two warnings: %v", err)
	}
}

// Warnings are right where all get the same answer, and there alone.
func TestCompleteWantsWarningsWhereAllGetTheSameAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		decisions, sameAnswer map[string]int64
		want                  string
	}{
		"most are warned of":       {map[string]int64{"allow": 13, "warn": 7}, map[string]int64{"allow": 3, "warn": 7}, ""},
		"all are warned of":        {map[string]int64{"allow": 10, "warn": 10}, map[string]int64{"warn": 10}, ""},
		"nothing else was sent":    {map[string]int64{"allow": 1, "warn": 19}, map[string]int64{"allow": 1, "warn": 19}, ""},
		"another was warned of":    {map[string]int64{"allow": 12, "warn": 8}, map[string]int64{"allow": 3, "warn": 7}, "must look healthy: of 10 requests, map[allow:9 warn:1]"},
		"one was stopped":          {map[string]int64{"allow": 12, "kill": 1, "warn": 7}, map[string]int64{"allow": 2, "kill": 1, "warn": 7}, "did more than warn where all get the same answer: of 10 requests, map[allow:2 kill:1 warn:7]"},
		"another was stopped":      {map[string]int64{"allow": 12, "kill": 1, "warn": 7}, map[string]int64{"allow": 3, "warn": 7}, "must look healthy: of 10 requests, map[allow:9 kill:1]"},
		"few were warned of":       {map[string]int64{"allow": 16, "warn": 4}, map[string]int64{"allow": 6, "warn": 4}, "warned too seldom"},
		"one of it is not counted": {map[string]int64{"allow": 12, "warn": 7}, map[string]int64{"allow": 3, "warn": 7}, "must look healthy: of 10 requests, map[allow:9]"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &haltdReport{Sent: 20, Recorded: 20, Decisions: c.decisions, SameAnswer: c.sameAnswer}
			err := (&report{Haltd: h}).complete()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("complete says %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheReportTellsOfWarnings(t *testing.T) {
	rep := &report{Haltd: &haltdReport{Sent: 20, Recorded: 20, Decisions: map[string]int64{"allow": 13, "warn": 7}, PeakMB: 44}}
	var out strings.Builder
	if err := rep.print(&out); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		out.String():   "haltd: 20 requests sent, 20 allowed, 7 of them with a warning, 20 events recorded;",
		rep.markdown(): "20 requests to haltd, all allowed, 7 of them with a warning, 20 events;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nhas no %q", text, want)
		}
	}
}

func TestParseMetrics(t *testing.T) {
	const metrics = `# TYPE haltd_overhead_seconds histogram
haltd_overhead_seconds_bucket{le="5e-05"} 50
haltd_overhead_seconds_bucket{le="0.0001"} 90
haltd_overhead_seconds_bucket{le="+Inf"} 100
haltd_overhead_seconds_sum 0.01
haltd_overhead_seconds_count 100
haltd_requests_total{decision="allow",provider="openai"} 98
haltd_requests_total{decision="kill",provider="openai"} 0
haltd_requests_total{decision="warn",provider="openai"} 2
`
	o, err := parseOverhead(metrics)
	if err != nil {
		t.Fatal(err)
	}
	got := []float64{o.quantile(0.5), o.quantile(0.7), o.quantile(0.99)}
	want := []float64{0.05, 0.075, 0.1}
	for i := range got {
		if diff := got[i] - want[i]; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("quantiles = %v, want %v", got, want)
			break
		}
	}
	later, err := parseOverhead(strings.Replace(metrics, `"5e-05"} 50`, `"5e-05"} 60`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if later.subtract(o); later[5e-05] != 10 || later[1e-4] != 0 {
		t.Errorf("between the readings %v were counted, want 10 in the first bucket", later)
	}
	decisions, err := parseDecisions(metrics)
	if diff := cmp.Diff(map[string]int64{"allow": 98, "warn": 2}, decisions); diff != "" || err != nil {
		t.Errorf("decisions (-want +got), %v:\n%s", err, diff)
	}
	if _, err := parseOverhead("go_goroutines 7\n"); err == nil {
		t.Error("metrics without the histogram are read")
	}
	if _, err := parseDecisions("go_goroutines 7\n"); err == nil {
		t.Error("metrics without the counter are read")
	}
}

func TestParseOptions(t *testing.T) {
	for _, bad := range [][]string{{"-rounds", "0"}, {"-seconds", "0"}, {"-rate-seconds", "61"}, {"-rate", "-1"}, {"-concurrency", "1,x"}, {"-concurrency", "0"}} {
		if _, err := parseOptions(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	o, err := parseOptions([]string{"-quick", "-concurrency", "1,64"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 64}, o.concurrency); diff != "" || o.rounds != 1 || o.rate != 300 {
		t.Errorf("rounds %d, rate %d, concurrency %v", o.rounds, o.rate, o.concurrency)
	}
}

func TestTheTablesReplaceThoseInADocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(path, []byte("before\n"+docsBegin+"old\n"+docsEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rep := reportOf(measured(100, 40, 0.3))
	for range 2 {
		if err := rep.writeDocs(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, "old") || !strings.HasPrefix(text, "before\n"+docsBegin) || !strings.HasSuffix(text, docsEnd+"after\n") ||
		strings.Count(text, "| one-shot | JSON | 1 KB | 64 busy | haltd | 8000 | 4.000 | 10.000 | 12.000 | 3.500 | 200 | 100 | 40 | 1.12 (1.00–1.25) |") != 1 {
		t.Errorf("the document is now:\n%s", text)
	}
	if err := os.WriteFile(path, []byte("nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rep.writeDocs(path); err == nil {
		t.Error("a document without a place for tables is written")
	}
}
