package detection

import "slices"

// What was written, as far as it can be seen from outside.

// writtenSince reports whether something was written, or got on, or the next of
// a list was done, since a round: a check after each of them is part of the work.
func (c *comparison) writtenSince(i, ago int) bool {
	tired := c.all[i].pairTimes >= insists/2                                // of attempts that hardly differ
	stale := c.all[i].pairTimes >= insists && c.rounds[i].outcome != failed // of those that say nothing new
	worn := c.all[i].pairTimes >= insists+2                                 // of those that are about nothing else
	for j := i - ago + 1; j < i; j++ {
		s := &c.all[j]
		if s.wrote && !(tired && c.jitters(j)) && !(stale && s.newDeeds == 0 && !s.goesElsewhere()) && !(worn && s.repaints()) || s.onward || s.landed || c.visits(j) || !c.rounds[j].denied() && c.crosses(j) ||
			s.given && !s.over && c.rounds[j].outcome != failed && c.rounds[j].manner >= commanded {
			return true
		}
	}
	return false
}

// visits reports a step of a walk that led to a place where nobody was: the next
// page of a list, after which one goes back to it.
func (c *comparison) visits(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	return s.walk && !s.over && !r.short() && s.newTells > 0 && s.place < samePlace && r.outcome == neutral && r.manner >= commanded
}

// reachedSince reports whether another site was reached since a round, or a form was
// filled in: what is done there is not what was done on the last one. Where given is
// set, the next of a list is enough.
func (c *comparison) reachedSince(i, ago int, given bool) bool {
	for j := i - ago + 1; j < i; j++ {
		s, r := &c.all[j], &c.rounds[j]
		if s.landed || given && s.given && !s.over && r.outcome == neutral && r.manner >= commanded && !r.short() {
			return true
		}
	}
	return false
}

// goesOnWith reports the first act of its tools on something that the act before it
// typed or reached: what was typed is saved.
func (c *comparison) goesOnWith(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if i <= c.since || !s.first || !c.all[i-1].landed || r.tools == c.rounds[i-1].tools || r.outcome != neutral {
		return false
	}
	return slices.ContainsFunc(r.idents, func(w uint32) bool {
		_, is := slices.BinarySearch(c.rounds[i-1].idents, w)
		return is
	})
}

// looksBefore reports a look in vain at what no act was about, where the last one was
// followed by another tool that was given work: what is not there yet is written down.
func (c *comparison) looksBefore(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if i < c.since+2 || r.outcome != empty || !s.aimed || r.manner < commanded {
		return false
	}
	o, next := &c.rounds[i-2], &c.all[i-1]
	return o.tools == r.tools && o.outcome == empty && c.rounds[i-1].tools != r.tools && (next.given || next.wrote) && !c.rounds[i-1].denied()
}

// cites reports a round in whose words something is named for the first time that
// comes into view with it, or goes, or is on another page: clicks at a place, or on
// the number of an element, do not tell themselves what they are about.
func (c *comparison) cites(i int) (found bool) {
	r := &c.rounds[i]
	for _, w := range r.cites {
		if !found && i > 0 && !c.acted.has(actOn(0, w)) {
			_, acted := slices.BinarySearch(r.does, w)
			found = !(acted && (!r.aloud || isNumber(w))) && c.brings(i, w) // the number of the element itself is no name
		}
	}
	c.cited(r)
	return found
}

// cited notes what was named in the words of a round, unless it failed.
func (c *comparison) cited(r *seenRound) {
	if r.outcome == failed {
		return
	}
	for _, w := range r.cites {
		c.acted.set([]uint32{actOn(0, w)})
	}
}

// brings reports an answer that shows a word on another page than the one before
// it, or does not show it any more.
func (c *comparison) brings(i int, w uint32) bool {
	r, before := &c.rounds[i], &c.rounds[i-1]
	if shown := r.shows(w); shown == before.shows(w) {
		all, _ := overlap(r.tells, before.tells)
		return shown && all < otherPage
	}
	return true
}

// otherPage is how much two pages of one site have in common at most.
const otherPage = .9

// repaints reports an act that hardly differs from one before it, and is about nothing
// that was not acted on.
func (s *relation) repaints() bool {
	return s.payload >= cosmetic && !s.goesElsewhere()
}

// goesElsewhere reports an act that is about something that was not acted on.
func (s *relation) goesElsewhere() bool { return s.aimed || s.given || s.nextID || s.walk }

// attempts reports that something got on, or was written: it was accepted, and
// hardly a word or a number came back that was not known. What told more was a
// question.
func (s *relation) attempts(r *seenRound) bool {
	return s.wrote && (s.newTells <= 1 || r.writes) || s.onward
}

