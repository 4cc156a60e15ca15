package detection

import (
	"math"
	"slices"
	"time"
)

// walks reports the next step of a walk: the act before but for numbers or
// dates, which go on in one direction.
func (c *comparison) walks(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if c.numbered(i) {
		return true
	}
	if s.shapeAgo == 0 || s.shapeAgo > near || s.coreAgo > 0 || r.manner < commanded {
		return false
	}
	if c.crosses(i) {
		return true
	}
	o := &c.rounds[i-s.shapeAgo]
	step, ok := stepOf(&o.numbers, &r.numbers)
	if !ok {
		return false
	}
	before := &c.all[i-s.shapeAgo]
	if before.shapeAgo == 0 {
		return true // the second of a kind may begin a walk
	}
	first := &c.rounds[i-s.shapeAgo-before.shapeAgo]
	last, ok := stepOf(&first.numbers, &o.numbers)
	return ok && (last == step || goesOnBeside(&first.numbers, &o.numbers, &r.numbers)) && (before.walk || before.coreAgo > 0)
}

// numbered reports that each of the last calls of a tool was about the next number,
// whatever else it named beside that: izmir-pos4, leeds-pos5, porto-pos6.
func (c *comparison) numbered(i int) bool {
	const calls = 5
	r := &c.rounds[i]
	if i-calls+1 < c.since || r.manner < commanded || c.all[i].coreAgo > 0 {
		return false
	}
	for k := range min(r.numbers.n, len(r.numbers.first)) {
		n := 1
		for j := i; n < calls; n++ {
			at, before := &c.rounds[j], &c.rounds[j-1]
			if before.tools != r.tools || before.numbers.n != r.numbers.n || at.numbers.first[k] != before.numbers.first[k]+1 {
				break
			}
			j--
		}
		if n == calls {
			return true
		}
	}
	return false
}

// crosses reports a step to the next field of a board where nobody was: one number has
// changed by as much as some number did in each of the last steps, the others have not.
func (c *comparison) crosses(i int) bool {
	const steps = 3
	unit := 0.
	for range steps {
		ago := c.all[i].shapeAgo
		if !recently(ago) || c.all[i].coreAgo > 0 {
			return false
		}
		at, from := &c.rounds[i].numbers, &c.rounds[i-ago].numbers
		if at.n != from.n || at.n < 2 || at.n > len(at.first) {
			return false
		}
		changed := 0
		for k := range at.n {
			switch d := math.Abs(at.first[k] - from.first[k]); {
			case d == 0:
			case unit == 0 || math.Abs(d-unit) < 1e-9:
				unit = d
				changed++
			default:
				return false
			}
		}
		if changed != 1 {
			return false
		}
		i -= ago
	}
	return true
}

// goesOnBeside reports three places of which one number goes on, while the others
// stay about where they are: clicks down a list.
func goesOnBeside(a, b, c *amounts) bool {
	const about = .02
	onward := false
	for k := range min(a.n, len(a.first)) {
		first, last := b.first[k]-a.first[k], c.first[k]-b.first[k]
		switch {
		case first*last > 0:
			onward = true
		case max(math.Abs(first), math.Abs(last)) > about*b.first[k]:
			return false
		}
	}
	return onward
}

// strides reports a walk whose last two steps were equally long.
func (c *comparison) strides(i int) bool {
	o := i - c.all[i].shapeAgo
	if c.all[o].shapeAgo == 0 {
		return true
	}
	at, last, before := &c.rounds[i].numbers, &c.rounds[o].numbers, &c.rounds[o-c.all[o].shapeAgo].numbers
	for k := range min(at.n, len(at.first)) {
		if math.Abs(at.first[k]-last.first[k]-(last.first[k]-before.first[k])) > 1e-9 {
			return false
		}
	}
	return true
}

// missesTheSame reports a failed step of a walk whose answer names what the step before
// named, too: it says nothing of the number that goes on.
func (c *comparison) missesTheSame(i int) bool {
	r, before := &c.rounds[i], &c.rounds[i-c.all[i].shapeAgo]
	return slices.ContainsFunc(r.idents, func(w uint32) bool {
		_, named := slices.BinarySearch(before.idents, w)
		_, told := slices.BinarySearch(r.tells, w)
		return named && told
	})
}

