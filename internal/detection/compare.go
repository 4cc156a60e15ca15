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

	passedOn bool // another session did what it asked for
	relayed  bool // it ends with what another session said, or asked for
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

	news    float32 // how much of the answer was never seen before
	over    bool    // the range that it walks over has ended before
	asked   bool    // the task names a number of times, and it was not done so often yet
	amid    bool    // something was written since the pair was last seen
	tried   bool    // another attempt was written since the answer was last seen
	drawn   bool    // the answer came before but for a number that somebody drew
	echo    bool    // the place shows words of the act that it did not show before
	cured   bool    // the tool has worked since it last failed so
	aimed   bool    // it names a short value that no act named before
	first   bool    // these tools never acted on a short value that it names
	nextID  bool    // it is about an id that the conversation named, and that no act was about
	landed  bool    // it reached something: another site, a form that shows what was typed, the page of what is named beside it
	given   bool    // it acts for the first time on something the conversation had named
	gets    bool    // the walk that it is a step of was answered with more than an acknowledgement
	walk    bool    // it takes the next step of a walk over numbers or dates
	probes  bool    // a failure on the way: of a walk or a list that asks what is there, or one of ever fewer
	wrote   bool    // something was written that was not there before
	recast  bool    // an edit that left lines which were not there before
	onward  bool    // a number in its answers has gone down again and again, or what is done of a whole up
	adds    bool    // the reply is the last one, and more
	redone  bool    // what was dealt with twice is dealt with once more
	fills   bool    // of a whole more is done than at the last time
	ready   bool    // what the same act was told to wait for is there
	anchor  bool    // it failed as on the handle before, or took back what was made
	spins   bool    // it goes in circles: around a call that fails, on one page, against one refusal, from handle to handle
	named   bool    // what came back has names that nobody had named
	drills  bool    // it asks about other numbers, and others came back
	slow    bool    // the client took more than a minute since the same was last seen
	retold  bool    // it ends with words of the team that say nothing new
	closed  bool    // nothing is done but a few acts, again and again
	relists bool    // it lists what is there, as it did before
	human   bool    // what came in after it is a person's word

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
	model     *Model
	rounds    []seenRound
	all       []relation
	seen      *wordFilter // all words so far
	acted     *wordFilter // what acts were about
	orders                // how often the task, or a person since, wants something done
	task      []uint32    // words of the opening, sorted
	others    float32     // which share of the agent's last calls are of other sessions
	delegated bool        // another session of the agent gave this one its task
	since     int         // where the rounds that count begin: after a person, or the mark
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
	if ago := c.failsInOtherWords(i); ago > 0 {
		s.news, s.newTells, s.newWords = 0, 0, 0
		s.residueAgo = nearest(s.residueAgo, ago)
	}
	s.relists = c.listsAgain(i) && !s.given && !s.nextID
	s.walk = c.walks(i) && !c.standsStill(i) && !s.relists
	s.given = s.given || c.narrows(i) || c.narrowsNext(i)
	s.cured = r.outcome == failed && c.curedSince(i)
	s.echo = s.placeAgo > 0 && echoes(r.round, c.rounds[i-s.placeAgo].round)
	s.given = s.given || c.goesOnWith(i) || c.looksBefore(i)
	if cites := c.cites(i); r.outcome == neutral && r.manner >= commanded && !r.short() {
		s.landed = s.landed || cites || s.given && s.echo
	}
	s.asked = c.askedFor(i)
	s.drills = c.drilled(i)
	if s.walk && s.shapeAgo > 0 {
		before, o := &c.all[i-s.shapeAgo], &c.rounds[i-s.shapeAgo]
		s.gets = before.gets || o.outcome == neutral && before.newTells >= 2
	}
	s.over = r.ended || s.walk && (c.pastEnd(i) || c.pastLastPage(i) || c.pastBound(i) || c.ranOut(i))
	s.redone = c.doneAgainTo(i)
	s.wrote = (s.wroteNew(r) && !s.redone || s.recast) && !s.anchor
	if r.plans && i > c.since && c.rounds[i-1].plans {
		s.wrote, s.given, s.aimed, s.nextID = false, false, false, false // nothing was done since the plan before
	}
	s.fills = c.fills(i) || c.fillsUp(i) || c.reads(i) || c.shifts(i)
	s.adds = c.adds(i)
	s.ready = s.pairAgo == 0 && recently(s.coreAgo) && c.rounds[i-s.coreAgo].waiting && !r.waiting && r.outcome == neutral
	s.onward = s.fills || c.goesOn(i) || c.countsDown(i)
	lessens := c.lessens(i) || c.shrinks(i)
	if s.closed = c.closed(i); s.closed {
		s.news /= 4
	}
	switch {
	case s.fills || lessens || c.gains(i) || c.mended(i) || r.board && s.resultAgo == 0 || c.stepsOn(i) || c.reachesCell(i):
		s.news = max(s.news, .6)
	case c.measures(i):
		s.news = max(s.news, .3)
	case s.landed:
		s.news = max(s.news, .5)
	}
	s.closed = s.closed && s.news < .3
	s.retold = c.retells(i)
	if r.thinks || s.retold { // the tool counts the thoughts
		s.news, s.newTells, s.newWords = 0, 0, 0
	}
	s.dose = c.doseOf(i)
	c.count(i)
	if c.retraces(i) || c.scores(i) {
		s.dose /= 4
	}
	if len(r.tells) > fewWords && s.placeTimes >= insists && c.jitters(i) {
		s.wrote = false // beside the last click, and the screen is what it was
	}
	if s.wrote && r.short() && (c.looksAlike(i) && c.jitters(i) || c.leavesAsItWas(i)) {
		s.wrote = false
	}
	s.probes = s.walk && c.strides(i) && s.failTimes < 2*exhausted && (r.absent && !c.missesTheSame(i) || c.inBounds(i)) || lessens || c.runsOut(i) || c.searches(i) || c.surveys(i)
	if s.failedAlike < exhausted && !(s.failedAlike >= insists/2 && s.payload >= cosmetic) {
		s.amid = s.pairAgo > 1 && c.writtenSince(i, s.pairAgo) ||
			s.pairAgo == 0 && (s.returns() || recently(s.coreAgo) && r.outcome == neutral && !r.short()) && c.reachedSince(i, s.coreAgo, s.returns()) ||
			s.returns() && r.outcome == neutral && c.recastSince(i, s.coreAgo)
		s.tried = s.pairAgo == 0 && c.attemptedSince(i, max(s.placeAgo, s.residueAgo))
	} else {
		s.wrote = false
	}
	c.findCycles(i)
	rewritten := c.rewritten(i) || c.keepsNotes(i)
	s.wrote = s.wrote && !rewritten
	if s.spins = turns || c.treads(i) || c.failingLaps(i) >= 1 || c.orbits(i) || c.hopeless(i) || c.swings(i) || rewritten || s.refusals >= insists && r.outcome == failed && r.program == s.refusedFor; s.spins {
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
	case s.place == 1 || ago > far || r.short() || o.short() || r.view != o.view:
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
		if r.shows(w) && !before.shows(w) {
			return true
		}
	}
	return false
}

// shows reports a result that has a word of an act in it, which may be an id there.
func (f *round) shows(w uint32) bool {
	i, is := slices.BinarySearch(f.tells, w&^1)
	return is || i < len(f.tells) && f.tells[i] == w|1
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
