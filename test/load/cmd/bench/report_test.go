package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// measured is a run of two rounds whose figures are easy to follow.
func measured(haltdCPU, haltdMB float64) *run {
	small := cell{BodyBytes: 1 << 10, Concurrency: 64}
	r := &run{
		targets: []*target{{name: "direct"}, {name: "reverseproxy"}, {name: "haltd"}},
		cells:   []cell{small},
		samples: map[cell]map[string][]sample{small: {
			"direct":       {{Requests: 10, PerSecond: 30000, P50: 0.5, P99: 2}, {Requests: 10, PerSecond: 32000, P50: 0.5, P99: 3}},
			"reverseproxy": {{Requests: 10, PerSecond: 9000, P50: 3, P99: 9, CPU: 100, ResidentMB: 20}, {Requests: 10, PerSecond: 9000, P50: 3, P99: 9, CPU: 80, ResidentMB: 20}},
			"haltd":        {{Requests: 10, PerSecond: 8000, P50: 4, P99: 10, CPU: haltdCPU, ResidentMB: haltdMB}, {Requests: 10, PerSecond: 8000, P50: 4, P99: 10, CPU: haltdCPU, ResidentMB: haltdMB}},
		}},
		overhead: map[cell]overhead{small: {0.0001: 10, 0.001: 20}},
	}
	return r
}

func reportOf(r *run) *report {
	rep := newReport(r)
	rep.Haltd = &haltdReport{Sent: 20, Recorded: 20, PeakMB: 44}
	rep.Haltd.addLatency(r)
	return rep
}

func TestReportPrintsTables(t *testing.T) {
	var out strings.Builder
	if err := reportOf(measured(100, 40)).print(&out); err != nil {
		t.Fatal(err)
	}
	const want = `  reply  body KB  conc.        target  req/s  p50 ms  p99 ms  CPU µs/req  RSS MB  CPU / reverseproxy
   JSON        1     64        direct  31000   0.500   2.500           –       –                   –
   JSON        1     64  reverseproxy   9000   3.000   9.000          90      20                1.00
   JSON        1     64         haltd   8000   4.000  10.000         100      40    1.12 (1.00–1.25)

Latency that haltd adds, ms: p50 and p99 over direct, and what haltd_overhead_seconds says
  reply  body KB  conc.   p50               p99  own p50  own p99
   JSON        1     64  3.50  7.50 (7.00–8.00)    0.100    0.982

haltd: 20 requests sent, 20 events recorded; memory at its highest 44 MB
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, megabytes float64
		want           string
	}{
		"within both":     {110, 60, ""},
		"processor time":  {130, 40, "1.46 times"},
		"memory":          {100, 61, "61 MB"},
		"nothing to tell": {0, 40, "nothing to check"},
	} {
		t.Run(name, func(t *testing.T) {
			err := reportOf(measured(c.cpu, c.megabytes)).check()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("check fails: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("check says %v, want %q", err, c.want)
			}
		})
	}
}

func TestCompleteWantsAnEventForEachRequest(t *testing.T) {
	rep := reportOf(measured(100, 40))
	if err := rep.complete(); err != nil {
		t.Errorf("a complete record: %v", err)
	}
	rep.Haltd.Recorded--
	if err := rep.complete(); err == nil {
		t.Error("a missing event goes unnoticed")
	}
}

func TestParseOverhead(t *testing.T) {
	const metrics = `# TYPE haltd_overhead_seconds histogram
haltd_overhead_seconds_bucket{le="5e-05"} 50
haltd_overhead_seconds_bucket{le="0.0001"} 90
haltd_overhead_seconds_bucket{le="+Inf"} 100
haltd_overhead_seconds_sum 0.01
haltd_overhead_seconds_count 100
`
	after, err := parseOverhead(metrics)
	if err != nil {
		t.Fatal(err)
	}
	o := overhead{}
	o.add(overhead{}, after)
	got := []float64{o.quantile(0.5), o.quantile(0.7), o.quantile(0.99)}
	want := []float64{0.05, 0.075, 0.1}
	for i := range got {
		if diff := got[i] - want[i]; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("quantiles = %v, want %v", got, want)
			break
		}
	}
	if _, err := parseOverhead("go_goroutines 7\n"); err == nil {
		t.Error("metrics without the histogram are read")
	}
}

func TestParseOptions(t *testing.T) {
	for _, bad := range [][]string{{"-rounds", "0"}, {"-seconds", "0"}, {"-concurrency", "1,x"}, {"-concurrency", "0"}} {
		if _, err := parseOptions(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	o, err := parseOptions([]string{"-quick", "-concurrency", "1,64"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 64}, o.concurrency); diff != "" || o.rounds != 1 {
		t.Errorf("rounds %d, concurrency %v", o.rounds, o.concurrency)
	}
}
