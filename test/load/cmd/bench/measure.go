package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// target is one way to the upstream.
type target struct {
	name    string
	address string
	process *process // nil for direct
	gateway *gateway // nil but for haltd
	sent    int64    // requests in all
}

// cell is one kind of load.
type cell struct {
	Stream      bool `json:"stream"`
	BodyBytes   int  `json:"body_bytes"`
	Concurrency int  `json:"concurrency"`
}

func (c cell) reply() string {
	if c.Stream {
		return "SSE"
	}
	return "JSON"
}

// bodySizes are measured one after the other: the memory that small bodies
// need must not be read after large ones.
var bodySizes = []int{1 << 10, 100 << 10}

// cells are all kinds of load, the lightest first.
func cells(concurrency []int) []cell {
	var all []cell
	for _, size := range bodySizes {
		for _, stream := range []bool{false, true} {
			for _, n := range concurrency {
				all = append(all, cell{stream, size, n})
			}
		}
	}
	return all
}

// sample is what one slice of one cell on one target measured.
type sample struct {
	Requests   int     `json:"requests"`
	PerSecond  float64 `json:"requests_per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	CPU        float64 `json:"cpu_us_per_request"`
	ResidentMB float64 `json:"rss_mb"`
}

// run is one benchmark: every round goes through the cells of one body size,
// and every cell through the targets, so that what else the machine does falls on all alike.
type run struct {
	targets []*target
	cells   []cell
	rounds  int
	span    time.Duration
	log     io.Writer

	samples  map[cell]map[string][]sample // by target, one a round
	overhead map[cell]overhead
}

func (r *run) measure(ctx context.Context) error {
	r.samples, r.overhead = map[cell]map[string][]sample{}, map[cell]overhead{}
	loads := map[cell]load{}
	for _, c := range r.cells {
		r.samples[c], r.overhead[c] = map[string][]sample{}, overhead{}
		kind := cell{c.Stream, c.BodyBytes, 0}
		if _, ok := loads[kind]; ok {
			continue
		}
		l, err := newLoad(c.BodyBytes, c.Stream)
		if err != nil {
			return err
		}
		loads[kind] = l
	}
	for _, size := range bodySizes {
		for round := range r.rounds {
			fmt.Fprintf(r.log, "bodies of %d KB, round %d of %d\n", size>>10, round+1, r.rounds)
			if err := r.round(ctx, size, loads); err != nil {
				return err
			}
		}
	}
	return nil
}

// round goes once through the cells of a body size.
func (r *run) round(ctx context.Context, size int, loads map[cell]load) error {
	for _, c := range r.cells {
		if c.BodyBytes != size {
			continue
		}
		for _, t := range r.targets {
			s, err := r.sample(ctx, t, c, loads[cell{c.Stream, c.BodyBytes, 0}])
			if err != nil {
				return fmt.Errorf("%s, %s reply, body of %d bytes, concurrency %d: %w", t.name, c.reply(), c.BodyBytes, c.Concurrency, err)
			}
			r.samples[c][t.name] = append(r.samples[c][t.name], s)
		}
	}
	return nil
}

// sample measures one slice. Requests that warm up are before the first
// reading, what the program still does after the last reply before the
// second.
func (r *run) sample(ctx context.Context, t *target, c cell, l load) (sample, error) {
	var before time.Duration
	var counted overhead
	got, err := generate(ctx, t.address, l, c.Concurrency, r.span, func() (err error) {
		if t.gateway != nil {
			if counted, err = t.gateway.overhead(ctx); err != nil {
				return err
			}
		}
		if t.process != nil {
			before, err = t.process.cpu()
		}
		return err
	})
	if err != nil {
		return sample{}, err
	}
	t.sent += int64(got.sent)
	s := sample{
		Requests:  got.requests,
		PerSecond: float64(got.requests) / got.elapsed.Seconds(),
		P50:       milliseconds(got.latency.quantile(0.5)),
		P99:       milliseconds(got.latency.quantile(0.99)),
	}
	if t.process == nil || got.requests == 0 {
		return s, nil
	}
	after, err := t.process.settle(ctx)
	if err != nil {
		return s, err
	}
	resident, _, err := t.process.memory()
	if err != nil {
		return s, err
	}
	s.CPU = float64((after - before).Microseconds()) / float64(got.requests)
	s.ResidentMB = megabytes(resident)
	if t.gateway != nil {
		now, err := t.gateway.overhead(ctx)
		if err != nil {
			return s, err
		}
		r.overhead[c].add(counted, now)
	}
	return s, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