// narrows reports the next step of a search that halves what is left, such as
// one for the largest size that fits: the act before but for numbers, in ever
// smaller steps. It ends by itself, whatever it finds on the way.
func (c *comparison) narrows(i int) bool {
	const shrinks, steps = .75, 3
	at := &c.rounds[i].numbers
	var before amounts // how far each number went in the step after
	for n := range steps {
		ago := c.all[i].shapeAgo
		if ago == 0 || ago > near || c.all[i].coreAgo > 0 {
			return false
		}
		i -= ago
		o := &c.rounds[i].numbers
		if o.n != at.n {
			return false
		}
		var went amounts
		moved := false
		for k := range min(at.n, len(at.first)) {
			went.first[k] = math.Abs(at.first[k] - o.first[k])
			if n > 0 && before.first[k] > shrinks*went.first[k] {
				return false
			}
			moved = moved || went.first[k] > 0
		}
		if !moved {
			return false
		}
		at, before = o, went
	}
	return true
}

// narrowsNext reports the first steps of another such search, soon after one: letter
// after letter of a word that is guessed.
func (c *comparison) narrowsNext(i int) bool {
	const soon = 4
	for j := i - 1; j >= c.since && i-j <= soon; j-- {
		if c.all[i].coreAgo == 0 && c.rounds[j].shape == c.rounds[i].shape && c.rounds[i].manner >= commanded && c.narrows(j) && j > c.since && c.narrows(j-1) {
			return true
		}
	}
	return false
}

// goesOn reports an act that was done before, did not fail, and whose answer has
// a number that has gone down, three times at least: what is left. Numbers that go up
// may count no more than the attempts.
func (c *comparison) goesOn(i int) bool {
	s := &c.all[i]
	if c.rounds[i].outcome == failed || !recently(s.coreAgo) {
		return false
	}
	_, down, n := c.trend(i)
	return down && n >= 3
}

// countsDown reports answers of one program whose first number, or second, has gone
// down three times in a row, whatever it was told in between: "64 revisions left".
func (c *comparison) countsDown(i int) bool {
	const times, among = 3, 2
	r := &c.rounds[i]
	if r.outcome == failed || r.manner < commanded || r.told.n == 0 {
		return false
	}
	clocks := c.clocks(i)
	down := [among]bool{!clocks[0], !clocks[1]}
	at, n := r, 0
	for j := i - 1; j >= c.since && i-j <= near && n < times; j-- {
		o := &c.rounds[j]
		if o.program != r.program || o.outcome == failed || o.told.n == 0 {
			continue
		}
		for k := range down {
			down[k] = down[k] && k < min(at.told.n, o.told.n) && at.told.first[k] < o.told.first[k]
		}
		at = o
		n++
	}
	return n == times && (down[0] || down[1])
}

// lessens reports failures of one program whose first number has gone down three
// times in a row, or another four times, whatever was done about them: "Found 92
// errors." Where their words differ, too, it takes six times: numbers may do so by chance.
func (c *comparison) lessens(i int) bool {
	const times, byChance = 3, 6
	r := &c.rounds[i]
	if r.outcome != failed || r.manner < commanded {
		return false
	}
	for k := range min(r.told.n, len(r.told.first)) {
		if c.lessened(i, k, true) >= times+min(k, 1) || c.lessened(i, k, false) >= byChance {
			return true
		}
	}
	return false
}

// lessened is how often the number in one place of a failure has gone down of late, in
// answers that are alike or in all of them.
func (c *comparison) lessened(i, k int, alike bool) (n int) {
	r := &c.rounds[i]
	at := r
	for j := i - 1; j >= c.since && i-j <= near; j-- {
		o := &c.rounds[j]
		if o.program != r.program || alike && o.form != r.form && (k == 0 || !sameAnswer(o, r)) {
			continue
		}
		if o.outcome != failed || o.told.n != r.told.n || at.told.first[k] >= o.told.first[k] {
			break
		}
		at = o
		n++
	}
	return n
}

// shrinks reports a failure of the same act as before that has fewer numbers than
// any of it had, and nothing else that is new: a list of errors gets shorter.
func (c *comparison) shrinks(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if r.outcome != failed || r.manner < commanded || r.told.n == 0 || !recently(s.coreAgo) || s.newWords > 0 {
		return false
	}
	for j := i - 1; j >= c.since; j-- {
		if o := &c.rounds[j]; o.core == r.core && o.told.n <= r.told.n {
			return false
		}
	}
	return contained(r.tells, c.rounds[i-s.coreAgo].tells) >= samePlace
}

// searches reports a question about something nobody asked for yet, which is not
// there, while one like it found something of late: a list of names is gone through.
func (c *comparison) searches(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if !r.absent || s.newDeeds == 0 || r.manner != called {
		return false
	}
	for j := i - 1; j >= c.since && i-j <= near; j-- {
		o := &c.rounds[j]
		if o.tools == r.tools && !o.denied() && o.answered && c.all[j].newDeeds > 0 {
			if all, _ := overlap(r.does, o.does); all >= .5 {
				return true
			}
		}
	}
	return false
}

