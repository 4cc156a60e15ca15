package detect

import (
	"slices"
	"strconv"
)

// finding is what stall makes of a conversation.
type finding struct {
	signals  []Signal
	progress bool // there are rounds, and the last of them repeat nothing
}

// stall judges the rounds of a conversation at its newest request.
func stall(opening []uint32, rounds []seenRound, from int) finding {
	c := compare(opening, rounds, from)
	defer c.free()
	counting := c.rounds[min(from, len(c.rounds)):]
	var f finding
	sum := addUp(counting)
	if sig, ok := sum.signal(); ok {
		f.signals = append(f.signals, sig)
	}
	if sig, ok := returningRefusal(counting); ok {
		f.signals = append(f.signals, sig)
	}
	// Who only waits, or scrolls on, is given the patience for it also by
	// similarity.
	f.progress = len(rounds) > 1 && (sum.score < warnAt || sum.score < killAt && sum.waits())
	return f
}

// tally is the evidence at the newest round.
type tally struct {
	score    int        // what may kill
	patient  int        // score, and the repetitions that only warn
	before   []standing // those until the score was last zero
	rounds   []standing // those since
	points   []int
	families []Family
}

// addUp runs the sequential test over the rounds.
func addUp(ss []standing) tally {
	var t tally
	start := 0
	points := make([]int, len(ss))
	families := make([]Family, len(ss))
	for i := range ss {
		p, family := ss[i].weigh()
		points[i], families[i] = p, family
		t.patient = min(max(0, t.patient+p), capAt)
		if p < 0 || !ss[i].onlyWarns() {
			t.score = min(max(0, t.score+p), capAt)
		}
		if ss[i].human {
			t.score, t.patient = 0, 0
		}
		if t.patient == 0 {
			start = i + 1
		}
	}
	t.before, t.rounds, t.points, t.families = ss[:start], ss[start:], points[start:], families[start:]
	return t
}

// waits reports whether nothing but waiting, or moving on unseen, speaks for a
// stall.
func (t *tally) waits() bool {
	for i, p := range t.points {
		if p > 0 && t.families[i] != Waiting && !t.rounds[i].onward {
			return false
		}
	}
	return true
}

// signal is the verdict of the test: kill, warn or nothing.
func (t *tally) signal() (Signal, bool) {
	s := Signal{Detector: Stall, Score: float64(t.score), Threshold: killAt}
	switch {
	case t.score >= killAt:
		s.Level = Kill
	case t.patient >= warnAt:
		s.Level, s.Score, s.Threshold = Warn, float64(t.patient), warnAt
	default:
		return Signal{}, false
	}
	t.explain(&s)
	return s, true
}

// explain fills in which rounds speak for the stall, and the family that
// weighs most among them.
func (t *tally) explain(s *Signal) {
	weight := map[Family]int{}
	for i, f := range t.families {
		if t.points[i] > 0 {
			weight[f] += t.points[i]
		}
	}
	for _, f := range [...]Family{Repeat, Futile, Waiting, Chatter} {
		if weight[f] > weight[s.Family] || s.Family == "" && weight[f] > 0 {
			s.Family = f
		}
	}
	first := t.repeated()
	s.Rounds = newest(roundEvidence(append(first, t.rounds...), append(make([]int, len(first)), t.points...), append(make([]Family, len(first)), t.families...)))
	switch s.Family {
	case Repeat, Waiting:
		t.explainRepeat(s)
	default:
		for i, f := range t.families {
			if f == s.Family && t.points[i] > 0 {
				s.Count++
				s.Outcome = t.rounds[i].outcome.word()
				s.Tools = []string{t.rounds[i].name}
			}
		}
		s.Count++ // the round that the first of them repeats
	}
}

// repeated are the rounds from before the evidence that rounds of it repeat.
func (t *tally) repeated() (rs []standing) {
	for i := range t.rounds {
		ago := t.rounds[i].pairAgo
		if first := len(t.before) + i - ago; t.points[i] > 0 && ago > 0 && first < len(t.before) {
			rs = append(rs, t.before[first])
		}
	}
	slices.SortFunc(rs, func(a, b standing) int { return a.index - b.index })
	return rs
}

// explainRepeat names the round that repeats most, or the cycle.
func (t *tally) explainRepeat(s *Signal) {
	if p := period(t.rounds); p > 1 {
		s.Family = Cycle
		for _, r := range t.rounds[len(t.rounds)-p:] {
			s.Tools = append(s.Tools, r.name)
		}
		s.Count = len(t.rounds)/p + 1
		return
	}
	times := map[uint64]int{}
	for i := range t.rounds {
		r := &t.rounds[i]
		if t.points[i] <= 0 || r.actAgo == 0 && r.doubles == 0 {
			continue
		}
		times[r.act]++
		if times[r.act]+1 > s.Count {
			s.Count, s.Tools, s.Outcome = times[r.act]+1, []string{r.name}, ""
			if r.pairAgo > 0 || r.doubles > 0 {
				s.Outcome = r.outcome.word()
			}
		}
	}
}

// period is the length of the cycle that the newest rounds go through, 1 to
// near; 0 when they go through none twice.
func period(rs []standing) int {
	n := len(rs)
	for p := 1; p <= near; p++ {
		if n < p+1 {
			break
		}
		same := true
		for i := n - p; i < n && same; i++ {
			j := i - p
			if j < 0 { // the first time round lies before the evidence
				same = rs[i].pairAgo == p
				continue
			}
			same = rs[i].act == rs[j].act && rs[i].result == rs[j].result
		}
		if same {
			return p
		}
	}
	return 0
}

// maxEvidence bounds the rounds that a signal carries; the newest stay.
const maxEvidence = 40

func roundEvidence(rs []standing, points []int, families []Family) []RoundEvidence {
	letters := map[pairKey]string{}
	var out []RoundEvidence
	for i := range rs {
		r := &rs[i]
		k := pairKey{r.act, r.result}
		l, ok := letters[k]
		if !ok {
			l = letter(len(letters))
			letters[k] = l
		}
		out = append(out, RoundEvidence{
			Index: r.index, Letter: l, Tool: r.name, Outcome: r.outcome.word(),
			Act: digestText(r.act), Result: digestText(r.result), Points: points[i], Family: families[i],
		})
	}
	return out
}

func newest(rs []RoundEvidence) []RoundEvidence { return rs[max(0, len(rs)-maxEvidence):] }

// letter is A to Z, then A1 and so on.
func letter(n int) string {
	l := string(rune('A' + n%26))
	if n < 26 {
		return l
	}
	return l + strconv.Itoa(n/26)
}

func digestText(d uint64) string { return strconv.FormatUint(d, 16) }
