package detection

import "slices"

// What is new of a round, and what adds up where nothing is.

// weighNews takes back news that is none: where an answer is one that came
// before, but for numbers and ids.
func (c *comparison) weighNews(i int) {
	r, s := &c.rounds[i], &c.all[i]
	if s.newWords == 0 && r.rated {
		s.news = 0 // the same was found, and rated anew
	}
	if !recently(s.formAgo) || s.newWords > 0 {
		return
	}
	again := s.coreAgo > 0 && c.rounds[i-s.coreAgo].form == r.form // to the same act
	changed := false
	if again {
		_, changed = stepOf(&c.rounds[i-s.coreAgo].told, &r.told)
	}
	switch {
	case again && !changed:
		s.news, s.drawn = 0, s.coreAgo > 1 && r.rest > atOnce && s.newTells <= 1 // other ids under the same numbers, if any; one alone, or many, are the next of a list
	case r.outcome == empty:
		s.news = 0 // nothing was found, whatever is counted beside it
	case r.outcome == failed && !c.attemptedSince(i, s.formAgo) && !(again && c.advances(i) && !c.tallies(i)):
		s.news = 0 // the same failure, counted
	case s.newTells <= 1 && (c.wanders(i, 1e7) || again && c.wanders(i, 1000)):
		s.news, s.drawn = 0, true // the number of a record
	case r.short() && s.newTells <= 1 && s.newDeeds == 0 && s.payload >= .9 && !s.given && !s.aimed && c.ticks(i):
		s.news = 0 // the same content sent again, and counted
	case r.short() && s.newTells <= 1 && c.counted(i):
		s.news, s.drawn = 0, true // the calls are counted
	case r.record && r.short() && s.newTells <= 1 && s.newDeeds == 0 && !c.goesDown(i):
		s.news, s.drawn = 0, true // what was done before got another number
	case r.manner == spoken && s.actAgo > 0 && !(r.figures && c.advances(i)):
		s.news = 0 // said before to the letter, and answered as before; a reading goes on
	case !r.short() && again && !c.advances(i), len(r.tells) > 2*fewWords && c.goesToAndFro(i):
		s.news /= 4 // the numbers go to and fro
	}
}

// newsWeighs is how many rounds of repetition a round of news forgives.
const newsWeighs = 2

// addUp continues the sums of the round before.
func (c *comparison) addUp(i int) {
	s := &c.all[i]
	progress := max(s.signs[newsGood], s.signs[newsFailed]/2, s.signs[saidNew]/2)
	if s.wrote {
		progress = max(progress, .5)
	}
	if s.refusals >= insists {
		progress /= 4 // what is found on the way does not help
	}
	if i > c.since && !s.fills { // of a whole more is done: all that led there has helped
		b := &c.all[i-1]
		s.uselessSum, s.idleSum, s.chatSum = b.uselessSum, b.idleSum, b.chatSum
	}
	if c.rounds[i].manner <= spoken {
		s.chatSum += max(s.signs[idle], s.signs[saidAgain], s.signs[silentTurn], s.signs[courtesies])
	}
	s.chatSum = max(0, s.chatSum-newsWeighs*max(progress, s.signs[saidNew], s.signs[asksNext]))
	s.uselessSum = max(0, s.uselessSum+s.signs[useless]-newsWeighs*progress)
	s.idleSum = max(0, s.idleSum+s.signs[idle]-newsWeighs*progress)
}

