package redis

import (
	"context"
	"encoding"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
	"github.com/redis/rueidis"
)

const (
	// lockTime is how long a lease is exclusive at most: a node that dies with
	// one is in nobody's way after that.
	lockTime = time.Second
	// lockWait is how long a call waits for the lease of another node. After
	// that it goes on without: then the slower of two fails at its commit.
	lockWait = 50 * time.Millisecond
	// The pauses between two looks.
	firstPause, longestPause = 500 * time.Microsecond, 4 * time.Millisecond
)

// memory is what can be written and read back.
type memory interface {
	AppendBinary([]byte) ([]byte, error)
	encoding.BinaryUnmarshaler
}

// value is one of the values of a lease.
type value struct {
	key   string
	known kept   // that this node had
	had   string // the version of it; empty where there is none
	now   memory
}

// lease is what one call has of the state.
type lease struct {
	of      *State
	held    string  // the lock of this node; empty once the lease has ended
	token   string  // empty where the lease is not exclusive
	values  []value // window, session and, where it counts apart, the agent's window
	window  *detection.WindowMemory
	session *detection.SessionMemory
	agent   *detection.WindowMemory // nil where there is none
	version uint64
}

func kindOf(kind string, shadow bool) string {
	if shadow {
		return kind + "x"
	}
	return kind
}

// newLease names the values at a place. One lock guards all of them: that of
// the widest window.
func (s *State) newLease(p state.Place) *lease {
	l := &lease{of: s}
	own := ""
	if p.WindowPerSession {
		own = p.Session
	}
	kind := kindOf("w", p.Shadow)
	l.values = append(make([]value, 0, 3),
		value{key: s.key(kind, p.Agent, own)},
		value{key: s.sessionKey(p)})
	if p.CountsApart() {
		l.values = append(l.values, value{key: s.key(kind, p.Agent, p.Caller)})
	}
	return l
}

func (s *State) sessionKey(p state.Place) string {
	return s.key(kindOf("s", p.Shadow), p.Agent, p.Session)
}

// lock names the lock of a lease.
func (l *lease) lock() string {
	widest := l.values[0].key
	if len(l.values) == 3 {
		widest = l.values[2].key
	}
	return Prefix + "l:" + widest[len(Prefix):]
}

// Acquire implements the port. It asks for the lease alone.
func (s *State) Acquire(ctx context.Context, p state.Place, now time.Time) (state.Lease, error) {
	a, err := s.Open(ctx, state.Question{Place: &p}, now)
	return a.Lease, err
}

// Open answers all that a call asks. On an error it may have taken tokens that
// nobody returns.
func (s *State) Open(ctx context.Context, q state.Question, _ time.Time) (a state.Answer, err error) {
	a.Limits.Refused = -1
	var l *lease
	if q.Place != nil {
		l = s.newLease(*q.Place)
		if err := s.locks.Acquire(ctx, l.lock()); err != nil {
			return a, err
		}
		l.held, l.token = l.lock(), token()
		for i := range l.values {
			l.values[i].known = s.values.take(l.values[i].key)
		}
	}
	locked, answer, err := s.ask(ctx, q, l)
	if err == nil {
		a, err = readAnswer(answer, q)
	}
	if l == nil || err != nil {
		l.abandon()
		return a, err
	}
	if !locked {
		if answer, err = s.awaitLock(ctx, l); err != nil {
			l.abandon()
			return state.Answer{Limits: a.Limits}, err
		}
	}
	if err := l.read(answer[headLength:], q.Place); err != nil {
		l.Release()
		return state.Answer{Limits: a.Limits}, err
	}
	a.Lease = l
	return a, nil
}

