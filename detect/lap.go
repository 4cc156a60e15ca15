package detect

import "slices"

// mostLap is the longest cycle that is looked for.
const mostLap = 8

// lap finds the cycle that the newest rounds go through, to the letter and but
// for numbers.
func (c *comparison) lap(i int) {
	s := &c.all[i]
	if i > c.since && c.alike(i, i-1) {
		return // a repetition, no cycle
	}
	for p := 2; p <= mostLap && i-p >= c.since; p++ {
		before := &c.all[i-1]
		if c.alike(i, i-p) {
			runs := 1
			if before.lapOf == p {
				runs = before.lapRuns + 1
			}
			if runs > s.lapRuns {
				s.lapOf, s.lapRuns = p, runs
			}
		}
		if c.alikeButNumbers(i, i-p) {
			runs := 1
			if before.ringOf == p {
				runs = before.ringRuns + 1
			}
			if runs > s.ringRuns {
				s.ringOf, s.ringRuns = p, runs
			}
		}
	}
}

// failingLaps is how often a cycle was gone through, but for numbers, in which
// one call fails alike each time: whatever is done in between does not help it.
func (c *comparison) failingLaps(i int) float32 {
	p := c.all[i].ringOf
	anchored, same := false, true
	for j := i; p > 0 && j > i-p; j-- {
		o := &c.all[j]
		same = same && o.coreAgo == p
		anchored = anchored || c.rounds[j].outcome == failed && (o.pairAgo == p || same && o.formAgo == p && !c.advances(j))
	}
	if !anchored {
		return 0
	}
	return float32(c.all[i].ringRuns) / float32(p)
}

// alike reports two rounds that did the same to the same effect.
func (c *comparison) alike(i, j int) bool {
	a, b := &c.rounds[i], &c.rounds[j]
	if a.core != b.core || a.answered != b.answered {
		return false
	}
	s := &c.all[i]
	return a.result == b.result || s.placeAgo > 0 && s.place >= samePlace && s.placeAgo == i-j
}

// alikeButNumbers reports two rounds that did the same to the same effect, but
// for numbers and ids.
func (c *comparison) alikeButNumbers(i, j int) bool {
	a, b := &c.rounds[i], &c.rounds[j]
	if a.core == b.core {
		return c.alike(i, j) || a.form == b.form
	}
	return a.shape != 0 && a.shape == b.shape && a.tools == b.tools && a.answered == b.answered && a.form == b.form
}

// samePage reports the next page of a list, as the page before it named it, that
// is the same page again.
func (c *comparison) samePage(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if s.coreAgo != 1 || s.placeAgo != 1 || s.place < samePlace || s.newWords > 0 || r.short() {
		return false
	}
	for _, id := range r.ids {
		if _, named := slices.BinarySearch(c.rounds[i-1].lists, id); named {
			return true
		}
	}
	return false
}

// drilled reports a question about other numbers than the one before, to which
// other numbers came back: what a teacher and a pupil say.
func (c *comparison) drilled(i int) bool {
	if i == 0 {
		return false
	}
	r, o := &c.rounds[i], &c.rounds[i-1]
	return r.manner == spoken && r.asked && len(r.says) <= shortAnswer && len(r.tells) <= fewWords && c.all[i].actAgo == 0 && r.numbers.n > 0 && r.told.n > 0 && r.numbers != o.numbers && r.told != o.told
}
