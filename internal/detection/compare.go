package detection

import (
	"math"
	"slices"
	"time"
)

// seenRound is a round and when a request first showed it.
type seenRound struct {
	*round
	turn  uint64        // digest of the assistant's turn, ids included
	at    time.Time     // zero where the clock is unknown
	pause time.Duration // between the reply and that request; zero where unknown
}

// relation is a round compared with those before it. What it repeats is
// looked for since a person last spoke, or since the mark; what is new is new
// to the whole conversation.
type relation struct {
	// How many rounds ago the same was seen, 0 where it never was: act and
	// result together; the act; the act without prose and ids; its shape
	// (numbers masked); its frame (whatever has a digit masked); the result; the
	// residue of the same tools.
	pairAgo, actAgo, coreAgo, shapeAgo, frameAgo, resultAgo, residueAgo, formAgo int
	// deniedAgo is when these tools last failed or found nothing.
	deniedAgo int
	// giverAgo is when the number or the id was told by which the act differs from
	// one before.
	giverAgo int
	// payload is how nearly a call of the same tools carried the same words.
	payload float32
	// placeAgo is when a result was last nearly the same, and place how
	// nearly: 1 is the same but for clocks, counters and advertisements.
	placeAgo int
	place    float32
	// saysAgo is when the assistant last said nearly the same, and said how
	// nearly.
	saysAgo int
	said    float32

	// How often the same was seen before, each weighed by its dose: the pair,
	// the failure of these tools, the place.
	pairTimes, failTimes, placeTimes float32
	// refusals is how often one call was refused in the same way, as of this
	// round: the steps between do not take it back, a success does.
	refusals   float32
	refusedFor uint64 // digest of the program that was refused
	// failedAlike is how often a program failed so to the letter since it last
	// worked, whatever was tried in between.
	failedAlike float32
	failedFor   uint64 // digest of that program
	// refused is how often the harness answered these tools with the same
	// message, where that is not its habit.
	refused float32
	inputs  int // how often the harness's message came before, whatever the tools

	// How many words were never seen before.
	newDeeds, newTurns, newTells, newWords, newSays, newClaims int

	news   float32 // how much of the answer was never seen before
	over   bool    // the range that it walks over has ended before
	asked  bool    // the task names a number of times, and it was not done so often yet
	amid   bool    // something was written since the pair was last seen
	tried  bool    // another attempt was written since the answer was last seen
	drawn  bool    // the answer came before but for a number that somebody drew
	echo   bool    // the place shows words of the act that it did not show before
	cured  bool    // the tool has worked since it last failed so
	aimed  bool    // it names a short value that no act named before
	first  bool    // these tools never acted on a short value that it names
	nextID bool    // it is about an id that the conversation named, and that no act was about
	given  bool    // it acts for the first time on something the conversation had named
	walk   bool    // it takes the next step of a walk over numbers or dates
	probes bool    // a failure on the way: of a walk or a list that asks what is there, or one of ever fewer
	wrote  bool    // something was written that was not there before
	onward bool    // a number in its answers has gone down again and again, or what is done of a whole up
	fills  bool    // of a whole more is done than at the last time
	ready  bool    // what the same act was told to wait for is there
	anchor bool    // it failed as on the handle before, or took back what was made
	spins  bool    // it goes in circles: around a call that fails, on one page, against one refusal, from handle to handle
	drills bool    // it asks about other numbers, and others came back
	slow   bool    // the client took more than a minute since the same was last seen
	human  bool    // what came in after it is a person's word

	dose  float32 // how much the round counts as a repetition: less for who waits
	signs signs
	lap   cycle // that it continues, to the letter
	ring  cycle // and but for numbers

	// What repeats and what brings nothing, added up as a sequential test does:
	// news takes away, and the sums never fall below zero.
	uselessSum, idleSum, chatSum float32

	logOdds   float32 // that the conversation is stuck, as of this round
	certainty float32
}

// near is how far apart two rounds are at most to count as a repetition:
// further apart the same command is a habit (git status), not a loop.
const near = 12

// far is how far back the rounds are looked at for the same place.
const far = 32

// comparison compares the rounds of one conversation, oldest first.
type comparison struct {
	model  *Model
	rounds []seenRound
	all    []relation
	seen   *wordFilter // all words so far
	acted  *wordFilter // what acts were about
	counts []float64   // numbers of repetitions that the task names
	bounds []float64   // the first numbers of the task
	every  float64     // how many seconds lie between two times that the task asks for
	task   []uint32    // words of the opening, sorted
	others float32     // which share of the agent's last calls are of other sessions
	since  int         // where the rounds that count begin: after a person, or the mark
}

