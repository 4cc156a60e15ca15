package detect

// Stall adds up evidence round by round, as a sequential test does: a round
// that repeats adds points, a round that brings news takes points away, and
// the sum never falls below zero. The points say how many rounds of a kind
// prove a stall: killAt divided by the points, rounded up.
const (
	killAt = 50
	warnAt = 25
	// capAt keeps a long loop from outweighing the recovery after it.
	capAt = killAt + 24

	// sameAgain: the same call with the same result. The third repetition
	// kills, the second warns: healthy runs repeat a failing edit three
	// times and then move on.
	sameAgain = 17
	// movesAgain: a view or a cursor moved on, unseen. Five scrolls to a place
	// further down are work; the seventh in a row kills.
	movesAgain = 9
	// cyclesAgain: the same with others between. Four rounds of two calls
	// make five of these.
	cyclesAgain = 11
	// mostDoubles: calls that repeat inside one reply count as so many
	// repetitions at most, so that one odd reply alone does not kill.
	mostDoubles = 2
	// failsAgain: another call, the same failure. The fourth kills.
	failsAgain = 13
	// emptyVaried: another call that finds nothing. A search through eight
	// places that are all empty is work.
	emptyVaried = 7
	// failsKnown: a failure in known words, though not the same one.
	failsKnown = 6
	// failsGiven: the next of the things that the agent was given fails, or is
	// not there, as the ones before. A list of wrong addresses is work.
	failsGiven = 3
	// sameAnswer: another call that leads to the same result. The fifth
	// kills; with new words in the call, which is an attempt, the eighth.
	sameAnswer, sameAnswerTried = 10, 7
	// sameRemarked: another call that leads to the same result, under which
	// the harness for the first time puts a remark ("try something else").
	// The remark is no news, but agents that heed it recover: it only warns.
	sameRemarked = 5
	// waitsAgain: the same poll with the same answer. Two dozen kill.
	waitsAgain = 2
	// writesAgain: the same payload written again although the answer
	// changes: each time it does the same thing to the world.
	writesAgain = 6
	// emptyAgain: an empty reply. Five of them and then a recovery exist.
	emptyAgain = 9

	// restates, restatesWorded: the same said again to an unchanging
	// answer, in known or in other words.
	restates, restatesWorded = 12, 10
	// agrees, agreesWorded: the same with nobody answering, as agents do
	// that thank each other. A chat needs longer to prove itself empty.
	agrees, agreesWorded = 8, 6

	// What news takes away: a little for an answer in known words or a
	// single new one, more for a new failure, a write, a changed answer to
	// the same poll, and half a kill for an answer that is really new, whatever
	// the call.
	oldWords    = -4
	littleNews  = -8
	news        = -24
	fewNewWords = 2
)

// near is how far apart two rounds of one cycle are. Beyond twice as far the
// same command is a habit (git status), not a loop.
const near = 6

// byDistance takes half the points away from a repetition that is not near,
// and all from one that is far.
func byDistance(points, ago int) int {
	switch {
	case ago <= near:
		return points
	case ago <= 2*near:
		return points / 2
	}
	return 0
}

// weigh is what a round adds to the evidence, and of which family.
func (s *standing) weigh() (points int, family Family) {
	points, family = s.weighAct()
	switch {
	case s.doubles > 0 && points < sameAgain:
		return sameAgain * min(s.doubles, mostDoubles), Repeat
	case s.manner == spoken && (!s.answered || s.stale()):
		if p := s.weighWords(); p > points || !s.answered || p <= 0 && s.prose && s.actAgo == 0 {
			return p, Chatter
		}
	case s.pleasantries():
		return agreesWorded, Chatter
	}
	return points, family
}

