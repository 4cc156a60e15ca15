package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd/test/harness"
)

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
