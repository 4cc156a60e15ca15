package policy

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func TestLimitTakesABurstAndThenItsRate(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit Limit
		burst int
		each  time.Duration // for one unit to come back, rounded up
	}{
		{"60 per minute", PerMinute(60), 60, time.Second},
		{"1 per minute", PerMinute(1), 1, time.Minute},
		{"7 per minute", PerMinute(7), 7, 8571429 * time.Microsecond},
		{"20 per second", PerSecond(20, 40), 40, 50 * time.Millisecond},
		{"3 per second", PerSecond(3, 40), 40, 333334 * time.Microsecond},
		{"one in ten seconds", PerSecond(0.1, 2), 2, 10 * time.Second},
		{"half a unit of burst does not make one", PerSecond(1, 2.5), 2, 500 * time.Millisecond},
		{"the slowest", PerSecond(minRate, 1), 1, 1_000_000 * time.Second},
		{"the fastest", PerSecond(maxRate, 1000), 1000, time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Bucket
			for i := range c.burst {
				if ok, wait := c.limit.Check(b, 1, noon); !ok {
					t.Fatalf("unit %d of the burst has to wait %v", i+1, wait)
				}
				b = c.limit.Take(b, 1, noon)
			}
			if ok, wait := c.limit.Check(b, 1, noon); ok || wait != c.each {
				t.Errorf("after the burst: %v, wait %v, want false, %v", ok, wait, c.each)
			}
		})
	}
}

func TestLimitEdges(t *testing.T) {
	l := PerMinute(60)
	empty := l.Take(Bucket{}, 60, noon)
	for _, c := range []struct {
		name   string
		limit  Limit
		bucket Bucket
		cost   int64
		ok     bool
		wait   time.Duration
	}{
		{"no limit", PerMinute(0), empty, math.MaxInt64, true, 0},
		{"a negative number is no limit", PerMinute(-1), empty, 1, true, 0},
		{"nothing from an empty bucket", l, empty, 0, true, 0},
		{"nothing from one in debt", l, l.Take(empty, 5, noon), 0, false, 5 * time.Second},
		{"more than the burst from a full bucket", l, Bucket{}, 61, true, 0},
		{"the burst from one that lacks a unit", l, l.Take(Bucket{}, 1, noon), 60, false, time.Second},
		{"more than the burst waits until it is full", l, l.Take(Bucket{}, 1, noon), 1000, false, time.Second},
		{"debt comes back first", l, l.Take(Bucket{}, 90, noon), 1, false, 31 * time.Second},
		{"what is given back can be taken", l, l.Return(empty, 2), 2, true, 0},
		{"and no more", l, l.Return(empty, 2), 3, false, time.Second},
		{"a full bucket gets no fuller", l, l.Take(l.Return(Bucket{Full: noon.UnixMicro()}, 100), 60, noon), 1, false, time.Second},
		{"the rest of another limit", l, Bucket{Full: noon.Add(time.Minute).UnixMicro(), Part: math.MaxUint64}, 1, false, time.Second + time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ok, wait := c.limit.Check(c.bucket, c.cost, noon); ok != c.ok || wait != c.wait {
				t.Errorf("Check = %v, %v, want %v, %v", ok, wait, c.ok, c.wait)
			}
		})
	}
}

func drawLimit(t *rapid.T) (l Limit, burst int64) {
	if rapid.Bool().Draw(t, "per minute") {
		n := rapid.Int64Range(1, 200_000_000).Draw(t, "n")
		return PerMinute(n), n
	}
	millionth := rapid.Int64Range(1, 1_000_000_000_000).Draw(t, "rate in millionths")
	burst = rapid.Int64Range(1, 10_000).Draw(t, "burst")
	return PerSecond(float64(millionth)/millionths, float64(burst)), burst
}

// unitsIn is what comes back in a time, as an exact fraction.
func (l Limit) unitsIn(d time.Duration) *big.Rat {
	n := new(big.Int).Mul(new(big.Int).SetUint64(l.units), big.NewInt(d.Microseconds()))
	return new(big.Rat).SetFrac(n, new(big.Int).SetUint64(l.per))
}

