package detection

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// Pending is a request without a history and its reply, to be joined with
// the next request. It never changes.
type Pending struct {
	turn     uint64 // its number in the session, by which it is known again
	messages []uint64
	lines    []uint64 // of its last message
	forms    []uint32 // those without their numbers; nil of the first request
	states   []uint64 // digests of the forms of a few requests before it
	fixed    []uint64 // those that all requests of the session had, sorted; nil of the first
	answer   *Answer
}

// stays is which lines all requests have had, with the next one.
func (p *Pending) stays(lines []uint64) []uint64 {
	now := slices.Clone(lines)
	slices.Sort(now)
	both := []uint64{0} // of no line: it has been compared
	for _, l := range p.fixedLines() {
		if _, still := slices.BinarySearch(now, l); still {
			both = append(both, l)
		}
	}
	return both
}

// fixedLines are the lines that all requests of the session had so far, sorted.
func (p *Pending) fixedLines() []uint64 {
	if p.fixed != nil {
		return p.fixed
	}
	ls := slices.Clone(p.lines)
	slices.Sort(ls)
	return slices.Compact(ls)
}

// answeredBy is it with its reply, under another number.
func (p *Pending) answeredBy(a *Answer, turn uint64) *Pending {
	out := *p
	out.turn, out.answer = turn, a
	return &out
}

// is reports whether both are the same, perhaps read anew.
func (p *Pending) is(other *Pending) bool {
	return p == other || p != nil && other != nil && p.turn == other.turn
}

// join makes a round of the last reply and what this request says for the
// first time: all that follows the messages of the request before, or the
// lines that were not there where the client writes its history into one
// message. It is nil when the request does not go on from that reply but is a
// job of its own.
func (p *Pending) join(h *History, call *haltd.Call) *round {
	if p == nil || p.answer == nil {
		return nil
	}
	known := 0
	for known < min(len(h.messages)-1, len(p.messages)) && h.messages[known] == p.messages[known] {
		known++
	}
	goesOn := known > 0
	h.kept = call.Opening[:known:known]
	var said strings.Builder
	for _, m := range call.Opening[known:] {
		text := cut(m.Text)
		if rest, kept, grew := p.grown(text); grew {
			text, goesOn = rest, true
			h.kept = append(h.kept, haltd.Message{Role: m.Role, Text: kept})
		} else if p.answer.quotedIn(text) || p.returns(h.forms) {
			text, goesOn = p.unfixed(text), true
		}
		if m.Role == haltd.RoleUser {
			said.WriteString(p.answer.without(text))
			said.WriteByte('\n')
		}
	}
	if !goesOn {
		return nil
	}
	r := p.answer.act.answeredWith(said.String())
	if r.manner == spoken {
		r.asks = p.asks(call.Opening[known:])
	}
	return r
}

// returns reports a request that is one of those before the last again, but for
// numbers, after the agent has acted: a screen that it has come back to.
func (p *Pending) returns(forms []uint32) bool {
	return len(forms) > 1 && p.answer.act.manner > spoken && slices.Contains(p.states, digestOf(forms))
}

// statesSince are the states of a few requests, this one with them.
func (p *Pending) statesSince() []uint64 {
	const most = 4
	if p == nil || len(p.forms) == 0 {
		return nil
	}
	return append(slices.Clone(p.states[max(0, len(p.states)-most+1):]), digestOf(p.forms))
}

func digestOf(forms []uint32) (digest uint64) {
	for _, f := range forms {
		digest = fold(digest, uint64(f))
	}
	return digest
}

// asks are the lines of messages that the request before did not have and the reply
// did not say, but for their numbers: what is to be worked on next.
func (p *Pending) asks(messages []haltd.Message) (lines []uint32) {
	const most, fewest = 16, 3 // lines, and words of one
	told := make(map[uint64]bool, len(p.lines))
	for _, l := range p.lines {
		told[l] = true
	}
	for _, m := range messages {
		for line := range linesIn(cut(m.Text)) {
			if len(lines) == most || told[lineHash(line)] || countsTurns(line) || p.answer.quotes(line) {
				continue
			}
			if ws := words(line, nil); len(ws) >= fewest && contained(p.answer.act.says, ws) < .8 {
				lines = append(lines, formHash(line)&^1)
			}
		}
	}
	return lines
}

// answeredWith completes a reply with what came back for it.
func (f *round) answeredWith(text string) *round {
	r := haltd.Round{Inputs: []haltd.Message{{Text: text}}}
	if f.manner == called {
		r = haltd.Round{Results: []haltd.ToolResult{{Text: text}}}
	}
	out := *f
	out.answered = strings.TrimSpace(text) != "" || f.manner == called
	if out.answered {
		out.readAnswer(&r, text, "")
	}
	out.id = fold(f.id, xxhash.Sum64String(text))
	return &out
}

