package detection

import (
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// WindowMemory is what is remembered of the calls that similarity compares.
// It can be written and read back: AppendBinary, UnmarshalBinary.
type WindowMemory struct {
	Window  Window
	Similar Rejections // for what the window shows
	Warned  time.Time  // when a call without a history last told of it; zero when none has
	Since   time.Time  // the decision after which it was last emptied
}

// EmptyBefore empties the window where a person's decision did so after it
// began. An older one is that of a reply that was on its way.
func (w *WindowMemory) EmptyBefore(since time.Time) {
	if since.After(w.Since) {
		w.Window.Clear()
		w.Similar, w.Warned, w.Since = Rejections{}, time.Time{}, since
	}
}

// SessionMemory is what is remembered of a session. It can be written and
// read back like WindowMemory.
type SessionMemory struct {
	Session  Session
	Progress SessionProgress
}

// GuardMemory is what a guard in the agent's own process remembers of a session.
// It can be written and read back like WindowMemory.
type GuardMemory struct {
	Window  Window
	Session Session
	Mark    Mark
	Resumed bool   // the next call shows what is put behind the mark
	Entry   uint64 // of the call that has no reply yet; 0 where there is none
	Source  Source // of that call
	Loose   bool   // that call carries no history
}

// State is what the detectors know of the session of that id, where equal calls of
// all sessions are counted in a window of the agent.
func (g *GuardMemory) State(id string, agent *Window) State {
	return State{Window: &g.Window, Agent: agent, Session: &g.Session, SessionID: xxhash.Sum64String(id), Mark: g.Mark}
}

// Memory is what is remembered of a session, and of the window that it shares
// or has. Whoever keeps it hands it to one call at a time.
type Memory struct {
	Window *Window
	// Agent is where equal calls of all sessions are counted; nil where the
	// window is the agent's own, or the agent is many callers.
	Agent    *Window
	Similar  *Rejections
	Warned   *time.Time
	Session  *Session
	Progress *SessionProgress
	// Version is how often the state of the session was changed; see Await
	// of whoever keeps it.
	Version uint64
}

// MemoryOf is the memory of a session, in parts that are kept apart: the
// window, that of the agent where equal calls are counted apart, and the session.
func MemoryOf(w, agent *WindowMemory, s *SessionMemory, version uint64) Memory {
	m := Memory{Window: &w.Window, Similar: &w.Similar, Warned: &w.Warned, Session: &s.Session, Progress: &s.Progress, Version: version}
	if agent != nil {
		m.Agent = &agent.Window
	}
	return m
}

// LastReply is when the newest reply was complete that the windows know of;
// zero where they know of none.
func (m *Memory) LastReply() (newest time.Time) {
	for _, w := range [...]*Window{m.Window, m.Agent} {
		if w == nil {
			continue
		}
		for i := range w.entries {
			if t := w.entries[i].ended; t.After(newest) {
				newest = t
			}
		}
	}
	return newest
}

// SessionProgress is what was made of a session so far.
type SessionProgress struct {
	ReportedLevel haltd.Level // the highest so far
	// Mark is where the rounds that count begin, as of the activation at
	// Marked.
	Mark    Mark
	Marked  time.Time
	Stalled Rejections // for what the session shows
	Tally   Tally
	Climb   Climb
}

// Tally is what a session has used so far, and what its current turn has.
type Tally struct {
	Began  time.Time // of the session; zero until the record was asked for it
	Calls  int64
	Cost   haltd.Money
	Tokens int64

	Turn      uint64 // names the message that began the turn; 0 for the first
	TurnCalls int64
	TurnCost  haltd.Money
}

// Begin begins a turn with a message of a person, unless that is the one that
// began it already.
func (t *Tally) Begin(turn uint64) {
	if turn != 0 && turn != t.Turn {
		t.Turn, t.TurnCalls, t.TurnCost = turn, 0, 0
	}
}

// Call counts calls; a negative number takes them back.
func (t *Tally) Call(n int64) {
	t.Calls, t.TurnCalls = max(0, t.Calls+n), max(0, t.TurnCalls+n)
}

// Spend counts what a call cost.
func (t *Tally) Spend(s haltd.Spending) {
	t.Cost, t.TurnCost, t.Tokens = t.Cost+s.Cost, t.TurnCost+s.Cost, t.Tokens+s.Tokens
}

// Climb is how far up its ladder a session is.
type Climb struct {
	Rung     haltd.Action // the highest so far
	Steers   int          // how often it was steered
	Round    int          // how many rounds there were then
	News     int          // rounds since that brought something new
	Incident string       // of the steer
	Steps    []haltd.Rung
}

// mostSteps bounds what is kept of a climb; a ladder has fewer rungs.
const mostSteps = 8

// Step keeps a rung that was climbed.
func (c *Climb) Step(r haltd.Rung) {
	c.Rung = max(c.Rung, r.Action)
	if len(c.Steps) < mostSteps {
		c.Steps = append(c.Steps[:len(c.Steps):len(c.Steps)], r)
	}
}

// Rejections are requests that were turned away for a while.
type Rejections struct {
	Last     time.Time // when a request was last; zero when none has been since they ended
	Incident string    // what they are filed under
	Began    time.Time // of the incident
}