// runsOut reports a failure whose answers to one program have counted down by one
// for three times: "tries_left": 13. It ends by itself.
func (c *comparison) runsOut(i int) bool {
	const times = 3
	at, n := &c.rounds[i], 0
	for j := i - 1; j >= c.since && i-j <= near && n < times; j-- {
		o := &c.rounds[j]
		if o.program != at.program {
			continue
		}
		if at.outcome != failed || o.outcome != failed || !oneLess(&o.told, &at.told) {
			return false
		}
		at = o
		n++
	}
	return n == times
}

// oneLess reports numbers of which the same came before, but for one that went down
// by one.
func oneLess(from, to *amounts) bool {
	less := 0
	for k := range min(to.n, len(to.first)) {
		switch to.first[k] - from.first[k] {
		case 0:
		case -1:
			less++
		default:
			return false
		}
	}
	return less == 1 && from.n == to.n
}

// gains reports a score that is higher than any before it.
func (c *comparison) gains(i int) bool {
	r := &c.rounds[i]
	before := false
	for j := c.since; j < i && r.scored; j++ {
		if o := &c.rounds[j]; o.scored {
			if before = true; o.score >= r.score {
				return false
			}
		}
	}
	return before
}

// scores reports whether the score rose twice of late: who goes through known rooms for
// the next thing gets on, too.
func (c *comparison) scores(i int) bool {
	rises, best, first := 0, 0., true
	for j := max(c.since, i-near); j <= i; j++ {
		r := &c.rounds[j]
		if !r.scored || !first && r.score <= best {
			continue
		}
		if !first {
			rises++
		}
		first, best = false, r.score
	}
	return rises > 1
}

// mended reports an act that failed the last time and works now, as it never did
// before: what was done in between has helped.
func (c *comparison) mended(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	return r.outcome == neutral && r.answered && !r.waiting && s.coreAgo > 1 && s.coreAgo <= far && s.formAgo == 0 && s.place < samePlace &&
		c.rounds[i-s.coreAgo].outcome == failed && c.attemptedSince(i, s.coreAgo)
}

// advances reports whether a number in the answer to the same act has gone on
// in one direction, the last times. Two answers are too few to say that it does
// not.
func (c *comparison) advances(i int) bool {
	went, _, n := c.trend(i)
	return n < 2 || went
}

// mark notes which numbers ever went up and which ever went down.
func (s steps) mark(ups, downs *steps) {
	for k, d := range s {
		if d > 0 {
			ups[k] = 1
		} else if d < 0 {
			downs[k] = 1
		}
	}
}

// trendSteps is how many steps of a number tell where it goes.
const trendSteps = 4

// trend looks at the last answers to the same act: whether one of their numbers
// went in one direction only, whether one went down only, and in how many steps.
func (c *comparison) trend(i int) (one, down bool, n int) {
	var ups, downs, now steps
	newest := i
	for n < trendSteps {
		ago := c.all[i].coreAgo
		if ago == 0 || ago > near {
			break
		}
		step, _ := stepOf(&c.rounds[i-ago].told, &c.rounds[i].told)
		if n == 0 {
			now = step
		}
		step.mark(&ups, &downs)
		i -= ago
		n++
	}
	for k, clock := range c.clocks(newest) {
		if clock {
			continue
		}
		one = one || now[k] != 0 && ups[k] != downs[k]
		down = down || now[k] < 0 && ups[k] == 0
	}
	return one, down, n
}

// measures reports an act of many words that was done before with other numbers only, with
// other words that have a digit in them, or to the next of some ids, and to which mostly
// other numbers came back than ever, or several: one point of a grid after the other. A click
// elsewhere has few words.
func (c *comparison) measures(i int) bool {
	const few = 12
	r, s := &c.rounds[i], &c.all[i]
	if r.manner < commanded || len(r.does) < manyWords || r.outcome != neutral || r.waiting || r.rated || s.coreAgo > 0 && !s.nextID || s.resultAgo > 0 || r.told.n > few {
		return false
	}
	ago := nearest(s.coreAgo, s.shapeAgo, s.frameAgo)
	if !recently(ago) {
		return false
	}
	other := differing(&c.rounds[i-ago].told, &r.told)
	return s.newTells >= other && (2*other > min(r.told.n, len(r.told.first)) || other > 0 && s.newTells > other)
}

// differing is how many of the first numbers of an answer are others than those of
// the answer before it: all where they are more or fewer.
func differing(from, to *amounts) (n int) {
	for k := range min(to.n, len(to.first)) {
		if from.n != to.n || from.first[k] != to.first[k] {
			n++
		}
	}
	return n
}

