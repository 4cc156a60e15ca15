package detection

import (
	"math"

	"github.com/haltd/haltd"
)

// FeaturesVersion is the version of the features below. Weights are fitted to
// one version and refused by another.
const FeaturesVersion = 18

// sign is one property of a round, from 0 to 1, that speaks for a stall or
// against one.
type sign int

const (
	repeatNext sign = iota
	repeatNear
	repeatPlace
	repeatFailed
	failVaried
	failWork
	failOther
	emptyVaried
	sameVaried
	sameWork
	ackVaried
	placeBack
	newsGood
	newsFailed
	knownWords
	wroteNew
	answerChanged
	saidAgain
	saidNew
	silentTurn
	harnessAgain
	doubled
	waits
	pastEnd
	notThereAgain
	textAgain
	actAgain
	shapeAgain
	writtenAgain
	repeatAmid
	repeatMoving
	doneAgain
	askedAgain
	asksNext
	payloadAlike
	formVaried
	figureSame
	ackAgain
	echoed
	formAgain
	useless
	idle
	courtesies
	signCount
)

type signs [signCount]float32

// direction says which way a feature may count.
type direction int8

const (
	against direction = -1
	either  direction = 0
	speaks  direction = 1
)

// signInfo documents a sign.
type signInfo struct {
	name      string
	family    haltd.Family
	direction direction
	doc       string
}

var signInfos = [signCount]signInfo{
	repeatNext:    {"repeat_next", haltd.FamilyRepeat, speaks, "the same call with the same result as the round before"},
	repeatNear:    {"repeat_near", haltd.FamilyCycle, speaks, "the same call with the same result as 2 to 12 rounds before"},
	repeatPlace:   {"repeat_place", haltd.FamilyRepeat, speaks, "the same act, reworded perhaps, that led to nearly the same result"},
	repeatFailed:  {"repeat_failed", haltd.FamilyRepeat, speaks, "a repetition that failed"},
	failVaried:    {"fail_varied", haltd.FamilyFutile, speaks, "another call with the same failure"},
	failWork:      {"fail_work", haltd.FamilyFutile, either, "the next of a list or of a walk, with the same failure"},
	failOther:     {"fail_other", haltd.FamilyFutile, either, "a failure that was not seen before"},
	emptyVaried:   {"empty_varied", haltd.FamilyFutile, speaks, "another call that found nothing, as one before"},
	sameVaried:    {"same_varied", haltd.FamilyFutile, speaks, "another call that led to nearly the same long result, or to parts of known ones"},
	sameWork:      {"same_work", haltd.FamilyFutile, either, "the next of a list or of a walk, with the same answer"},
	ackVaried:     {"ack_varied", haltd.FamilyFutile, either, "another call with the same short acknowledgement"},
	placeBack:     {"place_back", haltd.FamilyCycle, speaks, "back at a place that was left before"},
	newsGood:      {"news", "", against, "how much of an answer was never seen before"},
	newsFailed:    {"news_failed", "", against, "how much of a failure was never seen before"},
	knownWords:    {"known_words", haltd.FamilyFutile, speaks, "a long answer without a single new word"},
	wroteNew:      {"wrote", "", against, "something was written that was not there before"},
	answerChanged: {"answer_changed", "", against, "another answer to the same call"},
	saidAgain:     {"said_again", haltd.FamilyChatter, speaks, "words without a call that say nearly the same as before"},
	saidNew:       {"said_new", "", against, "words without a call that state something new"},
	silentTurn:    {"silent", haltd.FamilyChatter, speaks, "a reply without a word or a call"},
	harnessAgain:  {"harness_again", haltd.FamilyRefusal, either, "the harness's message came before, but for numbers"},
	doubled:       {"doubled", haltd.FamilyRepeat, speaks, "the same call twice in one reply, with the same result"},
	waits:         {"waits", "", against, "the answer says that something is pending or refused for now"},
	pastEnd:       {"past_end", haltd.FamilyFutile, speaks, "the answer says that the range has ended, and it said so before"},
	notThereAgain: {"not_there", haltd.FamilyFutile, speaks, "a command or tool that does not exist, again"},
	textAgain:     {"text_again", haltd.FamilyChatter, either, "nearly the same words around the act as before"},
	actAgain:      {"act_again", haltd.FamilyRepeat, either, "the same act as within 12 rounds before, whatever came of it"},
	shapeAgain:    {"shape_again", haltd.FamilyFutile, either, "the same act but for numbers"},
	writtenAgain:  {"written_again", haltd.FamilyRepeat, speaks, "the same content written again"},
	repeatAmid:    {"repeat_amid", haltd.FamilyRepeat, either, "the same call with the same result, after something was written in between"},
	repeatMoving:  {"repeat_moving", haltd.FamilyRepeat, either, "the same act that led to nearly the same result, with a new word in it"},
	doneAgain:     {"done_again", haltd.FamilyRepeat, speaks, "the same act acknowledged again, with another number or id"},
	askedAgain:    {"asked_again", "", either, "the same act acknowledged again, no more often than a number in the task"},
	asksNext:      {"asks_next", "", either, "the question before, about something new"},
	payloadAlike:  {"payload_alike", haltd.FamilyRepeat, speaks, "nearly the same content sent by the same tool, acknowledged alike"},
	formVaried:    {"form_varied", haltd.FamilyFutile, either, "another call with the same short answer but for numbers and ids"},
	figureSame:    {"figure_same", haltd.FamilyFutile, speaks, "other code that computed the same figure"},
	ackAgain:      {"ack_again", haltd.FamilyRepeat, speaks, "the same small act with the same short acknowledgement"},
	echoed:        {"echoed", "", against, "another call that led to nearly the same result, which now shows what the call said"},
	formAgain:     {"form_again", "", against, "the same act with the same short answer but for numbers and ids"},
	useless:       {"useless", haltd.FamilyRepeat, speaks, "a round that repeats something, in whatever way, and brings nothing new"},
	idle:          {"idle", haltd.FamilyFutile, speaks, "a round that brings nothing new and is no step of a list or a walk"},
	courtesies:    {"courtesies", haltd.FamilyChatter, speaks, "words without a call that thank, praise or take leave, and nothing else came"},
}