// awaitLock asks for the lock until it is free, and then for the values
// without it.
func (s *State) awaitLock(ctx context.Context, l *lease) (answer []rueidis.RedisMessage, err error) {
	end := time.Now().Add(lockWait)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			l.token = ""
		}
		locked, answer, err := s.ask(ctx, state.Question{}, l)
		if err != nil || locked {
			return answer, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// token names a lease, or a version. It is random: a value that was lost and
// made anew must not have a version that somebody knows.
func token() string { return string(binary.BigEndian.AppendUint64(nil, rand.Uint64()|1)) }

// read takes the values as they are in Redis. One that cannot be read starts
// empty.
func (l *lease) read(answers []rueidis.RedisMessage, p *state.Place) error {
	for i := range l.values {
		v := &l.values[i]
		if i < len(answers) && !answers[i].IsNil() {
			text, err := answers[i].ToString()
			if err != nil {
				return unavailable(err)
			}
			if len(text) >= versionLength {
				v.had = text[:versionLength]
			}
			if v.had != "" && v.had == v.known.version {
				v.now = v.known.value.(memory)
				continue
			}
			v.now = empty(i)
			_ = v.now.UnmarshalBinary([]byte(text[len(v.had):])) // of another version: it starts empty
			continue
		}
		v.now = empty(i)
	}
	l.window, l.session = l.values[0].now.(*detection.WindowMemory), l.values[1].now.(*detection.SessionMemory)
	l.window.EmptyBefore(p.Since)
	if len(l.values) == 3 {
		l.agent = l.values[2].now.(*detection.WindowMemory)
		l.agent.EmptyBefore(p.Since)
	}
	if had := l.values[1].had; had != "" {
		l.version = binary.BigEndian.Uint64([]byte(had))
	}
	return nil
}

const versionLength = 8

func empty(i int) memory {
	if i == 1 {
		return &detection.SessionMemory{}
	}
	return &detection.WindowMemory{}
}

// Memory implements state.Lease.
func (l *lease) Memory() detection.Memory {
	return detection.MemoryOf(l.window, l.agent, l.session, l.version)
}

// Exclusive implements state.Lease.
func (l *lease) Exclusive() bool { return l.token != "" }

// Commit implements state.Lease.
func (l *lease) Commit(ctx context.Context) error {
	defer l.Release()
	next := token()
	keys := []string{l.lock()}
	args := []string{l.token, milliseconds(keepState)}
	for i := range l.values {
		v := &l.values[i]
		b, err := v.now.AppendBinary(append(make([]byte, 0, max(v.known.bytes+512, 2<<10)), next...))
		if err != nil {
			return err
		}
		keys, args = append(keys, v.key), append(args, v.had, rueidis.BinaryString(b))
	}
	r, err := l.of.run(ctx, commitScript, keys, args)
	if err != nil {
		return err
	}
	if done, err := r.AsInt64(); err != nil || done != 1 {
		return haltd.Errorf(haltd.CodeConflict, "another call has changed the state of this session")
	}
	l.token = "" // it went with the commit
	for i := range l.values {
		v := &l.values[i]
		l.of.values.put(v.key, kept{next, v.now, len(args[2*i+3])})
	}
	return nil
}

// Release implements state.Lease. Nobody waits for it.
func (l *lease) Release() {
	key := l.held
	if l.held = ""; key == "" {
		return
	}
	if l.token == "" {
		l.of.locks.Release(key)
		return
	}
	go func() {
		defer l.of.locks.Release(key)
		l.unlock(key)
	}()
}

// abandon ends a lease of which nobody knows whether Redis gave it. The next
// call of this node does not wait for that to be found out.
func (l *lease) abandon() {
	if l == nil {
		return
	}
	key := l.held
	l.held = ""
	l.of.locks.Release(key)
	if l.token != "" {
		go l.unlock(key)
	}
}

// unlock gives the lock back; one that is not ends by itself.
func (l *lease) unlock(key string) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	_, _ = l.of.run(ctx, releaseScript, []string{key}, []string{l.token})
}

// Await implements the port. It looks again and again: mostly the change comes
// within a moment, and a call waits a moment at most.
func (s *State) Await(ctx context.Context, p state.Place, version uint64) error {
	c, err := s.connected()
	if err != nil {
		return err
	}
	key, had := s.sessionKey(p), ""
	if version != 0 {
		had = string(binary.BigEndian.AppendUint64(nil, version))
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		now, err := c.Do(ctx, c.B().Getrange().Key(key).Start(0).End(versionLength-1).Build()).ToString()
		if err != nil {
			return unavailable(err)
		}
		if now != had {
			return nil
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}