// grown is what a message adds to the last one of the request before: the
// lines that were not there, or not so often; and the others. Where the first of
// those quote the reply, the message tells a history, and what stands behind it is
// what the agent sees now, a page that did not change, too. Where numbers alone
// changed, or nothing, that is all that is told. What every request says is left out.
func (p *Pending) grown(text string) (added, kept string, ok bool) {
	if len(p.lines) < 2 {
		return "", "", false
	}
	times, forms := make(map[uint64]int, len(p.lines)), make(map[uint32]int, len(p.forms))
	for _, l := range p.lines {
		times[l]++
	}
	for _, f := range p.forms {
		forms[f]++
	}
	var b, old strings.Builder
	known, alike, all, first, end, at := 0, 0, 0, -1, -1, 0 // first to end: the first lines that were added
	for line := range linesIn(text) {
		l, f := lineHash(line), formHash(line)
		if all++; forms[f] > 0 {
			forms[f]--
			alike++
		}
		if times[l] > 0 {
			times[l]--
			known++
			old.WriteString(line)
			if first >= 0 && end < 0 {
				end = at
			}
		} else {
			b.WriteString(line)
			if first < 0 {
				first = at
			}
		}
		at += len(line)
	}
	acts := p.answer.act.manner > spoken
	if alike = max(alike, known); alike == all && acts && (p.fixed != nil || known < all) && !p.answer.namedIn(b.String()) {
		return p.unfixed(text), old.String(), true
	}
	ok = b.Len() > 0 && (10*known >= 9*len(p.lines) || 2*alike >= all && p.answer.leadsTo(b.String()) || known > 0 && acts && p.answer.hasQuote(b.String()))
	if !ok || end < 0 || !p.answer.hasQuote(text[first:end]) {
		return b.String(), old.String(), ok
	}
	return text[first:end] + p.unfixed(text[end:]), old.String(), true
}

// unfixed is a text without the lines that every request has.
func (p *Pending) unfixed(text string) string {
	var b strings.Builder
	fixed := p.fixedLines()
	for line := range linesIn(text) {
		if _, is := slices.BinarySearch(fixed, lineHash(line)); !is {
			b.WriteString(line)
		}
	}
	return b.String()
}

// leadsTo reports a reply that may have led to what is said next where most of that
// was said before: it acts, or is an object that is quoted. So agents go on that are
// told the newest of their history alone, or the state of things. What names a tool
// is a report on what that has done, and read as a whole.
func (a *Answer) leadsTo(text string) bool {
	return !a.namedIn(text) && (a.act.manner > spoken || a.object && a.hasQuote(text))
}

// maxLines bounds what is kept of a message that holds a history.
const maxLines = 4096

// linesOf digests the lines of a text, whose digest is given.
func linesOf(text string, digest uint64) []uint64 {
	if text != "" && strings.IndexByte(text, '\n') < 0 && strings.TrimSpace(text) == text && text[0] != '{' {
		return []uint64{digest}
	}
	var ls []uint64
	for line := range linesIn(text) {
		if ls = append(ls, lineHash(line)); len(ls) == maxLines {
			break
		}
	}
	return ls
}

// linesIn yields the lines of a text, those of JSON object by object and those of
// tags, such as the rows of a table, tag by tag; what is drawn in several lines, such as
// a map, is one.
func linesIn(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		drawn := 0 // bytes of a drawing before the line
		for line := range strings.Lines(text) {
			if isDrawing(strings.TrimRight(line, " \t\r\n")) {
				drawn += len(line)
				continue
			}
			if drawn > 0 && !yield(text[:drawn]) {
				return
			}
			text, drawn = text[drawn+len(line):], 0
			endOfPart := partsOf(line)
			for line != "" {
				end := endOfPart(line)
				if !yield(line[:end]) {
					return
				}
				line = line[end:]
			}
		}
		if drawn > 0 {
			yield(text[:drawn])
		}
	}
}

// partsOf tells where each part of a line ends.
func partsOf(line string) (endOfPart func(rest string) int) {
	tag := line[:1]
	switch {
	case tag == "{" || strings.HasPrefix(line, "[{"):
		return func(rest string) int {
			if end := strings.IndexByte(rest, '}'); end >= 0 {
				return end + 1
			}
			return len(rest)
		}
	case tag == "<":
		tag = line[:runOf(line, 1, isTagByte)]
		return func(rest string) int {
			if next := strings.Index(rest[1:], tag); next >= 0 {
				return next + 1
			}
			return len(rest)
		}
	}
	return func(rest string) int { return len(rest) }
}

// lineHash digests a line without the number of the part of a page that it shows.
func lineHash(line string) uint64 { return xxhash.Sum64String(withoutPart(line)) }

// withoutPart is a line without the number of the part of a page that it shows:
// [12]<a>Home</a>.
func withoutPart(line string) string {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "*"), "["); ok {
		if end := endOfDigits(rest, 0); end > 0 && strings.HasPrefix(rest[end:], "]") {
			return rest[end:]
		}
	}
	return line
}

