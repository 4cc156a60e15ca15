package detection

import (
	"math"
	"slices"
	"strconv"

	"github.com/haltd/haltd"
)

// stalled is what stall makes of a conversation at its newest request.
type stalled struct {
	certainty float32
	signal    *haltd.Signal // nil where the warn line is not reached
	rounds    bool          // there are rounds that count
	one       bool          // there is one round, which cannot repeat another
	certain   bool          // stall kills
	patient   bool          // the newest round was given patience: its certainty says little
}

// hasty is how much a round counts at least of one that nobody waited for.
const hasty = .7

// lines are where stall warns and kills, from 0 to 1.
type lines struct{ warn, kill float32 }

// leastRepeated is how many of the recent rounds must repeat something for a
// kill: whatever the sum says, a kill needs repetition. leastVaried is how many it
// takes where no act came again: to try another way some times is no loop.
const leastRepeated, leastVaried = 4, 6

// stall decides, by the certainty as it is shown: kill from the kill line on, where the
// rounds before led up to it, so that nothing is killed out of the blue. A refusal that comes back again
// and again is repetition, too, however new the steps between are.
func (c *comparison) stall(at lines, similar float32) stalled {
	n := len(c.all)
	if n == 0 || c.since >= n {
		return stalled{rounds: n > 1, one: n == 1}
	}
	x := c.featuresAt(n - 1)
	x[similarCalls] = similar
	z := c.model.logOdds(&x)
	f := stalled{certainty: certainty(z)}
	f.rounds, f.one = n > 1, n == 1
	f.patient = c.all[n-1].dose < hasty
	if percent(f.certainty) < percent(at.warn) {
		return f
	}
	s := &haltd.Signal{
		Detector: haltd.DetectorStall, Level: haltd.LevelWarn, Score: percent(f.certainty), Threshold: percent(at.warn),
		Certainty: percent(f.certainty), WarnAt: percent(at.warn), KillAt: percent(at.kill),
		Reasons: c.model.reasons(&x),
	}
	repeated, slow := c.repeated()
	again, _ := c.all[n-1].returning()
	enough := c.isEnough(repeated, int(again))
	lasts := enough && c.lasts(n-1, z, at)
	if lasts {
		f.certainty = at.kill
		s.Reasons = stayed(s.Reasons, f.certainty)
		s.Score, s.Certainty = percent(f.certainty), percent(f.certainty)
	}
	switch {
	case percent(f.certainty) < percent(at.kill) || !enough:
	case !lasts && !c.rose(n-1, at):
	case 2*slow > len(repeated) || c.slowLately(repeated):
		s.Unmet = "the client takes more than a minute between equal results"
	case c.bounded() && c.certainRounds(at) < BoundedRounds:
		s.Unmet = "another session of the agent gave it this task, and can end it"
	default:
		s.Level, s.Threshold = haltd.LevelKill, percent(at.kill)
		f.certain = true
	}
	c.explain(s, repeated)
	f.signal = s
	return f
}

// isEnough reports whether rounds that repeat something, and returns of one refusal,
// are enough of a repetition.
func (c *comparison) isEnough(repeated []int, returns int) bool {
	for _, i := range repeated {
		if s := &c.all[i]; s.pairAgo > 0 || s.coreAgo > 0 || c.rounds[i].manner <= spoken || s.shapeAgo > 0 && c.missesTheSame(i) {
			return len(repeated)+returns >= leastRepeated
		}
	}
	return max(len(repeated), returns) >= leastVaried
}

// Lately is how many rounds back a certainty still leads up to a kill.
const Lately = 7

// rose reports whether the rounds before one led up to a kill: the last had
// reached the warn line, or a recent one the kill line. A loop may have steps
// that look new between those that show it.
func (c *comparison) rose(i int, at lines) bool {
	if i > c.since && c.all[i-1].certainty >= at.warn {
		return true
	}
	for j := max(c.since, i-Lately); j < i; j++ {
		if c.all[j].certainty >= at.kill {
			return true
		}
	}
	return false
}

// Lasting is over how many rounds a certainty below the kill line adds up to one,
// and lowest what a round counts at least: with lower log-odds it says no more.
const Lasting, lowest = 8, -4

// AddsUp reports whether the log-odds of the last rounds, which a sum is of, amount to
// a kill: on average they are a quarter of the way from the warn line to the kill
// line. Those who get on after all do so sooner.
func AddsUp(sum, warn, kill float32) bool { return sum >= Lasting*(warn+(kill-warn)/4) }

// waited is how much a round counts at most that waited.
const waited = .25

