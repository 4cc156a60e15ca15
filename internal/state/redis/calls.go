package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/redis/rueidis"
)

// attemptCodes is how many states an attempt has, as small numbers.
const attemptCodes = 4 * attemptLost

// attemptLost is more than Attempt.Lost ever is.
const attemptLost = 8

func attemptOf(code int) haltd.Attempt {
	return haltd.Attempt{Ending: haltd.Ending(code / attemptLost), Lost: uint8(code % attemptLost)}
}

func codeOf(a haltd.Attempt) int { return int(a.Ending)*attemptLost + int(a.Lost) }

// following says for each ending which state follows each state: the rule of
// haltd.Attempt as a table that a script can look into.
var following = func() (tables [4]string) {
	for how := range tables {
		var b strings.Builder
		for code := range attemptCodes {
			fmt.Fprintf(&b, "%02d", codeOf(attemptOf(code).Next(haltd.Ending(how))))
		}
		tables[how] = b.String()
	}
	return tables
}()

// Ended implements the port.
func (s *State) Ended(ctx context.Context, digest uint64, how haltd.Ending) error {
	key := s.numberKey("a", digest)
	if how == haltd.EndedAnswered { // which is what a request is that nobody made
		c, err := s.connected()
		if err != nil {
			return err
		}
		return unavailable(c.Do(ctx, c.B().Del().Key(key).Build()).Error())
	}
	_, err := s.run(ctx, endedScript, []string{key}, []string{following[how], milliseconds(keepAttempt)})
	return err
}

// Reply implements the port. What it keeps are the tokens and the session, with
// a space between them.
func (s *State) Reply(ctx context.Context, agent, reply string) (past haltd.PastReply, err error) {
	text, _, err := s.get(ctx, s.key("r", agent, reply), false)
	if tokens, session, ok := strings.Cut(text, " "); ok {
		past.Session = session
		past.Tokens, _ = strconv.ParseInt(tokens, 10, 64) // of which nothing is kept otherwise
	}
	return past, err
}

// SaveReply implements the port.
func (s *State) SaveReply(ctx context.Context, agent, reply string, past haltd.PastReply) error {
	return s.set(ctx, s.key("r", agent, reply), strconv.FormatInt(past.Tokens, 10)+" "+past.Session, keepReply)
}

// Unsettled implements the port.
func (s *State) Unsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	return s.unsettled(ctx, agent, reply, false)
}

// TakeUnsettled implements the port.
func (s *State) TakeUnsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	return s.unsettled(ctx, agent, reply, true)
}

func (s *State) unsettled(ctx context.Context, agent, reply string, take bool) (u haltd.Unsettled, ok bool, err error) {
	text, ok, err := s.get(ctx, s.key("u", agent, reply), take)
	if err != nil || !ok {
		return u, false, err
	}
	if err := json.Unmarshal([]byte(text), &u); err != nil {
		return haltd.Unsettled{}, false, nil // of another version
	}
	return u, true, nil
}

// SaveUnsettled implements the port.
func (s *State) SaveUnsettled(ctx context.Context, agent, reply string, u haltd.Unsettled) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return s.set(ctx, s.key("u", agent, reply), string(text), keepReply)
}

func (s *State) get(ctx context.Context, key string, take bool) (text string, ok bool, err error) {
	c, err := s.connected()
	if err != nil {
		return "", false, err
	}
	command := c.B().Get().Key(key).Build()
	if take {
		command = c.B().Getdel().Key(key).Build()
	}
	text, err = c.Do(ctx, command).ToString()
	if rueidis.IsRedisNil(err) {
		return "", false, nil
	}
	return text, err == nil, unavailable(err)
}

func (s *State) set(ctx context.Context, key, text string, keep time.Duration) error {
	c, err := s.connected()
	if err != nil {
		return err
	}
	return unavailable(c.Do(ctx, c.B().Set().Key(key).Value(text).Px(keep).Build()).Error())
}

// Use implements the port. A session that this node has used lately cannot have
// ended on another: then nobody waits for Redis, which is told beside the call.
func (s *State) Use(ctx context.Context, digest uint64, now time.Time) (began time.Time, err error) {
	began, known, tell := s.guesses.use(digest, now)
	switch {
	case !known:
		return s.tellUse(ctx, digest, now)
	case tell:
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
			defer cancel()
			_, _ = s.tellUse(ctx, digest, now) // the next one tells it
		}()
	}
	return began, nil
}

func (s *State) tellUse(ctx context.Context, digest uint64, now time.Time) (began time.Time, err error) {
	r, err := s.run(ctx, useScript, []string{s.numberKey("g", digest)},
		[]string{strconv.FormatInt(now.UnixMicro(), 10), strconv.FormatInt(haltd.GuessIdle.Microseconds(), 10), milliseconds(keepGuess)})
	if err != nil {
		return time.Time{}, err
	}
	text, err := r.ToString()
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errAnswer
	}
	if us != 0 {
		began = time.UnixMicro(us)
	}
	s.guesses.add(digest, guess{began, now})
	return began, nil
}

const (
	// guessKnown is for how long a session that was used here is known to go
	// on: less than the pause that ends one, because clocks differ.
	guessKnown = haltd.GuessIdle / 2
	// guessSent is for how long Redis is not told again that it is used:
	// pauses seem longer by that at most.
	guessSent = 5 * time.Second
	// mostGuesses is how many sessions are known so.
	mostGuesses = 50_000
)

// guesses are the guessed sessions that this node has told Redis of lately.
type guesses struct {
	mu    sync.Mutex
	known map[uint64]guess
}

type guess struct{ began, sent time.Time }

func newGuesses() *guesses { return &guesses{known: map[uint64]guess{}} }

// use says what is known of a session, and whether Redis is to be told that it
// is used.
func (g *guesses) use(digest uint64, now time.Time) (began time.Time, known, tell bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k, ok := g.known[digest]
	age := now.Sub(k.sent)
	if !ok || age < -guessSent || age >= guessKnown {
		return time.Time{}, false, false
	}
	if age >= guessSent {
		g.known[digest] = guess{k.began, now}
		return k.began, true, true
	}
	return k.began, true, false
}

func (g *guesses) add(digest uint64, k guess) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= mostGuesses {
		clear(g.known)
	}
	g.known[digest] = k
}
