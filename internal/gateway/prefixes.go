package gateway

import (
	"fmt"
	"sync"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/wire"
)

// prefixes remembers how conversations began, so that the next request of one is
// read on from there: where its first rounds stand, and the digests under which
// the detectors know them, not a word of them. It is found by the digest of the
// bytes alone, whatever session they belong to; agents do not share it. It is
// bounded by its weight.
type prefixes struct {
	limit      int // in bytes
	mu         sync.Mutex
	held       int // bytes of the young
	young, old map[prefixKey]*prefix
}

// prefixKey is an agent and the digest of the whole pieces of a prefix.
type prefixKey struct {
	agent  string
	pieces bodyDigest
}

// prefix is the first rounds of a conversation, as wire and as the detectors know
// them.
type prefix struct {
	*wire.Prefix
	rounds *detection.Known
	digest bodyDigest // of all its bytes
}

func (p *prefix) weight() int {
	const itself = 400 // with its key, in a map
	return itself + p.rounds.Weight()
}

const (
	// prefixMemory is how many bytes of prefixes are kept at most.
	prefixMemory = 8 << 20
	// prefixLookups is in how many places a prefix may end that is looked for,
	// the newest first.
	prefixLookups = 64
)

// readCall reads the call from its body, or from where the body goes on from what
// is known of the conversation.
func (g *Gateway) readCall(x *exchange, plain []byte) (err error) {
	m := wire.Memory{Take: x.textShare.take, Shares: true}
	sent := field(x.r.Header, "Content-Encoding") == "" // the digests are those of plain
	if sent {
		if x.known = g.findPrefix(x); x.known != nil {
			m.Known = x.known.Prefix
		}
	}
	size := len(plain)
	if m.Known != nil {
		size -= m.Known.Len()
	}
	x.texts = acquireBuffer(size)[:0]
	m.Texts = x.texts
	if x.call, err = x.format.ReadCall(x.route.path, plain, &m); err != nil {
		return err
	}
	if m.Known == nil {
		x.known = nil
	}
	if sent {
		x.next = m.Next
	}
	return nil
}

// readWhole reads all rounds of a call of which those that are known were passed
// over.
func (x *exchange) readWhole() *haltd.Call {
	call, err := x.format.ReadCall(x.route.path, x.body, nil)
	if err != nil {
		panic(fmt.Sprintf("what was read in parts is refused as a whole: %v", err))
	}
	x.call, x.known = call, nil
	return call
}

// findPrefix finds the longest beginning of the request that is known.
func (g *Gateway) findPrefix(x *exchange) *prefix {
	for n := len(x.pieces); n > 0 && n > len(x.pieces)-prefixLookups; n-- {
		p := g.prefixes.find(prefixKey{x.event.Agent, x.pieces[n-1]})
		if p != nil && p.Format() == x.format.Name() && p.End() <= len(x.body) && g.hasher.prefix(x.pieces, x.body, p.End()) == p.digest {
			return p
		}
	}
	return nil
}

// keepPrefix remembers how the request began.
func (g *Gateway) keepPrefix(x *exchange) {
	if x.next == nil || x.next.End() < pieceSize || x.decision.Action.Stops() {
		return
	}
	known := x.ticket.Known(x.next.Rounds())
	if known == nil {
		return
	}
	if x.known != nil { // what is longer takes its place
		g.prefixes.drop(g.prefixKey(x, x.known.End()))
	}
	g.prefixes.keep(g.prefixKey(x, x.next.End()), &prefix{x.next, known, g.hasher.prefix(x.pieces, x.body, x.next.End())})
}

func (g *Gateway) prefixKey(x *exchange, end int) prefixKey {
	return prefixKey{x.event.Agent, x.pieces[end/pieceSize-1]}
}

func (s *prefixes) find(key prefixKey) *prefix {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.young[key]; p != nil {
		return p
	}
	p := s.old[key]
	if p != nil {
		s.put(key, p)
	}
	return p
}

func (s *prefixes) keep(key prefixKey, p *prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
	s.put(key, p)
}

func (s *prefixes) drop(key prefixKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
}

func (s *prefixes) remove(key prefixKey) {
	if p := s.young[key]; p != nil {
		s.held -= p.weight()
		delete(s.young, key)
	}
	delete(s.old, key)
}

// put makes a prefix one of the young. When those are half of what may be kept
// they become the old ones, and what nobody has asked for since they last did is
// forgotten.
func (s *prefixes) put(key prefixKey, p *prefix) {
	w := p.weight()
	if w > s.limit/2 {
		return
	}
	if s.held+w > s.limit/2 || s.young == nil {
		s.old, s.young, s.held = s.young, map[prefixKey]*prefix{}, 0
	}
	delete(s.old, key)
	s.young[key] = p
	s.held += w
}
