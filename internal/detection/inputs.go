package detection

import (
	"strings"

	"github.com/haltd/haltd"
)

// inputsAnswer reports whether the user messages are what came back for the
// calls: the calls have no result of their own, or an empty one. So agents
// work that show a page after each action.
func (f *round) inputsAnswer(r *haltd.Round) bool {
	return f.manner == called && strings.TrimSpace(joinedResults(r.Results)) == ""
}

func (f *round) readInputs(r *haltd.Round) {
	f.scripted = len(r.Inputs) > 0 && tagged(r.Inputs)
	var d uint64
	var b strings.Builder
	for i := range r.Inputs {
		if text := r.Inputs[i].Text; r.Inputs[i].Role == haltd.RoleUser && !isEditors(text) && !repeatsResult(text, r.Results) {
			d = fold(d, inputDigest(cut(text)))
			b.WriteString(cut(text))
			b.WriteByte('\n')
		}
	}
	f.input = d
	f.event = d != 0 && isEvent(b.String())
	if d != 0 && !f.scripted {
		if o := readOrders(b.String()); len(o.counts) > 0 || o.every > 0 || o.each {
			f.orders = &o
		}
	}
	if d != 0 && len(r.Results) > 0 {
		f.hears = words(b.String(), nil)
	}
}

// isEvent reports a message that is a record of something that happened, and tells of no
// failure: {"event":"arrive","floor":5}. The next one differs in its numbers.
func isEvent(text string) bool {
	t := strings.TrimSpace(text)
	if t == "" || t[0] != '{' {
		return false
	}
	o, _ := outcomeOf(t, false)
	return o == neutral
}

// repeatsResult reports a message that says a result once more, perhaps behind a label,
// as some clients do.
func repeatsResult(text string, rs []haltd.ToolResult) bool {
	text = strings.TrimSpace(text)
	for i := range rs {
		result := strings.TrimSpace(rs[i].Text)
		label, is := strings.CutSuffix(text, result)
		label = strings.TrimSpace(label)
		if is && result != "" && len(label) <= labelBytes && (label == "" || strings.HasSuffix(label, ":")) {
			return true
		}
	}
	return false
}

// inputDigest digests what a user said without its numbers, unless a number is what
// was said: "70", "138, check".
func inputDigest(text string) uint64 {
	numbers, words := 0, 0
	s := scanner{text: text}
	for n := 0; n < atOnce+1 && s.next(); n++ {
		switch {
		case s.class == number:
			numbers++
		case s.class == word && numbers == 0, s.class == volatile:
			return maskedDigest(text)
		case s.class == word:
			words++
		}
	}
	if numbers == 1 && words <= 1 && !s.next() {
		return spacedDigest(text)
	}
	return maskedDigest(text)
}

// maskedDigest digests a text without its numbers, clocks and random ids.
func maskedDigest(text string) uint64 {
	var d uint64
	s := scanner{text: text}
	for s.next() {
		t := &s.token
		h := t.hash
		if t.class == number || t.class == volatile || t.mixed && isDrawn(text[t.start:t.end]) {
			h = volatileHash
		}
		d = fold(d, h)
	}
	return d
}

func joinedResults(rs []haltd.ToolResult) string {
	if len(rs) == 1 {
		return rs[0].Text
	}
	var b strings.Builder
	for i := range rs {
		b.WriteString(rs[i].Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// resultText is what came back: tool results, else what the other side said. Some
// harnesses say what came of a command as the system.
func (f *round) resultText(r *haltd.Round) string {
	if text := joinedResults(r.Results); strings.TrimSpace(text) != "" {
		return text
	}
	var b strings.Builder
	for i := range r.Inputs {
		if r.Inputs[i].Role == haltd.RoleUser || f.manner == commanded {
			b.WriteString(r.Inputs[i].Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// tagged reports whether every user message begins with a tag or a label, such as
// <system-reminder>, [notice] or System: people seldom write so, harnesses do.
func tagged(ms []haltd.Message) bool {
	for i := range ms {
		if ms[i].Role == haltd.RoleUser && !isNotice(strings.TrimSpace(ms[i].Text)) {
			return false
		}
	}
	return true
}

func isNotice(t string) bool {
	if len(t) > 1 && t[0] == '<' && isWord[t[1]] {
		return true
	}
	head := t[:min(len(t), labelBytes)]
	end := strings.IndexByte(head, ':')
	if head != "" && head[0] == '[' {
		head = head[1:]
		end = strings.IndexByte(head, ']')
	}
	return end > 0 && meaningOf(head[:end], atOnce, notices) != 0
}

// withoutQuote is a result without the command that it quotes: a harness that
// says "the last command <command>…</command> timed out" says it after a
// command that may be longer than all that is read of a result.
func (f *round) withoutQuote(result, act string) string {
	if f.manner != commanded || len(act) < quotable {
		return result
	}
	before, after, ok := strings.Cut(result, act)
	if !ok {
		return result
	}
	return before + after
}
