// Package judge joins what the detectors say of a request with what is
// remembered of its agent and session, and turns it into one verdict. It
// keeps no state of its own and touches neither network nor store: the state
// is a port, the clock comes with each request.
package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
)

// words is how many words of message features are kept by digest, so that a
// history that is sent again is not read again.
const words = 2 << 20

// Subject is whom a verdict is about.
type Subject struct {
	Agent   string
	Session string
	Shared  bool // a default agent: its window is per session
	// Named says that the client tells its sessions apart. Sessions that
	// are only guessed from how a conversation begins do not excuse calls
	// that are alike.
	Named bool
}

func (s Subject) sessionID() uint64 {
	if !s.Named {
		return 0
	}
	return xxhash.Sum64String(s.Session)
}

// States keeps what the detectors know of agents and sessions.
type States interface {
	// With runs f while nobody else holds the state of a session. The window
	// is that of the agent, or of the session where windowPerSession is set.
	// told is the highest level that has been told of the session. It fails
	// only when the state cannot be had.
	With(ctx context.Context, agent, session string, windowPerSession bool, now time.Time,
		f func(w *detect.Window, l *detect.Session, told *detect.Level)) error
}

// Judge judges requests.
type Judge struct {
	states   States
	cache    *detect.Cache
	settings atomic.Pointer[detect.Settings]
}

// New makes a judge.
func New(states States, s detect.Settings) *Judge {
	j := &Judge{states: states, cache: detect.NewCache(words)}
	j.Configure(s)
	return j
}

// Configure makes settings effective for the next request.
func (j *Judge) Configure(s detect.Settings) { j.settings.Store(&s) }

// Verdict is what was made of one request. It is bound to the request, so
// that the reply finds its own place in the window.
type Verdict struct {
	detect.Verdict
	// News says that the session has not been told of this level before.
	News bool

	judge   *Judge
	subject Subject
	entry   uint64
	model   string
	system  uint64
}

// Judge judges a request and, since nothing is blocked yet, admits it.
func (j *Judge) Judge(ctx context.Context, s Subject, call *haltd.Call, now time.Time) (*Verdict, error) {
	v := &Verdict{judge: j, subject: s, model: call.Model, system: call.System}
	set := *j.settings.Load()
	err := j.states.With(ctx, s.Agent, s.Session, s.Shared, now, func(w *detect.Window, l *detect.Session, told *detect.Level) {
		st := detect.State{Cache: j.cache, Window: w, Session: l, SessionID: s.sessionID()}
		v.Verdict = detect.Judge(set, st, call, now)
		v.entry = detect.Admit(set, st, v.Verdict, now)
		if v.Level > *told {
			*told, v.News = v.Level, true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	return v, nil
}

// Observe takes the reply to the judged request and reports growth.
func (v *Verdict) Observe(ctx context.Context, reply *haltd.Reply, now time.Time) ([]detect.Signal, error) {
	var signals []detect.Signal
	set := *v.judge.settings.Load()
	err := v.judge.states.With(ctx, v.subject.Agent, v.subject.Session, v.subject.Shared, now, func(w *detect.Window, l *detect.Session, _ *detect.Level) {
		st := detect.State{Cache: v.judge.cache, Window: w, Session: l}
		signals = detect.Observe(set, st, v.entry, &haltd.Call{Model: v.model, System: v.system}, reply, now)
	})
	if err != nil {
		return nil, fmt.Errorf("observe a reply: %w", err)
	}
	for i := range signals {
		signals[i].Session = v.subject.Session
	}
	return signals, nil
}

// Record is a verdict as it stands in an event.
type Record struct {
	Level    detect.Level      `json:"level"`
	Sentence string            `json:"sentence,omitempty"`
	Score    float64           `json:"score"`
	Parts    detect.ScoreParts `json:"parts"`
	// Signals is the evidence. It stands in the event that tells of a
	// verdict, not in that of every call.
	Signals []detect.Signal `json:"signals,omitempty"`
}

// Brief is the verdict for the event of its call; nil when there is nothing
// to say.
func (v *Verdict) Brief() json.RawMessage {
	if v.Level == detect.Pass && v.Parts.Score() == 0 {
		return nil
	}
	r := v.record(v.Verdict)
	r.Signals = nil
	return encode(r)
}

// Full is the verdict with its evidence.
func (v *Verdict) Full() json.RawMessage { return encode(v.record(v.Verdict)) }

// FullOf is a signal that was seen after the reply, as a verdict of its own.
func (v *Verdict) FullOf(s detect.Signal) json.RawMessage {
	return encode(v.record(detect.Verdict{Level: s.Level, Signals: []detect.Signal{s}}))
}

func (v *Verdict) record(d detect.Verdict) Record {
	r := Record{Level: d.Level, Score: d.Parts.Score(), Parts: d.Parts, Signals: d.Signals}
	if len(d.Signals) > 0 {
		r.Sentence = d.Signals[0].Sentence(v.subject.Agent)
	}
	return r
}

func encode(r Record) json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil { // only a NaN could, and none is ever computed
		return nil
	}
	return b
}