// lasts reports whether a conversation whose newest log-odds are z is nearly certain,
// and was so for some rounds on end, those left out that only waited.
func (c *comparison) lasts(i int, z float32, at lines) bool {
	if now := certainty(z); now < at.warn || now >= at.kill || c.all[i].dose < waited {
		return false
	}
	warn, kill := logOdds(at.warn), logOdds(at.kill)
	sum, n := z, 1
	for j := i - 1; j >= c.since && n < Lasting; j-- {
		if s := &c.all[j]; s.dose >= waited {
			sum += max(lowest, min(kill, logOdds(s.certainty)))
			n++
		}
	}
	return n == Lasting && AddsUp(sum, warn, kill)
}

// stayed adds to some reasons that they have been there for some rounds, which makes
// them add up to a higher certainty.
func stayed(rs []haltd.Contribution, certainty float32) []haltd.Contribution {
	points := int(math.Round(100 * float64(certainty)))
	for _, r := range rs {
		points -= r.Points
	}
	at := len(rs)
	if at > 0 && rs[at-1].Name == others {
		at-- // those come last
	}
	return slices.Insert(rs, at, haltd.Contribution{Name: "lasting", Text: "it has been nearly as certain for " + itoa(Lasting) + " rounds", Points: points})
}

// percent writes a share as the record has it: one decimal.
func percent(f float32) float64 { return math.Round(float64(f)*1000) / 10 }

// repeated are the recent rounds that repeat something, oldest first, and how
// many of them came after a pause of more than a minute.
func (c *comparison) repeated() (is []int, slow int) {
	n := len(c.all)
	var gone float32
	first := n
	for j := n - 1; j >= c.since && gone < windows[len(windows)-1] && n-j <= mostRounds; j-- {
		gone += c.all[j].dose
		first = j
	}
	for j := first; j < n; j++ {
		if c.family(j) == "" {
			continue
		}
		is = append(is, j)
		if c.all[j].slow {
			slow++
		}
	}
	return is, slow
}

// slowLately reports whether half of the newest repetitions came after more
// than a minute: what was hurried before nobody knows after a restart.
func (c *comparison) slowLately(repeated []int) bool {
	const newest = 4
	slow := 0
	for _, i := range repeated[max(0, len(repeated)-newest):] {
		if c.all[i].slow {
			slow++
		}
	}
	return 2*slow >= newest
}

// family is the pattern that a round is part of; "" where it repeats nothing.
// Words without a call are chatter, however they repeat.
func (c *comparison) family(i int) haltd.Family {
	f := c.all[i].family()
	if f != "" && c.rounds[i].manner <= spoken {
		return haltd.FamilyChatter
	}
	return f
}

func (s *relation) family() haltd.Family {
	best, family := float32(0), haltd.Family("")
	for k, v := range s.signs {
		in := &signInfos[k]
		if in.direction != speaks || in.family == "" || v == 0 {
			continue
		}
		if w := v * strength(sign(k)); w > best {
			best, family = w, in.family
		}
	}
	if family == haltd.FamilyRepeat && s.signs[waits] > 0 && s.pairAgo > 0 {
		return haltd.FamilyWaiting
	}
	return family
}

// strength orders the signs of one round: what names it best.
func strength(k sign) float32 {
	switch k {
	case repeatNext, repeatNear, repeatPlace, doubled:
		return 4
	case failVaried, emptyVaried, sameVaried, notThereAgain, pastEnd:
		return 3
	case saidAgain, silentTurn:
		return 2
	}
	return 1
}

// maxEvidence bounds the rounds that a signal carries; the newest stay.
const maxEvidence = 40

// explain names the family that weighs most, and the rounds that prove it.
func (c *comparison) explain(s *haltd.Signal, repeated []int) {
	s.Family = c.familyOf(repeated)
	shown := map[int]bool{}
	for _, i := range repeated {
		shown[i] = true
		for _, ago := range []int{c.all[i].pairAgo, c.all[i].placeAgo, c.all[i].residueAgo} {
			if ago > 0 && ago <= near {
				shown[i-ago] = true
				break
			}
		}
	}
	if s.Family == haltd.FamilyRefusal {
		for _, i := range c.refused() {
			shown[i] = true
		}
	}
	var order []int
	for i := range c.all {
		if shown[i] {
			order = append(order, i)
		}
	}
	s.Rounds = c.evidence(order[max(0, len(order)-maxEvidence):])
	c.describe(s, repeated)
}

