package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd/test/harness"
)

func TestTheSameAnswerIsMeasuredBesideOneShotCalls(t *testing.T) {
	var got []string
	for _, c := range cells([]int{1, 16, 64, 512}, 300, 1000<<10) {
		if c.Kind != sameAnswer {
			continue
		}
		got = append(got, c.String())
		beside := c
		beside.Kind = oneShot
		if !slices.Contains(cells([]int{1, 16, 64, 512}, 300, 1000<<10), beside) {
			t.Errorf("%s has no one-shot calls beside it", c)
		}
	}
	want := []string{
		"same answer, JSON replies, bodies of 1 KB, concurrency 16",
		"same answer, JSON replies, bodies of 1 KB, concurrency 64",
		"same answer, SSE replies, bodies of 1 KB, concurrency 16",
		"same answer, SSE replies, bodies of 1 KB, concurrency 64",
		"same answer, JSON replies, bodies of 100 KB, concurrency 16",
		"same answer, JSON replies, bodies of 100 KB, concurrency 64",
		"same answer, SSE replies, bodies of 100 KB, concurrency 16",
		"same answer, SSE replies, bodies of 100 KB, concurrency 64",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loads (-want +got):\n%s", diff)
	}
}

func TestCellsSuitTargets(t *testing.T) {
	paced, same, once := cell{Kind: growing, Rate: 300}, cell{Kind: sameAnswer, Concurrency: 16}, cell{Kind: oneShot, Concurrency: 16}
	for name, c := range map[string]struct {
		target *target
		want   []cell
	}{
		"direct": {&target{name: "direct"}, []cell{paced, same, once}},
		"haltd":  {&target{name: "haltd", gateway: &gateway{}}, []cell{paced, same, once}},
		"nginx":  {&target{name: "nginx"}, []cell{same, once}},
		"a peer": {&target{name: "portkey", peer: &peer{}}, []cell{paced, once}},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.DeleteFunc([]cell{paced, same, once}, func(one cell) bool { return !one.suits(c.target) })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// A haltd that warns of every call is counted to have warned of those alone that get
// the same answer, so that its other warnings fail the run.
func TestDecisionsOnTheSameAnswerAreCountedApart(t *testing.T) {
	var seen, alike atomic.Int64
	answers := upstream()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if strings.HasPrefix(r.Header.Get("X-Agent-Id"), sameAnswer.agentPrefix()) {
			alike.Add(1)
		}
		answers.ServeHTTP(w, r)
	}))
	defer up.Close()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "haltd_requests_total{decision=\"warn\",provider=\"openai\"} %d\n"+
			"haltd_overhead_seconds_bucket{le=\"+Inf\"} 1\ngo_memstats_mallocs_total 1\n", seen.Load())
	}))
	defer admin.Close()
	haltd := &target{name: "haltd", address: up.Listener.Addr().String(), gateway: &gateway{harness.Listeners{Admin: admin.URL}}}
	r := &run{targets: []*target{haltd}, rounds: 1, busySpan: 20 * time.Millisecond, log: io.Discard}
	for n, k := range []kind{sameAnswer, oneShot, sameAnswer} {
		r.cells = append(r.cells, cell{Kind: k, BodyBytes: 1 << 10, Concurrency: 1 + n})
	}
	if err := r.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"warn": alike.Load()}, haltd.sameAnswer); diff != "" || alike.Load() == 0 || seen.Load() <= alike.Load() {
		t.Errorf("of %d requests, %d that get the same answer (-want +got):\n%s", seen.Load(), alike.Load(), diff)
	}
}
