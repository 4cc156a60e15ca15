package detect

import (
	"io"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
)

// manner is how a round acts.
type manner uint8

const (
	silent    manner = iota // neither a call nor a word
	spoken                  // words only
	commanded               // a command in the text: a fenced block or after "Action:"
	called                  // native tool calls
)

// features is what stall keeps of a round. It holds no text but the name of
// the tool, so that a cache of many rounds stays small.
type features struct {
	id      uint64 // digest of the round's whole content
	manner  manner
	name    string   // of the tools, or the first word of a command
	tools   uint64   // digest of name
	payload bool     // the act carries several lines of content
	waiting bool     // act or answer say that something is being waited for
	moves   bool     // the act moves a view or a cursor, and the answer does not show where to
	rests   bool     // the act itself lets time pass
	act     uint64   // digest of what was done, arguments unmasked
	does    []uint32 // distinct words of the act, sorted
	items   []uint32 // those of does that can name a thing to work on; none where the act has several lines
	says    []uint32 // distinct words of the assistant's text, sorted
	prose   bool     // the text ends as a sentence does, not as a command
	asked   bool     // the text has a question in it
	claims  []uint32 // those of says that state something checkable: numbers, identifiers

	answered bool // something came back
	outcome  outcome
	missing  bool     // it failed because there is no such command or tool
	result   uint64   // digest of what came back, volatile tokens masked
	body     uint64   // result without the remark under it; 0 where there is none
	residue  uint64   // result without the words of the act
	tells    []uint32 // distinct words of what came back, sorted
	figures  bool     // it is numbers and nothing else
	asks     bool     // what came back has a question in it
	facts    []uint32 // claims of what came back, where it is words
	doubles  int      // calls of this round that repeat another of it, result included

	scripted bool   // the user messages begin with a tag: software wrote them
	input    uint64 // digest of the user messages of a round with tool calls or of a conversation that has them; 0 when none
}

// roundID digests the content of a round. Rounds with the same id have the
// same features.
func roundID(r *haltd.Round, native bool) uint64 {
	var d xxhash.Digest
	d.Reset()
	writeRound(&d, r, native)
	return d.Sum64()
}

func writeRound[H interface {
	io.Writer
	io.StringWriter
}](d H, r *haltd.Round, native bool) {
	sep := []byte{0, 1}
	if native {
		d.Write(sep[1:])
	}
	d.WriteString(r.Text)
	for i := range r.Calls {
		d.Write(sep[:1])
		d.WriteString(r.Calls[i].Name)
		d.Write(sep[:1])
		d.WriteString(r.Calls[i].Arguments)
	}
	for i := range r.Results {
		d.Write(sep[1:])
		if r.Results[i].Error {
			d.Write(sep)
		}
		d.WriteString(r.Results[i].Text)
	}
	for i := range r.Inputs {
		d.Write(sep)
		d.Write([]byte{byte(r.Inputs[i].Role)})
		d.WriteString(r.Inputs[i].Text)
	}
}

// featuresOf reads a round. native says that the conversation has native tool
// calls: then user messages are a person or a harness, else they are what
// came back.
func featuresOf(r *haltd.Round, native bool) *features {
	f := &features{}
	act := f.readAct(r)
	f.tools = xxhash.Sum64String(f.name)
	f.payload = len(f.does) > shortAnswer && (strings.Contains(act, "\n") || strings.Contains(act, `\n`))
	if f.manner >= commanded && !hasLines(act, f.manner) {
		f.items = words(act, canName)
	}
	f.says = words(r.Text, nil)
	if f.manner == spoken {
		f.prose = endsAsSentence(r.Text)
		f.claims = words(r.Text, isClaim)
		f.asked = hasQuestion(r.Text)
	}
	answer := resultText(r)
	f.answered = len(r.Results) > 0 || answer != ""
	if f.answered {
		f.readResult(answer, act)
		if len(r.Results) > 0 {
			f.outcome = outcomeOfResults(r.Results)
		} else {
			f.outcome = outcomeOf(f.withoutQuote(answer, act), false)
		}
		if f.outcome == neutral && saysNothing(answer, act) {
			f.outcome = empty
		}
		f.missing = f.outcome == failed && saysMissing(answer)
	}
	head := actHead(act)
	f.waiting = !f.payload && saysWaiting(head, answer, f.outcome)
	f.rests = !f.payload && f.manner >= commanded && f.outcome != failed && saysResting(head)
	f.moves = f.manner >= commanded && f.outcome != failed && f.outcome != empty && len(f.tells) <= shortAnswer && saysMoving(head)
	f.doubles = doubles(r)
	if f.manner == spoken && len(r.Results) == 0 {
		f.facts, f.asks = words(answer, isClaim), hasQuestion(answer)
	}
	f.scripted = len(r.Inputs) > 0 && tagged(r.Inputs)
	if native {
		f.input = inputDigest(r.Inputs)
	}
	return f
}

