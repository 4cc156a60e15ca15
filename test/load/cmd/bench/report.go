package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// baseline is what processor time is compared with.
const baseline = "reverseproxy"

// report is what a run came to.
type report struct {
	Rows  []row        `json:"rows"`
	Haltd *haltdReport `json:"haltd,omitempty"`
	// Operations are what the servers of several nodes did, where such were
	// measured.
	Operations []operations `json:"operations,omitempty"`

	peers []string // by name
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
	Sent      int64            `json:"requests_sent"`
	Recorded  int64            `json:"events_recorded"`
	Decisions map[string]int64 `json:"decisions"`
	// SameAnswer is the part of Decisions on requests that all got the same answer.
	SameAnswer map[string]int64 `json:"decisions_same_answer,omitempty"`
	PeakMB     float64          `json:"peak_rss_mb"`
	Added      []added          `json:"added_latency"`
}

// added is the latency that haltd adds in one cell, in milliseconds: seen by
// the client as the difference to direct, and by haltd itself. Nil is not
// measured.
type added struct {
	cell
	P50    *spread `json:"p50_ms"`
	P99    *spread `json:"p99_ms"`
	OwnP50 *spread `json:"own_p50_ms"`
	OwnP99 *spread `json:"own_p99_ms"`
}

func newReport(r *run) *report {
	rep := &report{}
	for _, t := range r.targets {
		if t.peer != nil {
			rep.peers = append(rep.peers, t.name)
		}
	}
	for _, c := range r.cells {
		for _, t := range r.targets {
			samples := r.samples[c][t.name]
			if len(samples) == 0 {
				continue
			}
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
		SentKB:     figure(func(s sample) float64 { return s.SentKB }),
		PerSecond:  figure(func(s sample) float64 { return s.PerSecond }),
		P50:        figure(func(s sample) float64 { return s.P50 }),
		P99:        figure(func(s sample) float64 { return s.P99 }),
		P999:       figure(func(s sample) float64 { return s.P999 }),
		FirstByte:  figure(func(s sample) float64 { return s.FirstByte }),
		CPU:        figure(func(s sample) float64 { return s.CPU }),
		ResidentMB: figure(func(s sample) float64 { return s.ResidentMB }),
		OwnP50:     figure(func(s sample) float64 { return s.OwnP50 }),
		OwnP99:     figure(func(s sample) float64 { return s.OwnP99 }),

		Allocations: figure(func(s sample) float64 { return s.Allocations }),
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
		h.Added = append(h.Added, added{
			cell:   c,
			P50:    pairwise(through, direct, func(s, b sample) (float64, bool) { return s.P50 - b.P50, true }),
			P99:    pairwise(through, direct, func(s, b sample) (float64, bool) { return s.P99 - b.P99, true }),
			OwnP50: pairwise(through, through, func(s, _ sample) (float64, bool) { return s.OwnP50, true }),
			OwnP99: pairwise(through, through, func(s, _ sample) (float64, bool) { return s.OwnP99, true }),
		})
	}
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