// weighAct weighs what was done and what came of it.
func (s *standing) weighAct() (int, Family) {
	switch {
	case !s.answered:
		return 0, "" // a plan, a note
	case s.manner == silent && s.stale():
		return emptyAgain, Chatter
	case s.pairAgo > 0 && s.changed:
		return 0, "" // test, edit, test
	case s.pairAgo > 0 && s.poll:
		return byDistance(waitsAgain, s.pairAgo), Waiting
	case s.onward && s.pairAgo > 1:
		return 0, "" // scroll, read, scroll
	case s.onward:
		return movesAgain, Repeat
	case s.pairAgo == 1:
		return sameAgain, Repeat
	case s.pairAgo > 1 && s.outcome == failed:
		return byDistance(failsAgain, s.pairAgo), Repeat
	case s.pairAgo > 1:
		return byDistance(cyclesAgain, s.pairAgo), Repeat
	case s.actAgo > 0 && s.payload && s.actAgo <= near && s.outcome != failed:
		return writesAgain, Repeat
	case s.actAgo > 0:
		return s.weighChange(), ""
	case s.outcome == failed || s.outcome == empty:
		return s.weighFailure()
	case s.wrote() && s.newDoes > 0:
		return littleNews, ""
	case s.wrote():
		return oldWords, ""
	case s.resultAgo > 0 && s.manner == spoken && s.newClaims > 0 && s.newSays >= manyNewClaims:
		return littleNews, "" // the next chapter
	case s.resultAgo > 0 && s.given:
		return 0, "" // the next of a list
	case s.resultAgo > 0 && s.newDoes > fewNewWords:
		return byDistance(sameAnswerTried, s.resultAgo), Futile
	case s.resultAgo > 0:
		return byDistance(sameAnswer, s.resultAgo), Futile
	case s.remarkedAgo > 0:
		return byDistance(sameRemarked, s.remarkedAgo), Futile
	}
	return s.weighNews(), ""
}

// weighFailure weighs an act that was not done before and failed.
func (s *standing) weighFailure() (int, Family) {
	switch {
	case s.given && (s.residueAgo > 0 || s.resultAgo > 0):
		return failsGiven, Futile
	case s.outcome == empty && (s.residueAgo > 0 || s.resultAgo > 0):
		return byDistance(emptyVaried, max(s.residueAgo, s.resultAgo)), Futile
	case s.residueAgo > 0:
		return max(byDistance(failsAgain, s.residueAgo), failsKnown/2), Futile
	case s.resultAgo > 0:
		return max(byDistance(failsAgain, s.resultAgo), failsKnown/2), Futile
	case s.newTells == 0:
		return failsKnown, Futile
	}
	return littleNews, ""
}

// weighNews weighs an answer that was not seen before.
func (s *standing) weighNews() int {
	switch {
	case s.newTells == 0:
		return oldWords
	case s.littleNew():
		return littleNews
	}
	return news
}

// weighChange weighs another answer to the same call. A new word or two may be
// an id that every answer has.
func (s *standing) weighChange() int {
	if s.newTells > fewNewWords {
		return min(littleNews, s.weighNews())
	}
	return littleNews
}

// littleNew reports an answer with a new word or two among many known ones: a
// line number, a name that was just made up.
func (s *standing) littleNew() bool {
	return s.newTells <= fewNewWords && 10*s.newTells < len(s.tells)
}

// manyNewWords is where a text stops being a paraphrase: whoever goes on with
// a story or an essay brings more than this in every turn, also after the
// common words are used up. Where nobody answers, less is at stake.
const manyNewWords, manyUnanswered = 20, 30

// manyNewClaims is the number of new words, a new claim among them, at which
// a text goes on although the other side says the same as before: "continue".
const manyNewClaims = 8

// weighWords weighs a text without a tool call to which nothing new came
// back: does it state anything that was not there before?
func (s *standing) weighWords() int {
	known, worded, many := restates, restatesWorded, manyNewWords
	if !s.answered {
		known, worded, many = agrees, agreesWorded, manyUnanswered
	}
	switch {
	case s.answered && s.resultAgo == 0:
		return littleNews
	case s.actAgo > 0:
		return known + known/2 // word for word
	case s.newClaims > 0:
		return littleNews
	case s.newSays > many || s.nextOne:
		return 0
	case 100*s.newSays <= 15*len(s.says):
		return known
	case 100*s.newSays <= 45*len(s.says):
		return worded
	}
	return 0
}

// pleasantries reports two sides that tell each other nothing: no number, no
// name, no question, and hardly a new word from either.
func (s *standing) pleasantries() bool {
	return s.manner == spoken && s.answered && len(s.tells) > 0 && s.input == 0 && !s.asks &&
		s.newClaims == 0 && s.newFacts == 0 &&
		3*s.newSays <= len(s.says) && 3*s.newTells <= len(s.tells)
}