// compare fills in the relation of round i; those before it have theirs.
func (c *comparison) compare(i int) {
	r, s := &c.rounds[i], &c.all[i]
	*s = relation{}
	s.countNew(r, c)
	c.find(i)
	s.giverAgo = c.giver(i)
	if s.anchor = c.anchors(i); s.anchor {
		s.coreAgo, s.placeAgo, s.place = s.frameAgo, s.frameAgo, 1
		s.given, s.nextID, s.aimed = false, false, false
	}
	turns := c.samePage(i)
	if turns {
		s.given, s.nextID, s.aimed = false, false, false
	}
	c.discountClocks(i)
	c.weighNews(i)
	s.walk = c.walks(i) && !c.standsStill(i)
	s.given = s.given || c.narrows(i)
	s.cured = r.outcome == failed && c.curedSince(i)
	s.echo = s.placeAgo > 0 && echoes(r.round, c.rounds[i-s.placeAgo].round)
	s.asked = c.askedFor(i)
	s.drills = c.drilled(i)
	s.over = r.ended || s.walk && (r.lastPage || c.pastLastPage(i) || c.pastBound(i))
	s.wrote = s.wroteNew(r) && !s.anchor
	s.fills = c.fills(i)
	s.ready = s.pairAgo == 0 && recently(s.coreAgo) && c.rounds[i-s.coreAgo].waiting && !r.waiting && r.outcome == neutral
	s.onward = s.fills || c.goesOn(i) || c.countsDown(i)
	lessens := c.lessens(i)
	switch {
	case s.fills || lessens || c.gains(i) || c.mended(i) || r.board && s.resultAgo == 0:
		s.news = max(s.news, .6)
	case c.measures(i):
		s.news = max(s.news, .3)
	}
	s.dose = c.doseOf(i)
	c.count(i)
	if len(r.tells) > fewWords && s.placeTimes >= insists && c.jitters(i) {
		s.wrote = false // beside the last click, and the screen is what it was
	}
	s.probes = s.walk && c.strides(i) && s.failTimes < 2*exhausted && (r.absent || c.inBounds(i)) || lessens || c.runsOut(i) || c.searches(i)
	if s.failedAlike < exhausted && !(s.failedAlike >= insists/2 && s.payload >= cosmetic) {
		s.amid = s.pairAgo > 1 && c.writtenSince(i, s.pairAgo)
		s.tried = s.pairAgo == 0 && c.attemptedSince(i, max(s.placeAgo, s.residueAgo))
	} else {
		s.wrote = false
	}
	c.findCycles(i)
	rewritten := c.rewritten(i)
	s.wrote = s.wrote && !rewritten
	if s.spins = turns || c.treads(i) || c.failingLaps(i) >= 1 || c.orbits(i) || c.swings(i) || rewritten || s.refusals >= insists && r.outcome == failed && r.program == s.refusedFor; s.spins {
		s.news = 0
	}
	s.readSigns(r)
	c.addUp(i)
}

// exhausted is how often a program fails to the letter before what is written in
// between no longer counts as an attempt to mend it.
const exhausted = 14

// cosmetic is how alike two attempts are that hardly differ.
const cosmetic = .8

// insists is how often a call is refused in the same way, as of which what is
// done in between hardly counts as progress.
const insists = 6

// weighNews takes back news that is none: where an answer is one that came
// before, but for numbers and ids.
func (c *comparison) weighNews(i int) {
	r, s := &c.rounds[i], &c.all[i]
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
	case r.manner == spoken && s.actAgo > 0:
		s.news = 0 // said before to the letter, and answered as before
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
	named := false // by the conversation, and no act was about it yet
	if r.outcome == failed || r.outcome == empty {
		// Words of any sentence can be searched for in vain for ever.
		for _, w := range r.items {
			named = named || c.seen.has(listItem(w)) && !c.acted.has(w)
		}
		for _, w := range r.idents {
			named = named || c.seen.has(w) && !c.acted.has(w)
		}
	} else {
		for _, w := range r.items {
			named = named || c.seen.has(w) && !c.acted.has(w)
		}
	}
	for _, a := range r.aims {
		s.first = s.first || !c.acted.has(actOn(r.tools, a))
		if !c.acted.has(a) {
			s.aimed = true
			named = named || c.seen.has(a)
		}
	}
	for _, w := range r.ids {
		s.nextID = s.nextID || c.seen.has(w) && !c.acted.has(w)
	}
	c.acted.add(r.ids)
	c.acted.add(r.items)
	c.acted.add(r.aims)
	for _, a := range r.aims {
		c.acted.add([]uint32{actOn(r.tools, a)})
	}
	c.seen.add(r.aims) // an answer that repeats the question names nothing new
	s.given = named && s.newDeeds == 0
	c.seen.add(r.does)
	s.newWords = c.seen.countWords(r.tells)
	s.newTells = c.seen.add(r.tells)
	heard := c.seen.countWords(r.hears)
	c.seen.add(r.hears)
	c.seen.add(r.says)
	s.newTurns = c.seen.add(r.turns)
	newNames := c.seen.add(r.mentions)
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
	}
}

