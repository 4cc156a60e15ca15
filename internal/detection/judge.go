package detection

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
	// no progress, before similarity kills. What fails that warns, but for
	// what is alike in a conversation whose work goes on.
	RequireCorroboration bool
	// Stateless exempts an agent whose calls are independent of each other
	// (cron jobs, evaluations) from similarity.
	Stateless bool
	// WarnAt and KillAt are stall's lines, certainties in percent; 0 is the
	// model's own.
	WarnAt, KillAt float64
	// Model judges instead of the one that the binary carries, where weights
	// are tried out.
	Model *Model
	// MinPromptTokens is a floor below which growth is not reported.
	MinPromptTokens int64
}

// SettingsOf is what a policy says to the detectors.
func SettingsOf(p *haltd.Policy) Settings {
	k := &p.KillSwitch
	return Settings{
		WindowSize: k.WindowSize, Threshold: k.Threshold, RequireCorroboration: k.RequireCorroboration,
		Stateless: k.Stateless, WarnAt: k.WarnAt, KillAt: k.KillAt, MinPromptTokens: p.Growth.MinPromptTokens,
	}
}

// DefaultSettings are those of an agent that has none of its own, with the
// lines of the model that judges.
func DefaultSettings() Settings {
	p := haltd.DefaultPolicy()
	s := SettingsOf(&p)
	s.WarnAt, s.KillAt = 0, 0
	return s
}

// Detection is what the detectors make of one request.
type Detection struct {
	Level   haltd.Level
	Signals []haltd.Signal // the strictest first
	// Parts is the similarity score, fired or not, for the record, and
	// Unmet what it lacks to be corroborated; "" when nothing.
	Parts haltd.ScoreParts
	Unmet string
	// Certainty is how sure stall is, in percent, fired or not.
	Certainty float64
	// Basis is what there was to go by.
	Basis haltd.Basis
	// Turn names the message of a person that the request ends with; 0 where
	// it ends with none.
	Turn uint64

	prompt Prompt
}

// State is what the detectors know of an agent and of one session of it. The
// window may be the agent's or the session's own. The caller guards it.
type State struct {
	Window *Window
	// Agent counts equal calls of all sessions where the window is of one;
	// nil else.
	Agent   *Window
	Session *Session
	// SessionID tells the sessions of a window apart; 0 where it holds one.
	SessionID uint64
	Mark      Mark // zero when the session was never resumed
}

// Judge runs the detectors on a request before it is forwarded. It changes
// the session but not the window: a request that is blocked enters
// none. Call Admit when it is forwarded. now may be zero when the time is
// unknown; then what depends on time is skipped.
func Judge(set Settings, st State, h *History, now time.Time) Detection {
	passedOn := st.Session.awaitWorkers(st, h)
	st.Session.follow(h, now)
	if n := len(st.Session.past); n > 0 {
		r := &st.Session.past[n-1]
		r.passedOn = r.passedOn || passedOn
	}
	st.Session.overhear(st)
	st.Session.receive(st, h)
	m := set.model()
	v := Detection{prompt: h.prompt, Basis: haltd.Basis{Features: m.Version, Weights: m.Date}}
	var matches []haltd.Match
	if !set.Stateless {
		v.Parts, matches = st.Window.Score(h.prompt, set.WindowSize, now)
		v.Basis.Calls = min(st.Window.Len()+1, set.WindowSize)
	}
	var found stalled
	st.Session.compare(m, st, func(c *comparison) {
		v.Basis.Rounds = len(c.all)
		found = c.stall(set.lines(), similarity(v.Parts))
		v.Turn = c.turn()
	})
	v.Certainty = percent(found.certainty)
	if found.signal != nil {
		v.Signals = append(v.Signals, *found.signal)
	}
	if !set.Stateless {
		v.judgeWindow(set, st, matches, found, now)
	}
	v.strictestFirst()
	return v
}

// lines are where stall warns and kills.
func (set *Settings) lines() lines {
	m := set.model()
	at := lines{float32(m.WarnAt), float32(m.KillAt)}
	if set.WarnAt > 0 {
		at.warn = float32(set.WarnAt / 100)
	}
	if set.KillAt > 0 {
		at.kill = float32(set.KillAt / 100)
	}
	return at
}

func (set *Settings) model() *Model {
	if set.Model != nil {
		return set.Model
	}
	return model
}

// similarity is how alike the last calls are, as a feature of stall.
func similarity(p haltd.ScoreParts) float32 {
	score := float32(p.Score())
	return score / (score + 10)
}

// judgeWindow is what similarity says.
func (v *Detection) judgeWindow(set Settings, st State, matches []haltd.Match, found stalled, now time.Time) {
	v.Unmet = v.unmet(set, st, matches, found, now)
	if v.Parts.Score() > set.Threshold {
		parts := v.Parts
		s := haltd.Signal{
			Detector: haltd.DetectorSimilarity, Level: haltd.LevelKill, Score: parts.Score(), Threshold: set.Threshold, Parts: &parts,
			Matches: matches, Window: min(st.Window.Len()+1, set.WindowSize),
		}
		if set.RequireCorroboration && v.Unmet != "" {
			s.Level, s.Unmet = haltd.LevelWarn, v.Unmet
		}
		if s.Unmet != Advancing {
			v.Signals = append(v.Signals, s)
		}
	}
	if next := st.counter().next(v.prompt, now); next.n >= longStreak {
		v.Unmet = ""
		v.Signals = append(v.Signals, haltd.Signal{
			Detector: haltd.DetectorSimilarity, Family: haltd.FamilyStreak, Level: haltd.LevelKill, Score: float64(next.n), Threshold: longStreak, Count: next.n,
			Matches: matches, Window: min(st.Window.Len()+1, set.WindowSize),
		})
	}
}