// countNew counts words that the conversation had not seen, and adds them.
func (s *relation) countNew(r *seenRound, c *comparison) {
	s.newDeeds = c.seen.countWords(r.does)
	s.newSays = c.seen.count(r.says)
	s.newClaims = c.seen.count(r.claims)
	if r.outcome == neutral && r.manner >= commanded && !r.short() {
		s.landed = slices.ContainsFunc(r.idents, func(w uint32) bool { return !isNumber(w) && !c.seen.has(w) && r.shows(w) }) ||
			r.enters && slices.ContainsFunc(r.does, func(w uint32) bool { return !c.seen.has(w) && r.shows(w) })
	}
	known := false // named by the conversation, and no act was about it yet
	if r.outcome == failed || r.outcome == empty {
		// Words of any sentence can be searched for in vain for ever.
		for _, w := range r.items {
			known = known || c.seen.has(listItem(w)) && !c.acted.has(w)
		}
		for _, w := range r.idents {
			known = known || c.seen.has(w) && !c.acted.has(w)
		}
	} else {
		for _, w := range r.items {
			known = known || c.seen.has(w) && !c.acted.has(w)
		}
	}
	for _, w := range r.listed {
		known = known || c.seen.has(asLine(w, 0)) && c.seen.has(asLine(w, 1)) && !c.acted.has(w)
	}
	for _, a := range r.aims {
		s.first = s.first || !c.acted.has(actOn(r.tools, a))
		if !c.acted.has(a) {
			s.aimed = true
			known = known || c.seen.has(a)
		}
	}
	for _, w := range r.ids {
		s.nextID = s.nextID || c.seen.has(w) && !c.acted.has(actOn(r.tools, w))
		c.acted.add([]uint32{actOn(r.tools, w)})
	}
	edits := r.opensPlace(c.acted)
	s.recast = r.leavesNew(c.acted)
	c.acted.add(r.changes)
	c.acted.add(r.leaves)
	c.acted.add(r.ids)
	c.acted.add(r.items)
	c.acted.add(r.listed)
	c.acted.add(r.aims)
	for _, a := range r.aims {
		c.acted.add([]uint32{actOn(r.tools, a)})
	}
	c.seen.add(r.aims) // an answer that repeats the question names nothing new
	s.given = known && s.newDeeds == 0 || edits
	c.seen.add(r.does)
	moved := r.view != 0 && !c.seen.has(viewWord(r.view))
	s.newWords = c.seen.countWords(r.tells)
	s.newTells = c.seen.add(r.tells)
	heard := c.seen.countWords(r.hears)
	c.seen.add(r.hears)
	c.seen.add(r.says)
	s.newTurns = c.seen.add(r.turns)
	newNames := c.seen.add(r.mentions)
	newAsks := c.seen.add(r.asks)
	s.named = newNames >= 2
	c.seen.add(r.lists)
	if n := len(r.tells) + len(r.hears); r.answered && n > 0 {
		fresh := float32(s.newTells + heard)
		if n > manyTold { // in a long answer some number is always new
			fresh = float32(s.newWords+heard) + .2*float32(s.newTells-s.newWords)
		}
		s.news = min(1, fresh/(1+.15*float32(n)))
		if len(r.turns) > shortAnswer {
			s.news = max(s.news, min(1, 1.5*float32(s.newTurns)/float32(len(r.turns))))
		}
		if newNames > 0 && s.newTells == 0 { // a counter would be a new word: this is another month of the same year
			s.news = max(s.news, .5)
		}
		if moved {
			s.news = max(s.news, .5)
		}
		if newAsks > 0 {
			s.news = max(s.news, .6)
		}
	}
}

// adds reports a reply that says what an earlier one did, longer than any since, and
// some words that were never said: a text that is written on.
func (c *comparison) adds(i int) bool {
	const least = 3
	r, s := &c.rounds[i], &c.all[i]
	if r.manner != spoken || s.newSays < least || s.saysAgo == 0 {
		return false
	}
	for j := i - 1; j >= i-s.saysAgo; j-- {
		if len(c.rounds[j].says) >= len(r.says) {
			return false
		}
	}
	return contained(c.rounds[i-s.saysAgo].says, r.says) >= .7
}

// manyTold is how many words an answer has in which single numbers mean
// little.
const manyTold = 24

// remember adds the words of a round whose relation is known.
func (c *comparison) remember(r *seenRound) {
	for _, w := range r.ids {
		c.acted.set([]uint32{actOn(r.tools, w)})
	}
	c.acted.set(r.changes)
	c.acted.set(r.leaves)
	c.acted.set(r.ids)
	c.acted.set(r.items)
	c.acted.set(r.listed)
	c.acted.set(r.aims)
	for _, a := range r.aims {
		c.acted.set([]uint32{actOn(r.tools, a)})
	}
	c.cited(r)
	c.seen.set(r.aims)
	c.seen.set(r.does)
	c.seen.set(r.tells)
	c.seen.set(r.mentions)
	c.seen.set(r.asks)
	c.seen.set(r.lists)
	c.seen.set(r.hears)
	c.seen.set(r.says)
	c.seen.set(r.turns)
}

// actOn is the hash of a value as what these tools acted on.
func actOn(tools uint64, value uint32) uint32 {
	return uint32(mix(tools^uint64(value))) &^ 1
}
