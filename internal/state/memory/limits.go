package memory

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/recent"
)

// Limits keeps the buckets of rate limits and the counters of identical
// requests. A bucket or counter that was evicted starts anew.
type Limits struct {
	mu       sync.Mutex
	buckets  *recent.Cache[string, policy.Bucket]
	seed     maphash.Seed
	counters *recent.Cache[uint64, counter] // by a seeded hash: every request has one
	times    instants
}

// counter is a policy.LoopCounter.
type counter struct {
	count   int
	expires instant
}

// NewLimits keeps at least the last keep buckets and counters.
func NewLimits(keep int) *Limits {
	return &Limits{
		buckets: recent.New[string, policy.Bucket](keep),
		seed:    maphash.MakeSeed(), counters: recent.New[uint64, counter](keep),
	}
}

// Take answers all that a request asks of buckets and counters.
func (l *Limits) Take(c policy.Claim, now time.Time) (a policy.Answer) {
	if len(c.Draws)+len(c.Shadows)+len(c.Hits) == 0 {
		return policy.Answer{Refused: -1}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Refused, a.Wait = l.take(c.Draws, now)
	for i := range c.Shadows {
		refused, wait := l.take(c.Shadows[i:i+1], now)
		if refused < 0 {
			wait = 0
		}
		a.Shadows = append(a.Shadows, wait)
	}
	for _, h := range c.Hits {
		k := maphash.String(l.seed, h.Key)
		before, _ := l.counters.Get(k)
		after := policy.LoopCounter{Count: before.count, Expires: l.times.time(before.expires)}.Hit(now, h.Window)
		l.counters.Set(k, counter{after.Count, l.times.keep(after.Expires)})
		a.Counts = append(a.Counts, after.Count)
	}
	return a
}

func (l *Limits) take(draws []policy.Draw, now time.Time) (refused int, wait time.Duration) {
	if refused, wait = l.check(draws, now); refused < 0 {
		for _, d := range draws {
			l.charge(d, now)
		}
	}
	return refused, wait
}

func (l *Limits) check(draws []policy.Draw, now time.Time) (int, time.Duration) {
	for i, d := range draws {
		b, _ := l.buckets.Get(d.Key)
		if ok, wait := d.Limit.Check(b, d.Cost, now); !ok {
			return i, wait
		}
	}
	return -1, 0
}

// Charge takes what was used beyond what had been drawn, into debt if need
// be; a negative cost gives back. It never fails.
func (l *Limits) Charge(_ context.Context, draws []policy.Draw, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range draws {
		l.charge(d, now)
	}
	return nil
}

func (l *Limits) charge(d policy.Draw, now time.Time) {
	b, _ := l.buckets.Get(d.Key)
	if d.Cost < 0 {
		b = d.Limit.Return(b, -d.Cost)
	} else {
		b = d.Limit.Take(b, d.Cost, now)
	}
	l.buckets.Set(d.Key, b)
}
