package policy

import (
	"math"
	"math/bits"
	"time"
)

// Limit is a rate together with how much may come at once: the generic cell
// rate algorithm. Its arithmetic is exact, so that a burst passes to the last
// unit and no rounding adds up over time. The zero Limit limits nothing.
type Limit struct {
	units, per uint64 // this many units come back in this many nanoseconds
	depth      span   // how long an empty bucket takes to fill
}

// span is a time of ns nanoseconds and part/units of one more.
type span struct{ ns, part uint64 }

// Bucket is what a Limit remembers. The zero Bucket is full.
type Bucket struct {
	// Full is when the bucket will be full; one for which that time has
	// passed may be forgotten.
	Full time.Time
	// Part is the part of a nanosecond by which Full is too early.
	Part uint64
}

// PerMinute is a limit of n units per minute, all of which may come at once;
// 0 or less is no limit.
func PerMinute(n int64) Limit {
	if n <= 0 {
		return Limit{}
	}
	return Limit{units: uint64(n), per: uint64(time.Minute), depth: span{ns: uint64(time.Minute)}}
}

// Rates and bursts are kept in millionths, which makes them whole numbers.
const (
	millionths = 1e6
	minRate    = 1 / millionths
	maxRate    = 1e9
	maxBurst   = 1e9
)

// PerSecond is a limit of rate units per second, from one millionth to a
// billion, of which burst may come at once.
func PerSecond(rate, burst float64) Limit {
	scaled := func(f, most float64) uint64 { return uint64(math.Round(min(max(f, minRate), most) * millionths)) }
	l := Limit{units: scaled(rate, maxRate), per: uint64(time.Second) * millionths}
	l.depth = l.times(scaled(burst, maxBurst), uint64(time.Second))
	return l
}

// Check reports whether the bucket would give cost units now and, if not, how
// long to wait until it does. It takes nothing. A cost above the burst passes
// when the bucket is full, or it never could.
func (l Limit) Check(b Bucket, cost int64, now time.Time) (ok bool, wait time.Duration) {
	if l.units == 0 {
		return true, 0
	}
	owed := l.owed(b, now)
	room := l.depth.minus(l.cost(cost), l.units)
	if !room.less(owed) {
		return true, 0
	}
	ns := owed.ns - room.ns
	if owed.part > room.part {
		ns++
	}
	return false, time.Duration(min(ns, math.MaxInt64))
}

// Take takes cost units, also those that the bucket does not have: what is
// owed then has to come back first.
func (l Limit) Take(b Bucket, cost int64, now time.Time) Bucket {
	if l.units == 0 {
		return b
	}
	if b.Full.Before(now) {
		b = Bucket{Full: now}
	}
	c := l.cost(cost)
	part := min(b.Part, l.units-1) + c.part
	if part >= l.units {
		part -= l.units
		c.ns++
	}
	return Bucket{Full: b.Full.Add(time.Duration(c.ns)), Part: part}
}

// Return gives back what was taken and not used.
func (l Limit) Return(b Bucket, cost int64) Bucket {
	if l.units == 0 {
		return b
	}
	c, part := l.cost(cost), min(b.Part, l.units-1)
	if part < c.part {
		part += l.units
		c.ns++
	}
	return Bucket{Full: b.Full.Add(-time.Duration(c.ns)), Part: part - c.part}
}

// owed is how long it takes until the bucket is full. A Part that another
// limit left behind is less than a nanosecond here, too.
func (l Limit) owed(b Bucket, now time.Time) span {
	if b.Full.Before(now) {
		return span{}
	}
	return span{uint64(b.Full.Sub(now)), min(b.Part, l.units-1)}
}

func (l Limit) cost(units int64) span { return l.times(uint64(max(units, 0)), l.per) }

// longest keeps times far from overflow; it is more than a century.
const longest = 1 << 62

// times is n × ns / l.units.
func (l Limit) times(n, ns uint64) span {
	high, low := bits.Mul64(n, ns)
	if high >= l.units {
		return span{ns: longest}
	}
	whole, part := bits.Div64(high, low, l.units)
	if whole >= longest {
		return span{ns: longest}
	}
	return span{whole, part}
}

func (s span) less(t span) bool { return s.ns < t.ns || s.ns == t.ns && s.part < t.part }

// minus is s − t, and nothing when t is more.
func (s span) minus(t span, units uint64) span {
	if s.less(t) {
		return span{}
	}
	if s.part < t.part {
		s.ns--
		s.part += units
	}
	return span{s.ns - t.ns, s.part - t.part}
}
