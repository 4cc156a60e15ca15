package detect

import (
	"hash/maphash"

	"github.com/haltd/haltd"
)

// sent is the rounds of a request, by digests under which a cache keeps what was
// read of each, and with their texts.
type sent struct {
	native bool // see isNative
	keys   []uint64
	rounds []haltd.Round
}

func (c *Cache) sent(rounds []haltd.Round, native bool) *sent {
	s := &sent{native: native, keys: make([]uint64, len(rounds)), rounds: rounds}
	var digest maphash.Hash
	for i := range rounds {
		s.keys[i] = c.key(&digest, &rounds[i], native)
	}
	return s
}

func (s *sent) round(i int) *haltd.Round { return &s.rounds[i] }
