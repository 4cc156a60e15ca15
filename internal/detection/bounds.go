package detection

import "slices"

// Where a walk ends, as far as the task or the answers say.

// inBounds reports a failed step of a walk that began at a number of the task and
// has not left the range that the task names: "check port 23 on 10.0.4.1 … 10.0.4.21".
func (c *comparison) inBounds(i int) bool {
	at := c.rounds[i].numbers
	if c.rounds[i].outcome != failed || len(c.bounds) < 2 {
		return false
	}
	first := i
	for c.all[first].shapeAgo > 0 {
		first -= c.all[first].shapeAgo
	}
	from := &c.rounds[first].numbers
	for k := range min(at.n, len(at.first)) {
		if from.first[k] == at.first[k] {
			continue
		}
		return slices.Contains(c.bounds, from.first[k]) && slices.ContainsFunc(c.bounds, func(end float64) bool {
			return at.first[k] > from.first[k] && at.first[k] <= end
		})
	}
	return false
}

// pastLastPage reports an empty page after an empty page: there is no other behind it.
// Days and times, which are large numbers, may have nothing and then something again.
func (c *comparison) pastLastPage(i int) bool {
	const large = 1e7
	r := &c.rounds[i]
	return r.paged && r.outcome == empty && c.rounds[i-c.all[i].shapeAgo].outcome == empty && slices.Max(r.numbers.first[:]) < large
}

// pastEnd reports an answer that says that no page follows, to a walk over pages, or over
// numbers of which the first had something. Each day, and each customer, has a list of its own.
func (c *comparison) pastEnd(i int) bool {
	r := &c.rounds[i]
	return r.lastPage && !r.dated() && (r.paged || c.all[i].gets && c.beganFull(i))
}

// beganFull reports a walk that found something up to a step and nothing from there on.
func (c *comparison) beganFull(i int) bool {
	full := false
	for j := i; j >= max(c.since, i-mostRounds); j -= c.all[j].shapeAgo {
		if found := !c.rounds[j].denied(); full && !found {
			return false
		} else if found {
			full = true
		}
		if c.all[j].shapeAgo == 0 {
			break
		}
	}
	return full
}

// dated reports an act with a day or a time among its numbers, which are large, or with a year.
func (r *round) dated() bool {
	const large, centuries, end = 1e7, 1900, 2100
	return slices.ContainsFunc(r.numbers.first[:], func(n float64) bool { return n >= large || n >= centuries && n < end })
}

// pastBound reports a walk that fails behind a number that the answer names, and has
// failed nowhere else: "page 13 does not exist (the document has 5 pages)".
func (c *comparison) pastBound(i int) bool {
	r := &c.rounds[i]
	before := &c.rounds[i-c.all[i].shapeAgo]
	if !r.denied() || r.told.n > len(r.told.first) || before.form != r.form {
		return false
	}
	for _, bound := range r.told.first[:r.told.n] {
		for k := range min(r.numbers.n, len(r.numbers.first)) {
			if bound > 0 && before.numbers.first[k] != r.numbers.first[k] && c.parts(i, k, bound) {
				return true
			}
		}
	}
	return false
}

// parts reports a walk that found something up to a bound and nothing behind it.
func (c *comparison) parts(i, k int, bound float64) (found bool) {
	for j := i; j >= max(c.since, i-mostRounds); j -= c.all[j].shapeAgo {
		o := &c.rounds[j]
		behind := o.numbers.first[k] > bound
		if behind != o.denied() {
			return false
		}
		found = found || !behind
		if c.all[j].shapeAgo == 0 {
			break
		}
	}
	return found
}

// ranOut reports a walk that found something at each of its first steps, and then
// nothing, for twice as many and a dozen at least: what was there to find has been found.
func (c *comparison) ranOut(i int) bool {
	const few, dozen = 3, 12
	hits, misses := 0, 0
	for j := i; j >= max(c.since, i-mostRounds); j -= c.all[j].shapeAgo {
		switch r := &c.rounds[j]; {
		case r.denied() || r.outcome == acknowledged && c.all[i].gets:
			if hits > 0 {
				return false
			}
			misses++
		case misses < dozen:
			return false
		default:
			hits++
		}
		if c.all[j].shapeAgo == 0 {
			break
		}
	}
	return hits >= few && misses >= 2*hits
}

// standsStill reports another part of a list whose long answer came before, to the
// letter or, where it is very long, without a new word or number: whatever page
// was asked for, it is the same page.
func (c *comparison) standsStill(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if r.short() || r.absent {
		return false // where nothing is, is no place
	}
	if s.placeAgo > 1 && s.place >= samePlace && s.newWords == 0 && s.newTells <= 2 && s.newDeeds == 0 && !c.otherFigures(i, i-s.placeAgo) {
		return true // back at a place that was left, by a number alone: web14 is another host than web13
	}
	if !r.paged {
		return c.sticks(i)
	}
	return recently(s.resultAgo) || recently(s.placeAgo) && s.place >= samePlace && s.newWords == 0 && 20*s.newTells <= len(r.tells) && (len(r.tells) >= 2*manyTold || len(r.tells) >= manyTold && recently(s.residueAgo))
}

// sticks reports a walk whose long answers were others at its first steps and are one
// and the same since: there is no next page.
func (c *comparison) sticks(i int) bool {
	const first, since = 2, 3
	others, same := 0, 0
	for j := i; j >= max(c.since, i-mostRounds); j -= c.all[j].shapeAgo {
		switch {
		case c.rounds[j].result != c.rounds[i].result:
			others++
		case others > 0:
			return false
		default:
			same++
		}
		if c.all[j].shapeAgo == 0 {
			break
		}
	}
	return others >= first && same >= since
}

// otherFigures reports two answers with as many numbers, most of which differ or, where
// they are many, half of the first: they measured something, and the words around that
// are the same.
func (c *comparison) otherFigures(i, j int) bool {
	a, b := &c.rounds[i].told, &c.rounds[j].told
	others := 2 * differing(a, b)
	return a.n == b.n && (others > a.n || a.n > len(a.first) && others >= len(a.first)) && c.strides(i)
}

// pairs reports a look at two things that the task names, and that nobody has looked at
// together: one path after the other of one host after the other. Its other words are
// those of every look: https, GET.
func (c *comparison) pairs(i int) bool {
	const looks = 3
	r, s := &c.rounds[i], &c.all[i]
	if !c.each || s.coreAgo > 0 || s.actAgo > 0 || s.newDeeds > 0 {
		return false
	}
	named := 0
	for _, w := range r.idents {
		if _, is := slices.BinarySearch(c.task, w); is {
			named++
			continue
		}
		for j := i - 1; j >= max(c.since, i-looks); j-- {
			if _, is := slices.BinarySearch(c.rounds[j].idents, w); !is && c.rounds[j].tools == r.tools {
				return false
			}
		}
	}
	return named >= 2
}

// surveys reports a look in vain at something new, of a task that asks to look at one
// thing after the other. A list ends: after so many of one program it is a search in vain.
// Who writes does not look.
func (c *comparison) surveys(i int) bool {
	most := 64
	r := &c.rounds[i]
	switch {
	case !r.denied() || r.missing || r.writes:
		return false
	case c.pairs(i):
		most *= 4
	case !c.each, c.all[i].newDeeds == 0:
		return false
	}
	n := 0
	for j := c.since; j < i; j++ {
		if o := &c.rounds[j]; o.program == r.program && o.denied() {
			n++
		}
	}
	return n < most
}
