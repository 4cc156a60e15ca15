package main

import (
	"math/bits"
	"time"
)

const (
	// subBits divides every power of two into 128 parts, so that a value is
	// known to within one percent.
	subBits = 7
	// topBits bounds the range: longer than 68 seconds counts as that long.
	topBits = 36
)

// histogram counts durations in buckets that widen with their size, so that
// noting one costs the same however many there are. The zero value is empty.
type histogram struct {
	counts [(topBits - subBits + 1) << subBits]uint32
	total  int
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(d)]++
	h.total++
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
}

// quantile is the duration that the share q of all does not exceed, or 0 when
// there are none.
func (h *histogram) quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := min(max(int(q*float64(h.total)+0.5), 1), h.total)
	seen := 0
	for i, n := range h.counts {
		if seen += int(n); seen >= rank {
			return bucketMiddle(i)
		}
	}
	return bucketMiddle(len(h.counts) - 1)
}

func bucketOf(d time.Duration) int {
	v := min(uint64(max(d, 0)), 1<<topBits-1)
	shift := max(bits.Len64(v)-subBits-1, 0)
	return shift<<subBits + int(v>>shift)
}

func bucketMiddle(i int) time.Duration {
	shift := max(i>>subBits-1, 0)
	low := uint64(i-shift<<subBits) << shift
	return time.Duration(low + 1<<shift/2)
}