// readSigns derives the signs of a round from its relation.
func (s *relation) readSigns(r *seenRound) {
	g := &s.signs
	short := r.short() && !s.relists
	work := (s.given || s.walk && r.outcome != failed || s.probes) && !s.over || s.takesNext(r) && r.outcome != failed
	repeated := s.repeats() && s.distance() <= near && (s.pairAgo > 0 || !s.nextID)
	d := s.dose
	switch {
	case s.asked:
		g[askedAgain] = d
		repeated = false
	case s.fills:
		repeated = false
	case repeated && s.amid:
		g[repeatAmid] = d
		repeated = false
	case r.manner == called && s.pairAgo > 0 && s.pairAgo <= near && short && r.outcome == neutral && len(r.does) < manyWords && !r.figures:
		g[ackAgain] = d
		repeated = false
	case s.pairAgo == 1:
		g[repeatNext] = d
	case s.pairAgo > 0 && s.pairAgo <= near:
		g[repeatNear] = d
	case s.pairAgo > 0 && s.pairAgo <= far:
		g[repeatNear] = d / 2
	case repeated && s.formAgo == 0: // its parts have changed places
		g[repeatMoving] = d * s.place
		repeated = false
	case repeated:
		g[repeatPlace] = d * s.place
	}
	if repeated && r.outcome == failed {
		g[repeatFailed] = d
	}
	if r.answered && !repeated && !s.amid && s.pairAgo == 0 && !s.asked && !s.fills && g[repeatMoving] == 0 {
		s.readVaried(r, short, work)
	}
	if s.placeAgo > 1 && s.place >= samePlace && !short && !s.amid && !s.nextID && !s.landed && !s.given && !s.recast && !s.probes {
		g[placeBack] = d
	}
	switch {
	case r.outcome == failed:
		g[newsFailed] = s.news
	default:
		g[newsGood] = s.news
	}
	if r.answered && s.newTells == 0 && !short && !s.amid {
		g[knownWords] = d
	}
	g[wroteNew] = bit(s.wrote)
	g[answerChanged] = bit(s.fills || !s.closed && recently(s.coreAgo) && r.answered && s.place < samePlace && s.formAgo == 0 && s.news > 0)
	s.readWordSigns(r)
	if s.retold {
		g[saidAgain] = s.dose
	}
	g[harnessAgain] = bit(s.inputs > 0) * d
	g[doubled] = min(1, float32(r.doubles))
	g[waits] = bit(s.waits(r) || r.rests)
	g[pastEnd] = bit(s.over && (s.residueAgo > 0 || s.resultAgo > 0 || s.shapeAgo > 0)) * d
	g[notThereAgain] = bit(r.missing && s.residueAgo > 0) * d
	g[actAgain] = bit(s.actAgo > 0 && s.actAgo <= near) * d
	g[shapeAgain] = bit(s.shapeAgo > 0 && s.shapeAgo <= near && s.coreAgo == 0)
	g[writtenAgain] = bit(r.payload && s.actAgo > 0 && s.actAgo <= near && !s.onward) * d
	s.poolSigns(r, work)
}

