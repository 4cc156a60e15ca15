package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHistogramQuantiles(t *testing.T) {
	var h histogram
	for i := 1; i <= 1000; i++ {
		h.add(time.Duration(i) * time.Millisecond)
	}
	for _, c := range []struct {
		q    float64
		want time.Duration
	}{
		{0, time.Millisecond},
		{0.5, 500 * time.Millisecond},
		{0.99, 990 * time.Millisecond},
		{1, time.Second},
	} {
		if got := h.quantile(c.q); !within(got, c.want, 0.01) {
			t.Errorf("quantile(%v) = %v, want %v to within one percent", c.q, got, c.want)
		}
	}
}

func TestHistogramOfNothing(t *testing.T) {
	var h histogram
	if got := h.quantile(0.5); got != 0 {
		t.Errorf("quantile of an empty histogram = %v, want 0", got)
	}
}

func TestHistogramMerges(t *testing.T) {
	var a, b histogram
	a.add(time.Millisecond)
	b.add(time.Second)
	b.add(time.Second)
	a.merge(&b)
	if got := a.quantile(0.5); a.total != 3 || !within(got, time.Second, 0.01) {
		t.Errorf("merged: %d values with median %v, want 3 with 1s", a.total, got)
	}
}

func TestBucketsKeepOrderAndSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, 1<<topBits-1).Draw(t, "duration"))
		i := bucketOf(d)
		if middle := bucketMiddle(i); !within(middle, d, 0.01) {
			t.Fatalf("%d is shown as %d", d, middle)
		}
		if bucketOf(d+1) < i {
			t.Fatalf("bucket of %d is below that of %d", d+1, d)
		}
	})
}

func TestBucketsTakeWhatIsOutOfRange(t *testing.T) {
	last := len(histogram{}.counts) - 1
	for d, want := range map[time.Duration]int{-time.Second: 0, 0: 0, time.Hour: last} {
		if got := bucketOf(d); got != want {
			t.Errorf("bucketOf(%v) = %d, want %d", d, got, want)
		}
	}
}

func within(got, want time.Duration, share float64) bool {
	diff := float64(got - want)
	return max(diff, -diff) <= share*float64(want)+1
}
