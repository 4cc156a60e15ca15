package detection

import "slices"

// A handle is a number or an id that an answer gave and that a later act names: the
// run that was started, the pod that came up, the draft that was saved. An act that
// differs from the one before by its handle alone is the same act.

// giver is how many rounds ago the answer came that gave an act its handle, where the
// act is the same as one before but for it and the answer came since: what was made
// anew is looked at anew. It is 0 where there is none.
func (c *comparison) giver(i int) int {
	r, ago := &c.rounds[i], c.all[i].frameAgo
	if !recently(ago) || r.manner < commanded || len(r.items) > mostNamed {
		return 0
	}
	before := c.rounds[i-ago].does
	for _, w := range r.items {
		if _, known := slices.BinarySearch(before, w); known {
			continue
		}
		for j := i - ago; j < i; j++ {
			if c.rounds[j].names(w) && !c.listed(j, w) {
				return i - j
			}
		}
	}
	return 0
}

// names reports an answer that tells a number or lists a name.
func (f *round) names(w uint32) bool {
	told := f.lists
	if isNumber(w) {
		told = f.tells
	}
	_, is := slices.BinarySearch(told, w)
	return is
}

// listed reports a handle that the same answer gave before: it is one of a list that
// somebody comes back to, and was not made anew.
func (c *comparison) listed(i int, w uint32) bool {
	ago := c.all[i].pairAgo
	return ago > 0 && c.rounds[i-ago].names(w)
}

// mostNamed is how many things an act names at most that is about a handle: one with
// more carries content.
const mostNamed = 64

// anchors reports an act on another handle that failed as it did on one before,
// that takes back what was made, or whose handle came with an answer that was the
// same before: nothing comes of it, however new the handle is.
// Numbers that the act did not name tell one failure from another.
func (c *comparison) anchors(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if s.giverAgo == 0 {
		return false
	}
	o := &c.rounds[i-s.frameAgo]
	if o.outcome != r.outcome {
		return false
	}
	if o.form != r.form {
		return r.outcome == failed && !r.absent && s.newWords == 0 && s.formAgo > 0 && s.formAgo <= far && !c.attemptedSince(i, s.frameAgo)
	}
	from := &c.all[i-s.giverAgo]
	switch {
	case r.undoes() && c.made(i-s.giverAgo, s.giverAgo == 1):
		return true
	case o.beside != r.beside:
		return false
	case from.pairAgo > 1 && !from.onward && (r.outcome == failed || !c.rounds[i-s.giverAgo].handsOut()):
		return true
	case from.coreAgo > 1 && from.place >= samePlace && !from.onward && r.result == o.result && !r.short():
		return true // it was made anew, and so is what it says
	}
	return r.outcome == failed && !r.absent && (!c.attemptedSince(i, s.frameAgo) || c.failedSo(i))
}

// failedSo reports a failure that has come to this act on one handle after the other
// so often that what is tried in between makes no difference.
func (c *comparison) failedSo(i int) bool {
	const times = 5
	r := &c.rounds[i]
	for range times {
		ago := c.all[i].frameAgo
		if ago == 0 || c.rounds[i-ago].outcome != failed || c.rounds[i-ago].form != r.form {
			return false
		}
		i -= ago
	}
	return true
}

// made reports an act that made what its answer names: it says how, and came before
// unless what was made is taken back at once. One that fetches the next of a list has
// less to say, and fewer of them are left.
func (c *comparison) made(i int, justNow bool) bool {
	r, s := &c.rounds[i], &c.all[i]
	return (justNow || s.frameAgo > 0) && !s.onward && !r.handsOut() && (r.values > 1 || len(r.does) >= manyWords)
}

// handsOut reports an act that takes the next item of a queue, as far as its name says:
// an item that looks like one before is another one.
func (f *round) handsOut() bool { return nameSays(f.name)&fetches != 0 }

// treads reports a round on a treadmill: what it does was done before but for its
// handle, and of late the same failure, or the same taking back, came round again
// and again.
func (c *comparison) treads(i int) bool {
	const times = 2
	s := &c.all[i]
	if s.newWords > 0 || s.giverAgo == 0 && !recently(s.coreAgo) {
		return false
	}
	n := 0
	for j := max(c.since, i-near+1); j <= i; j++ {
		if c.all[j].anchor {
			n++
		}
	}
	return n >= times
}

// undoes reports an act that takes something back, as far as its words say.
func (f *round) undoes() bool {
	if f.outcome == failed || !f.answered {
		return false
	}
	return nameSays(f.name)&takesBack != 0 || slices.ContainsFunc(f.does, func(w uint32) bool {
		_, is := slices.BinarySearch(undoWords, w)
		return is
	})
}

// undoWords are the words that say so, as acts have them.
var undoWords = func() (ws []uint32) {
	for w, ps := range phrases {
		for _, p := range ps {
			if p.says&takesBack != 0 && len(p.rest) == 0 {
				ws = append(ws, uint32(w)&^1)
			}
		}
	}
	slices.Sort(ws)
	return ws
}()
