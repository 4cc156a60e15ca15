package detection

import (
	"math"
	"slices"
)

// Some numbers in answers go on by themselves, whatever is done: seconds that went
// by, turns, oxygen that runs out. They tell the time, and are no news.

// clocks marks the numbers of an answer that do so: by the seconds that went by
// between answers of one form, by one step a round, for different acts, by the rounds
// that went by, or by the calls.
func (c *comparison) clocks(i int) (is [len(amounts{}.first)]bool) {
	for k := range min(c.rounds[i].told.n, len(is)) {
		is[k] = c.tellsTime(i, k) || c.beats(i, k) || c.countsRounds(i, k) || c.countsCalls(i, k)
	}
	return is
}

// countsRounds reports whether a number went up by the rounds that went by, the last
// times that the form of the answer came, with others in between.
func (c *comparison) countsRounds(i, k int) bool {
	const times = 3
	newest := i
	for range times {
		ago := c.all[i].formAgo
		if !recently(ago) || c.rounds[i].told.n != c.rounds[i-ago].told.n || c.rounds[i].told.first[k]-c.rounds[i-ago].told.first[k] != float64(ago) {
			return false
		}
		i -= ago
	}
	return newest-i > times
}

// countsCalls reports whether a number went up by one at each of the last calls, all of
// them the same, beside another that went up and down: how often it was asked, and how
// long the answer took.
func (c *comparison) countsCalls(i, k int) bool {
	const times = 8
	var ups, downs steps
	for range times {
		if c.all[i].formAgo != 1 || c.all[i].coreAgo != 1 {
			return false
		}
		now, before := &c.rounds[i].told, &c.rounds[i-1].told
		if now.n != before.n || now.first[k]-before.first[k] != 1 {
			return false
		}
		step, _ := stepOf(before, now)
		step.mark(&ups, &downs)
		i--
	}
	for other := range ups {
		if other != k && ups[other] > 0 && downs[other] > 0 {
			return true
		}
	}
	return false
}

// tellsTime reports whether a number went up by the seconds that went by, the last
// times that the form of the answer came, longer and shorter ones: what goes by one
// step a round may be where a robot is.
func (c *comparison) tellsTime(i, k int) bool {
	const times, differ = 3, 2 // seconds
	shortest, longest := math.Inf(1), 0.
	for range times {
		ago := c.all[i].formAgo
		if !recently(ago) {
			return false
		}
		now, before := &c.rounds[i], &c.rounds[i-ago]
		if now.told.n != before.told.n || now.at.IsZero() || before.at.IsZero() {
			return false
		}
		took, went := now.at.Sub(before.at).Seconds(), now.told.first[k]-before.told.first[k]
		if math.Abs(went-took) > 1+took/20 {
			return false
		}
		shortest, longest = min(shortest, took), max(longest, took)
		i -= ago
	}
	return longest-shortest > differ
}

// beats reports whether a number went by the same step in each of the last rounds,
// of which most did something else, or up by one where two acts took turns, after some in which nothing new was done or told:
// who walks back through a few rooms counts his steps, too. What the act itself names is
// no clock, and neither is what people say.
func (c *comparison) beats(i, k int) bool {
	const rounds, different, quiet = 5, 3, 8
	if i-quiet < c.since || c.rounds[i].manner < commanded {
		return false
	}
	for j := i; j > i-quiet; j-- {
		if c.all[j].newDeeds > 0 || c.all[j].newWords > 0 {
			return false
		}
	}
	step := c.rounds[i].told.first[k] - c.rounds[i-1].told.first[k]
	if step == 0 {
		return false
	}
	var acts [rounds]uint64
	n := 0
	for j := i; j > i-rounds; j-- {
		r := &c.rounds[j]
		if k >= r.told.n || slices.Contains(r.numbers.first[:min(r.numbers.n, len(r.numbers.first))], r.told.first[k]) {
			return false
		}
		if j > i-rounds+1 && math.Abs(r.told.first[k]-c.rounds[j-1].told.first[k]-step) > 1e-6*math.Abs(step) {
			return false
		}
		if !slices.Contains(acts[:n], r.act) {
			acts[n] = r.act
			n++
		}
	}
	return n >= different || n > 1 && step == 1
}

