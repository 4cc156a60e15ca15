package detect

import (
	lru "container/list"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Options are what a Guard is made with. The zero value is the defaults that
// the gateway has with its kill switch on.
type Options struct {
	// WarnAt and KillAt are the lines of stall, certainties in percent; 0 is
	// the model's own.
	WarnAt, KillAt float64
	// WindowSize and Threshold belong to similarity: it fires when the score
	// of the last WindowSize calls exceeds Threshold. 0 is 20 and 10.
	WindowSize int
	Threshold  float64
	// Literal lets similarity kill by its score alone, without a second signal
	// and whatever the rounds show.
	Literal bool
	// Stateless exempts calls that are independent of each other (cron jobs,
	// evaluations) from similarity.
	Stateless bool
	// MinPromptTokens is a floor below which growth is not reported.
	MinPromptTokens int64
	// Sessions is how many sessions are kept; the one that was not asked for
	// the longest is forgotten first. 0 is 1,024.
	Sessions int
	// Clock tells the time; nil is time.Now. Where it answers the zero time,
	// what depends on time is skipped.
	Clock haltd.Clock
}

// settings are the defaults with what the options say.
func (o *Options) settings() detection.Settings {
	set := detection.DefaultSettings()
	set.WarnAt, set.KillAt, set.Stateless, set.MinPromptTokens = o.WarnAt, o.KillAt, o.Stateless, o.MinPromptTokens
	set.RequireCorroboration = !o.Literal
	if o.WindowSize > 0 {
		set.WindowSize = o.WindowSize
	}
	if o.Threshold > 0 {
		set.Threshold = o.Threshold
	}
	return set
}

// Guard watches the sessions of one agent, in the agent's own process. It is
// safe for use by many goroutines.
type Guard struct {
	settings detection.Settings
	clock    haltd.Clock
	cache    *detection.Cache
	most     int

	mu       sync.Mutex
	calls    detection.Window // where equal calls of all sessions are counted
	sessions map[string]*lru.Element
	used     lru.List // of *GuardSession, the last one asked for in front
}

// What a guard keeps by itself: rounds that were read, in words of eight
// bytes, and sessions.
const guardWords, guardSessions = 1 << 18, 1 << 10

// New makes a guard for one agent.
func New(o Options) *Guard {
	g := &Guard{settings: o.settings(), clock: o.Clock, cache: detection.NewCache(guardWords), most: o.Sessions, sessions: map[string]*lru.Element{}}
	if g.clock == nil {
		g.clock = time.Now
	}
	if g.most <= 0 {
		g.most = guardSessions
	}
	return g
}

// Session is the session of that id: one conversation or run of the agent. It
// begins when its id is named for the first time.
func (g *Guard) Session(id string) *GuardSession {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.sessions[id]; e != nil {
		g.used.MoveToFront(e)
		return e.Value.(*GuardSession)
	}
	s := &GuardSession{guard: g, id: id}
	g.sessions[id] = g.used.PushFront(s)
	if g.used.Len() > g.most {
		g.forget(g.used.Back())
	}
	return s
}

// Forget drops a session that is over.
func (g *Guard) Forget(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.sessions[id]; e != nil {
		g.forget(e)
	}
}

func (g *Guard) forget(e *lru.Element) {
	delete(g.sessions, g.used.Remove(e).(*GuardSession).id)
}

// GuardSession is what a Guard knows of one session: digests and words, never
// a text. Calls of a session follow each other; agents that work side by side
// are sessions of their own.
type GuardSession struct {
	guard *Guard
	id    string

	mu     sync.Mutex
	memory detection.GuardMemory
}

// Check judges a call before it is sent. Level says what to do: Pass, Warn
// (it may be a loop: tell a person) or Kill (it is one: do not send it). A
// call that is not killed counts as sent; Observe takes its reply, Withdraw
// takes it back.
func (s *GuardSession) Check(call *haltd.Call) Detection {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, m := s.guard, &s.memory
	h := detection.Read(g.cache, call, m.Session.Pending())
	now := g.clock()
	if m.Resumed {
		m.Window.Clear()
		m.Mark, m.Resumed = m.Session.MarkHere(h, now), false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	st := s.state()
	d := detection.Judge(g.settings, st, h, now)
	m.Entry = 0
	if d.Level < Kill {
		m.Entry = detection.Admit(g.settings, st, d, now)
		m.Source, m.Loose = detection.Source{Model: call.Model, System: call.System}, len(call.Rounds) == 0
	}
	return detectionOf(d)
}

// Observe takes the reply to the call that was checked last. It returns what
// only the reply shows: prompts that grow call after call.
func (s *GuardSession) Observe(reply *haltd.Reply) []Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.memory
	answer := detection.ReadReply(reply, m.Loose)
	if m.Entry == 0 {
		return nil
	}
	g := s.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	signals := detection.Observe(g.settings, s.state(), m.Entry, m.Source, answer, g.clock())
	for i := range signals {
		signals[i].Session = s.id
	}
	m.Entry = 0
	return signals
}

// Withdraw takes back the call that was checked last, which was not sent after
// all, or failed and will be tried again: a retry is no loop.
func (s *GuardSession) Withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory.Entry == 0 {
		return
	}
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	detection.Withdraw(s.state(), s.memory.Entry)
	s.memory.Entry = 0
}

// Resume lets a session go on that was killed, after a person has looked at
// it: the rounds that the next call shows are no evidence any more.
func (s *GuardSession) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.Resumed = true
}

func (s *GuardSession) state() detection.State {
	return s.memory.State(s.id, &s.guard.calls)
}

// MarshalBinary writes the session, for another process or a later one to go
// on with. It holds no text of the conversation.
func (s *GuardSession) MarshalBinary() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.AppendBinary(nil)
}

// UnmarshalBinary puts what MarshalBinary wrote in the place of all that the
// session knew. What it cannot read, such as a session of another version, is
// an error and leaves an empty session: begin anew, the next calls tell most.
func (s *GuardSession) UnmarshalBinary(b []byte) error {
	var read detection.GuardMemory
	err := read.UnmarshalBinary(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory = read
	return err
}
