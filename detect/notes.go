package detect

import (
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

// notes are the lines that a harness adds to whatever came back, by their
// digests: where the agent runs, what it is to mind, how many steps it has. They
// say nothing about what was done, and their words must not pass for an outcome.
type notes []uint64

const (
	// noteWords is how many words a line has at least to be a note: shorter ones
	// are more often part of what came back.
	noteWords = 6
	noteBytes = 400
	// noteRounds are the rounds from each end of a conversation that are searched
	// for notes. A note stands in most of them, at least in fewNotes that differ
	// otherwise.
	noteRounds = 8
	fewNotes   = 3
	// noteLines is how many lines from each end of a result may be notes.
	noteLines = 4
)

// notesOf finds the notes of a conversation: those of its beginning stay notes
// when all that comes back is the same.
func notesOf(rounds []haltd.Round, native bool) notes {
	n := appendNotes(nil, rounds[:min(len(rounds), noteRounds)], native)
	if len(rounds) > noteRounds {
		n = appendNotes(n, rounds[len(rounds)-noteRounds:], native)
	}
	return n
}

func appendNotes(found notes, rounds []haltd.Round, native bool) notes {
	var texts [noteRounds]string
	var lines [noteRounds][]uint64
	answered := 0
	for i := range rounds {
		if texts[i] = answerOf(&rounds[i], native); texts[i] != "" {
			answered++
			forEnds(texts[i], func(_, _ int, line uint64) { lines[i] = append(lines[i], line) })
		}
	}
	for i := range lines {
		for _, l := range lines[i] {
			if !slices.Contains(found, l) && isNote(l, texts[:], lines[:], answered) {
				found = append(found, l)
			}
		}
	}
	return found
}

// isNote reports a line that stands in most of the answers, which differ but for
// it and for numbers.
func isNote(line uint64, texts []string, lines [][]uint64, answered int) bool {
	stands := 0
	for i := range lines {
		if slices.Contains(lines[i], line) {
			stands++
		}
	}
	if stands < fewNotes || 4*stands < 3*answered {
		return false
	}
	others := make(map[uint64]bool, stands)
	for i := range lines {
		if slices.Contains(lines[i], line) {
			rest := notes{line}.strip(texts[i])
			others[maskedDigest(rest[:min(len(rest), headBytes)])] = true
		}
	}
	return len(others) >= fewNotes
}

// answerOf is what came back in a round.
func answerOf(r *haltd.Round, native bool) string {
	if len(r.Results) > 0 || native {
		return joinedResults(r.Results[:min(len(r.Results), 1)])
	}
	for i := range r.Inputs {
		if r.Inputs[i].Role == haltd.RoleUser {
			return r.Inputs[i].Text
		}
	}
	return ""
}

// forEnds calls do with where each line at both ends of a text stands that may
// be a note, and its digest, in which all numbers are one.
func forEnds(text string, do func(start, end int, line uint64)) {
	take := func(start, end int) {
		l := text[start:end]
		if len(l) > noteBytes || strings.Count(strings.TrimSpace(l), " ") < noteWords-1 {
			return
		}
		if _, code := exitCodeIn(l); !code {
			do(start, end, noteDigest(l))
		}
	}
	from := 0
	for n := 0; n < noteLines; {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			break
		}
		if i > 0 {
			n++
			take(from, from+i)
		}
		from += i + 1
	}
	to := len(text)
	for n := 0; n < noteLines && to > from; {
		i := strings.LastIndexByte(text[from:to], '\n')
		if from+i+1 < to {
			n++
			take(from+i+1, to)
		}
		to = from + max(i, 0)
	}
}

// noteDigest is a line's digest, with one zero for each number in it.
func noteDigest(line string) uint64 {
	d, digits := uint64(hashSeed), false
	for i := range len(line) {
		b := line[i]
		if isDigit(b) || digits && (b == '.' || b == ':') {
			if digits {
				continue
			}
			digits, b = true, '0'
		} else {
			digits = false
		}
		d = (d ^ uint64(b)) * hashPrime
	}
	return mix(d)
}

// strip is a text without notes and reminders.
func (n notes) strip(text string) string {
	text = withoutReminders(text)
	if len(n) == 0 {
		return text
	}
	type span struct{ start, end int }
	var cuts []span
	forEnds(text, func(start, end int, line uint64) {
		if slices.Contains(n, line) {
			cuts = append(cuts, span{start, end})
		}
	})
	slices.SortFunc(cuts, func(a, b span) int { return b.start - a.start })
	for _, c := range cuts {
		text = text[:c.start] + text[c.end:]
	}
	return text
}

// withoutReminders is a text without what a harness put into it between tags
// that say so: <system-reminder>…</system-reminder>.
func withoutReminders(text string) string {
	const mark = "reminder>"
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return text
		}
		i += from
		from = i + len(mark)
		open := strings.LastIndexByte(text[:i], '<')
		if open < 0 || strings.ContainsFunc(text[open+1:i], notInName) {
			continue
		}
		closing := "</" + text[open+1:from]
		j := strings.Index(text[from:], closing)
		if j < 0 {
			continue
		}
		text = text[:open] + text[from+j+len(closing):]
		from = open
	}
}

// less is a round without the notes in what came back.
func (n notes) less(r *haltd.Round, native bool) *haltd.Round {
	out := *r
	out.Results = slices.Clone(r.Results)
	for i := range out.Results {
		out.Results[i].Text = n.strip(out.Results[i].Text)
	}
	if !native {
		out.Inputs = slices.Clone(r.Inputs)
		for i := range out.Inputs {
			if out.Inputs[i].Role == haltd.RoleUser {
				out.Inputs[i].Text = n.strip(out.Inputs[i].Text)
			}
		}
	}
	return &out
}
