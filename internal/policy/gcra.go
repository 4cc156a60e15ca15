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
	units, per uint64        // this many units come back in this many microseconds
	depth      exactDuration // how long an empty bucket takes to fill
}

// exactDuration is us microseconds and part/units of one more.
type exactDuration struct{ us, part uint64 }

// Bucket is what a Limit remembers: two whole numbers below 2^53. The zero
// Bucket is full.
type Bucket struct {
	// Full is when the bucket will be full, in microseconds since 1970; one
	// for which that time has passed may be forgotten.
	Full int64
	// Part is the part of a microsecond by which Full is too early.
	Part uint64
}

// PerMinute is a limit of n units per minute, all of which may come at once;
// 0 or less is no limit.
func PerMinute(n int64) Limit {
	if n <= 0 {
		return Limit{}
	}
	return Limit{units: uint64(n), per: minute, depth: exactDuration{us: minute}}
}

// minute and second are in microseconds.
const (
	minute = uint64(time.Minute / time.Microsecond)
	second = uint64(time.Second / time.Microsecond)
)

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
	l := Limit{units: scaled(rate, maxRate), per: second * millionths}
	l.depth = l.times(scaled(burst, maxBurst), second)
	return l
}

// Divide is the share of one of n who keep the limit apart: the n-th part of
// the rate, and of what may come at once.
func (l Limit) Divide(n int) Limit {
	l.per *= uint64(max(n, 1)) // the time that an empty bucket takes stays the same
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
	us := owed.us - room.us
	if owed.part > room.part {
		us++
	}
	return false, time.Duration(min(us, math.MaxInt64/uint64(time.Microsecond))) * time.Microsecond
}

// Take takes cost units, also those that the bucket does not have: what is
// owed then has to come back first.
func (l Limit) Take(b Bucket, cost int64, now time.Time) Bucket {
	if l.units == 0 {
		return b
	}
	if us := now.UnixMicro(); b.Full < us {
		b = Bucket{Full: us}
	}
	c := l.cost(cost)
	part := min(b.Part, l.units-1) + c.part
	if part >= l.units {
		part -= l.units
		c.us++
	}
	return Bucket{Full: min(b.Full+int64(c.us), latest), Part: part}
}

// Return gives back what was taken and not used.
func (l Limit) Return(b Bucket, cost int64) Bucket {
	if l.units == 0 {
		return b
	}
	c, part := l.cost(cost), min(b.Part, l.units-1)
	if part < c.part {
		part += l.units
		c.us++
	}
	return Bucket{Full: b.Full - int64(c.us), Part: part - c.part}
}

// owed is how long it takes until the bucket is full. A Part that another
// limit left behind is less than a microsecond here, too.
func (l Limit) owed(b Bucket, now time.Time) exactDuration {
	us := now.UnixMicro()
	if b.Full < us {
		return exactDuration{}
	}
	return exactDuration{uint64(b.Full - us), min(b.Part, l.units-1)}
}

func (l Limit) cost(units int64) exactDuration { return l.times(uint64(max(units, 0)), l.per) }

// longest is the longest one, seventy years, and latest the last moment that
// a float64 still holds to the microsecond: some who keep buckets, such as the
// scripts of Redis, have no other numbers.
const (
	longest = 1 << 51
	latest  = 1<<53 - 1
)

// times is n × us / l.units.
func (l Limit) times(n, us uint64) exactDuration {
	high, low := bits.Mul64(n, us)
	if high >= l.units {
		return exactDuration{us: longest}
	}
	whole, part := bits.Div64(high, low, l.units)
	if whole >= longest {
		return exactDuration{us: longest}
	}
	return exactDuration{whole, part}
}

func (s exactDuration) less(t exactDuration) bool {
	return s.us < t.us || s.us == t.us && s.part < t.part
}

// minus is s − t, and nothing when t is more.
func (s exactDuration) minus(t exactDuration, units uint64) exactDuration {
	if s.less(t) {
		return exactDuration{}
	}
	if s.part < t.part {
		s.us--
		s.part += units
	}
	return exactDuration{s.us - t.us, s.part - t.part}
}
