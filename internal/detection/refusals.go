package detection

// curedSince reports whether the tool of a round did as it was told since it
// last failed in this way: an editor that wants each file to be read first. A
// shell, which takes any command, cures nothing.
func (c *comparison) curedSince(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if r.manner != called || r.values < 2 {
		return false
	}
	for j := i - s.residueAgo + 1; s.residueAgo > 0 && j < i; j++ {
		if c.rounds[j].tools == r.tools && c.rounds[j].answered && c.rounds[j].outcome != failed {
			return true
		}
	}
	return false
}

// count adds up how often the same was seen since a person last spoke.
func (c *comparison) count(i int) {
	r, s := &c.rounds[i], &c.all[i]
	worked, inputs := 0, 0
	written := -1 // the last round before j that wrote something
	lastFail := -1
	tries := 0
	var told *seenRound // the last that the harness answered so
	for j := c.since; j < i; j++ {
		o, other := &c.rounds[j], &c.all[j]
		if other.attempts(o) {
			written = j
		}
		if r.input != 0 && r.input == o.input && !r.event {
			inputs++
			fewer := told != nil && o.countsDownFrom(told)
			told = o
			if !fewer && r.tools == o.tools && len(r.tells)+len(r.hears) > briefly && (len(r.hears) >= fewWords && s.news < .3 || r.result == o.result || r.outcome == failed) {
				s.refused += c.refusal(j)
			}
		}
		if r.act == o.act && r.result == o.result && r.answered && o.answered {
			s.pairTimes += other.dose
		}
		if r.answered && o.answered && r.result == o.result {
			s.placeTimes += other.dose
		}
		if r.tools != o.tools {
			continue
		}
		switch {
		case o.outcome == failed && r.outcome == failed && sameAnswer(r, o) && !other.given && !other.probes && !other.asked:
			if lastFail < 0 || written <= lastFail { // else an attempt was made
				s.failTimes += other.dose
			}
			lastFail = j
			if o.act == r.act {
				tries++
			}
		case o.outcome != failed && s.failTimes > 0:
			worked++
		}
	}
	s.inputs = inputs
	if told != nil && r.countsDownFrom(told) {
		s.refused = 0 // it has done some of what it was told to go on with
	}
	// A tool that mostly does as it is told, such as a shell, refuses nothing:
	// in a long run it misses now and then, each time something else.
	if float32(2*worked) > s.failTimes {
		s.failTimes = float32(tries)
	}
	// What follows every round is a harness's habit, not a refusal.
	if 2*inputs > i-c.since {
		s.refused = 0
	}
	c.countRefusals(i)
}

// countsDownFrom reports words that say of something that less is left than others
// said: "5 left" after "6 left".
func (r *seenRound) countsDownFrom(o *seenRound) bool {
	return r.manner <= spoken && o.manner <= spoken && r.numbers.n == 1 && o.numbers.n == 1 && r.numbers.first[0] < o.numbers.first[0]
}

// sameAnswer reports two answers that are the same, the words of their acts left
// out, or to the letter: an act may name a word of the answer by chance. Two failures
// may differ in what is fine beside them.
func sameAnswer(a, b *seenRound) bool {
	return a.residue == b.residue || a.result == b.result || a.fault == b.fault && a.fault != 0 && a.outcome == failed && b.outcome == failed
}

// cures is how many successes in a row, of a program that failed, say that it works now.
const cures = 2

// countRefusals counts how often a program failed in this way, across whatever
// else was done: a success of the same act ends the count, as of a check that is run at
// one place after the other, and one of its program the count of what failed to the
// letter; an attempt that was written in between leaves it to that. Who says so much to
// the letter is the same program under another name. A program that is not there
// refuses nothing: others do its work.
func (c *comparison) countRefusals(i int) {
	r, s := &c.rounds[i], &c.all[i]
	var refusals, alike float32
	if r.outcome == failed && !r.missing {
		worked, tries, fine := 0, 0, 0
		written, lastFail := -1, -1
		for j := c.since; j < i; j++ {
			o, other := &c.rounds[j], &c.all[j]
			if other.attempts(o) {
				written = j
			}
			switch {
			case !o.answered || r.program != o.program && !(r.result == o.result && len(r.tells) >= manyTold/2):
			case o.outcome != failed && o.act == r.act && r.act != 0:
				refusals, alike, worked, tries = 0, 0, 0, 0
			case o.outcome != failed:
				if fine++; fine >= cures {
					refusals, worked, tries = 0, 0, 0
				}
				if refusals > 0 {
					worked++
				}
				alike = 0
			case sameAnswer(r, o) && !other.given && !other.probes && !other.asked:
				if lastFail < 0 || written <= lastFail {
					refusals += c.refusal(j)
				}
				lastFail = j
				if o.act == r.act {
					tries++
				}
				if o.result == r.result || o.exactFault == r.exactFault && r.exactFault != 0 || len(r.tells) >= manyTold && o.form == r.form && o.counts == r.counts {
					alike += c.refusal(j)
				}
				fine = 0
			default:
				fine = 0
			}
		}
		if float32(2*worked) > refusals {
			refusals = float32(tries)
		}
	}
	c.keepRefusals(i, refusals)
	if i > c.since {
		s.failedAlike, s.failedFor = c.all[i-1].failedAlike, c.all[i-1].failedFor
	}
	if r.answered && (r.program == s.failedFor || alike > s.failedAlike) {
		s.failedAlike, s.failedFor = alike, r.program
	}
}

// returning is how often one failure came back, and of which program.
func (s *relation) returning() (times float32, program uint64) {
	if s.failedAlike > s.refusals {
		return s.failedAlike, s.failedFor
	}
	return s.refusals, s.refusedFor
}

// briefly is how many words a person approves with, or tells an agent to go
// on; a refusal has more.
const briefly = 2

// refusal is how much a refused round counts as one of many. What lies between
// two refusals is work at its own pace; where nothing does, and where it is told
// to wait, who waits counts for less.
func (c *comparison) refusal(i int) float32 {
	s := &c.all[i]
	if c.rounds[i].waiting || s.slow || s.residueAgo == 1 || s.pairAgo == 1 {
		return s.dose
	}
	return 1
}

// keepRefusals carries the refusals of the rounds before.
func (c *comparison) keepRefusals(i int, refusals float32) {
	r, s := &c.rounds[i], &c.all[i]
	if i > c.since {
		s.refusals, s.refusedFor = c.all[i-1].refusals, c.all[i-1].refusedFor
	}
	if r.program == s.refusedFor && r.outcome != failed && r.input == 0 {
		s.refusals = 0
	}
	if recently(s.coreAgo) && c.moved(i) {
		return // it fails a little further each time
	}
	if n := max(refusals, s.refused); n >= s.refusals && n > 0 {
		s.refusals, s.refusedFor = n, r.program
	}
}