// moved reports whether the numbers in the answer to the same act go on in
// one direction.
func (c *comparison) moved(i int) bool {
	s := &c.all[i]
	_, changed := stepOf(&c.rounds[i-s.coreAgo].told, &c.rounds[i].told)
	return changed && c.advances(i)
}

// reads reports a short answer with one number that went on in one direction each
// of the last times, by this much and that: a thermometer under which something is
// heated. What is given along with a text is the number of a record.
func (c *comparison) reads(i int) bool {
	const times = 3
	r := &c.rounds[i]
	return r.told.n == 1 && c.all[i].payload == 0 && r.short() && r.outcome != failed && !c.clocks(i)[0] && c.creeps(i, times, 0)
}

// stepsOn reports a place that was seen before where, after an order of a few words,
// small numbers have never been what they are now: the steps to a door and a wall. Who
// goes round in circles comes back to them.
func (c *comparison) stepsOn(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if !r.near || len(r.does) > fewWords || r.outcome != neutral || s.resultAgo > 0 || s.newWords > 0 || c.seenScene(i) {
		return false
	}
	if s.place < samePlace || r.told.n > len(r.told.first) {
		return true
	}
	step, _ := stepOf(&c.rounds[i-s.placeAgo].told, &r.told)
	for k, clock := range c.clocks(i) {
		if step[k] != 0 && !clock {
			return true
		}
	}
	return false
}

// seenScene reports that what came back came before, but for the number that counts the
// steps.
func (c *comparison) seenScene(i int) bool {
	for j := i - 1; j >= c.since; j-- {
		if c.rounds[j].scene == c.rounds[i].scene {
			return true
		}
	}
	return false
}

// reachesCell reports a step, after an order of a few words, to where nobody was: of two
// numbers or more, those that count steps left out, one has changed by one since the round
// before, both have of late, and they were never all so before.
func (c *comparison) reachesCell(i int) bool {
	r := &c.rounds[i]
	if i == c.since || r.manner < commanded || len(r.does) > fewWords || r.outcome != neutral || r.told.n < 2 || r.told.n > len(r.told.first) {
		return false
	}
	clocks := c.clocks(i)
	var moved [len(clocks)]bool
	for j := i - 1; j >= c.since; j-- {
		o := &c.rounds[j]
		if o.told.n != r.told.n {
			if j == i-1 {
				return false
			}
			continue
		}
		same, steps := true, 0.
		for k := range r.told.n {
			if d := math.Abs(r.told.first[k] - o.told.first[k]); d != 0 && !clocks[k] {
				same = false
				steps += d
				moved[k] = moved[k] || i-j <= near
			}
		}
		if same || j == i-1 && steps != 1 {
			return false
		}
	}
	n := 0
	for _, m := range moved {
		if m {
			n++
		}
	}
	return n >= 2
}

// creeps reports an answer to a question that is asked with such pauses at least, in
// which a number goes on in one direction, so often at least, and not as a clock does.
func (c *comparison) creeps(i, moves int, pause time.Duration) bool {
	const polls = 8
	var ups, downs [len(amounts{}.first)]int
	var slowest, fastest [len(ups)]float64 // change of a number in a second
	var least, most [len(ups)]float64      // and in a round
	newest, n := i, 0
	for ; n < polls && recently(c.all[i].coreAgo); n++ {
		o := i - c.all[i].coreAgo
		now, before := &c.rounds[i], &c.rounds[o]
		took := now.at.Sub(before.at)
		if now.told.n != before.told.n || took < pause || now.at.IsZero() || before.at.IsZero() {
			break
		}
		for k := range min(now.told.n, len(ups)) {
			d := now.told.first[k] - before.told.first[k]
			pace, step := math.Abs(d)/took.Seconds(), d/float64(i-o)
			if n == 0 {
				slowest[k], fastest[k], least[k], most[k] = pace, pace, step, step
			}
			slowest[k], fastest[k] = min(slowest[k], pace), max(fastest[k], pace)
			least[k], most[k] = min(least[k], step), max(most[k], step)
			if d > 0 {
				ups[k]++
			} else if d < 0 {
				downs[k]++
			}
		}
		i = o
	}
	const steady, often = 1.15, 5 // what goes at one pace is a clock, and by one amount a round a count of the rounds
	for k := range ups {
		if n >= often && most[k]-least[k] <= 1e-6*math.Abs(c.rounds[newest].told.first[k]) {
			continue
		}
		if ups[k]+downs[k] >= moves && (ups[k] == 0 || downs[k] == 0) && fastest[k] > steady*slowest[k] {
			return true
		}
	}
	return false
}