// readAct finds what the assistant did: its tool calls in any order, else the
// fenced blocks of its text, else what follows the last "Action:", else the
// whole text. It returns the act as text.
func (f *features) readAct(r *haltd.Round) string {
	if len(r.Calls) > 0 {
		f.manner = called
		acts := make([]string, 0, 8) // of a fixed size, so that they need no heap
		names := make([]string, 0, 8)
		for i := range r.Calls {
			acts = append(acts, actText(&r.Calls[i]))
			if !slices.Contains(names, r.Calls[i].Name) {
				names = append(names, r.Calls[i].Name)
			}
		}
		slices.Sort(acts)
		slices.Sort(names)
		f.name = strings.Clone(strings.Join(names, ", "))
		joined := strings.Join(acts, "\n")
		f.act = xxhash.Sum64String(joined)
		f.does = words(joined, nil)
		return joined
	}
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return ""
	}
	command, found := commandIn(text)
	f.manner = spoken
	if found {
		f.manner = commanded
	}
	f.name = strings.Clone(firstWord(command)) // not the whole command
	f.act = xxhash.Sum64String(strings.Join(strings.Fields(command), " "))
	f.does = words(command, nil)
	return command
}

// commandIn is the part of a text that acts.
func commandIn(text string) (command string, found bool) {
	var b strings.Builder
	rest := text
	for {
		i := strings.Index(rest, "```")
		if i < 0 {
			break
		}
		rest = rest[i+3:]
		if nl := strings.IndexByte(rest, '\n'); nl >= 0 && nl < 20 && !strings.ContainsAny(rest[:nl], " `") {
			rest = rest[nl+1:] // the language
		}
		end := strings.Index(rest, "```")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(rest[:end])
		b.WriteByte('\n')
		rest = rest[min(end+3, len(rest)):]
	}
	if s := strings.TrimSpace(b.String()); s != "" {
		return s, true
	}
	if i := strings.LastIndex(text, "Action:"); i >= 0 {
		if s := strings.TrimSpace(text[i+len("Action:"):]); s != "" {
			return s, true
		}
	}
	return text, false
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t\n("); i > 0 {
		s = s[:i]
	}
	if len(s) > 32 {
		s = s[:32]
	}
	return strings.ToValidUTF8(s, "")
}

