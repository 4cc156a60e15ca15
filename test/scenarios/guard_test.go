//go:build !race

// What is judged in one goroutine, ten times faster without the race detector;
// make test runs it so.

package scenarios

import (
	"testing"
	"time"

	"github.com/haltd/haltd/detect"
)

// TestGuardJudgesAsTheGateway feeds the corpus to detect.New, as an agent in Go
// would: it is told the same, at the same call, as the detectors tell the
// gateway where each session has a window of its own.
func TestGuardJudgesAsTheGateway(t *testing.T) {
	t.Parallel()
	killed := 0
	for _, c := range Corpus() {
		p := &play{Case: &c, agent: c.Name}
		p.requests, p.before = c.Requests()
		if c.Unnamed || p.sessions() > 1 {
			continue
		}
		want := p.judge()
		got := p.guard()
		if got[detect.Kill] != nil {
			killed++
		}
		for _, level := range []detect.Level{detect.Warn, detect.Kill} {
			switch g, w := got[level], want[level]; {
			case (g == nil) != (w == nil):
				t.Errorf("%s: %s is told %v, by the detectors %v", c.Name, level, g != nil, w != nil)
			case g != nil && (g.call != w.call || g.Sentence != w.Sentence):
				t.Errorf("%s: %s at call %d (%s), by the detectors at %d (%s)", c.Name, level, g.call, g.Sentence, w.call, w.Sentence)
			}
		}
	}
	if killed < 50 {
		t.Errorf("%d cases are killed; most of those that must fire have one session", killed)
	}
}

// sessions is how many a play has.
func (p *play) sessions() int {
	names := map[string]bool{}
	for i := range p.requests {
		names[p.thread(&p.requests[i])] = true
	}
	return len(names)
}

// guard runs the requests until the guard stops one.
func (p *play) guard() map[detect.Level]*judgedCall {
	var now time.Time
	g := detect.New(detect.Options{Clock: func() time.Time { return now }})
	told := map[detect.Level]*judgedCall{}
	for i := range p.requests {
		r := &p.requests[i]
		if r.Count {
			continue
		}
		now = curtain.Add(r.At)
		s := g.Session(p.thread(r))
		d := s.Check(callOf(p.Case, r))
		p.tellOf(told, r, d.Signals)
		if d.Level == detect.Kill {
			break
		}
		p.tellOf(told, r, s.Observe(replyOf(r.Turn)))
	}
	return told
}
