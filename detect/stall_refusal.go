package detect

// A call that is refused with the same message again and again, however much
// is tried between, is a stall of its own: the steps between are all new, and
// the one thing that matters does not change.
const (
	// refusalsKill: readers of real runs give up at the fourth or fifth
	// refusal; healthy runs get through by the third.
	refusalsKill, refusalsWarn = 5, 3
	// A tool's own failures come back more easily than a harness's refusal
	// (the same missing module, the same timeout), so they need more. Not so
	// the same call of a command that does not exist: no edit brings it
	// about, so it counts as a refusal.
	failuresKill, failuresWarn = 7, 5
)

// tries are rounds that were refused alike.
type tries struct {
	n      int
	rounds []standing
}

func (t *tries) add(s *standing) {
	t.n++
	t.rounds = append(t.rounds, *s)
}

// forgive takes one off for what a person says in between: in a dialogue each
// try has a reason.
func (t *tries) forgive() { t.n = max(0, t.n-1) }

// signal is the verdict on the tries so far.
func (t *tries) signal(warn, kill int) (Signal, bool) {
	level := refusalLevel(t.n, warn, kill)
	if level == Pass {
		return Signal{}, false
	}
	return refusalSignal(level, t.n, kill, t.rounds), true
}

// returningRefusal looks whether the newest round was refused as others were
// before it.
func returningRefusal(ss []standing) (Signal, bool) {
	if len(ss) == 0 {
		return Signal{}, false
	}
	last := &ss[len(ss)-1]
	if last.manner == called && last.input != 0 {
		if sig, ok := refusedByHarness(ss, last); ok {
			return sig, true
		}
	}
	if last.manner >= commanded && last.outcome == failed && !last.given {
		return failsAsBefore(ss, last)
	}
	return Signal{}, false
}

// refusedByHarness looks at what the harness said to calls of the same tools.
func refusedByHarness(ss []standing, last *standing) (Signal, bool) {
	var refusals tries
	inputs := 0
	for i := range ss {
		s := &ss[i]
		if s.human {
			refusals.forgive()
		}
		if s.input != last.input {
			continue
		}
		inputs++
		if s.tools == last.tools {
			refusals.add(s)
		}
	}
	// What follows every round is a harness's habit, not a refusal.
	if 2*inputs > len(ss) {
		return Signal{}, false
	}
	return refusals.signal(refusalsWarn, refusalsKill)
}

// failsAsBefore looks at how calls of the same tools failed.
func failsAsBefore(ss []standing, last *standing) (Signal, bool) {
	var failures, again, absences tries // of the tools; of the same call; of what is not there
	worked := 0
	for i := range ss {
		s := &ss[i]
		if s.human {
			failures.forgive()
			again.forgive()
			absences.forgive()
		}
		switch {
		case s.tools != last.tools:
		case s.outcome != failed && failures.n > 0:
			worked++
		case s.outcome == failed && s.residue == last.residue && !s.given:
			failures.add(s)
			if s.act != last.act {
				continue
			}
			again.add(s)
			if s.missing {
				absences.add(s)
			}
		}
	}
	// A tool that mostly does as it is told, such as a shell, refuses nothing:
	// in a long run it misses now and then, each time something else.
	if 2*worked > failures.n {
		failures = again
	}
	sig, ok := failures.signal(failuresWarn, failuresKill)
	if gone, isGone := absences.signal(refusalsWarn, refusalsKill); isGone && gone.Level > sig.Level {
		return gone, true
	}
	return sig, ok
}

func refusalLevel(n, warn, kill int) Level {
	switch {
	case n >= kill:
		return Kill
	case n >= warn:
		return Warn
	}
	return Pass
}

func refusalSignal(level Level, n, threshold int, rs []standing) Signal {
	families := make([]Family, len(rs))
	for i := range families {
		families[i] = Refusal
	}
	last := &rs[len(rs)-1]
	return Signal{
		Detector: Stall, Family: Refusal, Level: level, Score: float64(n), Threshold: float64(threshold),
		Tools: []string{last.name}, Count: n, Outcome: last.outcome.word(),
		Rounds: newest(roundEvidence(rs, make([]int, len(rs)), families)),
	}
}
