package detect

import (
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// notes are the lines that a harness adds to whatever came back, by their
// digests: where the agent runs, what it is to mind. They say nothing about what
// was done, and their words must not pass for an outcome.
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
	var said [noteRounds]saying
	answered := 0
	for i := range rounds {
		text := answerOf(&rounds[i], native)
		if text == "" {
			continue
		}
		answered++
		forEnds(text, func(start, end int, line uint64) {
			said[i].lines = append(said[i].lines, line)
			said[i].told = append(said[i].told, text[start:end])
		})
		said[i].text, said[i].tool = withoutAct(text, &rounds[i])
	}
	for i := range said {
		for k, l := range said[i].lines {
			if !slices.Contains(found, l) && isNote(l, said[i].told[k], said[:], answered) {
				found = append(found, l)
			}
		}
	}
	return found
}

// saying is what came back in a round, as far as notes are concerned.
type saying struct {
	text  string // less what it quotes of the act
	tool  string
	lines []uint64 // those at its ends, by their digests
	told  []string
}

// isNote reports a line that stands in most of the answers, which differ but for
// it, numbers and ids, and do not fail without it: where all fail, it may say why.
// A line that itself says that something failed must stand in the answers of
// several tools.
func isNote(line uint64, told string, said []saying, answered int) bool {
	stands := 0
	for i := range said {
		if slices.Contains(said[i].lines, line) {
			stands++
		}
	}
	if stands < fewNotes || 4*stands < 3*answered {
		return false
	}
	others, tools := make(map[uint64]bool, stands), make(map[string]bool, stands)
	for i := range said {
		if !slices.Contains(said[i].lines, line) {
			continue
		}
		rest := strings.TrimSpace(notes{line}.strip(said[i].text))
		if o, _ := outcomeOf(rest, false); rest != "" && o != failed {
			others[digestWords(rest[:min(len(rest), headBytes)])] = true
			tools[said[i].tool] = true
		}
	}
	fails := meaningOf(told, maxPhraseWords)&(failure|nothing|negation|later) != 0
	return len(others) >= fewNotes && (!fails || len(tools) > 1)
}

// digestWords digests the words of a text without its numbers and ids.
func digestWords(text string) (d uint64) {
	s := scanner{text: text}
	for s.next() {
		if t := &s.token; t.class == word && !isID(text, t) && !isDrawn(text[t.start:t.end]) {
			d = fold(d, t.hash)
		}
	}
	return d
}

// withoutAct is what came back in a round less what it quotes of the act, and
// the tool that acted.
func withoutAct(text string, r *haltd.Round) (less, tool string) {
	if len(r.Calls) > 0 {
		return text, r.Calls[0].Name
	}
	command, found := commandIn(strings.TrimSpace(r.Text))
	if !found || command == "" {
		return text, ""
	}
	if call, ok := writtenCall(command); ok {
		return text, call.Name
	}
	if len(command) >= quotable {
		before, after, _ := strings.Cut(text, command)
		text = before + after
	}
	return text, toolName(command)
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
// be a note, and its digest.
func forEnds(text string, do func(start, end int, line uint64)) {
	take := func(start, end int) {
		l := text[start:end]
		if len(l) > noteBytes || strings.Count(strings.TrimSpace(l), " ") < noteWords-1 {
			return
		}
		if _, code := exitCodeIn(l); !code {
			do(start, end, xxhash.Sum64String(strings.TrimSpace(l)))
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
	less := text
	for _, c := range cuts {
		less = less[:c.start] + less[c.end:]
	}
	return less
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
		less := text[:open] + text[from+j+len(closing):]
		if strings.TrimSpace(less) == "" {
			return text // all that came back
		}
		text, from = less, open
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
