package gateway

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// retellings follows agents that tell their history anew in the only message that
// they send: no two of those are alike, so that a session guessed from the first
// message would have one call. What such a message quotes of an earlier reply tells
// whose it is. Digests alone are kept, on this node, of requests that begin alike;
// of the first one of those nothing is read, most have no second.
type retellings struct {
	mu         sync.Mutex
	young, old map[uint64]*retelling
}

// retelling is requests that begin alike.
type retelling struct {
	threads []*thread // the newest last
	anew    int       // how many began anew since one told on
}

// thread is a session that may be told on.
type thread struct {
	session string
	guess   uint64
	used    time.Time
	quotes  []quote // from its newest reply
	takenBy uint64  // the message that goes on from that; 0 where none does
	told    int     // how many requests went on so in a row
}

// quote is a piece of a reply, and how often its request had it already.
type quote struct {
	piece
	times int
}

// piece is the digest of a few words.
type piece struct {
	digest uint64
	weight int // two, but one of those that are short
}

// retold is a request that may tell on.
type retold struct {
	form    uint64   // how it begins
	message uint64   // its digest
	pieces  []uint64 // of its texts, sorted
	from    *thread  // nil where it begins anew
}

const (
	// mostRetellings is of how many requests that begin alike threads are kept.
	mostRetellings = 4096
	// mostThreads is how many of each.
	mostThreads = 32
	// mostPieces is how many pieces of a request are kept until its reply is there,
	mostPieces = 2048
	// mostQuotes how many of a reply,
	mostQuotes = 16
	// formHead how many bytes of a message say how it begins,
	formHead = 32
	// shortestPiece how many a piece has at least,
	shortestPiece = 12
	// longestLabel one that is left out before it, of which there are
	longestLabel = 32
	mostLabels   = 4
	// shortestHistory is how many bytes a message has at least that tells one.
	shortestHistory = 200
	// batch is how many requests that begin alike and tell nothing are one.
	batch = 16
	// surelyTold is after how many requests that told on only the newest of a history
	// may be told.
	surelyTold = 3
)

// mayTell reports a request that may tell on: others began as it does. Where many did
// and none told on, as in a batch, few are looked at.
func (s *retellings) mayTell(form uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(form)
	if r == nil {
		return false
	}
	r.anew++
	return r.anew < batch || r.anew%batch < 3
}

// find is what is kept of requests that begin so; nil of the first, which is noted.
func (s *retellings) find(form uint64) *retelling {
	r := s.young[form]
	if r != nil {
		return r
	}
	known := s.old[form]
	if r = known; r == nil {
		r = &retelling{}
	}
	if len(s.young) >= mostRetellings || s.young == nil {
		s.old, s.young = s.young, make(map[uint64]*retelling)
	}
	s.young[form] = r
	return known
}

// follow finds the thread that a request tells on, and takes it: two agents that were
// told the same go on from one of two threads each.
func (s *retellings) follow(call *retold, now time.Time) (session string, guess uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, most := s.find(call.form), 0
	if r == nil {
		return "", 0
	}
	for _, t := range slices.Backward(r.threads) {
		taken := t.takenBy != 0 && t.takenBy != call.message // by another
		if n := t.quotedIn(call.pieces); n > most && !taken && now.Sub(t.used) <= haltd.GuessIdle {
			call.from, most = t, n
		}
	}
	if call.from == nil {
		return "", 0
	}
	call.from.takenBy, r.anew = call.message, 0
	return call.from.session, call.from.guess
}

// quotedIn is how much of the newest reply a request quotes; 0 where that is too
// little. What the reply's own request said says nothing, until it is said more often.
func (t *thread) quotedIn(pieces []uint64) (weight int) {
	all := 0
	for _, q := range t.quotes {
		all += q.weight
		if times := timesIn(pieces, q.digest); times > q.times || times > 0 && t.told >= surelyTold {
			weight += q.weight
		}
	}
	if weight < min(2, all) {
		return 0
	}
	return weight
}

// letGo lets others take what a request has taken that was not sent.
func (s *retellings) letGo(call *retold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if call.from != nil && call.from.takenBy == call.message {
		call.from.takenBy = 0
	}
}

// keep notes what of a reply the next request may quote. Where that is nothing, what
// was said before may still be quoted.
func (s *retellings) keep(call *retold, session string, guess uint64, quotes []quote, now time.Time) {
	t := &thread{session: session, guess: guess, used: now, quotes: quotes}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(call.form)
	if r == nil {
		return // it was evicted meanwhile
	}
	if before := call.from; before != nil {
		t.told = before.told + 1
		if len(t.quotes) == 0 {
			t.quotes = before.quotes
		}
	}
	if len(t.quotes) == 0 {
		return
	}
	r.threads = slices.DeleteFunc(r.threads, func(o *thread) bool { return o == call.from || now.Sub(o.used) > haltd.GuessIdle })
	if len(r.threads) == mostThreads {
		r.threads = slices.Delete(r.threads, 0, 1)
	}
	r.threads = append(r.threads, t)
}

