package detection

import (
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// notes are the lines that a harness adds to whatever came back, by their
// digests: where the agent runs, what it is to mind, which turn it is. They say
// nothing about what was done: their words must not pass for an outcome, nor
// their numbers for news.
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
	// mostNotes is how many lines that stand in most results are looked at.
	mostNotes = 4
)

// notesOf finds the notes of a conversation: those of its beginning stay notes
// when all that comes back is the same. ok is false where they depend on a text
// that is not at hand.
func (c *Cache) notesOf(s *sent) (n notes, ok bool) {
	if n, ok = c.appendNotes(nil, s, 0, min(len(s.keys), noteRounds)); ok && len(s.keys) > noteRounds {
		n, ok = c.appendNotes(n, s, len(s.keys)-noteRounds, len(s.keys))
	}
	return n, ok
}

func (c *Cache) appendNotes(found notes, s *sent, from, to int) (_ notes, ok bool) {
	var held [noteRounds]*ends
	all := held[:to-from]
	answered := 0
	for i := range all {
		if all[i] = c.endsOf(s, from+i); all[i] == nil {
			return nil, false
		}
		if all[i].answered {
			answered++
		}
	}
	looked := 0
	for i := range all {
		for _, l := range all[i].lines {
			if stands := standsIn(l.digest, all[i:]); stands < fewNotes || 4*stands < 3*answered || slices.Contains(found, l.digest) {
				continue
			}
			is, ok := c.isNote(l.digest, all, i, s, from)
			if !ok {
				return nil, false
			}
			if is {
				found = append(found, l.digest)
			}
			if looked++; looked == mostNotes {
				return found, true
			}
		}
	}
	return found, true
}

// ends are the lines at both ends of an answer that may be notes.
type ends struct {
	answered bool
	lines    []noteLine
}

type noteLine struct {
	digest uint64
	count  float64 // the first number of a line that may count turns; -1 of others
}

func (e *ends) weight() int { return 2*len(e.lines) + 4 }

func (e *ends) index(line uint64) int {
	return slices.IndexFunc(e.lines, func(l noteLine) bool { return l.digest == line })
}

func (e *ends) has(line uint64) bool { return e.index(line) >= 0 }

// endsOf are the ends of what came back in a round, from the cache where it holds
// them; nil where it does not and the text is not at hand.
func (c *Cache) endsOf(s *sent, i int) *ends {
	const kind = 1
	key := fold(s.keys[i], kind)
	if e, ok := c.find(key).(*ends); ok {
		return e
	}
	r := s.round(i)
	if r == nil {
		return nil
	}
	e := &ends{}
	if text := answerOf(r, s.native); text != "" {
		e.answered = true
		forEnds(text, func(_, _ int, line uint64, count float64) { e.lines = append(e.lines, noteLine{line, count}) })
	}
	c.put(key, e)
	return e
}

// countsUp reports a line whose first number rises from answer to answer,
// whatever was done; a line that counts nothing does not have to.
func countsUp(line uint64, all []*ends) bool {
	last := -1.0
	for _, e := range all {
		k := e.index(line)
		if k < 0 {
			continue
		}
		switch count := e.lines[k].count; {
		case count < 0:
			return true
		case count <= last:
			return false
		default:
			last = count
		}
	}
	return true
}

// countsRounds reports a line whose first number rises by one a round.
func countsRounds(line uint64, all []*ends) bool {
	var first float64 // where it would have stood in the first round
	counts := false
	for i, e := range all {
		k := e.index(line)
		if k < 0 || e.lines[k].count < 0 {
			continue
		}
		at := e.lines[k].count - float64(i)
		if counts && at != first {
			return false
		}
		first, counts = at, true
	}
	return counts
}

// standsIn is in how many answers a line stands.
func standsIn(line uint64, all []*ends) (n int) {
	for _, e := range all {
		if e.has(line) {
			n++
		}
	}
	return n
}

