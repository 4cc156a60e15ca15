package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// target is one way to the upstream.
type target struct {
	name     string
	address  string
	process  *process     // nil for direct
	gateway  *gateway     // nil but for haltd
	backends *backends    // that its haltd uses; nil but for those
	peer     *peer        // another gateway; nil for all that pass bytes through
	sent     int64        // requests in all
	sessions atomic.Int64 // that its clients have begun
	// sameAnswer counts what became of those requests that all got the same answer;
	// of haltd alone.
	sameAnswer map[string]int64
}

// cell is one kind of load: so many clients that are always busy, or so many
// requests a second whatever the replies do.
type cell struct {
	Kind        kind `json:"kind"`
	Stream      bool `json:"stream"`
	BodyBytes   int  `json:"body_bytes"`
	Concurrency int  `json:"concurrency,omitempty"`
	Rate        int  `json:"rate,omitempty"`
}

func (c cell) reply() string {
	if c.Stream {
		return "SSE"
	}
	return "JSON"
}

func (c cell) String() string {
	if c.Rate > 0 {
		return fmt.Sprintf("%s, %s replies, bodies of %d KB, %d requests a second", c.Kind, c.reply(), c.BodyBytes>>10, c.Rate)
	}
	return fmt.Sprintf("%s, %s replies, bodies of %d KB, concurrency %d", c.Kind, c.reply(), c.BodyBytes>>10, c.Concurrency)
}

// bodySizes are measured one after the other: the memory that small bodies
// need must not be read after large ones.
var bodySizes = []int{1 << 10, 10 << 10, 100 << 10, 1000 << 10}

// mainSizes are those at which all numbers of connections are tried, and
// aside the one for all other sizes.
var mainSizes = []int{1 << 10, 100 << 10}

const aside = 16

// pacedSizes are the sizes at a fixed rate, of growing conversations.
var pacedSizes = []int{10 << 10, 100 << 10}

// loads are the kinds of load at a size, where clients are kept busy.
func loads(size int) []kind {
	all := []kind{oneShot, growing}
	if size == bodySizes[0] {
		all[1] = questioning
	}
	if slices.Contains(mainSizes, size) {
		all = append(all, sameAnswer)
	}
	return all
}

// tried says whether a kind of load is measured at a size with so many connections.
// The one with the same answer is beside one-shot for what texts and answers
// change, which two numbers of connections tell.
func tried(k kind, size, concurrency int) bool {
	switch {
	case concurrency == aside:
		return true
	case k == sameAnswer:
		return concurrency == checkedConcurrency
	}
	return slices.Contains(mainSizes, size)
}

// cells are all kinds of load up to a size, the lightest first; a rate of 0
// leaves the fixed rate out.
func cells(concurrency []int, rate, largest int) []cell {
	var all []cell
	for _, size := range bodySizes {
		if size > largest {
			break
		}
		for _, stream := range []bool{false, true} {
			for _, k := range loads(size) {
				for _, n := range concurrency {
					if tried(k, size, n) {
						all = append(all, cell{Kind: k, Stream: stream, BodyBytes: size, Concurrency: n})
					}
				}
			}
			if rate > 0 && slices.Contains(pacedSizes, size) {
				all = append(all, cell{Kind: growing, Stream: stream, BodyBytes: size, Rate: rate})
			}
		}
	}
	return all
}