// quotesOf are the pieces of a reply, with how often they stood in its request.
func quotesOf(reply *haltd.Reply, asked []uint64) (qs []quote) {
	add := func(p piece) bool {
		if !slices.ContainsFunc(qs, func(q quote) bool { return q.piece == p }) {
			qs = append(qs, quote{p, timesIn(asked, p.digest)})
		}
		return len(qs) < mostQuotes
	}
	if !eachPiece(reply.Text, false, add) {
		return qs
	}
	for i := range reply.Calls {
		if !eachPiece(reply.Calls[i].Arguments, false, add) {
			return qs
		}
	}
	return qs
}

// timesIn is how often a piece stands in a sorted list.
func timesIn(pieces []uint64, piece uint64) int {
	at, _ := slices.BinarySearch(pieces, piece)
	n := 0
	for at+n < len(pieces) && pieces[at+n] == piece {
		n++
	}
	return n
}

// readRetold reads a request without a history that may tell it; nil where none
// began as it does.
func (g *Gateway) readRetold(x *exchange) *retold {
	c := x.call
	if !detection.IsFirst(c) || len(c.FirstUser()) < shortestHistory {
		return nil
	}
	form := fold(x.keyDigest, xxhash.Sum64String(x.event.Agent))
	form = fold(form, xxhash.Sum64String(c.Hints.User))
	for i := range c.Opening {
		form = fold(form, headDigest(c.Opening[i].Text))
	}
	if !g.retellings.mayTell(form) {
		return nil
	}
	r := &retold{form: form}
	for i := range c.Opening {
		r.message = fold(r.message, xxhash.Sum64String(c.Opening[i].Text))
		eachPiece(c.Opening[i].Text, true, func(p piece) bool {
			r.pieces = append(r.pieces, p.digest)
			return len(r.pieces) < mostPieces
		})
	}
	slices.Sort(r.pieces)
	return r
}

func fold(a, b uint64) uint64 { return a*0x9e3779b97f4a7c15 + b }

// headDigest digests how a message begins: its first line, without words that have
// a digit, such as numbers and ids.
func headDigest(text string) (digest uint64) {
	text = strings.TrimLeft(text, " \t\r\n")
	text = text[:min(len(text), formHead)]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	for word := range strings.FieldsSeq(text) {
		if strings.IndexAny(word, "0123456789") < 0 {
			digest = fold(digest, xxhash.Sum64String(word))
		}
	}
	return digest
}

// eachPiece yields the pieces of a text, as they stand between line breaks, quotes and
// brackets, without the labels before them: "Thought: Next goal: open the list". With
// labelled it yields those with some of their labels, too. It reports whether it was
// let go on to the end.
func eachPiece(text string, labelled bool, yield func(piece) bool) bool {
	for len(text) > 0 {
		end := endOfPiece(text)
		for s, labels := text[:end], 0; s != ""; labels++ {
			rest := ""
			if at := strings.Index(s[:min(len(s), longestLabel)], ": "); at >= 0 && labels < mostLabels {
				rest = s[at+2:]
			}
			if labelled || len(rest) < shortestPiece {
				if p := pieceOf(s); p.weight > 0 && !yield(p) {
					return false
				}
			}
			s = rest
		}
		text = text[min(end+1, len(text)):]
	}
	return true
}

// endOfPiece is where the first piece of a text ends.
func endOfPiece(text string) int {
	for i := range len(text) {
		switch text[i] {
		case '\n', '"', '{', '}', '[', ']', '<', '>', '\\', ';':
			return i
		case '\'': // but in the midst of a word
			if i == 0 || i == len(text)-1 || !isLetter(text[i-1]) || !isLetter(text[i+1]) {
				return i
			}
		}
	}
	return len(text)
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }

// pieceOf is the digest of what says enough to be known again: three words, or a long
// one.
func pieceOf(s string) piece {
	s = strings.Trim(s, " \t\r:,*#|-()$")
	switch {
	case len(s) >= 2*shortestPiece:
		return piece{xxhash.Sum64String(s), 2}
	case len(s) >= shortestPiece && strings.Count(s, " ") >= 2:
		return piece{xxhash.Sum64String(s), 1}
	}
	return piece{}
}

// rememberRetold keeps what the next request may quote.
func (g *Gateway) rememberRetold(x *exchange) {
	switch {
	case x.retold == nil:
	case !x.forwarded:
		g.retellings.letGo(x.retold)
	case x.reply != nil:
		g.retellings.keep(x.retold, x.event.Session, x.guess, quotesOf(x.reply, x.retold.pieces), g.clock())
	}
}
