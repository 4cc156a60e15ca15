package detect

import "time"

// Place names what is remembered for a session between its calls.
type Place struct {
	Agent, Session string
	// WindowPerSession gives the session a window of its own; else it
	// shares that of its agent.
	WindowPerSession bool
	// OneAgent says that all sessions are of one caller: equal calls are
	// counted over all of them, whosever the window is.
	OneAgent bool
	// Shadow keeps what is only tried apart from what is enforced.
	Shadow bool
	// Since is when the window was last emptied by a person's decision: one
	// that began earlier is emptied now.
	Since time.Time
}

// Memory is what is remembered of a session. Whoever keeps it hands it to one
// call at a time.
type Memory struct {
	Window *Window
	// Agent is where equal calls of all sessions are counted; nil where the
	// window is the agent's own, or the agent is many callers.
	Agent   *Window
	Similar *Rejections // for what the window shows
	Session *Session
	Note    *Note
}

// Note is what was made of a session so far.
type Note struct {
	Told Level // the highest level that was told
	// Mark is where the rounds that count begin, as of the activation at
	// Marked.
	Mark    Mark
	Marked  time.Time
	Stalled Rejections // for what the session shows
}

// Rejections are requests that were turned away for a while.
type Rejections struct {
	Last     time.Time // when a request was last; zero when none has been since they ended
	Incident string    // what they are filed under
	Began    time.Time // of the incident
}
