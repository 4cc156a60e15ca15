package main

import (
	"errors"
	"fmt"
	"maps"
)

// The limits of -check.
const (
	// checkedConcurrency is how many connections are busy where processor
	// time and memory are checked.
	checkedConcurrency = 64
	// maxResidentMB holds for bodies of checkedBytes.
	maxResidentMB = 45
	checkedBytes  = 1 << 10
)

// maxCPURatio is how much more processor time than the proxy a call may take.
var maxCPURatio = map[cell]float64{
	{Kind: oneShot, BodyBytes: 1 << 10}:   1.4,
	{Kind: oneShot, BodyBytes: 100 << 10}: 1.8,
	{Kind: growing, BodyBytes: 100 << 10}: 1.2,
}

// maxOwnP99 is what haltd_overhead_seconds may say at a fixed rate, in
// milliseconds, by the size of bodies.
var maxOwnP99 = map[int]float64{10 << 10: 0.4, 100 << 10: 0.6}

// complete says what is wrong with the run itself: the record must hold one
// event for each request, and haltd must have found nothing to say about any,
// but where all got the same answer, of which it must have warned.
func (rep *report) complete() error {
	h := rep.Haltd
	if h == nil {
		return nil
	}
	var errs []error
	if h.Recorded != h.Sent {
		errs = append(errs, fmt.Errorf("haltd recorded %d events for %d requests", h.Recorded, h.Sent))
	}
	healthy := maps.Clone(h.Decisions)
	for decision, n := range h.SameAnswer {
		healthy[decision] -= n
	}
	maps.DeleteFunc(healthy, func(_ string, n int64) bool { return n == 0 })
	alike := sum(h.SameAnswer)
	if healthy["allow"] != h.Sent-alike || len(healthy) > 1 {
		errs = append(errs, fmt.Errorf("haltd had something to say about a load that must look healthy: of %d requests, %v", h.Sent-alike, healthy))
	}
	switch warned := h.SameAnswer["warn"]; {
	case warned+h.SameAnswer["allow"] != alike:
		errs = append(errs, fmt.Errorf("haltd did more than warn where all get the same answer: of %d requests, %v", alike, h.SameAnswer))
	case 2*warned < alike:
		errs = append(errs, fmt.Errorf("haltd warned too seldom where all get the same answer, and what a warning costs was not measured: of %d requests, %v", alike, h.SameAnswer))
	}
	return errors.Join(errs...)
}

// check says which limits haltd broke, and which cells it takes to tell were
// not measured.
func (rep *report) check() error {
	var errs []error
	unchecked := map[cell]bool{}
	for _, stream := range []bool{false, true} {
		for c := range maxCPURatio {
			unchecked[cell{Kind: c.Kind, Stream: stream, BodyBytes: c.BodyBytes, Concurrency: checkedConcurrency}] = true
		}
		for size := range maxOwnP99 {
			unchecked[cell{Kind: growing, Stream: stream, BodyBytes: size, Rate: rep.rate()}] = true
		}
	}
	for _, r := range rep.Rows {
		if r.Target != "haltd" {
			continue
		}
		if r.BodyBytes == checkedBytes && r.Concurrency == checkedConcurrency && r.ResidentMB > maxResidentMB {
			errs = append(errs, fmt.Errorf("%s: haltd uses %.0f MB; at most %d are allowed", r.cell, r.ResidentMB, maxResidentMB))
		}
		ratio := maxCPURatio[cell{Kind: r.Kind, BodyBytes: r.BodyBytes}]
		switch {
		case !unchecked[r.cell], r.Rate == 0 && r.Ratio == nil:
			continue
		case r.Rate > 0 && r.OwnP99 > maxOwnP99[r.BodyBytes]:
			errs = append(errs, fmt.Errorf("%s: haltd adds %.2f ms to one request in a hundred; at most %.1f is allowed", r.cell, r.OwnP99, maxOwnP99[r.BodyBytes]))
		case r.Rate == 0 && r.Ratio.Median > ratio:
			errs = append(errs, fmt.Errorf("%s: haltd takes %.2f times the processor time of %s; at most %.1f is allowed", r.cell, r.Ratio.Median, baseline, ratio))
		}
		delete(unchecked, r.cell)
	}
	if len(unchecked) > 0 {
		errs = append(errs, fmt.Errorf("%d loads that are checked were not measured: haltd and %s at concurrency %d, haltd at a fixed rate", len(unchecked), baseline, checkedConcurrency))
	}
	return errors.Join(errs...)
}

// rate is the fixed rate of the run; 0 without one.
func (rep *report) rate() int {
	for _, r := range rep.Rows {
		if r.Rate > 0 {
			return r.Rate
		}
	}
	return 0
}