// attemptedSince reports whether something was written since a round.
func (c *comparison) attemptedSince(i, ago int) bool {
	for j := i - ago + 1; ago > 1 && j < i; j++ {
		if c.all[j].attempts(&c.rounds[j]) {
			return true
		}
	}
	return false
}

// recastSince reports whether an edit left new lines since a round: what is measured
// then is measured of something else, however alike the answers are.
func (c *comparison) recastSince(i, ago int) bool {
	for j := i - ago + 1; j < i; j++ {
		if c.all[j].recast {
			return true
		}
	}
	return false
}

// stirredSince reports whether something was started, stopped or done anew since a
// round: who does so again and again does not only wait.
func (c *comparison) stirredSince(i, ago int) bool {
	for j := i - ago + 1; j < i; j++ {
		if c.rounds[j].stirs {
			return true
		}
	}
	return false
}

// editedSince reports whether something was edited since a round, new or not.
func (c *comparison) editedSince(i, ago int) bool {
	for j := i - ago + 1; j < i; j++ {
		if r := &c.rounds[j]; r.writes && r.outcome != failed {
			return true
		}
	}
	return false
}

// wroteNew reports an act that was not done before and that was accepted in
// silence, or with a short acknowledgement: that is how writing looks from
// outside.
func (s *relation) wroteNew(r *seenRound) bool {
	if r.manner < commanded || s.actAgo > 0 || !r.answered || r.rests || s.gets && !r.effects && !r.writes && len(r.does) <= manyWords || s.recombined(r) || s.renamed() || s.relists {
		return false
	}
	first := s.takesNext(r)
	return r.outcome == acknowledged || r.outcome == neutral && !r.figures && !s.waits(r) && (r.short() || r.writes || first || s.entered(r)) &&
		!r.ended && (first || s.newDeeds > 0 || r.payload || r.values >= 3 || len(r.tells) <= 2)
}

// doneAgainTo reports an act that brings hardly a new word to something with an id that
// its tools have acted on twice, each time with the same short answer that names it and
// no other number: an item of a list that is dealt with once more.
func (c *comparison) doneAgainTo(i int) bool {
	const times = 2
	r, s := &c.rounds[i], &c.all[i]
	if r.manner < commanded || len(r.idents) == 0 || r.beside != 0 || s.newDeeds > 1 || s.first || s.given || s.nextID || len(r.does) >= 2*manyWords || !r.short() || r.outcome == failed || r.payload || s.resultAgo == 0 {
		return false
	}
	n := 0
	for j := i - 1; j >= c.since && i-j <= far && n < times; j-- {
		if o := &c.rounds[j]; o.tools == r.tools && o.result == r.result && contained(r.idents, o.idents) == 1 && r.numbers.within(&o.numbers) && slices.ContainsFunc(r.idents, r.shows) {
			n++
		}
	}
	return n == times
}

// listsAgain reports an answer that lists what is there, as one did shortly before, dates
// and ids included: to ask again is no writing.
func (c *comparison) listsAgain(i int) bool {
	r := &c.rounds[i]
	if r.listing == 0 || r.writes || r.payload || r.manner < commanded {
		return false
	}
	for j := i - 1; j >= max(c.since, i-near); j-- {
		if c.rounds[j].listing == r.listing {
			return true
		}
	}
	return false
}

// renamed reports an act that was done before, but for an id that was drawn since
// then and is no item of a list.
func (s *relation) renamed() bool {
	return recently(s.coreAgo) && s.newDeeds <= 1 && recently(s.resultAgo) && !s.goesElsewhere()
}

// entered reports a text that was typed, has words that nobody had said, and is shown.
func (s *relation) entered(r *seenRound) bool {
	const shown = 2 // words
	return r.enters && s.newDeeds > 0 && r.rest+shown <= len(r.tells)
}

// takesNext reports an act that does something, as far as its name says, to a name that
// its tools never acted on. What was made in a round before is no item of a list.
func (s *relation) takesNext(r *seenRound) bool {
	return r.effects && s.first && s.giverAgo == 0
}

// waits reports an answer that says that something is pending. "Queued" for
// something that nothing was done about yet only says that it was taken in: who
// waits asks about the same thing again.
func (s *relation) waits(r *seenRound) bool {
	return r.waiting && !(r.outcome == neutral && r.short() && s.coreAgo == 0 && s.aimed)
}

// recombined reports an act that puts a few known words together anew, nearly as
// one before it did, and is about nothing that was not acted on. A longer one may
// be a plan with one item more ticked off.
func (s *relation) recombined(r *seenRound) bool {
	return len(r.does) < 2*manyWords && s.newDeeds == 0 && s.payload >= .9 && !s.given && !s.aimed && !s.nextID && !s.walk
}