// pooled are the signs of repetition, whatever its kind: what is learned from
// one kind carries over to another.
var pooled = [...]sign{repeatNext, repeatNear, repeatPlace, failVaried, emptyVaried, sameVaried, saidAgain, silentTurn, doubled, pastEnd, writtenAgain,
	doneAgain, payloadAlike, figureSame, placeBack}

// poolSigns reads what a round is worth as a whole.
func (s *relation) poolSigns(r *seenRound, work bool) {
	g := &s.signs
	var again float32
	for _, k := range pooled {
		again = max(again, g[k])
	}
	again = max(again, .7*g[ackAgain])
	if recently(s.actAgo) && recently(s.resultAgo) && !s.tried && !s.amid && !s.asked && !s.onward && !s.ready {
		again = max(again, .7*s.dose) // a known call and a known answer, paired anew
	}
	if s.spins {
		again = s.dose
	}
	g[useless] = again * (1 - min(1, 2*s.news))
	if s.spins || !work && !s.wrote && !s.accepted(r) && g[saidNew] == 0 && g[asksNext] == 0 && !s.asked && !s.amid && !s.landed {
		g[idle] = s.dose * (1 - min(1, 3*s.news))
	}
}

// patience is how much a search in vain counts: less where it was for
// something that nobody had thought of yet.
func (s *relation) patience() float32 {
	if s.newDeeds > 0 {
		return .8
	}
	return 1
}

// accepted reports an act that was never done before and got a short answer
// that refuses nothing, or one in which what it named shows up, and one that has
// waited for its answer: whatever it says, that is no standstill.
func (s *relation) accepted(r *seenRound) bool {
	if s.ready {
		return true
	}
	fine := r.outcome == neutral || r.outcome == acknowledged
	if fine && s.echo && (s.newDeeds > 0 && s.place < samePlace || s.aimed && s.resultAgo == 0) {
		return true // what it named is there now
	}
	return r.manner >= commanded && r.answered && fine && r.short() && !r.figures && !s.waits(r) && !r.ended && !s.relists &&
		s.coreAgo == 0 && (s.aimed || s.payload < .5)
}