// manyTold is how many words an answer has in which single numbers mean
// little.
const manyTold = 24

// remember adds the words of a round whose relation is known.
func (c *comparison) remember(r *seenRound) {
	c.acted.set(r.ids)
	c.acted.set(r.items)
	c.acted.set(r.aims)
	for _, a := range r.aims {
		c.acted.set([]uint32{actOn(r.tools, a)})
	}
	c.seen.set(r.aims)
	c.seen.set(r.does)
	c.seen.set(r.tells)
	c.seen.set(r.mentions)
	c.seen.set(r.lists)
	c.seen.set(r.hears)
	c.seen.set(r.says)
	c.seen.set(r.turns)
}

// actOn is the hash of a value as what these tools acted on.
func actOn(tools uint64, value uint32) uint32 {
	return uint32(mix(tools^uint64(value))) &^ 1
}

// find looks for what a round repeats, the newest first.
func (c *comparison) find(i int) {
	r, s := &c.rounds[i], &c.all[i]
	for j := i - 1; j >= c.since; j-- {
		o, ago := &c.rounds[j], i-j
		sameAct := r.act != 0 && r.act == o.act
		if sameAct && s.actAgo == 0 {
			s.actAgo = ago
		}
		if r.core != 0 && r.core == o.core && s.coreAgo == 0 {
			s.coreAgo = ago
		}
		if r.shape != 0 && r.shape == o.shape && r.tools == o.tools && s.shapeAgo == 0 {
			s.shapeAgo = ago
		}
		if r.frame != 0 && r.frame == o.frame && r.tools == o.tools && s.frameAgo == 0 {
			s.frameAgo = ago
		}
		if ago <= near && r.tools == o.tools && !sameAct && r.manner >= commanded && len(r.does) >= fewWords && s.payload < 1 && resembles(r.does, o.does) >= .4 {
			all, _ := overlap(r.does, o.does)
			s.payload = max(s.payload, all)
		}
		if ago <= near && r.manner != silent {
			s.compareWords(r, o, ago)
		}
		if !r.answered || !o.answered {
			continue
		}
		sameResult := r.result == o.result
		if sameResult && s.resultAgo == 0 {
			s.resultAgo = ago
		}
		if sameResult && (sameAct || r.act == o.act) && s.pairAgo == 0 {
			s.pairAgo = ago
		}
		if (r.tools == o.tools || r.missing && o.missing) && sameAnswer(r, o) && s.residueAgo == 0 {
			s.residueAgo = ago
		}
		if r.form == o.form && s.formAgo == 0 {
			s.formAgo = ago
		}
		if r.tools == o.tools && o.denied() && s.deniedAgo == 0 {
			s.deniedAgo = ago
		}
		s.comparePlace(r, o, ago, sameResult, c.task)
	}
}

// denied reports a round that failed or found nothing.
func (f *round) denied() bool { return f.outcome == failed || f.outcome == empty }

// compareWords looks how nearly the assistant said the same.
func (s *relation) compareWords(r, o *seenRound, ago int) {
	const fewest = 4
	if len(r.says) < fewest || len(o.says) < fewest || s.said == 1 {
		return
	}
	if e := resembles(r.says, o.says); e >= .4 {
		if all, _ := overlap(r.says, o.says); all > s.said {
			s.said, s.saysAgo = all, ago
		}
	}
}

