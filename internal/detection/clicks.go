package detection

import "math"

// looksAlike reports whether the last answer that showed something showed it for the
// third time.
func (c *comparison) looksAlike(i int) bool {
	for j := i - 1; j >= c.since && i-j <= near; j-- {
		if r, s := &c.rounds[j], &c.all[j]; len(r.tells) > 2*fewWords {
			return s.place >= samePlace && c.all[j-s.placeAgo].place >= samePlace
		}
	}
	return false
}

// leavesAsItWas reports an act that differs from one before in numbers alone, while what
// is looked at between such acts has been the same all the time: clicks on what does
// nothing, wherever.
func (c *comparison) leavesAsItWas(i int) bool {
	looks, s := 0, &c.all[i]
	if !recently(s.shapeAgo) || s.given || c.rounds[i].numbers.n == 0 || len(c.rounds[i].does) >= manyWords {
		return false
	}
	for j := i - 1; j >= c.since && looks < insists; j-- {
		r, s := &c.rounds[j], &c.all[j]
		switch {
		case r.tools == c.rounds[i].tools && r.short() && s.newDeeds == 0:
		case r.tools != c.rounds[i].tools && len(r.tells) > 2*fewWords && s.pairAgo == 2:
			looks++
		default:
			return false
		}
	}
	return looks == insists
}

// jitters reports an act that was done before but for numbers, to the same effect,
// and whose numbers are about the same: another click beside the last one.
func (c *comparison) jitters(i int) bool {
	const about = .08
	r, s := &c.rounds[i], &c.all[i]
	if !recently(s.shapeAgo) || s.given || r.payload || r.numbers.n == 0 || r.numbers.n > len(r.numbers.first) {
		return false
	}
	o := &c.rounds[i-s.shapeAgo]
	if o.result != r.result || o.numbers.n != r.numbers.n {
		return false
	}
	for k := range r.numbers.n {
		a, b := r.numbers.first[k], o.numbers.first[k]
		if math.Abs(a-b) > about*max(a, b) {
			return false
		}
	}
	return true
}