// counter is the window that counts equal calls.
func (st *State) counter() *Window {
	if st.Agent != nil {
		return st.Agent
	}
	return st.Window
}

// Advancing is what a score lacks where stall sees the rounds of a conversation bring
// something new: it has counted what is alike, too, so that nobody is even warned.
const Advancing = "the work goes on"

// advancing is below which certainty, in percent, the work goes on where two signals
// are alike.
const advancing = 20

// goesOn reports work of whose rounds stall is not certain. Where one signal alone is
// alike, such as the acknowledgements of edits, and nobody waits, stall's warn line
// decides; in a session that has just begun as well, where nothing is alike but what came
// back in others.
func (v *Detection) goesOn(set Settings, st State, matches []haltd.Match, found stalled) bool {
	own := st.Window.of(st.SessionID, matches)
	if corroborated(v.Parts) {
		return found.rounds && v.Certainty < advancing && own >= corroborating
	}
	line := percent(set.lines().warn)
	if found.patient {
		line = advancing
	}
	begun := found.one && own == 0 && v.Parts.Responses+v.Parts.ToolCalls == 0
	few := own == len(matches) && own < corroborating // a threshold that one match exceeds is meant
	return (found.rounds || begun) && !few && v.Certainty < line
}

// unmet is what a score lacks to be corroborated.
func (v *Detection) unmet(set Settings, st State, matches []haltd.Match, found stalled, now time.Time) string {
	if v.Parts.Score() == 0 {
		return ""
	}
	certain := func() haltd.ScoreParts {
		return st.Window.certain(v.prompt, st.SessionID, set.WindowSize, now)
	}
	enough := func(p haltd.ScoreParts) bool { return p.Score() > set.Threshold && corroborated(p) }
	switch {
	case v.goesOn(set, st, matches, found):
		return Advancing
	case !corroborated(v.Parts):
		return "no second signal with two matches or more"
	case v.prompt.Loose && !enough(certain()):
		return "the calls carry no history, and are not the same to the letter, of one user and session, at the pace of a loop"
	case v.prompt.Loose && sampled(certain()):
		return "the same was asked again and again, and the answers differ"
	case st.Window.of(st.SessionID, matches) < corroborating:
		return "the calls that are alike belong to different sessions"
	case found.rounds && !found.certain:
		return "the rounds still bring something new"
	case found.one && v.Parts.ToolCalls < corroborating:
		return "each call has one round, and the tools were called with something else each time"
	case found.one && !enough(st.Window.lately(v.prompt, set.WindowSize, now)):
		return "each call has one round, and they do not come at the pace of a loop"
	}
	return ""
}

// sampled reports equal questions of which few got the same answer: an evaluation asks
// one many times, to see how the answers differ.
func sampled(p haltd.ScoreParts) bool {
	const share = 3
	return share*max(p.Responses, p.ToolCalls) < p.Prompts
}

// Admit puts a judged request into the window and returns the id by which
// its reply is observed.
func Admit(set Settings, st State, v Detection, now time.Time) (entry uint64) {
	if st.Agent != nil { // under the same id in both
		st.Agent.last = max(st.Agent.last, st.Window.last)
		st.Window.last = st.Agent.last
		st.Agent.Add(v.prompt, 1, now)
	}
	entry = st.Window.Add(v.prompt, set.WindowSize, now)
	st.Window.entries[len(st.Window.entries)-1].session = st.SessionID
	st.Session.awaiting, st.Session.entry = true, entry
	return entry
}

// Withdraw takes an admitted request back that is not forwarded after all.
func Withdraw(st State, entry uint64) {
	st.Window.remove(entry)
	if st.Agent != nil {
		st.Agent.remove(entry)
	}
	st.Session.awaiting = false
}

// Source is the series that growth keeps a session's prompt tokens by.
type Source struct {
	Model  string
	System uint64
}

// Observe takes the reply to an admitted request, complete at the given
// time, and reports growth where it sees it.
func Observe(set Settings, st State, entry uint64, from Source, a *Answer, now time.Time) []haltd.Signal {
	st.Window.Attach(entry, a, now)
	if st.Agent != nil {
		st.Agent.Attach(entry, a, now)
	}
	st.Session.attach(a, now)
	if !a.counted {
		return nil
	}
	tokens, ok := st.Session.growth.observe(growthKey{from.Model, from.System}, a.usage.Input, set.MinPromptTokens, now)
	if !ok {
		return nil
	}
	return []haltd.Signal{{Detector: haltd.DetectorGrowth, Level: haltd.LevelWarn, Count: len(tokens), Tokens: tokens, Threshold: 1.4}}
}

// strictestFirst orders the signals and takes the level of the first. Among
// equals, stall explains itself better than similarity and stands first.
func (v *Detection) strictestFirst() {
	for i := 1; i < len(v.Signals); i++ {
		for j := i; j > 0 && v.Signals[j].Level > v.Signals[j-1].Level; j-- {
			v.Signals[j], v.Signals[j-1] = v.Signals[j-1], v.Signals[j]
		}
	}
	if len(v.Signals) > 0 {
		v.Level = v.Signals[0].Level
	}
}