// reworded reports content of many words, none of them new, sent by the same
// tool and acknowledged alike, time after time: a plan in other words.
func (s *relation) reworded(r *seenRound) bool {
	return r.manner >= commanded && r.outcome == neutral && s.formAgo == 1 && s.placeTimes >= insists/2 &&
		!s.aimed && s.newDeeds == 0 && len(r.does) >= 2*manyWords && s.payload >= .5 && !s.given && !s.walk
}

// distance is how many rounds ago the repetition was.
func (s *relation) distance() int {
	if s.pairAgo > 0 {
		return s.pairAgo
	}
	return s.coreAgo
}

// readVaried reads an act that was not done before, or that led elsewhere.
func (s *relation) readVaried(r *seenRound, short, work bool) {
	g, d := &s.signs, s.dose
	alike := s.place >= samePlace && recently(s.placeAgo) || s.known(r)
	again := (recently(s.residueAgo) || recently(s.resultAgo) || alike && s.reordered(r)) && !s.cured || s.deniedAgain(r)
	if short && r.outcome != failed && s.payload > .5 && recently(s.formAgo) && !s.walk && !s.given && !s.aimed && (r.wordy || s.coreAgo > 0 && s.formAgo <= s.coreAgo || r.payload) {
		g[payloadAlike] = d * min(1, (s.payload-.5)*2.5)
	}
	if s.reworded(r) {
		g[payloadAlike] = d
		s.wrote = false
	}
	if s.redone {
		g[doneAgain] = d
		return
	}
	if s.actAgo > 0 && short && r.outcome != failed && recently(s.formAgo) && !s.onward && len(r.does) >= manyWords && (r.values > 1 || r.payload || r.wordy) && !r.waiting && s.newTells-s.newWords <= 1 {
		g[doneAgain] = d
		s.news = 0 // another number under the same deed
		return
	}
	if recently(s.coreAgo) && short && r.outcome != failed && recently(s.formAgo) && s.resultAgo == 0 {
		if s.drawn {
			g[ackAgain] = d
		} else {
			g[formAgain] = d
		}
		return
	}
	switch {
	case s.over && again:
	case s.tried && (again || alike && !short):
		g[repeatAmid] = d
	case r.outcome == failed && again && work:
		g[failWork] = d
	case r.outcome == failed && again:
		g[failVaried] = d
	case r.outcome == failed:
		g[failOther] = 1
	case (alike || again) && work:
		g[sameWork] = d
	case r.outcome == empty && again:
		g[emptyVaried] = d * s.patience()
	case alike && !short && s.echo && s.resultAgo == 0:
		g[echoed] = d
	case alike && !short:
		g[sameVaried] = d * s.place
	case short && again && r.figures && !s.drills:
		g[figureSame] = d
	case short && again:
		g[ackVaried] = d
	case short && recently(s.formAgo):
		g[formVaried] = d
	}
}

// known reports a long answer every part of which came before, in one answer or another:
// lines of a file that was read already.
func (s *relation) known(r *seenRound) bool {
	return r.manner >= commanded && r.outcome == neutral && len(r.tells) >= manyTold && len(r.turns) >= manyTold && s.newTells == 0 && s.newTurns == 0
}

// reordered reports a failure that is alike and has no new word: its lines have
// changed places. What shows a file that was edited is alike, too.
func (s *relation) reordered(r *seenRound) bool {
	return r.outcome == failed && s.newTells == 0 && nameSays(r.name)&writes == 0
}

// deniedAgain reports nearly the same call that was denied in other words, none of
// which is new, nor, where they are many, what stands beside what.
func (s *relation) deniedAgain(r *seenRound) bool {
	return r.denied() && (r.short() || s.newTurns == 0) && recently(s.deniedAgo) && s.payload >= .5 && s.newTells == 0 && !s.given && !s.aimed
}

// manyWords is from where on an act carries content, rather than asking for
// something.
const manyWords = 8

func recently(ago int) bool { return ago > 0 && ago <= near }

