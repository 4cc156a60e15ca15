package gateway

import (
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/recent"
)

// turns knows in which guessed session the assistant said what. A client that drops
// its oldest messages, or writes the time into the first of them, begins otherwise at
// each call; its newest turn is the reply that it got. Digests alone are kept, on this
// node.
type turns struct{ said *recent.Cache[uint64, turn] }

// turn is where something was said last; of no session where it was in several.
type turn struct {
	session string
	guess   uint64
	at      time.Time
}

const (
	// mostTurns is how many turns are kept at least.
	mostTurns = 20_000
	// shortestTurn is how many bytes a text has at least that is not said by chance
	// in two conversations,
	shortestTurn = 48
	// and shortestID how many the id of a tool call.
	shortestID = 8
)

func newTurns() turns { return turns{recent.New[uint64, turn](mostTurns)} }

// find is the session in which a turn was said before.
func (s turns) find(digest uint64, now time.Time) (session string, guess uint64) {
	t, ok := s.said.Get(digest)
	if !ok || now.Sub(t.at) > haltd.GuessIdle {
		return "", 0
	}
	return t.session, t.guess
}

// keep notes what was said in a session.
func (s turns) keep(digest uint64, session string, guess uint64, now time.Time) {
	s.said.Update(digest, func(before turn) turn {
		if !before.at.IsZero() && before.session != session && now.Sub(before.at) <= haltd.GuessIdle {
			session = ""
		}
		return turn{session, guess, now}
	})
}

// turnDigest digests what an assistant said: the calls of tools by their ids, else
// the text. It is 0 of what others may say as well.
func (x *exchange) turnDigest(text string, calls []haltd.ToolCall) uint64 {
	digest := fold(x.keyDigest, xxhash.Sum64String(x.event.Agent))
	if len(calls) == 0 {
		if text = strings.TrimSpace(text); len(text) < shortestTurn {
			return 0
		}
		return fold(digest, xxhash.Sum64String(text))
	}
	for i := range calls {
		if len(calls[i].ID) < shortestID {
			return 0
		}
		digest = fold(digest, xxhash.Sum64String(calls[i].ID))
	}
	return digest
}

// findTurn is the session of the reply that a request shows as its newest turn.
func (g *Gateway) findTurn(x *exchange) (session string, guess uint64) {
	n := len(x.call.Rounds)
	if n == 0 {
		return "", 0
	}
	last := &x.call.Rounds[n-1]
	digest := x.turnDigest(last.Text, last.Calls)
	if digest == 0 {
		return "", 0
	}
	return g.turns.find(digest, g.clock())
}

// rememberTurn keeps in which guessed session a reply was given.
func (g *Gateway) rememberTurn(x *exchange) {
	if x.guess == 0 || x.reply == nil || !x.forwarded {
		return
	}
	if digest := x.turnDigest(x.reply.Text, x.reply.Calls); digest != 0 {
		g.turns.keep(digest, x.event.Session, x.guess, g.clock())
	}
}
