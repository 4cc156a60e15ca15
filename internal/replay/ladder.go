package replay

import (
	"fmt"
	"io"

	"github.com/haltd/haltd"
)

// patience is how often in a row the judge must be certain before the rung
// behind steer follows: all notes, then that rung.
const patience = haltd.MostSteers + 1

// aftermath is what became of a run after the step that would have killed it, as
// far as a ladder with steer would have looked on.
type aftermath struct {
	thread  string
	certain int  // steps at which the judge was certain
	news    int  // rounds in a row since then that repeat nothing
	over    bool // it recovered without help
}

// followed is the outcome of a run, and what followed it.
type followed struct {
	Outcome
	after aftermath
}

func outcomesOf(all []followed) []Outcome {
	var outcomes []Outcome
	for i := range all {
		outcomes = append(outcomes, all[i].Outcome)
	}
	return outcomes
}

// ends reports whether nothing that follows can change what a ladder does.
func (f *aftermath) ends() bool { return f.over || f.certain >= patience }

// look takes what the judge said to the next step of a run that was certain to
// be stuck once.
func (f *aftermath) look(signals []haltd.Signal) {
	level, repeats := haltd.LevelPass, false
	for i := range signals {
		s := &signals[i]
		if s.Detector != haltd.DetectorStall && s.Detector != haltd.DetectorSimilarity {
			continue
		}
		level = max(level, s.Level)
		repeats = repeats || s.LastRoundRepeats() || s.Detector == haltd.DetectorSimilarity && s.Level == haltd.LevelKill
	}
	switch {
	case level == haltd.LevelPass:
		f.over = true
	case !repeats:
		f.news++
		f.over = f.news >= haltd.RecoveryRounds
	case level == haltd.LevelKill:
		f.certain, f.news = f.certain+1, 0
	}
}

// LadderCount is what one ladder would have done with all runs. A recorded
// agent has read no note: what recovered did so by itself, and a note could only
// have helped.
type LadderCount struct {
	Ladder    haltd.Ladder `json:"ladder"`
	Warned    int          `json:"warned"`
	Steered   int          `json:"steered"`
	Recovered int          `json:"recovered"` // of those steered, or their run ended before the next rung
	Halted    int          `json:"halted"`
	Killed    int          `json:"killed"`
}

// ladders are those that a report compares.
var ladders = [...]haltd.Ladder{
	haltd.LadderOf(haltd.Warn),
	haltd.LadderOf(haltd.Kill),
	haltd.LadderOf(haltd.Halt, haltd.Kill),
	haltd.LadderOf(haltd.Steer, haltd.Kill),
	haltd.LadderOf(haltd.Steer, haltd.Halt, haltd.Kill),
}

func countLadders(outcomes []followed) []LadderCount {
	counts := make([]LadderCount, len(ladders))
	for i, l := range ladders {
		counts[i].Ladder = l
		for k := range outcomes {
			counts[i].add(&outcomes[k])
		}
	}
	return counts
}

func (c *LadderCount) add(o *followed) {
	if o.WarnStep != nil {
		c.Warned++
	}
	if o.KillStep == nil {
		return
	}
	rung := c.Ladder.After(haltd.Warn)
	if rung == haltd.Steer {
		c.Steered++
		if o.after.certain < patience {
			c.Recovered++
			return
		}
		rung = c.Ladder.After(haltd.Steer)
	}
	switch rung {
	case haltd.Halt: // a record has no person who could go on
		c.Halted++
	case haltd.Kill:
		c.Killed++
	}
}

func printLadders(w io.Writer, counts []LadderCount) {
	fmt.Fprintln(w, "LADDER\tWARNED\tSTEERED\tRECOVERED\tHALTED\tKILLED")
	for _, c := range counts {
		name := c.Ladder.String()
		if len(c.Ladder.Rungs()) == 2 { // written as its last rung alone
			name = "[warn, " + name + "]"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", name, c.Warned, c.Steered, c.Recovered, c.Halted, c.Killed)
	}
	fmt.Fprintln(w)
}
