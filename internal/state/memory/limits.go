package memory

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/policy"
)

// Limits keeps the buckets of rate limits and the counters of identical
// requests. A bucket or counter that was evicted starts anew.
type Limits struct {
	mu       sync.Mutex
	buckets  *recent[string, policy.Bucket]
	seed     maphash.Seed
	counters *recent[uint64, detect.LoopCounter] // by a seeded hash: every request has one
}

// NewLimits keeps at least the last keep buckets and counters.
func NewLimits(keep int) *Limits {
	return &Limits{
		buckets: newRecent[string, policy.Bucket](keep),
		seed:    maphash.MakeSeed(), counters: newRecent[uint64, detect.LoopCounter](keep),
	}
}

// Check reports the first draw that its bucket refuses and how long to wait
// for it; -1 when all would pass. It takes nothing.
func (l *Limits) Check(_ context.Context, draws []policy.Draw, now time.Time) (refused int, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused, wait = l.check(draws, now)
	return refused, wait, nil
}

// Take draws from all buckets, or from none when one of them refuses.
func (l *Limits) Take(_ context.Context, draws []policy.Draw, now time.Time) (refused int, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refused, wait = l.check(draws, now); refused < 0 {
		for _, d := range draws {
			l.update(d.Key, func(b policy.Bucket) policy.Bucket { return d.Limit.Take(b, d.Cost, now) })
		}
	}
	return refused, wait, nil
}

func (l *Limits) check(draws []policy.Draw, now time.Time) (int, time.Duration) {
	for i, d := range draws {
		b, _ := l.buckets.get(d.Key)
		if ok, wait := d.Limit.Check(b, d.Cost, now); !ok {
			return i, wait
		}
	}
	return -1, 0
}

// Charge takes what was used beyond what had been drawn, into debt if need
// be; a negative cost gives back.
func (l *Limits) Charge(_ context.Context, d policy.Draw, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.update(d.Key, func(b policy.Bucket) policy.Bucket {
		if d.Cost < 0 {
			return d.Limit.Return(b, -d.Cost)
		}
		return d.Limit.Take(b, d.Cost, now)
	})
	return nil
}

func (l *Limits) update(key string, f func(policy.Bucket) policy.Bucket) {
	b, _ := l.buckets.get(key)
	l.buckets.set(key, f(b))
}

// Hit counts one more request under key and says how many there were within
// the window, which every hit renews.
func (l *Limits) Hit(_ context.Context, key string, window time.Duration, now time.Time) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := maphash.String(l.seed, key)
	c, _ := l.counters.get(k)
	c = c.Hit(now, window)
	l.counters.set(k, c)
	return c.Count, nil
}
