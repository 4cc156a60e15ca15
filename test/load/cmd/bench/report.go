package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// baseline is what processor time is compared with.
const baseline = "reverseproxy"

// The limits of -check, for bodies of 1 KB.
const (
	maxCPURatio   = 1.3
	maxResidentMB = 60
)

// checkedCell is where the limit of processor time holds.
var checkedCell = cell{Stream: false, BodyBytes: 1 << 10, Concurrency: 64}

// report is what a run came to.
type report struct {
	Rows  []row        `json:"rows"`
	Haltd *haltdReport `json:"haltd,omitempty"`
}

// row is one cell on one target: medians over the rounds.
type row struct {
	cell
	Target string `json:"target"`
	sample
	// Ratio is processor time per request over the baseline's in the same
	// round; nil where one of them has none.
	Ratio  *spread  `json:"cpu_ratio"`
	Rounds []sample `json:"rounds"`
}

// spread is a figure over the rounds.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// haltdReport is what is measured of haltd alone.
type haltdReport struct {
	Sent     int64   `json:"requests_sent"`
	Recorded int64   `json:"events_recorded"`
	PeakMB   float64 `json:"peak_rss_mb"`
	Added    []added `json:"added_latency"`
}

// added is the latency that haltd adds in one cell, in milliseconds: seen by
// the client as the difference to direct, and by haltd itself.
type added struct {
	cell
	P50      *spread `json:"p50_ms"` // nil without direct
	P99      *spread `json:"p99_ms"`
	OwnP50   float64 `json:"own_p50_ms"`
	OwnP99   float64 `json:"own_p99_ms"`
	Requests float64 `json:"own_requests"`
}

func newReport(r *run) *report {
	rep := &report{}
	for _, c := range r.cells {
		for _, t := range r.targets {
			samples := r.samples[c][t.name]
			rep.Rows = append(rep.Rows, row{
				cell: c, Target: t.name, sample: medianSample(samples), Rounds: samples,
				Ratio: ratio(samples, r.samples[c][baseline]),
			})
		}
	}
	return rep
}

func medianSample(samples []sample) sample {
	figure := func(of func(sample) float64) float64 {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = of(s)
		}
		return spreadOf(values).Median
	}
	requests := 0
	for _, s := range samples {
		requests += s.Requests
	}
	return sample{
		Requests:   requests,
		PerSecond:  figure(func(s sample) float64 { return s.PerSecond }),
		P50:        figure(func(s sample) float64 { return s.P50 }),
		P99:        figure(func(s sample) float64 { return s.P99 }),
		CPU:        figure(func(s sample) float64 { return s.CPU }),
		ResidentMB: figure(func(s sample) float64 { return s.ResidentMB }),
	}
}

func ratio(samples, base []sample) *spread {
	return pairwise(samples, base, func(s, b sample) (float64, bool) { return s.CPU / b.CPU, s.CPU > 0 && b.CPU > 0 })
}

// pairwise compares two targets round by round; nil when there is nothing to
// compare.
func pairwise(samples, base []sample, compare func(s, b sample) (float64, bool)) *spread {
	var values []float64
	for i := range min(len(samples), len(base)) {
		if v, ok := compare(samples[i], base[i]); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	s := spreadOf(values)
	return &s
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return spread{Median: (values[(n-1)/2] + values[n/2]) / 2, Min: values[0], Max: values[n-1]}
}

// addLatency fills in what haltd adds, cell by cell.
func (h *haltdReport) addLatency(r *run) {
	for _, c := range r.cells {
		through, direct := r.samples[c]["haltd"], r.samples[c]["direct"]
		own := r.overhead[c]
		total := 0.0
		for _, n := range own {
			total = max(total, n)
		}
		h.Added = append(h.Added, added{
			cell:   c,
			P50:    pairwise(through, direct, func(s, b sample) (float64, bool) { return s.P50 - b.P50, true }),
			P99:    pairwise(through, direct, func(s, b sample) (float64, bool) { return s.P99 - b.P99, true }),
			OwnP50: own.quantile(0.5), OwnP99: own.quantile(0.99), Requests: total,
		})
	}
}

// print writes tables for a person.
func (rep *report) print(out io.Writer) error {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "reply\tbody KB\tconc.\ttarget\treq/s\tp50 ms\tp99 ms\tCPU µs/req\tRSS MB\tCPU / "+baseline+"\t")
	for i, r := range rep.Rows {
		if i > 0 && r.cell != rep.Rows[i-1].cell {
			fmt.Fprintln(w, "\t\t\t\t\t\t\t\t\t\t")
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%.0f\t%.3f\t%.3f\t%s\t%s\t%s\t\n", r.reply(), r.BodyBytes>>10, r.Concurrency, r.Target,
			r.PerSecond, r.P50, r.P99, orDash(r.CPU, 0), orDash(r.ResidentMB, 0), r.Ratio)
	}
	_ = w.Flush() // a Builder takes everything
	if rep.Haltd != nil {
		rep.Haltd.print(&table)
	}
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("print the table: %w", err)
		}
	}
	return nil
}

func (h *haltdReport) print(table *strings.Builder) {
	w := tabwriter.NewWriter(table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nLatency that haltd adds, ms: p50 and p99 over direct, and what haltd_overhead_seconds says")
	fmt.Fprintln(w, "reply\tbody KB\tconc.\tp50\tp99\town p50\town p99\t")
	for _, a := range h.Added {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%.3f\t%.3f\t\n", a.reply(), a.BodyBytes>>10, a.Concurrency, a.P50, a.P99, a.OwnP50, a.OwnP99)
	}
	fmt.Fprintf(w, "\nhaltd: %d requests sent, %d events recorded; memory at its highest %.0f MB\n", h.Sent, h.Recorded, h.PeakMB)
	_ = w.Flush()
}

// String is the median and, where rounds differ, how far.
func (s *spread) String() string {
	if s == nil {
		return "–"
	}
	if s.Min == s.Max {
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max)
}

func orDash(v float64, decimals int) string {
	if v == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func (rep *report) save(path string) error {
	b, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// complete says what is wrong with the record: it must hold one event for
// each request.
func (rep *report) complete() error {
	if h := rep.Haltd; h != nil && h.Recorded != h.Sent {
		return fmt.Errorf("haltd recorded %d events for %d requests", h.Recorded, h.Sent)
	}
	return nil
}

// check says which limits haltd broke.
func (rep *report) check() error {
	var errs []error
	checked := false
	for _, r := range rep.Rows {
		if r.Target != "haltd" {
			continue
		}
		if r.BodyBytes == checkedCell.BodyBytes && r.ResidentMB > maxResidentMB {
			errs = append(errs, fmt.Errorf("haltd uses %.0f MB after %s replies, bodies of %d KB, concurrency %d; at most %d are allowed",
				r.ResidentMB, r.reply(), r.BodyBytes>>10, r.Concurrency, maxResidentMB))
		}
		if r.cell != checkedCell || r.Ratio == nil {
			continue
		}
		checked = true
		if r.Ratio.Median > maxCPURatio {
			errs = append(errs, fmt.Errorf("haltd takes %.2f times the processor time of %s for JSON replies, bodies of 1 KB, concurrency %d; at most %.1f is allowed",
				r.Ratio.Median, baseline, checkedCell.Concurrency, maxCPURatio))
		}
	}
	if !checked {
		errs = append(errs, fmt.Errorf("nothing to check: measure haltd and %s at concurrency %d", baseline, checkedCell.Concurrency))
	}
	return errors.Join(errs...)
}
