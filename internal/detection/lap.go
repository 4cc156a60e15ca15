package detection

import "slices"

// mostLap is the longest cycle that is looked for.
const mostLap = 8

// cycle is a cycle that a round continues: its length, 0 for none, and for how
// many rounds it has gone on.
type cycle struct{ of, runs int }

// extend takes a round that is as the one p before it was, where that makes the
// longest cycle.
func (c *cycle) extend(before cycle, p int) {
	runs := 1
	if before.of == p {
		runs = before.runs + 1
	}
	if runs > c.runs {
		*c = cycle{p, runs}
	}
}

// laps is how often a cycle was gone through.
func (c *cycle) laps() float32 { return float32(c.runs) / float32(c.of) }

// findCycles finds the cycles that the newest rounds go through, to the letter
// and but for numbers.
func (c *comparison) findCycles(i int) {
	s := &c.all[i]
	if i > c.since && c.alike(i, i-1) {
		return // a repetition, no cycle
	}
	for p := 2; p <= mostLap && i-p >= c.since; p++ {
		before := &c.all[i-1]
		if c.alike(i, i-p) {
			s.lap.extend(before.lap, p)
		}
		if c.alikeButNumbers(i, i-p) {
			s.ring.extend(before.ring, p)
		}
	}
}

// failingLaps is how often a cycle was gone through, but for numbers, in which
// one call fails alike each time: whatever is done in between does not help it.
func (c *comparison) failingLaps(i int) float32 {
	ring := &c.all[i].ring
	anchored, same := false, true
	for j := i; ring.of > 0 && j > i-ring.of; j-- {
		o := &c.all[j]
		same = same && o.coreAgo == ring.of
		anchored = anchored || c.rounds[j].outcome == failed && (o.pairAgo == ring.of ||
			o.formAgo == ring.of && (same && !c.advances(j) || c.saysAlike(j, j-ring.of)))
	}
	if !anchored {
		return 0
	}
	return ring.laps()
}

// orbits reports that for long nothing was done that had not been done before, and
// that again and again one call of it failed alike.
func (c *comparison) orbits(i int) bool {
	const long, times = 14, 4
	if i-long+1 < c.since {
		return false
	}
	var fails uint64
	n := 0
	for j := i; j > i-long; j-- {
		r, s := &c.rounds[j], &c.all[j]
		if r.manner < commanded || !recently(s.coreAgo) || r.waiting || s.human || s.brings() {
			return false
		}
		if r.outcome != failed {
			continue
		}
		if c.advances(j) {
			return false // a little further each time
		}
		if fails == 0 || fails == r.form {
			fails = r.form
			n++
		}
	}
	return n >= times
}

// hopeless reports a program that failed or found nothing each of the last times, in
// ways that are all known, while nothing was tried but other numbers. Who edits a text
// between the failures, or asks the same again, is another matter.
func (c *comparison) hopeless(i int) bool {
	const times = 10
	r := &c.rounds[i]
	if !r.denied() || r.manner < commanded {
		return false
	}
	n, steps, others := 0, 0, 0
	last := r
	for j := i; j >= c.since && i-j <= far && n < times; j-- {
		o, s := &c.rounds[j], &c.all[j]
		if s.newDeeds > 0 || s.newWords > 0 || s.human || s.asked || s.onward || o.waiting || o.writes || o.payload {
			return false
		}
		if o.program != r.program {
			continue
		}
		if !o.denied() || o.absent {
			return false
		}
		if n++; s.goesElsewhere() || s.probes {
			steps++ // some numbers follow each other, or were named, by chance
		}
		if o.act != last.act {
			others++
		}
		last = o
	}
	return n == times && 3*steps <= times && 2*others >= times
}

// brings reports a round that did or told something new, or that the task asks for.
func (s *relation) brings() bool {
	return s.newDeeds > 0 || s.newWords > 0 || s.wrote || s.asked || s.onward || s.given || s.nextID || s.fills
}