// sample is what one slice of one cell on one target measured.
type sample struct {
	Requests   int     `json:"requests"`
	SentKB     float64 `json:"mean_body_kb"`
	PerSecond  float64 `json:"requests_per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	P999       float64 `json:"p999_ms"`
	FirstByte  float64 `json:"first_byte_p50_ms"`
	CPU        float64 `json:"cpu_us_per_request"`
	ResidentMB float64 `json:"rss_mb"`
	// What haltd_overhead_seconds says, for haltd alone.
	OwnP50 float64 `json:"own_p50_ms,omitempty"`
	OwnP99 float64 `json:"own_p99_ms,omitempty"`
	// Allocations of one request, likewise.
	Allocations float64 `json:"allocations,omitempty"`
}

// run is one benchmark: every round goes through the cells of one body size,
// and every cell through the targets, so that what else the machine does falls
// on all alike.
type run struct {
	targets   []*target
	cells     []cell
	rounds    int
	busySpan  time.Duration
	pacedSpan time.Duration
	log       io.Writer

	samples map[cell]map[string][]sample // by target, one a round
}

func (r *run) measure(ctx context.Context) error {
	r.samples = map[cell]map[string][]sample{}
	for _, c := range r.cells {
		r.samples[c] = map[string][]sample{}
	}
	for _, size := range bodySizes {
		if !slices.ContainsFunc(r.cells, func(c cell) bool { return c.BodyBytes == size }) {
			continue
		}
		for round := range r.rounds {
			fmt.Fprintf(r.log, "bodies of %d KB, round %d of %d\n", size>>10, round+1, r.rounds)
			for _, stream := range []bool{false, true} {
				if err := r.round(ctx, size, stream, round); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// round goes once through the cells of a body size and a kind of reply.
func (r *run) round(ctx context.Context, size int, stream bool, round int) error {
	made := map[kind]*load{}
	for _, c := range r.cells {
		if c.BodyBytes != size || c.Stream != stream {
			continue
		}
		l := made[c.Kind]
		if l == nil {
			var err error
			if l, err = newLoad(c.Kind, size, stream, round); err != nil {
				return err
			}
			made[c.Kind] = l
		}
		for _, t := range r.targets {
			if !c.suits(t) {
				continue
			}
			measure := r.sample
			if c.Kind == sameAnswer && t.gateway != nil {
				measure = r.sampleSameAnswer
			}
			s, err := measure(ctx, t, c, l)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", t.name, c, err)
			}
			r.samples[c][t.name] = append(r.samples[c][t.name], s)
		}
	}
	return nil
}

// suits says whether a cell is measured on a target.
func (c cell) suits(t *target) bool {
	switch {
	case t.name == "nginx":
		return c.Rate == 0 // what it adds is too little to tell at a low rate
	case t.peer != nil:
		return c.Kind != sameAnswer // it drops the header that names the answer
	}
	return true
}

// span is how long a slice of a cell lasts.
func (r *run) span(c cell) time.Duration {
	if c.Rate > 0 {
		return r.pacedSpan
	}
	return r.busySpan
}

// limit is longer than all slices take together, on a machine that others use
// as well, and than it takes to write what they send: 192 sessions of up to
// 1,000 KB each.
func (r *run) limit() time.Duration {
	sum := time.Minute
	for _, c := range r.cells {
		made := time.Duration(c.BodyBytes>>10) * 30 * time.Millisecond
		sum += time.Duration(r.rounds) * (made + time.Duration(len(r.targets))*(r.span(c)+10*time.Second))
	}
	return sum
}

// sampleSameAnswer measures one slice of requests that all get the same answer, and
// counts what became of them apart from all others: haltd is right to warn there,
// and nowhere else.
func (r *run) sampleSameAnswer(ctx context.Context, t *target, c cell, l *load) (sample, error) {
	before, err := t.gateway.awaitDecisions(ctx, t.sent)
	if err != nil {
		return sample{}, err
	}
	s, err := r.sample(ctx, t, c, l)
	if err != nil {
		return s, err
	}
	after, err := t.gateway.awaitDecisions(ctx, t.sent)
	if err != nil {
		return s, err
	}
	if t.sameAnswer == nil {
		t.sameAnswer = map[string]int64{}
	}
	for decision, n := range after {
		t.sameAnswer[decision] += n - before[decision]
	}
	return s, nil
}

// sample measures one slice. Requests that warm up are before the first
// reading, what the program still does after the last reply before the
// second.
func (r *run) sample(ctx context.Context, t *target, c cell, l *load) (sample, error) {
	var before time.Duration
	var counted overhead
	var allocated float64
	got, err := generate(ctx, t, l, c, r.span(c), func() (err error) {
		if t.gateway != nil {
			if counted, err = t.gateway.overhead(ctx); err != nil {
				return err
			}
			if allocated, err = t.gateway.allocations(ctx); err != nil {
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
	if got.requests == 0 {
		return sample{}, nil
	}
	s := sample{
		Requests:  got.requests,
		SentKB:    float64(got.bodyBytes) / float64(got.requests) / (1 << 10),
		PerSecond: float64(got.requests) / got.elapsed.Seconds(),
		P50:       milliseconds(got.latency.quantile(0.5)),
		P99:       milliseconds(got.latency.quantile(0.99)),
		P999:      milliseconds(got.latency.quantile(0.999)),
		FirstByte: milliseconds(got.firstByte.quantile(0.5)),
	}
	if t.process == nil {
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
		now.subtract(counted)
		all, err := t.gateway.allocations(ctx)
		if err != nil {
			return s, err
		}
		s.Allocations = (all - allocated) / float64(got.requests)
		s.OwnP50, s.OwnP99 = now.quantile(0.5), now.quantile(0.99)
	}
	return s, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