// refused are the rounds in which the program that is refused again and again was
// refused in the same way as the last time.
func (c *comparison) refused() (is []int) {
	_, program := c.all[len(c.all)-1].returning()
	var newest *seenRound
	for i := len(c.rounds) - 1; i >= c.since; i-- {
		r := &c.rounds[i]
		if r.program != program || r.outcome != failed && r.input == 0 {
			continue
		}
		if newest == nil {
			newest = r
		}
		if r.residue == newest.residue && r.input == newest.input || r.input != 0 && r.input == newest.input {
			is = append(is, i)
		}
	}
	slices.Reverse(is)
	return is
}

// familyOf is the family that most of the repeated rounds are of.
func (c *comparison) familyOf(repeated []int) haltd.Family {
	times := map[haltd.Family]float32{}
	for _, i := range repeated {
		times[c.family(i)] += c.all[i].dose
	}
	best := haltd.FamilyFutile
	for _, f := range [...]haltd.Family{haltd.FamilyRepeat, haltd.FamilyCycle, haltd.FamilyFutile, haltd.FamilyChatter, haltd.FamilyRefusal, haltd.FamilyWaiting} {
		if times[f] > times[best] {
			best = f
		}
	}
	last := &c.all[len(c.all)-1]
	switch {
	case last.lap.of > 1 && last.lap.runs >= last.lap.of && best != haltd.FamilyChatter && best != haltd.FamilyWaiting:
		return haltd.FamilyCycle
	case best == haltd.FamilyCycle:
		best = haltd.FamilyRepeat
	}
	again, _ := last.returning()
	if recent := min(len(c.all)-c.since, int(windows[len(windows)-1])); again >= 2 && 2*len(repeated) < recent && apart(c.refused()) {
		return haltd.FamilyRefusal // the steps between are all different
	}
	return best
}

// apart reports whether most of some rounds have others between them.
func apart(is []int) bool {
	gaps := 0
	for k := 1; k < len(is); k++ {
		if is[k] > is[k-1]+1 {
			gaps++
		}
	}
	return 2*gaps >= len(is)
}

// describe fills in which tools, how often, and what they got.
func (c *comparison) describe(s *haltd.Signal, repeated []int) {
	last := len(c.all) - 1
	switch s.Family {
	case haltd.FamilyCycle:
		p := c.all[last].lap.of
		for j := last - p + 1; j <= last; j++ {
			s.Tools = append(s.Tools, c.rounds[j].name)
		}
		s.Count = c.all[last].lap.runs/p + 1
	case haltd.FamilyRefusal:
		if is := c.refused(); len(is) > 0 {
			i := is[len(is)-1]
			s.Tools, s.Outcome = []string{c.rounds[i].name}, c.rounds[i].outcome.word()
			s.Count = len(is)
		}
	case haltd.FamilyRepeat, haltd.FamilyWaiting:
		c.countRepeats(s, repeated)
	default:
		for _, i := range repeated {
			if c.family(i) == s.Family {
				s.Count++
				s.Tools, s.Outcome = []string{c.rounds[i].name}, c.rounds[i].outcome.word()
			}
		}
		s.Count++ // the round that the first of them repeats
	}
}

// countRepeats finds the act that repeats most.
func (c *comparison) countRepeats(s *haltd.Signal, repeated []int) {
	times := map[uint64]int{}
	for _, i := range repeated {
		r := &c.rounds[i]
		times[r.core]++
		if n := times[r.core] + 1; n > s.Count {
			s.Count, s.Tools, s.Outcome = n, []string{r.name}, ""
			if c.all[i].repeats() || r.doubles > 0 {
				s.Outcome = r.outcome.word()
			}
		}
	}
}

// evidence shows rounds with a letter for each that is different.
func (c *comparison) evidence(order []int) []haltd.RoundEvidence {
	type pair struct{ act, result uint64 }
	letters := map[pair]string{}
	out := make([]haltd.RoundEvidence, 0, len(order))
	for _, i := range order {
		r, s := &c.rounds[i], &c.all[i]
		k := pair{r.core, r.result}
		if s.returns() { // nearly the same place goes by the letter of the first
			k.result = c.rounds[i-s.placeAgo].result
		}
		l, ok := letters[k]
		if !ok {
			l = letter(len(letters))
			letters[k] = l
		}
		out = append(out, haltd.RoundEvidence{
			Index: i, Letter: l, Tool: r.name, Outcome: r.outcome.word(),
			Act: digestText(r.act), Result: digestText(r.result),
			Certainty: percent(s.certainty), Family: c.family(i),
		})
	}
	return out
}

// letter is A to Z, then A1 and so on.
func letter(n int) string {
	l := string(rune('A' + n%26))
	if n < 26 {
		return l
	}
	return l + strconv.Itoa(n/26)
}

func digestText(d uint64) string { return strconv.FormatUint(d, 16) }
