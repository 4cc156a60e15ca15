package detect

import (
	"hash/maphash"
	"sync"

	"github.com/haltd/haltd"
)

// Cache keeps what was read of rounds by a digest of their content, so that a
// conversation that grows by one round costs one round. It is bounded, and
// safe for use by many sessions at once. The digest is seeded anew in every
// process: no agent can make a round that passes for another's.
type Cache struct {
	seed       maphash.Seed
	mu         sync.Mutex
	limit      int // words held, over both generations
	held       int
	young, old map[uint64]*round
}

// NewCache makes a cache that holds about the given number of words (eight
// bytes each).
func NewCache(words int) *Cache {
	return &Cache{seed: maphash.MakeSeed(), limit: words, young: map[uint64]*round{}, old: map[uint64]*round{}}
}

// read is what is kept of a round, from the cache where it holds it.
func (c *Cache) read(r *haltd.Round, native bool) *round {
	var h maphash.Hash
	h.SetSeed(c.seed)
	writeRound(&h, r, native)
	key := h.Sum64()
	if f := c.find(key); f != nil {
		return f
	}
	f := readRound(r, native)
	f.id = roundID(r, native)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, f)
	return f
}

func (c *Cache) find(key uint64) *round {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.young[key]; ok {
		return f
	}
	f := c.old[key]
	if f != nil {
		c.keep(key, f)
	}
	return f
}

// keep puts a round into the young generation. When it is full it becomes
// the old one, and what the old one held is forgotten unless it is asked for
// again: a clock with two hands instead of a list of uses.
func (c *Cache) keep(key uint64, f *round) {
	n := f.weight()
	if c.held+n > c.limit/2 && len(c.young) > 0 {
		c.old, c.young, c.held = c.young, make(map[uint64]*round, len(c.young)), 0
	}
	c.young[key] = f
	c.held += n
}

// weight is about how many words of eight bytes a round takes.
func (f *round) weight() int {
	return (len(f.does)+len(f.items)+len(f.idents)+len(f.ids)+len(f.says)+len(f.claims)+len(f.tells)+len(f.hears)+len(f.turns)+len(f.aims)+len(f.mentions)+len(f.lists))/2 + 60
}