// closed reports a circle of a few acts, each of which was done shortly before and is
// answered with hardly a new word: what changes in the answers leads to nothing else.
func (c *comparison) closed(i int) bool {
	const rounds, fewest, most, alike = 10, 2, 5, .7
	r, s := &c.rounds[i], &c.all[i]
	if i-c.since < rounds || !r.answered || s.fills || s.coreAgo == 0 || len(r.tells) <= atOnce || 3*s.newTells > len(r.tells) || contained(r.tells, c.rounds[i-s.coreAgo].tells) < alike {
		return false
	}
	var acts [most]uint64
	n := 0
	for j := i; j > i-rounds; j-- {
		o, other := &c.rounds[j], &c.all[j]
		if o.manner < commanded || other.coreAgo == 0 || other.coreAgo > near || o.waiting || o.rests || o.view != 0 {
			return false
		}
		if !slices.Contains(acts[:n], o.core) {
			if n == most {
				return false
			}
			acts[n] = o.core
			n++
		}
	}
	return n >= fewest
}

// swings reports two contents that the same tool was given in turn, three times each,
// while a number beside them counts the calls: each takes back what the other wrote.
func (c *comparison) swings(i int) bool {
	const calls = 6
	if c.all[i].shapeAgo != 2 || i-calls+1 < c.since || c.rounds[i-1].shape == c.rounds[i].shape {
		return false
	}
	for j := i; j > i-calls+1; j-- {
		at, last := &c.rounds[j], &c.rounds[j-1]
		if at.outcome == failed || at.tools != c.rounds[i].tools || last.tools != at.tools || c.all[j].newDeeds > 0 || j >= i-calls+3 && c.all[j].shapeAgo != 2 {
			return false
		}
		if step, ok := stepOf(&last.numbers, &at.numbers); !ok || slices.Min(step[:]) < 0 {
			return false
		}
	}
	return true
}

// rewritten reports that of late nothing was done but to give one tool, or two in
// turn, the same many words in another order: a plan that nobody begins with. It
// takes longer to see where each has only some of the words. One that goes through a
// list names another item each time.
func (c *comparison) rewritten(i int) bool {
	const longer = insists + 2
	n, items, alike := 0, 0, true
	last := &c.rounds[i]
	var other *seenRound // the last of the second tool
	for j := i; j >= c.since && n < longer; j-- {
		r, s := &c.rounds[j], &c.all[j]
		like := last
		if r.tools != last.tools {
			if other == nil {
				other = r
			}
			like = other
		}
		if r.tools != like.tools || r.manner < commanded || len(r.does) < manyWords || len(r.does) < 2*manyWords && r.values < 3 || r.denied() || s.newDeeds > 1 || s.newWords > 0 || s.newTells > 1 || s.walk || s.asked || s.onward {
			break
		}
		if s.goesElsewhere() || s.newDeeds > 0 || r.numbers != like.numbers && s.payload < .97 { // else they stand in another order
			items++
		}
		if alike = alike && s.payload >= cosmetic && len(r.does) >= 2*manyWords; 3*items > insists {
			return false
		}
		if n++; n >= insists && alike {
			return true
		}
	}
	return n == longer
}

// keepsNotes reports that of late known words were written down again and again, and
// read back by the same act, and that nothing else was told: notes of work that nobody
// begins with. Numbers in them, such as a revision or a time, are the agent's own, unless
// they say where another text goes.
func (c *comparison) keepsNotes(i int) bool {
	const long, times = 8, 3
	if i-long+1 < c.since {
		return false
	}
	var tools, core uint64
	wrote, read := 0, 0
	for j := i; j > i-long; j-- {
		r, s := &c.rounds[j], &c.all[j]
		if r.manner != called || r.denied() || r.waiting || s.newDeeds > 0 || s.newWords > 0 || s.newTells > 0 || s.asked || s.human {
			return false
		}
		if s.walk && s.aimed && s.payload < cosmetic {
			return false // the next chapter
		}
		switch {
		case len(r.does) >= 2*manyWords && s.payload >= .5 && (tools == 0 || r.tools == tools):
			tools = r.tools
			wrote++
		case recently(s.coreAgo) && (core == 0 || r.core == core):
			core = r.core
			read++
		default:
			return false
		}
	}
	return min(wrote, read) >= times
}

// saysAlike reports two rounds whose answers have the same numbers but for those
// that their acts named, such as the number of a job that was started anew.
func (c *comparison) saysAlike(i, j int) bool {
	a, b := &c.rounds[i], &c.rounds[j]
	return a.beside != 0 && a.beside == b.beside && a.residue == b.residue
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
// is the same page again, with the same numbers on it.
func (c *comparison) samePage(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if s.coreAgo != 1 || s.placeAgo != 1 || s.place < samePlace || s.newWords > 0 || r.short() || differing(&c.rounds[i-1].told, &r.told) > 1 {
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
