package memory

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
)

func TestDetectorsScope(t *testing.T) {
	d := NewDetectors(10, 1e6)
	now := time.Unix(1_800_000_000, 0)
	tell := func(agent, session string, perSession bool) (before detect.Level, window *detect.Window) {
		_ = d.Update(context.Background(), detect.Place{Agent: agent, Session: session, WindowPerSession: perSession}, now, func(m detect.Memory) {
			before, window = m.Note.Told, m.Window
			m.Note.Told = detect.Kill
		})
		return before, window
	}
	_, first := tell("bot", "a", false)
	if told, w := tell("bot", "a", false); told != detect.Kill || w != first {
		t.Errorf("the same session: told %v, same window %v; want kill and the same", told, w == first)
	}
	if told, w := tell("bot", "b", false); told != detect.Pass || w != first {
		t.Errorf("another session of the agent: told %v, same window %v; want nothing told and the same window", told, w == first)
	}
	if _, w := tell("other", "a", false); w == first {
		t.Error("another agent has the same window")
	}
	_, a := tell("shared", "a", true)
	if _, b := tell("shared", "b", true); a == b {
		t.Error("two sessions of a shared agent have the same window")
	}
}

func TestDetectorsForgetAfterADay(t *testing.T) {
	d := NewDetectors(10, 1e6)
	now := time.Unix(1_800_000_000, 0)
	told := func(at time.Time) (before detect.Level) {
		_ = d.Update(context.Background(), detect.Place{Agent: "bot", Session: "a"}, at, func(m detect.Memory) {
			before, m.Note.Told = m.Note.Told, detect.Warn
		})
		return before
	}
	told(now)
	if got := told(now.Add(23 * time.Hour)); got != detect.Warn {
		t.Errorf("after 23 hours: %v, want it remembered", got)
	}
	if got := told(now.Add(48 * time.Hour)); got != detect.Pass {
		t.Errorf("25 hours later: %v, want it forgotten", got)
	}
}

func TestDetectorsAreUsedByOneAtATime(t *testing.T) {
	d := NewDetectors(100, 1e6)
	inside := map[string]int{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			session := string(rune('a' + i%4))
			_ = d.Update(context.Background(), detect.Place{Agent: "bot", Session: session}, time.Now(), func(detect.Memory) {
				inside["bot"]++ // the race detector watches
			})
		})
	}
	wg.Wait()
	if inside["bot"] != 40 {
		t.Errorf("%d of 40 uses", inside["bot"])
	}
}

// What is only tried, and what was before a person resumed the agent, is kept
// apart.
func TestDetectorsKeepApart(t *testing.T) {
	d := NewDetectors(10, 1e6)
	now := time.Unix(1_800_000_000, 0)
	window := func(p detect.Place) (n int, w *detect.Window) {
		_ = d.Update(context.Background(), p, now, func(m detect.Memory) {
			m.Window.Add(detect.Prompt{Hash: 1}, 20, now)
			n, w = m.Window.Len(), m.Window
		})
		return n, w
	}
	before := detect.Place{Agent: "bot", Session: "a"}
	_, enforced := window(before)
	if _, shadow := window(detect.Place{Agent: "bot", Session: "a", Shadow: true}); shadow == enforced {
		t.Error("shadow and enforced calls share a window")
	}
	window(before)
	resumed := before
	resumed.Since = now
	if n, _ := window(resumed); n != 1 {
		t.Errorf("%d calls in the window after the agent was resumed, want the new one alone", n)
	}
	if n, _ := window(before); n != 2 {
		t.Errorf("a reply to a call from before left %d calls, want 2: it must not empty the window", n)
	}
}

// Many sessions with long histories stay within the bound.
func TestDetectorsAreBoundedByWeight(t *testing.T) {
	const words = 20_000
	d := NewDetectors(1000, words)
	cache := detect.NewCache(1000)
	for i := range 200 {
		call := &haltd.Call{Opening: []haltd.Message{{Text: "go"}}}
		for j := range 20 {
			call.Rounds = append(call.Rounds, haltd.Round{Text: fmt.Sprintf("step %d of %d with quite some words in it", j, i)})
		}
		_ = d.Update(context.Background(), detect.Place{Agent: "bot", Session: fmt.Sprint(i)}, time.Now(), func(m detect.Memory) {
			h := detect.Read(cache, call, m.Session.Pending())
			detect.Judge(detect.DefaultSettings(), detect.State{Window: m.Window, Session: m.Session}, h, time.Now())
		})
	}
	sum := 0
	for _, generation := range []map[sessionKey]*entry[sessionState]{d.sessions.new, d.sessions.old} {
		for _, l := range generation {
			sum += l.value.session.Weight()
		}
	}
	if sum == 0 || sum > words*3/2 {
		t.Errorf("200 sessions hold %d words, the bound is %d", sum, words)
	}
}