// readWordSigns reads what the assistant said.
func (s *relation) readWordSigns(r *seenRound) {
	g, d := &s.signs, s.dose
	stale := !r.answered || s.resultAgo > 0 || s.newTells == 0 || s.news < .2
	switch {
	case r.manner == silent && r.answered:
		g[silentTurn] = bit(stale) / 2
	case r.manner == spoken && len(r.says) > 0:
		fresh := float32(s.newSays) / float32(len(r.says))
		restated := max(s.said, 1-fresh*2)
		next := r.asked && (s.newSays > 0 || s.drills) && r.answered
		if next {
			g[asksNext] = d
		}
		brief := s.newSays >= 2 && len(r.says) <= manyTold // in a short turn two new words are news
		if s.newClaims == 0 && stale && !next && !brief && !s.adds {
			g[saidAgain] = d * max(0, min(1, (restated-.3)*2)) * (1 - min(1, 6*max(0, fresh-.1)))
		}
		switch {
		case r.polite && s.newClaims == 0 && !r.asked && (stale || r.thanked):
			g[courtesies] = d
		case s.newClaims > 0 || fresh > .45 || brief || s.adds:
			g[saidNew] = max(fresh, .5)
		}
	}
	if s.said > .8 {
		g[textAgain] = d
	}
}