// isNote reports a line of answer i that stands in answers which differ but for
// it, numbers and ids, and do not fail without it: where all fail, it may say why.
// A line that itself says that something failed must stand in the answers of
// several tools, twice in each of two. ok is false where it needs a text that is not at hand.
func (c *Cache) isNote(line uint64, all []*ends, i int, s *sent, from int) (is, ok bool) {
	first := c.besideOf(line, s, from+i)
	if first == nil {
		return false, false
	}
	if first.code || !countsUp(line, all) {
		return false, true
	}
	if first.turn && countsRounds(line, all) {
		return true, true
	}
	others, tools := make(map[uint64]bool, len(all)), make(map[uint64]int, len(all))
	for j := range all {
		if !all[j].has(line) {
			continue
		}
		b := c.besideOf(line, s, from+j)
		if b == nil {
			return false, false
		}
		if b.tells {
			others[b.rest] = true
			tools[b.tool]++
		}
	}
	several := 0
	for _, n := range tools {
		several += min(n, 2) / 2
	}
	return len(others) >= fewNotes && (!first.fails || several > 1), true
}

// beside is an answer that has a line which may be a note.
type beside struct {
	tells       bool   // without the line something is left that does not fail
	rest        uint64 // digest of its words
	tool        uint64 // digest of the tool that it came from
	code, fails bool   // the line has an exit code, or says that something failed
	turn        bool   // the line names a turn or an attempt, and is not all that came back
}

func (*beside) weight() int { return 4 }

