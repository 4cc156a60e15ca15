package detection

import (
	"strings"
	"time"
)

// patience is the pause above which equal results only warn: who asks once a
// minute is waiting, not spinning. The pause is the client's own, from the
// reply to the next request, so that a slow model does not look patient.
const patience = time.Minute

// Waiting is given patience in proportion: each unhurried pause more counts a
// poll as a half, a third, and so on; an answer that says "pending" or "refused
// for now", or nothing at all, divides by waitsFor more, and one after a rest that the
// agent took (sleep 15) by restsFor. Tools that take their time are no polls, and get
// less: half as much for each leisurely pause.
const (
	hurried   = 5 * time.Second
	unhurried = 10 * time.Second
	leisurely = 30 * time.Second
	waitsFor  = 3
	restsFor  = 5
	asAsked   = .05 // what the task itself asks for hardly counts
)

// retraces reports a step of the way back from where something new was: to what was seen
// before, shortly before what the step before it led back to, and so on. Who turns round
// where nothing was paces up and down.
func (c *comparison) retraces(i int) bool {
	const steps, gap = 3, 6 // of the way, and rounds that lie between two of them
	last := i
	for j := i; j >= max(c.since, i-far); j-- {
		ago := c.backAt(j)
		if ago == 0 {
			return i-j >= steps && c.all[j].news > 0
		}
		at := j - ago
		if ago < 2 || j < i && (at <= last || at > last+gap) {
			return false
		}
		last = at
	}
	return false
}

// backAt is how many rounds ago what came back was seen last, or what is the same but
// for a number; 0 where it was not.
func (c *comparison) backAt(i int) int {
	switch s := &c.all[i]; {
	case s.resultAgo > 0:
		return s.resultAgo
	case s.place >= samePlace:
		return s.placeAgo
	}
	return 0
}

// doseOf is how much a round counts as a repetition.
func (c *comparison) doseOf(i int) float32 {
	r, s := &c.rounds[i], &c.all[i]
	last := i - max(s.pairAgo, s.placeAgo, s.actAgo, s.residueAgo)
	if last == i {
		return 1
	}
	last = i - nearest(s.pairAgo, s.placeAgo, s.actAgo, s.residueAgo)
	if recently(s.pairAgo) {
		last = i - s.pairAgo // the same question, whoever else answered alike in between
	}
	var pause, all time.Duration
	first := max(last+1, i-near)
	for j := first; j <= i; j++ {
		pause = max(pause, c.rounds[j].pause)
		all += c.rounds[j].pause
	}
	s.slow = pause > patience || !r.at.IsZero() && !c.rounds[last].at.IsZero() && i-last == 1 && pause == 0 && r.at.Sub(c.rounds[last].at) > 2*patience
	if s.asked {
		return asAsked
	}
	// Who tries something in between does not wait.
	stirred := r.stirs || c.stirredSince(i, i-last)
	idly := !stirred && !c.attemptedSince(i, i-last) && !c.editedSince(i, i-last)
	unknown := r.pause == 0 && !r.at.IsZero() && i-last == 1 // one request showed both
	pace := max(pause, c.usualPause(i))                      // one question that came soon is no hurry
	awaited := r.absent && r.manner == called && pace > unhurried && s.coreAgo == 1
	poll := !stirred && s.coreAgo > 0 && (r.outcome != failed || awaited) && r.short() && len(r.does) <= 2*fewWords && (idly || r.outcome != empty)
	rested := c.rested(last, i)
	waits := idly && (r.waiting && (s.coreAgo > 0 || pause > hurried) || rested) || c.creeps(i, 2, unhurried) || poll && pace > hurried && (r.outcome == empty || r.outcome == acknowledged)
	promised := poll && pace > hurried && c.awaited(i)
	dose := float32(1)
	switch {
	case (poll || waits) && pace > hurried:
		dose = 1 / (1 + float32(pace-hurried)/float32(unhurried))
	case poll && unknown:
		dose = .35 // nobody knows how long it waited
	case pause > unhurried:
		dose = 1 / (1 + float32(pause-unhurried)/float32(leisurely))
	}
	if usual := all / time.Duration(i-first+1); usual > leisurely { // beyond a minute nothing counts
		dose *= max(.2, 1-.8*float32(usual-leisurely)/float32(patience-leisurely))
	}
	if r.manner == silent {
		dose /= 2 // some agents recover from a few empty replies
	}
	if r.moves && r.short() && r.view == 0 {
		dose /= 3 // the answer does not show where it led
	}
	switch {
	case promised, waits && rested:
		dose /= restsFor * c.patienceForOthers()
	case waits:
		dose /= waitsFor * c.patienceForOthers()
	}
	if r.outcome == failed && c.goesAway(i) {
		dose /= 4
	}
	return dose
}

