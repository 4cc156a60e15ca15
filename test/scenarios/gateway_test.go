package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// TestCorpus holds the corpus to its size and its manners.
func TestCorpus(t *testing.T) {
	if n := len(MustFire()); n < 40 {
		t.Errorf("%d cases must fire, want 40 at least", n)
	}
	if n := len(MustNotFire()); n < 60 {
		t.Errorf("%d cases must not fire, want 60 at least", n)
	}
	seen := map[string]bool{}
	for _, c := range Corpus() {
		if _, ok := haltd.AgentID(c.Name); !ok || seen[c.Name] || len(c.Name) > 60 {
			t.Errorf("%q is no name for a case, or there are two of it", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasPrefix(c.Evidence, "EVIDENCE ") {
			t.Errorf("%s does not say which line of evidence it stands for", c.Name)
		}
		requests, before := c.Requests()
		if c.Want.Fires() && before+c.Want.Within+1 > len(requests) {
			t.Errorf("%s ends at call %d, before the one that must fire, %d", c.Name, len(requests), before+c.Want.Within+1)
		}
	}
}

// TestGateway plays every case through a running haltd, a third of them
// across a restart, and reads the verdicts from the record. The dialects take
// turns, as do streams and JSON documents; HALTD_PLAYS=all plays every case in
// all of them, both ways.
func TestGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	plays := allPlays()
	s.perform(plays)
	s.restart() // ends the writing of the record
	for _, p := range plays {
		t.Run(strings.ReplaceAll(p.agent, ".", "/"), func(t *testing.T) {
			if p.err != nil {
				t.Fatalf("%s: %v", p.agent, p.err)
			}
			p.check(t, s.events(t, p.agent))
		})
	}
	t.Logf("%d cases in %d plays", len(Corpus()), len(plays))
}

func allPlays() []*play {
	cases := Corpus()
	restarts := restarting(cases)
	all := os.Getenv("HALTD_PLAYS") == "all"
	var plays []*play
	for i := range cases {
		able := slices.DeleteFunc(slices.Clone(dialects), func(d *dialect) bool { return d.cannot(&cases[i]) })
		for k, d := range able {
			for _, stream := range []bool{false, true} {
				if !all && (k != i%len(able) || stream != (i/len(able)%2 == 0)) {
					continue
				}
				p := newPlay(&cases[i], d, stream)
				if restarts[i] {
					p.restart = len(p.requests) / 2
				}
				plays = append(plays, p)
			}
		}
	}
	return plays
}

// restarting chooses a third of the cases, as evenly as the need for a
// history that outlives a restart allows.
func restarting(cases []Case) []bool {
	chosen, n := make([]bool, len(cases)), 0
	for i := range cases {
		requests, _ := cases[i].Requests()
		if !cases[i].Ledger && len(requests) > 1 && 3*n <= i {
			chosen[i] = true
			n++
		}
	}
	return chosen
}

func TestAThirdRestarts(t *testing.T) {
	cases, n := Corpus(), 0
	for _, chosen := range restarting(cases) {
		if chosen {
			n++
		}
	}
	if 3*n < len(cases) {
		t.Errorf("%d of %d cases run across a restart, want a third", n, len(cases))
	}
}

// judgedCall is the verdict on a call, and its number.
type judgedCall struct {
	haltd.Verdict
	call int
}

func (v *judgedCall) String() string {
	signals, err := json.Marshal(v.Signals)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s at call %d: %s\n\t%s", v.Level, v.call, v.Sentence, signals)
}

func verdictOf(e *haltd.Event, call int) *judgedCall {
	v := &judgedCall{call: call}
	if e.Verdict != nil {
		v.Verdict = *e.Verdict
	}
	return v
}

// check compares the record of a play with what its case wants.
func (p *play) check(t *testing.T, events []haltd.Event) {
	made := calls(events)
	numbered := 0
	for i := range p.requests {
		numbered = max(numbered, p.requests[i].Number)
	}
	if len(made) != numbered {
		t.Fatalf("%d calls in the record, %d were made", len(made), numbered)
	}
	told := map[haltd.Level]*judgedCall{}
	for i := range events {
		if e := &events[i]; e.Type == haltd.EventWarning || e.Type == haltd.EventGrowth {
			v := verdictOf(e, callAt(made, e))
			p.checkEvidence(t, v)
			tell(told, v)
		}
	}
	for i, e := range made {
		if v := verdictOf(e, i+1); v.Level > haltd.LevelPass && (told[v.Level] == nil || told[v.Level].call > v.call) {
			t.Errorf("%s: no event tells of the verdict of a call: %v", p.agent, v)
			break
		}
	}
	p.checkWant(t, told)
}

// tell keeps the first verdict of each level; a kill warns as well.
func tell(told map[haltd.Level]*judgedCall, v *judgedCall) {
	for l := haltd.LevelWarn; l <= v.Level; l++ {
		if told[l] == nil {
			told[l] = v
		}
	}
}

// callAt is the number of the call that an event was recorded with.
func callAt(made []*haltd.Event, e *haltd.Event) int {
	for i := range made {
		if made[i].Time.Equal(e.Time) && made[i].Session == e.Session {
			return i + 1
		}
	}
	return 0
}

func (p *play) checkWant(t *testing.T, told map[haltd.Level]*judgedCall) {
	w := p.Want
	switch {
	case p.Missed != "":
		// Formats that mark errors may show what others hide.
		if v := told[w.Level]; v != nil && v.call <= p.before+w.Within+1 && p.dialect == nil {
			t.Errorf("%s (%s) fires now: it is no blind spot any more", p.agent, p.Evidence)
		}
	case w.Fires():
		v, by := told[w.Level], p.before+w.Within+1
		if v == nil || v.call > by {
			t.Errorf("%s (%s): no %s by call %d of %d; got %v", p.agent, p.Evidence, w.Level, by, len(p.requests), strictest(told))
			return
		}
		if k := told[haltd.LevelKill]; k != nil && k.call <= p.before+1 {
			t.Errorf("%s (%s): killed before the loop of call %d: %v", p.agent, p.Evidence, p.before+1, k)
		}
		if !v.has(w) {
			t.Errorf("%s (%s): want %s %s among the signals of %v", p.agent, p.Evidence, w.Detector, w.Family, v)
		}
	case told[haltd.LevelKill] != nil:
		t.Errorf("%s (%s): must not be killed; got %v", p.agent, p.Evidence, told[haltd.LevelKill])
	case told[haltd.LevelWarn] != nil && !w.MayWarn && !told[haltd.LevelWarn].uncorroborated():
		t.Errorf("%s (%s): must not warn; got %v", p.agent, p.Evidence, told[haltd.LevelWarn])
	}
}

// uncorroborated reports a warning of similarity alone. It counts what looks
// alike, and warns wherever its score is high and nothing bears it out: that
// is how it is specified, also for healthy work.
func (v *judgedCall) uncorroborated() bool {
	for i := range v.Signals {
		if v.Signals[i].Detector != haltd.DetectorSimilarity {
			return false
		}
	}
	return v.Level == haltd.LevelWarn
}

func strictest(told map[haltd.Level]*judgedCall) any {
	for _, l := range []haltd.Level{haltd.LevelKill, haltd.LevelWarn} {
		if told[l] != nil {
			return told[l]
		}
	}
	return "nothing"
}

// has reports whether the detector and family that a case wants told.
func (v *judgedCall) has(w Want) bool {
	for i := range v.Signals {
		s := &v.Signals[i]
		if (w.Detector == "" || s.Detector == w.Detector) && (w.Family == "" || s.Family == w.Family) {
			return true
		}
	}
	return w.Detector == "" && w.Family == ""
}

// checkEvidence asks every verdict to explain itself.
func (p *play) checkEvidence(t *testing.T, v *judgedCall) {
	t.Helper()
	if !strings.Contains(v.Sentence, p.agent) {
		t.Errorf("the sentence does not name the agent %s: %v", p.agent, v)
	}
	if len(v.Signals) == 0 || len(v.Signals[0].Rounds)+len(v.Signals[0].Matches)+len(v.Signals[0].Tokens) == 0 {
		t.Errorf("%s: a verdict without evidence: %v", p.agent, v)
	}
}
