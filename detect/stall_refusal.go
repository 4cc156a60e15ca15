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

// returningRefusal looks whether the newest round was refused as others were
// before it. What a person says in between takes one refusal off: in a
// dialogue each try has a reason.
func returningRefusal(ss []standing) (Signal, bool) {
	if len(ss) == 0 {
		return Signal{}, false
	}
	last := &ss[len(ss)-1]
	failure := last.manner >= commanded && last.outcome == failed
	refused := last.manner == called && last.input != 0
	if !failure && !refused {
		return Signal{}, false
	}
	var failures, absences, refusals, inputs int
	var fs, as, rs []standing
	for i := range ss {
		s := &ss[i]
		if s.human {
			failures, absences, refusals = max(0, failures-1), max(0, absences-1), max(0, refusals-1)
		}
		if failure && s.tools == last.tools && s.residue == last.residue && s.outcome == last.outcome {
			failures++
			fs = append(fs, *s)
			if s.missing && s.act == last.act {
				absences++
				as = append(as, *s)
			}
		}
		if refused && s.input == last.input {
			inputs++
			if s.tools == last.tools {
				refusals++
				rs = append(rs, *s)
			}
		}
	}
	// What follows every round is a harness's habit, not a refusal.
	if 2*inputs > len(ss) {
		refusals = 0
	}
	if level := refusalLevel(refusals, refusalsWarn, refusalsKill); level > Pass {
		return refusalSignal(level, refusals, refusalsKill, rs), true
	}
	level := refusalLevel(failures, failuresWarn, failuresKill)
	if l := refusalLevel(absences, refusalsWarn, refusalsKill); l > level {
		return refusalSignal(l, absences, refusalsKill, as), true
	}
	if level > Pass {
		return refusalSignal(level, failures, failuresKill, fs), true
	}
	return Signal{}, false
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