// longestPromise is how long a wait is that an answer may ask for.
const longestPromise = 15 * time.Minute

// promisedIn is within what time something is to be there, as far as an answer says:
// "It can take up to two minutes." It is 0 where it does not say.
func promisedIn(answer string) (longest time.Duration) {
	text := answer[:min(len(answer), 2*headBytes)]
	if meaningOf(text, maxPhraseWords, promises) == 0 {
		return 0
	}
	s := scanner{text: text}
	for s.next() {
		seconds := 0.
		if isDigit(text[s.start]) {
			seconds = interval(text[s.start:])
		} else if n := numberWords[s.hash]; n > 0 {
			seconds = n * interval("1 "+strings.TrimLeft(text[s.end:], " "))
		}
		longest = max(longest, time.Duration(seconds)*time.Second)
	}
	if longest > longestPromise {
		return 0
	}
	return longest
}

// awaited reports a round within the time that the answer to another act has asked for,
// once.
func (c *comparison) awaited(i int) bool {
	const grace = 1.25
	r := &c.rounds[i]
	for j := i - 1; j >= max(c.since, i-far) && !r.at.IsZero(); j-- {
		if o := &c.rounds[j]; o.promised > 0 && !o.at.IsZero() {
			return o.program != r.program && c.all[j].resultAgo == 0 && float64(r.at.Sub(o.at)) <= grace*float64(o.promised)
		}
	}
	return false
}

// goesAway reports a failure of a program whose failures have gone by themselves at least
// twice, each after some tries, where this one has not lasted longer than they did.
func (c *comparison) goesAway(i int) bool {
	const times, some = 2, 2
	r := &c.rounds[i]
	lasts, longest, passed, n := 0, 0, 0, 1
	counting := true // the failure that lasts
	for j := i - 1; j >= max(c.since, i-mostRounds); j-- {
		o := &c.rounds[j]
		switch {
		case o.program != r.program || !o.answered:
		case o.outcome == failed:
			n++
		case n == 0:
		case counting:
			lasts, n, counting = n, 0, false
		default:
			if n >= some {
				passed, longest = passed+1, max(longest, n)
			}
			n = 0
		}
	}
	return passed >= times && lasts <= longest+1
}

// usualPause is how long the client took on average before the last few rounds that did
// the same one after the other.
func (c *comparison) usualPause(i int) time.Duration {
	const few = 4
	var all time.Duration
	n := 0
	for j := i; j >= 0 && n < few; j-- {
		all += c.rounds[j].pause
		if n++; c.all[j].coreAgo != 1 {
			break
		}
	}
	return all / time.Duration(n)
}

// patienceForOthers is by how much less a wait counts where other sessions of the agent
// are at work: it may be for them that it waits. A fifth of the calls is enough. A worker
// waits for nobody.
func (c *comparison) patienceForOthers() float32 {
	const most, enough = 12, .2
	if c.delegated {
		return 1
	}
	return 1 + most*min(1, c.others/enough)
}

func nearest(agos ...int) (n int) {
	for _, a := range agos {
		if a > 0 && (n == 0 || a < n) {
			n = a
		}
	}
	return n
}

// rested reports whether the client let time pass between two rounds. One rest in a lap of
// five acts or more is no waiting.
func (c *comparison) rested(from, to int) bool {
	const most = 4 // acts for each rest
	first, rests := max(from+1, to-near), 0
	for j := first; j <= to; j++ {
		if c.rounds[j].rests {
			rests++
		}
	}
	return rests > 0 && most*rests > to-first
}