// comparePlace looks how nearly a result is one that was seen before.
func (s *relation) comparePlace(r, o *seenRound, ago int, same bool, task []uint32) {
	switch {
	case same:
		if s.place < 1 {
			s.place, s.placeAgo = 1, ago
		}
	case s.place == 1 || ago > far || r.short() || o.short():
	case r.sketch.resembles(&o.sketch):
		all, letters := overlap(r.tells, o.tells)
		// A page whose numbers alone change is the same place when they are
		// few among many words.
		p := nearly(all, letters)
		if p > s.place && len(task) > 0 {
			// A harness that says the task again after every step makes all
			// answers alike.
			p = min(p, nearly(overlapBeside(r.tells, o.tells, task)))
		}
		if p > s.place {
			s.place, s.placeAgo = p, ago
		}
	}
}

// nearly is how nearly two answers with so much in common are the same.
func nearly(all, letters float32) float32 { return min(1, max(0, (max(all, letters-.03)-.82)*8)) }

// samePlace is how alike two places are that count as one.
const samePlace = .9

// repeats reports whether a round does again what one before it did, to the
// same effect.
func (s *relation) repeats() bool { return s.pairAgo > 0 || s.returns() }

// returns reports the same act, reworded perhaps, that led to the same place.
func (s *relation) returns() bool {
	return s.pairAgo == 0 && s.coreAgo > 0 && s.place >= samePlace && s.placeAgo == s.coreAgo
}

// echoes reports whether a result shows words of its act that the result
// before did not: a form that was filled in.
func echoes(r, before *round) bool {
	for _, w := range r.does {
		if _, shown := slices.BinarySearch(r.tells, w); !shown {
			continue
		}
		if _, known := slices.BinarySearch(before.tells, w); !known {
			return true
		}
	}
	return false
}

// askedFor reports an act that was done again, and acknowledged, while the
// task names a number that is not reached yet: "press it 30 times". So does an
// answer that no more was done than the act allows at a time: "UPDATE 5000".
func (c *comparison) askedFor(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	if s.coreAgo == 0 && (s.shapeAgo == 0 || s.walk) || (r.outcome == empty || r.waiting) && c.every == 0 {
		return false
	}
	if r.full && r.outcome != failed && r.short() || c.every > 0 && r.outcome != failed && 2*r.pause.Seconds() >= c.every {
		return true
	}
	most := math.Inf(1)
	if !r.short() {
		most = fewRuns // a large number is how often it may be done at most
	}
	times, fine := 1.0, r.outcome != failed
	for j := c.since; j < i; j++ {
		if o := &c.rounds[j]; (o.payload || c.all[j].wrote) && o.core != r.core && o.outcome != failed {
			times = 1 // what was mended is measured anew
		}
		if o := &c.rounds[j]; o.core == r.core || s.coreAgo == 0 && o.shape == r.shape && o.tools == r.tools {
			times++
			fine = fine || c.rounds[j].outcome != failed
		}
	}
	if !fine {
		return false // to fail as often is not what was asked for
	}
	for _, n := range c.counts {
		if times <= n && n <= most {
			return true
		}
	}
	return false
}

// fewRuns is how often a task asks at most for something that tells much.
const fewRuns = 24

// writtenSince reports whether something was written, or got on, or the next of
// a list was done, since a round: a check after each of them is part of the work.
func (c *comparison) writtenSince(i, ago int) bool {
	tired := c.all[i].pairTimes >= insists/2 // of attempts that hardly differ
	worn := c.all[i].pairTimes >= insists+2  // of those that are about nothing else
	for j := i - ago + 1; j < i; j++ {
		s := &c.all[j]
		if s.wrote && !(tired && c.jitters(j)) && !(worn && s.repaints()) || s.onward || s.given && !s.over && c.rounds[j].outcome != failed && c.rounds[j].manner >= commanded {
			return true
		}
	}
	return false
}

// repaints reports an act that hardly differs from one before it, and is about nothing
// that was not acted on.
func (s *relation) repaints() bool {
	return s.payload >= cosmetic && !s.aimed && !s.given && !s.nextID && !s.walk
}

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

// wroteNew reports an act that was not done before and that was accepted in
// silence, or with a short acknowledgement: that is how writing looks from
// outside.
func (s *relation) wroteNew(r *seenRound) bool {
	if r.manner < commanded || s.actAgo > 0 || !r.answered || r.rests || s.recombined(r) {
		return false
	}
	first := s.takesNext(r)
	return r.outcome == acknowledged || r.outcome == neutral && !r.figures && !s.waits(r) && (r.short() || r.writes || first || s.entered(r)) &&
		!r.ended && (first || s.newDeeds > 0 || r.payload || r.values >= 3 || len(r.tells) <= 2)
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