// resultText is what came back: tool results, else what the other side said.
func resultText(r *haltd.Round) string {
	if len(r.Results) == 1 {
		return r.Results[0].Text
	}
	var b strings.Builder
	for i := range r.Results {
		b.WriteString(r.Results[i].Text)
		b.WriteByte('\n')
	}
	if len(r.Results) > 0 {
		return b.String()
	}
	for i := range r.Inputs {
		if r.Inputs[i].Role == haltd.RoleUser {
			b.WriteString(r.Inputs[i].Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// inputDigest digests the user messages.
func inputDigest(ms []haltd.Message) uint64 {
	var d uint64
	for i := range ms {
		if ms[i].Role == haltd.RoleUser {
			d = fold(d, xxhash.Sum64String(ms[i].Text))
		}
	}
	return d
}

// tagged reports whether every user message begins with a tag, such as
// <system-reminder>: people seldom write so, harnesses do.
func tagged(ms []haltd.Message) bool {
	for i := range ms {
		t := strings.TrimSpace(ms[i].Text)
		if ms[i].Role == haltd.RoleUser && (len(t) < 2 || t[0] != '<' || !isWord[t[1]]) {
			return false
		}
	}
	return true
}

// readResult digests a result in several ways in one pass.
func (f *features) readResult(text, act string) {
	s := scanner{text: text}
	end := len(text)
	if f.manner >= commanded {
		end = remark(text)
	}
	tells := newWordList()
	defer tells.free()
	var acted uint64 // a bit for each word of the act
	does := f.does
	if mayBeUnspaced(act) {
		does = characters(act)
	}
	for _, w := range does {
		acted |= 1 << (w & 63)
	}
	f.figures = text != ""
	var result, residue uint64
	for t, ok := s.next(); ok; t, ok = s.next() {
		if t.start >= end && f.body == 0 {
			f.body = result
		}
		result = fold(result, t.hash)
		if t.class == mark {
			continue
		}
		inAct := acted>>(t.hash&63)&1 == 1
		if inAct {
			_, inAct = slices.BinarySearch(does, uint32(t.hash))
		}
		if !inAct {
			residue = fold(residue, t.hash)
		}
		f.figures = f.figures && t.class == number
		if t.class != volatile && !tells.full() {
			tells.add(t.asWord(text))
		}
	}
	f.result, f.residue = result, residue
	f.tells = tells.distinct()
}

// remark is where the remark begins that a harness put under a result, such
// as "This is the same as before, please try something else.": a last line
// that is a sentence and states nothing. A result without one ends there.
func remark(text string) int {
	body := strings.TrimRight(text, " \n")
	i := lastLine(body)
	if i < 0 || strings.TrimSpace(body[:i]) == "" || !endsAsSentence(body[i:]) ||
		strings.Count(body[i:], " ") < 3 || len(words(body[i:], isClaim)) > 0 {
		return len(text)
	}
	return i
}

// withoutQuote is a result without the command that it quotes: a harness that
// says "the last command <command>…</command> timed out" says it after a
// command that may be longer than all that is read of a result.
func (f *features) withoutQuote(result, act string) string {
	if f.manner != commanded || len(act) < quotable {
		return result
	}
	before, after, ok := strings.Cut(result, act)
	if !ok {
		return result
	}
	return before + after
}

// endsAsSentence tells prose from a bare command such as SELECT … or ls -la .
func endsAsSentence(text string) bool {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 {
		switch text[n-1] {
		case '?', '!':
			return true
		case '.':
			return isWord[text[n-2]] && strings.Contains(text, " ")
		}
	}
	return false
}

func hasQuestion(text string) bool {
	return strings.Contains(text, "?") || strings.Contains(text, "？") || strings.Contains(text, "؟")
}

// isClaim selects the words by which a text states something that was not
// there before: numbers, and identifiers (digits, underscores, capitals
// inside). Praise and paraphrase have none.
func isClaim(text string, t token) bool {
	if t.class == number {
		return true
	}
	w := text[t.start:t.end]
	for i := range len(w) {
		if isDigit(w[i]) || w[i] == '_' || i > 0 && w[i]-'A' < 26 {
			return true
		}
	}
	return false
}

// doubles counts the calls of a reply that do what another of it did, with
// the same result.
func doubles(r *haltd.Round) (n int) {
	if len(r.Calls) < 2 || len(r.Results) < len(r.Calls) {
		return 0
	}
	results := make(map[string]string, len(r.Results))
	for i := range r.Results {
		results[r.Results[i].CallID] = r.Results[i].Text
	}
	seen := make(map[[3]string]bool, len(r.Calls))
	for _, c := range r.Calls {
		k := [3]string{c.Name, CanonicalArguments(c.Arguments), results[c.ID]}
		if seen[k] {
			n++
		}
		seen[k] = true
	}
	return n
}

// hasLines reports an act that carries a text of several lines, such as a
// script. Between native calls a line break stands for nothing.
func hasLines(act string, m manner) bool {
	if m == called {
		return strings.Contains(act, `\n`)
	}
	return strings.Contains(act, "\n")
}

// canName selects the words that can name a thing to work on. Small numbers
// cannot: whatever they are, some result has had them.
func canName(_ string, t token) bool { return t.class != number || t.end-t.start > 2 }