// besideOf is answer i beside a line of it, from the cache where it holds it; nil
// where it does not and the text is not at hand.
func (c *Cache) besideOf(line uint64, s *sent, i int) *beside {
	const kind = 2
	key := fold(fold(s.keys[i], kind), line)
	if b, ok := c.find(key).(*beside); ok {
		return b
	}
	r := s.round(i)
	if r == nil {
		return nil
	}
	b := &beside{}
	answer := answerOf(r, s.native)
	told := ""
	forEnds(answer, func(start, end int, digest uint64, _ float64) {
		if digest == line && told == "" {
			told = answer[start:end]
		}
	})
	_, b.code = exitCodeIn(told)
	b.fails = meaningOf(told, maxPhraseWords, failure|nothing|negation|later) != 0
	text, tool := withoutAct(answer, r)
	rest := strings.TrimSpace(notes{line}.strip(text))
	b.turn = rest != "" && meaningOf(told, maxPhraseWords, turns) != 0
	if o, _ := outcomeOf(rest, false); rest != "" && o != failed {
		b.tells, b.rest, b.tool = true, digestWords(rest[:min(len(rest), headBytes)]), xxhash.Sum64String(tool)
	}
	c.put(key, b)
	return b
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

// answerOf is what came back in a round, the first of it. A long envelope is
// not opened.
func answerOf(r *haltd.Round, native bool) (text string) {
	const long = 4 << 10
	said := slices.IndexFunc(r.Inputs, func(m haltd.Message) bool { return m.Role == haltd.RoleUser })
	switch {
	case len(r.Results) > 0:
		text = r.Results[0].Text
	case !native && said >= 0:
		text = r.Inputs[said].Text
	}
	if len(text) <= long {
		text, _ = unwrapped(text)
	}
	return text
}

// forEnds calls do with where each line at both ends of a text stands that may
// be a note, and its digest: of a line with a number that may count turns,
// without its numbers, and with the first of them.
func forEnds(text string, do func(start, end int, line uint64, count float64)) {
	take := func(start, end int) {
		l := strings.TrimSpace(text[start:end])
		if len(l) > noteBytes || len(l) < fewNotes {
			return
		}
		if masked, count := counting(l); count >= 0 {
			do(start, end, masked, count)
		} else if words := strings.Count(l, " ") + 1; words >= noteWords || words > 1 && isAside(l) {
			do(start, end, xxhash.Sum64String(l), -1)
		}
	}
	const lines = 2 * noteLines // blank ones included
	from, n := 0, 0
	for k := 0; k < lines && n < noteLines; k++ {
		i := strings.IndexByte(text[from:min(len(text), from+noteBytes+1)], '\n')
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
	n = 0
	for k := 0; k < lines && n < noteLines && to > from; k++ {
		start := max(from, to-noteBytes-1)
		i := start + strings.LastIndexByte(text[start:to], '\n')
		if i < start && start > from {
			break // too long to be a note
		}
		if i+1 < to {
			n++
			take(i+1, to)
		}
		to = max(i, from)
	}
}

// isAside reports a line in brackets that names something and its value, as
// harnesses write where the agent is: (Open file: n/a).
func isAside(l string) bool {
	return (l[0] == '(' && l[len(l)-1] == ')' || l[0] == '[' && l[len(l)-1] == ']') && strings.Contains(l, ": ")
}

// counting digests a line without its numbers, and tells the first: -1 where it
// has none, or is too long or too short to count turns.
func counting(line string) (masked uint64, count float64) {
	const longest, words = 80, 2
	count = -1
	if len(line) > longest {
		return 0, count
	}
	n := 0
	s := scanner{text: line}
	for s.next() {
		t := &s.token
		h := t.hash
		switch t.class {
		case number:
			if v, err := strconv.ParseFloat(line[t.start:t.end], 64); err == nil && count < 0 && v >= 0 {
				count = v
			}
			h = volatileHash
		case volatile:
			h = volatileHash
		case word:
			n++
		}
		masked = fold(masked, h)
	}
	if n < words && meaningOf(line, words, turns) == 0 {
		return 0, -1
	}
	return masked, count
}

// strip is a text without notes and reminders.
func (n notes) strip(text string) string {
	text = withoutUsage(withoutReminders(text))
	if len(n) == 0 {
		return text
	}
	type span struct{ start, end int }
	var cuts []span
	forEnds(text, func(start, end int, line uint64, _ float64) {
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

// withoutUsage is a text without the last line where that says in brackets or tags
// what is left of the tokens or the context: [context 26% used]. Its number is
// another after every call, whatever was done.
func withoutUsage(text string) string {
	t := strings.TrimRight(text, " \r\n")
	i := lastLine(t)
	if i <= 0 || len(t)-i > noteBytes {
		return text
	}
	line := strings.TrimSpace(t[i+1:])
	if line == "" || strings.IndexByte("[(<", line[0]) < 0 || strings.IndexByte("])>", line[len(line)-1]) < 0 ||
		!strings.ContainsAny(line, "0123456789") || meaningOf(line, maxPhraseWords, usage) == 0 {
		return text
	}
	return t[:i]
}

// withoutReminders is a text without what a harness put into it between tags
// that say so: <system-reminder>…</system-reminder>, and what an editor says of
// itself: <environment_details>…</environment_details>.
func withoutReminders(text string) string {
	if !strings.Contains(text, "</") {
		return text // nothing that is between tags
	}
	return withoutTagged(withoutTagged(text, "reminder>"), editorTag)
}

const editorTag = "environment_details>"

// isEditors reports a text in which an editor speaks of itself alone.
func isEditors(text string) bool {
	inner, opens := strings.CutPrefix(strings.TrimSpace(text), "<"+editorTag)
	inner, closes := strings.CutSuffix(inner, "</"+editorTag)
	return opens && closes && !strings.Contains(inner, "</"+editorTag)
}

// withoutTagged is a text without what stands between tags that end so.
func withoutTagged(text, mark string) string {
	const longest, most = 40, 16
	from := 0
	for range most {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			break
		}
		i += from
		from = i + len(mark)
		start := max(0, i-longest)
		open := start + strings.LastIndexByte(text[start:i], '<')
		if open < start || strings.ContainsFunc(text[open+1:i], notInName) {
			continue
		}
		closing := "</" + text[open+1:from]
		j := strings.Index(text[from:], closing)
		if j < 0 {
			continue
		}
		less := text[:open] + text[from+j+len(closing):]
		if strings.TrimSpace(less) == "" {
			break // all that came back
		}
		text, from = less, open
	}
	return text
}

// less writes a round without the envelopes of what came back and the notes in it to
// out, whose memory is used again.
func (n notes) less(r *haltd.Round, native bool, out *haltd.Round) *haltd.Round {
	results, inputs := out.Results[:0], out.Inputs[:0]
	*out = *r
	out.Results, out.Inputs = append(results, r.Results...), append(inputs, r.Inputs...)
	for i := range out.Results {
		text, failed := unwrapped(out.Results[i].Text)
		out.Results[i].Text = n.strip(text)
		out.Results[i].Error = out.Results[i].Error || failed
	}
	if !native {
		for i := range out.Inputs {
			text, _ := unwrapped(out.Inputs[i].Text)
			out.Inputs[i].Text = n.strip(text)
		}
	}
	return out
}
