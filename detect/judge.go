package detect

import (
	"time"

	"github.com/haltd/haltd"
)

// Settings are an agent's own.
type Settings struct {
	// WindowSize and Threshold belong to similarity: it fires when the
	// score of the last WindowSize calls exceeds Threshold.
	WindowSize int
	Threshold  float64
	// RequireCorroboration asks for a second signal, and for stall to see
	// no progress, before similarity kills. What fails that warns.
	RequireCorroboration bool
	// Stateless exempts an agent whose calls are independent of each other
	// (cron jobs, evaluations) from similarity.
	Stateless bool
	// MinPromptTokens is a floor below which growth is not reported.
	MinPromptTokens int64
}

// DefaultSettings are those of an agent that has none of its own.
func DefaultSettings() Settings {
	return Settings{WindowSize: 20, Threshold: 10, RequireCorroboration: true}
}

// Verdict is what the detectors make of one request.
type Verdict struct {
	Level   Level    `json:"level"`
	Signals []Signal `json:"signals,omitempty"` // the strictest first
	// Parts is the similarity score, fired or not, for the record, and
	// Unmet what it lacks to be corroborated; "" when nothing.
	Parts ScoreParts `json:"parts"`
	Unmet string     `json:"unmet,omitempty"`

	prompt Prompt
}

// State is what the detectors know of an agent and of one session of it. The
// window may be the agent's or the session's own; the cache may be shared by
// all. The caller guards Window and Session; Cache guards itself.
type State struct {
	Cache   *Cache
	Window  *Window
	Session *Session
	// SessionID tells the sessions of a window apart; 0 where it holds one.
	SessionID uint64
	Mark      Mark // zero when the session was never resumed
}

// Judge runs the detectors on a request before it is forwarded. It changes
// the session's ledger but not the window: a request that is blocked enters
// none. Call Admit when it is forwarded. now may be zero when the time is
// unknown; then what depends on time is skipped.
func Judge(set Settings, st State, call *haltd.Call, now time.Time) Verdict {
	rounds := st.Session.rounds(st.Cache, call, now)
	found := stall(st.Session.openingWords, rounds, st.Mark.find(rounds))
	v := Verdict{Signals: found.signals, prompt: PromptOf(call)}
	if !set.Stateless {
		var matches []Match
		v.Parts, matches = st.Window.Score(v.prompt, set.WindowSize, now)
		v.Unmet = unmet(v.Parts, st.Window.of(st.SessionID, matches), found)
		if v.Parts.Score() > set.Threshold {
			v.Signals = append(v.Signals, v.similarity(set, matches, st.Window.Len()))
		}
	}
	v.strictestFirst()
	return v
}

// similarity is the signal of a score above the threshold.
func (v *Verdict) similarity(set Settings, matches []Match, before int) Signal {
	parts := v.Parts
	s := Signal{
		Detector: Similarity, Level: Kill, Score: parts.Score(), Threshold: set.Threshold, Parts: &parts,
		Matches: matches, Window: min(before+1, set.WindowSize),
	}
	if set.RequireCorroboration && v.Unmet != "" {
		s.Level, s.Unmet = Warn, v.Unmet
	}
	return s
}

// unmet is what a score lacks to be corroborated. own is how many of the matches are
// calls of this session: visitors who greet alike do not make a loop.
func unmet(parts ScoreParts, own int, found finding) string {
	switch {
	case parts.Score() == 0:
		return ""
	case !parts.Corroborated():
		return "no second signal with two matches or more"
	case own < corroborating:
		return "the calls that are alike belong to different sessions"
	case found.progress:
		return "the rounds still bring something new"
	}
	return ""
}

// Admit puts a judged request into the window and returns the id by which
// its reply is observed.
func Admit(set Settings, st State, v Verdict, now time.Time) (entry uint64) {
	entry = st.Window.Add(v.prompt, set.WindowSize, now)
	st.Window.entries[len(st.Window.entries)-1].session = st.SessionID
	return entry
}

// Observe takes the reply to an admitted request, complete at the given
// time, and reports growth where it sees it.
func Observe(set Settings, st State, entry uint64, call *haltd.Call, reply *haltd.Reply, now time.Time) []Signal {
	st.Window.Attach(entry, reply)
	st.Session.attach(reply, now)
	if !reply.Counted {
		return nil
	}
	key := growthKey{call.Model, call.System}
	tokens, ok := st.Session.growth.observe(key, reply.Usage.Input, set.MinPromptTokens, now)
	if !ok {
		return nil
	}
	return []Signal{{Detector: Growth, Level: Warn, Count: len(tokens), Tokens: tokens, Threshold: 1.4}}
}

// strictestFirst orders the signals and takes the level of the first. Among
// equals, stall explains itself better than similarity and stands first.
func (v *Verdict) strictestFirst() {
	for i := 1; i < len(v.Signals); i++ {
		for j := i; j > 0 && v.Signals[j].Level > v.Signals[j-1].Level; j-- {
			v.Signals[j], v.Signals[j-1] = v.Signals[j-1], v.Signals[j]
		}
	}
	if len(v.Signals) > 0 {
		v.Level = v.Signals[0].Level
	}
}
