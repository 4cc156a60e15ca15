package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// overhead is haltd's own histogram of the time it adds.
func (g *gateway) overhead(ctx context.Context) (overhead, error) {
	text, err := g.metrics(ctx)
	if err != nil {
		return nil, err
	}
	return parseOverhead(text)
}

// overhead counts requests by the greatest number of seconds they may have
// taken.
type overhead map[float64]float64

func parseOverhead(metrics string) (overhead, error) {
	o := overhead{}
	for line := range strings.Lines(metrics) {
		rest, ok := strings.CutPrefix(line, `haltd_overhead_seconds_bucket{le="`)
		if !ok {
			continue
		}
		bound, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return nil, fmt.Errorf("read haltd_overhead_seconds: %w", err)
		}
		if o[seconds], err = strconv.ParseFloat(count, 64); err != nil {
			return nil, fmt.Errorf("read haltd_overhead_seconds: %w", err)
		}
	}
	if len(o) == 0 {
		return nil, fmt.Errorf("haltd's metrics have no haltd_overhead_seconds")
	}
	return o, nil
}

// subtract leaves what was counted since an earlier reading.
func (o overhead) subtract(before overhead) {
	for bound, n := range before {
		o[bound] -= n
	}
}

// quantile is the time in milliseconds that the share q did not exceed,
// assuming that times are spread evenly within a bucket.
func (o overhead) quantile(q float64) float64 {
	bounds := make([]float64, 0, len(o))
	for b := range o {
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	if len(bounds) == 0 || o[bounds[len(bounds)-1]] == 0 {
		return 0
	}
	rank := q * o[bounds[len(bounds)-1]]
	lower, below := 0.0, 0.0
	for _, upper := range bounds {
		if o[upper] >= rank {
			if math.IsInf(upper, 1) {
				break
			}
			return 1000 * (lower + (upper-lower)*(rank-below)/(o[upper]-below))
		}
		lower, below = upper, o[upper]
	}
	return 1000 * lower
}