func TestLimitAdmitsNoMoreThanBurstAndRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		type taking struct {
			at   time.Time
			cost int64
		}
		var taken []taking
		var b Bucket
		now := noon
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 2_000_000).Draw(t, "pause")) * time.Microsecond)
			cost := rapid.Int64Range(1, burst).Draw(t, "cost")
			if ok, _ := l.Check(b, cost, now); ok {
				b = l.Take(b, cost, now)
				taken = append(taken, taking{now, cost})
			}
		}
		for i := range taken {
			sum := int64(0)
			for _, last := range taken[i:] {
				sum += last.cost
				most := l.unitsIn(last.at.Sub(taken[i].at))
				most.Add(most, new(big.Rat).SetInt64(burst))
				if new(big.Rat).SetInt64(sum).Cmp(most) > 0 {
					t.Fatalf("%d units from %v to %v, at most %v", sum, taken[i].at, last.at, most)
				}
			}
		}
	})
}

// A steady taker who waits exactly as told loses nothing to rounding: the last
// unit was not there a microsecond before. A small bucket overflows in what is
// left of the microsecond that it waited.
func TestLimitGivesItsWholeRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		b, now := l.Take(Bucket{}, burst, noon), noon
		const takings = 50
		for range takings {
			_, wait := l.Check(b, 1, now)
			now = now.Add(wait)
			b = l.Take(b, 1, now)
		}
		early := now.Sub(noon) - time.Microsecond
		if l.unitsIn(time.Microsecond).Cmp(new(big.Rat).SetInt64(1)) >= 0 || burst == 1 {
			early = now.Sub(noon) - takings*time.Microsecond
		}
		if l.unitsIn(early).Cmp(new(big.Rat).SetInt64(takings)) >= 0 {
			t.Fatalf("%d units took %v", takings, now.Sub(noon))
		}
	})
}

func TestLimitWaitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		b := l.Take(Bucket{}, rapid.Int64Range(0, 3*burst).Draw(t, "taken"), noon)
		b = l.Take(b, rapid.Int64Range(0, burst).Draw(t, "taken again"), noon.Add(time.Duration(rapid.Int64Range(0, 60_000_000).Draw(t, "pause"))*time.Microsecond))
		cost := rapid.Int64Range(0, 2*burst).Draw(t, "cost")
		ok, wait := l.Check(b, cost, noon)
		if ok {
			if wait != 0 {
				t.Fatalf("passes and has to wait %v", wait)
			}
			return
		}
		if ok, more := l.Check(b, cost, noon.Add(wait)); !ok {
			t.Fatalf("after waiting %v, another %v", wait, more)
		}
		early := time.Duration(rapid.Int64Range(1, wait.Microseconds()).Draw(t, "early")) * time.Microsecond
		for _, before := range []time.Duration{time.Microsecond, early} {
			if ok, left := l.Check(b, cost, noon.Add(wait-before)); ok || left != before {
				t.Fatalf("%v early: %v, wait %v", before, ok, left)
			}
		}
	})
}

func TestLimitClockGoingBackMintsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		b, passed, now := Bucket{}, int64(0), noon
		for range rapid.IntRange(1, 40).Draw(t, "requests") {
			now = noon.Add(-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "back")))
			cost := rapid.Int64Range(1, burst).Draw(t, "cost")
			if passed == 0 {
				now = noon
			}
			if ok, _ := l.Check(b, cost, now); ok {
				b = l.Take(b, cost, now)
				passed += cost
			}
		}
		if passed > burst {
			t.Fatalf("%d units passed at a clock that never went past its start, burst %d", passed, burst)
		}
	})
}

func TestLimitReturnUndoesTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		b := l.Take(Bucket{}, rapid.Int64Range(0, burst).Draw(t, "before"), noon)
		cost := rapid.Int64().Draw(t, "cost")
		if got := l.Return(l.Take(b, cost, noon), cost); got != b {
			t.Fatalf("bucket %v became %v", b, got)
		}
	})
}

func TestLimitHugeCostsDoNotOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := drawLimit(t)
		b := Bucket{}
		for range rapid.IntRange(1, 20).Draw(t, "takings") {
			before := b
			b = l.Take(b, rapid.Int64Range(math.MaxInt64/2, math.MaxInt64).Draw(t, "cost"), noon)
			if b.Full <= before.Full && b.Full != latest {
				t.Fatalf("full at %v, after another taking at %v", before.Full, b.Full)
			}
			if ok, wait := l.Check(b, 1, noon); ok || wait <= 0 {
				t.Fatalf("Check = %v, %v after a huge cost", ok, wait)
			}
		}
	})
}

// Whoever keeps buckets by the terms of draws, in numbers that a script has,
// comes to the same.
func TestTermsSayWhatTheLimitDoes(t *testing.T) {
	// float64 arithmetic alone, as in Lua.
	type bucket struct{ full, part float64 }
	owed := func(b bucket, now float64) (us, part float64) {
		if b.full < now {
			return 0, 0
		}
		return b.full - now, b.part
	}
	rapid.Check(t, func(t *rapid.T) {
		l, burst := drawLimit(t)
		var b Bucket
		var kept bucket
		for range rapid.IntRange(1, 40).Draw(t, "draws") {
			now := noon.Add(time.Duration(rapid.Int64Range(0, 60_000_000).Draw(t, "at")) * time.Microsecond)
			d := Draw{Limit: l, Cost: rapid.Int64Range(-burst, 2*burst).Draw(t, "cost")}
			us, terms := float64(now.UnixMicro()), d.Terms()
			for _, n := range []int64{terms.Units, terms.CostUS, terms.CostPart, terms.RoomUS, terms.RoomPart} {
				if n < 0 || n >= 1<<53 {
					t.Fatalf("terms %+v: a number that no float64 holds exactly", terms)
				}
			}
			ok, _ := l.Check(b, d.Cost, now)
			ow, op := owed(kept, us)
			if fits := ow < float64(terms.RoomUS) || ow == float64(terms.RoomUS) && op <= float64(terms.RoomPart); fits != ok {
				t.Fatalf("cost %d: passes %v by the terms, %v by the limit", d.Cost, fits, ok)
			}
			if d.Cost < 0 {
				b = l.Return(b, -d.Cost)
				kept.full, kept.part = kept.full-float64(terms.CostUS), kept.part-float64(terms.CostPart)
				if kept.part < 0 {
					kept.full, kept.part = kept.full-1, kept.part+float64(terms.Units)
				}
			} else {
				b = l.Take(b, d.Cost, now)
				if kept.full < us {
					kept = bucket{full: us}
				}
				kept.full, kept.part = kept.full+float64(terms.CostUS), kept.part+float64(terms.CostPart)
				if kept.part >= float64(terms.Units) {
					kept.full, kept.part = kept.full+1, kept.part-float64(terms.Units)
				}
				kept.full = min(kept.full, latest)
			}
			if int64(kept.full) != b.Full || uint64(kept.part) != b.Part {
				t.Fatalf("%+v by the terms, %+v by the limit", kept, b)
			}
		}
	})
}

// What n nodes pass together is what one passes that has the whole limit.
func TestDividedLimits(t *testing.T) {
	for _, whole := range []Limit{PerMinute(60), PerSecond(2, 60), PerSecond(0.5, 12)} {
		for _, n := range []int{1, 2, 3, 4, 6} {
			passed := func(l Limit, span time.Duration) (k int) {
				b := Bucket{}
				for at := time.Duration(0); at <= span; at += 100 * time.Millisecond {
					for now := noon.Add(at); ; k++ {
						if ok, _ := l.Check(b, 1, now); !ok {
							break
						}
						b = l.Take(b, 1, now)
					}
				}
				return k
			}
			if got, want := n*passed(whole.Divide(n), time.Minute), passed(whole, time.Minute); got > want || got < want-n {
				t.Errorf("%+v over %d nodes passes %d, want %d", whole, n, got, want)
			}
		}
	}
	if ok, _ := (Limit{}).Divide(3).Check(Bucket{}, 1<<40, noon); !ok {
		t.Error("no limit refuses something")
	}
}
