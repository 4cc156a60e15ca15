package gateway

import (
	"sync/atomic"
)

// bodyMemory counts the bytes that bodies in flight take: as they were sent,
// decoded, and as the texts that are read from them; requests and what is kept
// of replies alike. It is a semaphore by bytes on which nobody waits: whoever
// would exceed the limit is refused and returns what it has, so that two bodies
// that grow never wait for each other.
type bodyMemory struct{ used atomic.Int64 }

// memoryShare is what one holder has taken of it. One goroutine at a time may
// use a share.
type memoryShare struct {
	memory *bodyMemory
	limit  int64
	taken  int64
}

// take takes more, or nothing when that would exceed the limit.
func (s *memoryShare) take(bytes int64) bool {
	if used := s.memory.used.Add(bytes); used > s.limit {
		s.memory.used.Add(-bytes)
		return false
	}
	s.taken += bytes
	return true
}

// takeSpare takes what is not needed yet, as long as all that is taken stays
// within a quarter of the limit: the rest is for bodies that have arrived.
func (s *memoryShare) takeSpare(bytes int64) bool {
	return s.memory.used.Load()+bytes <= s.limit/4 && s.take(bytes)
}

// release returns all that was taken.
func (s *memoryShare) release() {
	if s.taken != 0 {
		s.memory.used.Add(-s.taken)
		s.taken = 0
	}
}

// BodyBytes is how much memory the bodies in flight take now.
func (g *Gateway) BodyBytes() int64 { return g.memory.used.Load() }