func bit(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// The windows over which signs are added up, in rounds; a round that waits
// counts for less, so that its window reaches further back.
var windows = [...]float32{4, 8, 16}

// mostRounds is how many rounds a window reaches back at most.
const mostRounds = 128

// The features that are no sums of signs.
const (
	pairsSeen    = int(signCount)*len(windows) + iota // how often this call and result were seen
	failuresSeen                                      // how often these tools failed so
	placesSeen                                        // how often this result was seen
	refusalsSeen                                      // how often the harness refused these tools with the same words
	sinceNews                                         // rounds since an answer was new
	lapsDone                                          // how often a cycle was gone through
	similarCalls                                      // how alike the last calls of the agent are, as similarity counts
	refusedMany                                       // how often a tool was refused in the same way, beyond the second time
	uselessSum                                        // repetition that adds up and that news takes away
	uselessMany                                       // the same, up to eight rounds
	idleSum                                           // rounds without news that add up
	idleMany                                          // the same, up to twelve rounds
	refusedLong                                       // refusals beyond the fourth
	chatSum                                           // words without a call that say nothing new, added up
	chatMany                                          // the same, up to eight
	failedLong                                        // how often a program failed alike beyond the sixth time, whatever was tried
	featureCount
)

// Features describe the recent rounds of a conversation at its newest round.
type Features [featureCount]float32

// FeatureInfo documents one feature.
type FeatureInfo struct {
	Name   string
	Family haltd.Family // that it speaks for; "" where it speaks against a stall
	// Direction is +1 where the feature may only speak for a stall, -1 where
	// only against one, 0 where the data decides.
	Direction int
	Doc       string
}

// Catalog lists the features in their order.
func Catalog() []FeatureInfo {
	var all []FeatureInfo
	for i := range signInfos {
		for _, n := range windows {
			in := &signInfos[i]
			all = append(all, FeatureInfo{
				Name: in.name + "_" + itoa(int(n)), Family: in.family, Direction: int(in.direction),
				Doc: in.doc + ", in the last " + itoa(int(n)) + " rounds",
			})
		}
	}
	return append(all,
		FeatureInfo{"pairs_seen", haltd.FamilyRepeat, 1, "this call with this result was seen before"},
		FeatureInfo{"failures_seen", haltd.FamilyRefusal, 1, "this tool failed in this way before"},
		FeatureInfo{"places_seen", haltd.FamilyFutile, 1, "this result was seen before"},
		FeatureInfo{"refusals_seen", haltd.FamilyRefusal, 1, "the harness answered this tool with the same message before"},
		FeatureInfo{"since_news", haltd.FamilyFutile, 1, "it is long since an answer was new"},
		FeatureInfo{"laps_done", haltd.FamilyCycle, 1, "a cycle of calls was gone through"},
		FeatureInfo{"similar_calls", haltd.FamilyRepeat, 1, "the last calls of the agent are alike, as similarity counts them"},
		FeatureInfo{"refused_many", haltd.FamilyRefusal, 1, "a tool was refused in the same way again and again"},
		FeatureInfo{"useless_sum", haltd.FamilyRepeat, 1, "rounds that repeat add up, and hardly any news takes away from it"},
		FeatureInfo{"useless_many", haltd.FamilyRepeat, 1, "up to eight rounds of repetition with nothing new between"},
		FeatureInfo{"idle_sum", haltd.FamilyFutile, 1, "rounds without news add up"},
		FeatureInfo{"idle_many", haltd.FamilyFutile, 1, "up to twelve rounds without news"},
		FeatureInfo{"refused_long", haltd.FamilyRefusal, 1, "one refusal came back more than four times, whatever was done in between"},
		FeatureInfo{"chat_sum", haltd.FamilyChatter, 1, "words without a call that say nothing new add up"},
		FeatureInfo{"chat_many", haltd.FamilyChatter, 1, "up to eight turns of words that say nothing new"},
		FeatureInfo{"failed_long", haltd.FamilyRefusal, 1, "one failure came back to the letter more than six times, whatever was tried in between"},
	)
}

// featuresAt adds up the signs of the rounds until i.
func (c *comparison) featuresAt(i int) (x Features) {
	var sums signs
	var total float32
	next := 0
	news := -1
	var gone float32 // rounds so far, each by its dose
	for j := i; j >= c.since && i-j < mostRounds; j-- {
		s := &c.all[j]
		for k := range sums {
			sums[k] += s.signs[k]
		}
		if news < 0 && s.news >= .5 && c.rounds[j].outcome != failed {
			news = 0
			x[sinceNews] = gone
		}
		gone += s.dose
		total += s.dose
		for next < len(windows) && total >= windows[next]-.001 {
			x.put(&sums, next, total)
			next++
		}
		if next == len(windows) && news == 0 {
			break
		}
	}
	for ; next < len(windows); next++ {
		x.put(&sums, next, total)
	}
	if news < 0 {
		x[sinceNews] = gone
	}
	s := &c.all[i]
	x[pairsSeen] = scaled(s.pairTimes)
	x[failuresSeen] = scaled(s.failTimes)
	x[placesSeen] = scaled(s.placeTimes)
	x[refusalsSeen] = scaled(s.refused)
	x[sinceNews] = scaled(x[sinceNews])
	x[refusedMany] = min(1, max(0, s.refusals-1)/4)
	x[uselessSum], x[uselessMany] = scaled(s.uselessSum), min(1, s.uselessSum/8)
	x[idleSum], x[idleMany] = scaled(s.idleSum), min(1, s.idleSum/12)
	x[refusedLong] = 2 * scaled(s.refusals-4)
	x[failedLong] = scaled(s.failedAlike - 6)
	x[chatSum], x[chatMany] = scaled(s.chatSum), min(1, s.chatSum/8)
	if s.lap.of > 0 {
		x[lapsDone] = scaled(s.dose * s.lap.laps())
	}
	return x
}

func (x *Features) put(sums *signs, window int, rounds float32) {
	n := windows[window]
	for k := range sums {
		x[k*len(windows)+window] = min(1, sums[k]/n)
	}
	// What came before the first round was news.
	k := int(newsGood)*len(windows) + window
	x[k] = min(1, x[k]+max(0, n-rounds)/n)
}

// begun are the features of a conversation that has just begun.
var begun = func() (x Features) {
	for k := range windows {
		x[int(newsGood)*len(windows)+k] = 1
	}
	return x
}()

// scaled makes a count a feature: 1 at 3, 2 at 15.
func scaled(n float32) float32 { return float32(math.Log2(1+float64(max(0, n))) / 2) }