// formsOf digests the lines of a text without their numbers.
func formsOf(text string) (forms []uint32) {
	for line := range linesIn(cut(text)) {
		if forms = append(forms, formHash(line)); len(forms) == maxLines {
			break
		}
	}
	return forms
}

// formHash digests a line without the words that have digits in them.
func formHash(line string) uint32 {
	line = withoutPart(line)
	var h uint64
	for i := 0; i < len(line); {
		end, digit := i, false
		for end < len(line) && isWord[line[end]] {
			digit = digit || isDigit(line[end])
			end++
		}
		end = max(end, i+1) // a sign
		if digit {
			h, i = fold(h, 0), end
		}
		for ; i < end; i++ {
			h = fold(h, uint64(line[i]))
		}
	}
	return uint32(h >> 32)
}

// quotable is the number of words, or bytes, from which a reply that stands in
// the next message is no coincidence.
const quotable = 16

// quotedIn reports whether a message carries the reply within it: nearly all
// of its words, or of its command, or the name of a tool that it called.
func (a *Answer) quotedIn(message string) bool {
	if a.namedIn(message) {
		return true
	}
	if len(a.act.says) < quotable/4 && len(a.act.does) < quotable {
		return false
	}
	ws := words(message, nil)
	return len(a.act.says) >= quotable/4 && contained(a.act.says, ws) >= .95 || a.act.manner == commanded && len(a.act.does) >= quotable && contained(a.act.does, ws) >= .95
}

// namedIn reports whether a message has the name of a tool that the reply called.
func (a *Answer) namedIn(message string) bool {
	return slices.ContainsFunc(a.names, func(name string) bool { return strings.Contains(message, name) })
}

// without is a text less the lines that quote the reply, and those by which a client
// counts the turns.
func (a *Answer) without(text string) string {
	var b strings.Builder
	for line := range linesIn(text) {
		if !countsTurns(line) && !a.quotes(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// countsTurns reports a line that says which turn of how many it is, and nothing
// else: <step_info>Step 7 of 100</step_info>, Current step: 7/100.
func countsTurns(line string) bool {
	const longest, more = 80, 3 // bytes, and words behind the numbers
	if len(line) > longest {
		return false
	}
	turn, counted, words := false, false, 0
	s := scanner{text: line}
	for s.next() {
		switch {
		case s.class == mark:
		case turn && s.class == number && wholeAt(line, s.end) != "":
			counted, words = true, 0
		case counted && s.class == word && !strings.HasPrefix(line[s.end:], ">"): // but for a tag
			words++
		}
		if s.class != mark {
			turn = s.class == word && turnWords[s.hash]
		}
	}
	return counted && words <= more+1 // "of" is one
}

// hasQuote reports a text with a line that quotes the reply.
func (a *Answer) hasQuote(text string) bool {
	for line := range linesIn(text) {
		if a.quotes(line) {
			return true
		}
	}
	return false
}

// quotes reports a line that stands in the reply, perhaps behind a label: "Next goal:
// open the list"; or behind a label all of its command, and little more: "Previous
// action: type [12] [rivers] where [12] is the search box".
func (a *Answer) quotes(line string) bool {
	if len(a.act.says)+len(a.act.does) == 0 {
		return false
	}
	least, labelled := 3, false
	if label, rest, ok := strings.Cut(line, ": "); ok && isCaption(label) {
		line, least, labelled = rest, max(1, min(2, len(a.act.does))), true
	}
	if labelled && a.endsList(line) {
		return true
	}
	ws := words(line, nil)
	if labelled && len(a.act.does) >= 3 && len(ws) <= 2*len(a.act.does) && contained(a.act.does, ws) == 1 {
		return true
	}
	return len(ws) >= least && max(contained(ws, a.act.says), contained(ws, a.act.does)) >= .8
}

// endsList reports a list of acts of which the last is the reply's: click(147); back();
// click(316, 20).
func (a *Answer) endsList(line string) bool {
	const between = ";,|>→"
	depth := 0
	at := strings.LastIndexFunc(line, func(r rune) bool {
		switch r {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			depth--
		}
		return depth == 0 && strings.ContainsRune(between, r)
	})
	if at < 0 || a.act.manner == spoken {
		return false
	}
	ws := words(strings.TrimLeft(line[at:], between), nil)
	return len(ws) > 0 && len(ws) <= len(a.act.does) && contained(ws, a.act.does) == 1
}

// isCaption reports a few words that say what stands behind them.
func isCaption(s string) bool {
	const most = 32
	s = strings.TrimSpace(s)
	return s != "" && len(s) <= most && strings.IndexFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) }) < 0
}

// contained is which share of the words of a stand in b, both sorted.
func contained(a, b []uint32) float32 {
	n := 0
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return ratio(n, len(a))
}