// discountClocks takes back the news of numbers that tell the time: an answer that is
// the same but for them is the same.
func (c *comparison) discountClocks(i int) {
	r, s := &c.rounds[i], &c.all[i]
	if s.newWords > 0 || r.told.n == 0 || r.told.n > len(r.told.first) {
		return
	}
	clocks := c.clocks(i)
	n := 0
	for _, clock := range clocks {
		if clock {
			n++
		}
	}
	if n == 0 {
		return
	}
	if s.newTells > 0 {
		left := max(0, s.newTells-n)
		s.news *= float32(left) / float32(s.newTells)
		s.newTells = left
	}
	same := func(ago int) bool {
		if ago == 0 || c.rounds[i-ago].form != r.form || c.rounds[i-ago].told.n != r.told.n {
			return false
		}
		for k, before := range c.rounds[i-ago].told.first {
			if before != r.told.first[k] && !clocks[k] {
				return false
			}
		}
		return true
	}
	if s.placeAgo == 0 && same(s.formAgo) {
		s.resultAgo, s.placeAgo, s.place = s.formAgo, s.formAgo, 1
	}
	if s.pairAgo == 0 && same(s.actAgo) {
		s.pairAgo = s.actAgo
	}
}

// counted reports an answer to a known act that differs from one before by numbers
// alone, which went up by one a round, whatever was asked in between.
func (c *comparison) counted(i int) bool {
	ago := c.all[i].residueAgo
	return ago > 0 && ago < c.all[i].actAgo && c.rounds[i].told != c.rounds[i-ago].told && c.upByOne(i, ago)
}

// tallies reports an answer that differs from the last one to the same act by
// numbers alone, which went up by one a round: it counts the attempts.
func (c *comparison) tallies(i int) bool { return c.upByOne(i, c.all[i].coreAgo) }

// upByOne reports an answer whose numbers are those of the one so many rounds ago, or
// went up by one a round.
func (c *comparison) upByOne(i, ago int) bool {
	now, before := &c.rounds[i].told, &c.rounds[i-ago].told
	if now.n != before.n {
		return false
	}
	for k := range min(now.n, len(now.first)) {
		if d := now.first[k] - before.first[k]; d != 0 && d != float64(ago) {
			return false
		}
	}
	return true
}

// ticks reports an answer of the form of one before whose numbers are the same but
// for one that went up.
func (c *comparison) ticks(i int) bool {
	step, ok := stepOf(&c.rounds[i-c.all[i].formAgo].told, &c.rounds[i].told)
	up := 0
	for _, d := range step {
		if d < 0 {
			return false
		}
		up += int(d)
	}
	return ok && up == 1
}

// wanders reports a large number in answers of one form that leapt up and down of
// late: it is drawn, and measures nothing. One that goes on, such as the bytes of
// a download, does, and so does one that hardly moves.
func (c *comparison) wanders(i int, large float64) bool {
	const leap = 1.1
	var ups, downs steps
	for range trendSteps {
		ago := c.all[i].formAgo
		if !recently(ago) {
			return false
		}
		now, before := &c.rounds[i].told, &c.rounds[i-ago].told
		if now.n != before.n {
			return false
		}
		for k := range min(now.n, len(now.first)) {
			switch a, b := now.first[k], before.first[k]; {
			case a < large || b < large:
			case a > leap*b:
				ups[k] = 1
			case b > leap*a:
				downs[k] = 1
			}
			if ups[k]*downs[k] > 0 {
				return true
			}
		}
		i -= ago
	}
	return false
}

// goesToAndFro reports an answer whose form came three times of late, and whose
// numbers all went up and down in them.
func (c *comparison) goesToAndFro(i int) bool {
	const times = 3
	var ups, downs steps
	clocks := c.clocks(i)
	for range times {
		ago := c.all[i].formAgo
		if !recently(ago) {
			return false
		}
		step, _ := stepOf(&c.rounds[i-ago].told, &c.rounds[i].told)
		step.mark(&ups, &downs)
		i -= ago
	}
	for k, clock := range clocks {
		if clock {
			ups[k], downs[k] = 0, 0
		}
	}
	return ups == downs && ups != steps{}
}

// goesDown reports a number that has gone down each of the last times that an answer
// of this form came.
func (c *comparison) goesDown(i int) bool {
	const times = 4
	var ups, downs steps
	for range times {
		ago := c.all[i].formAgo
		if ago == 0 {
			break
		}
		step, _ := stepOf(&c.rounds[i-ago].told, &c.rounds[i].told)
		step.mark(&ups, &downs)
		i -= ago
	}
	for k := range downs {
		if downs[k] > ups[k] {
			return true
		}
	}
	return false
}
