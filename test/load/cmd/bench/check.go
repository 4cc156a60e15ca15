package main

import (
	"errors"
	"fmt"
)

// The limits of -check.
const (
	// maxCPURatio and maxResidentMB hold for bodies of checkedBytes, the
	// first for checkedConcurrency busy connections.
	maxCPURatio        = 1.6
	maxResidentMB      = 60
	checkedBytes       = 1 << 10
	checkedConcurrency = 64
	// maxOwnP99 is what haltd_overhead_seconds may say at a fixed rate, in
	// milliseconds.
	maxOwnP99 = 1.0
)

// complete says what is wrong with the run itself: the record must hold one
// event for each request, and haltd must have found nothing to say about any.
func (rep *report) complete() error {
	h := rep.Haltd
	if h == nil {
		return nil
	}
	var errs []error
	if h.Recorded != h.Sent {
		errs = append(errs, fmt.Errorf("haltd recorded %d events for %d requests", h.Recorded, h.Sent))
	}
	if h.Decisions["allow"] != h.Sent {
		errs = append(errs, fmt.Errorf("haltd had something to say about a load that must look healthy: of %d requests, %v", h.Sent, h.Decisions))
	}
	return errors.Join(errs...)
}

// check says which limits haltd broke, and which cells it takes to tell were
// not measured.
func (rep *report) check() error {
	var errs []error
	unchecked := map[cell]bool{}
	for _, stream := range []bool{false, true} {
		unchecked[cell{Stream: stream, BodyBytes: checkedBytes, Concurrency: checkedConcurrency}] = true
		for _, size := range pacedSizes {
			unchecked[cell{Stream: stream, BodyBytes: size, Rate: rep.rate()}] = true
		}
	}
	for _, r := range rep.Rows {
		if r.Target != "haltd" {
			continue
		}
		if r.BodyBytes == checkedBytes && r.ResidentMB > maxResidentMB {
			errs = append(errs, fmt.Errorf("%s: haltd uses %.0f MB; at most %d are allowed", r.cell, r.ResidentMB, maxResidentMB))
		}
		switch {
		case !unchecked[r.cell], r.Rate == 0 && r.Ratio == nil:
			continue
		case r.Rate > 0 && r.OwnP99 >= maxOwnP99:
			errs = append(errs, fmt.Errorf("%s: haltd adds %.2f ms to one request in a hundred; it must be less than %.1f", r.cell, r.OwnP99, maxOwnP99))
		case r.Rate == 0 && r.Ratio.Median > maxCPURatio:
			errs = append(errs, fmt.Errorf("%s: haltd takes %.2f times the processor time of %s; at most %.1f is allowed", r.cell, r.Ratio.Median, baseline, maxCPURatio))
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
