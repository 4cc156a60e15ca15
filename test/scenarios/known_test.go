//go:build !race

package scenarios

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// TestKnownRoundsChangeNoVerdict judges the corpus twice, once with all rounds of
// every request and once with those alone that are not known from the one before.
// All that is found must be the same. HALTD_PLAYS=all takes every case, not each
// fourth.
func TestKnownRoundsChangeNoVerdict(t *testing.T) {
	t.Parallel()
	set := detection.DefaultSettings()
	all := os.Getenv("HALTD_PLAYS") == "all"
	read := 0
	for n, c := range Corpus() {
		if n%4 != 0 && !all {
			continue
		}
		p := &play{Case: &c, agent: c.Name}
		p.requests, p.before = c.Requests()
		whole, on := newMemories(), newMemories()
		seen := map[string]*conversation{}
		for i := range p.requests {
			r := &p.requests[i]
			if r.Count {
				continue
			}
			name, call, now := p.thread(r), callOf(p.Case, r), curtain.Add(r.At)
			if seen[name] == nil {
				seen[name] = &conversation{}
			}
			st, stOn := whole.state(&c, name), on.state(&c, name)
			h := detection.Read(whole.cache, call, st.Session.Pending())
			hOn, known := seen[name].readOn(on.cache, call, stOn.Session.Pending())
			if known {
				read++
			}
			v, vOn := detection.Judge(set, st, h, now), detection.Judge(set, stOn, hOn, now)
			if !reflect.DeepEqual(v, vOn) {
				t.Fatalf("%s, request %d: the verdict differs (-whole +on):\n%s", c.Name, i, cmp.Diff(v.Signals, vOn.Signals))
			}
			answer, from := detection.ReadReply(replyOf(r.Turn), true), detection.Source{Model: call.Model, System: call.System}
			detection.Observe(set, st, detection.Admit(set, st, v, now), from, answer, now)
			detection.Observe(set, stOn, detection.Admit(set, stOn, vOn, now), from, answer, now)
		}
	}
	if read < 400 {
		t.Errorf("%d requests were read on from what was known", read)
	}
	t.Logf("%d requests were read on", read)
}

// memories is what the detectors remember of a case.
type memories struct {
	cache    *detection.Cache
	window   *detection.Window
	sessions map[string]*detection.Session
}

func newMemories() memories {
	return memories{detection.NewCache(1 << 20), &detection.Window{}, map[string]*detection.Session{}}
}

func (m memories) state(c *Case, session string) detection.State {
	if m.sessions[session] == nil {
		m.sessions[session] = &detection.Session{}
	}
	return detection.State{Window: m.window, Session: m.sessions[session], SessionID: sessionID(c, session)}
}

// conversation is what is known of one, and of which rounds.
type conversation struct {
	known  *detection.Known
	rounds []haltd.Round
}

func (k *conversation) readOn(cache *detection.Cache, call *haltd.Call, before *detection.Pending) (h *detection.History, known bool) {
	if n := len(k.rounds); k.known != nil && n < len(call.Rounds) && reflect.DeepEqual(call.Rounds[:n], k.rounds) {
		rest := *call
		rest.Rounds = call.Rounds[n:]
		h, known = k.known.Read(cache, &rest)
	}
	if !known {
		h = detection.Read(cache, call, before)
	}
	if n := len(call.Rounds) - 1; n > 0 {
		if next := h.Known(n); next != nil {
			k.known, k.rounds = next, call.Rounds[:n]
		}
	}
	return h, known
}

// TestShownOpeningsChangeNoVerdict judges the corpus twice, in sessions that are
// guessed as the gateway guesses them: once with every opening read at once, and
// once when its session goes on. All that is found must be the same.
func TestShownOpeningsChangeNoVerdict(t *testing.T) {
	t.Parallel()
	set := detection.DefaultSettings()
	judged := 0
	for _, c := range Corpus() {
		p := &play{Case: &c, agent: c.Name}
		p.requests, p.before = c.Requests()
		whole, shown := newMemories(), newMemories()
		for i := range p.requests {
			r := &p.requests[i]
			if r.Count {
				continue
			}
			call, now := callOf(p.Case, r), curtain.Add(r.At)
			name := fmt.Sprint(p.thread(r), call.System, call.FirstUser())
			st, stShown := whole.state(&c, name), shown.state(&c, name)
			v := detection.Judge(set, st, detection.Read(whole.cache, call, st.Session.Pending()), now)
			vShown := detection.Judge(set, stShown, detection.ReadShown(shown.cache, call, stShown.Session.Pending()), now)
			if !reflect.DeepEqual(v, vShown) {
				t.Fatalf("%s, request %d: the verdict differs (-whole +shown):\n%s", c.Name, i, cmp.Diff(v.Signals, vShown.Signals))
			}
			judged++
			answer, from := detection.ReadReply(replyOf(r.Turn), true), detection.Source{Model: call.Model, System: call.System}
			detection.Observe(set, st, detection.Admit(set, st, v, now), from, answer, now)
			detection.Observe(set, stShown, detection.Admit(set, stShown, vShown, now), from, answer, now)
		}
	}
	t.Logf("%d requests were judged twice", judged)
}
