package detection

import (
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
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
	young, old map[uint64]cached
}

// cached is what a cache holds: a round, an opening, or what was found of notes.
type cached interface{ weight() int }

// NewCache makes a cache that holds about the given number of words (eight
// bytes each).
func NewCache(words int) *Cache {
	return &Cache{seed: maphash.MakeSeed(), limit: words, young: map[uint64]cached{}, old: map[uint64]cached{}}
}

// key digests a round with h, which rounds share.
func (c *Cache) key(h *maphash.Hash, r *haltd.Round, native bool) uint64 {
	h.SetSeed(c.seed)
	writeRound(h, r, native)
	return h.Sum64()
}

// readAll is what is kept of the rounds of a request less the notes in them, from the
// cache where it holds it; ok is false where it does not and a text is not at hand.
func (c *Cache) readAll(s *sent, notes notes, into []readOnce) (ok bool) {
	var missing []int
	for i := range s.keys {
		f, found := c.find(notes.key(s.keys[i])).(*round)
		if !found {
			if s.round(i) == nil {
				return false
			}
			missing = append(missing, i)
		}
		into[i] = readOnce{f, s.turns[i].digest}
	}
	const many = 16 // rounds, from where on a second processor helps
	switch n := len(missing); {
	case n == 0:
	case n < many:
		c.readThese(missing, s, notes, into)
	default:
		c.readAtOnce(missing, s, notes, into)
	}
	return true
}

// readThese reads rounds whose texts are at hand.
func (c *Cache) readThese(missing []int, s *sent, notes notes, into []readOnce) {
	var digest xxhash.Digest
	var less haltd.Round
	for _, i := range missing {
		r := s.round(i)
		f := readRound(notes.less(r, s.native, &less), s.native)
		f.id = roundID(&digest, r, s.native)
		c.put(notes.key(s.keys[i]), f)
		into[i].round = f
	}
}

// readAtOnce is readThese on all processors: an agent waits while a conversation is
// read of which nothing is known, such as after a restart. A panic reaches the caller,
// as it would from readThese.
func (c *Cache) readAtOnce(missing []int, s *sent, notes notes, into []readOnce) {
	var readers sync.WaitGroup
	var fault atomic.Pointer[any]
	share := (len(missing)-1)/runtime.GOMAXPROCS(0) + 1
	for part := range slices.Chunk(missing, share) {
		readers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					fault.Store(&p)
				}
			}()
			c.readThese(part, s, notes, into)
		})
	}
	readers.Wait()
	if p := fault.Load(); p != nil {
		panic(*p)
	}
}

// key is the key of a round less the notes.
func (ns notes) key(key uint64) uint64 {
	for _, n := range ns {
		key = fold(key, n)
	}
	return key
}

// readOpening is what is kept of an opening, from the cache where it holds it:
// the longest part of many requests is sent again with each.
func (c *Cache) readOpening(messages []haltd.Message) *opening {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString("opening")
	for i := range messages {
		h.WriteByte(byte(messages[i].Role))
		h.WriteString(messages[i].Text)
		h.WriteByte(0)
	}
	key := h.Sum64()
	if o, ok := c.find(key).(*opening); ok {
		return o
	}
	o := readOpening(messages)
	c.put(key, o)
	return o
}

func (c *Cache) put(key uint64, f cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, f)
}

func (c *Cache) find(key uint64) cached {
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

// keep puts what was read into the young generation. When it is full it becomes
// the old one, and what the old one held is forgotten unless it is asked for
// again: a clock with two hands instead of a list of uses.
func (c *Cache) keep(key uint64, f cached) {
	n := f.weight()
	if c.held+n > c.limit/2 && len(c.young) > 0 {
		c.old, c.young, c.held = c.young, make(map[uint64]cached, len(c.young)), 0
	}
	c.young[key] = f
	c.held += n
}

// weight is about how many words of eight bytes a round takes.
func (f *round) weight() int {
	return (len(f.does)+len(f.items)+len(f.listed)+len(f.idents)+len(f.ids)+len(f.says)+len(f.claims)+len(f.tells)+len(f.hears)+len(f.turns)+len(f.aims)+len(f.mentions)+len(f.asks)+len(f.lists)+len(f.changes)+len(f.leaves))/2 + 64
}

func (o *opening) weight() int {
	return (len(o.words)+len(o.names))/2 + len(o.counts) + len(o.bounds) + 20
}
