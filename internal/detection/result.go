package detection

import (
	"slices"
	"strings"
	"unicode"

	"github.com/haltd/haltd/internal/xxhash"
)

// maxResult bounds how much of one result is read word by word: a quarter of it from
// the middle, the rest from the beginning and the end. What lies between is told apart
// by a digest alone.
const maxResult = 8 << 10

// sampleOf is what is read of a long result. The middle begins with a line, so that a
// few signs more before it change little.
func sampleOf(text string) string {
	const ends, middle = maxResult * 3 / 8, maxResult / 4
	from := (len(text) - middle) / 2
	if i := strings.IndexByte(text[from:from+middle], '\n'); i >= 0 {
		from += i + 1
	}
	to := min(from+middle, len(text)-ends)
	return text[:ends] + text[from:to] + text[len(text)-ends:]
}

// readResult digests a result in several ways in one pass. states says that digests
// in it are those of states.
func (f *round) readResult(text string, states bool) {
	var result, residue, fault, exactFault uint64
	var succeeds, succeeded bool // the line reports a success, or one before it did
	whole := len(text) <= maxResult
	if !whole {
		result = xxhash.Sum64String(text)
		text = sampleOf(text)
	}
	s := scanner{text: text}
	tells := newWordList()
	defer tells.free()
	turns := newWordList()
	defer turns.free()
	names := nameReader{list: newWordList(), least: 2}
	defer names.list.free()
	items := newWordList()
	defer items.free()
	var form uint64
	var bag uint64
	var masked uint64               // the result without ids that were drawn at random
	var plain int                   // its other words
	var last, mixed, earlier uint64 // the word before in the same line, mixed, and the one before that, mixed
	var repeats bool                // that word is one of the act
	acted := smallFilterOf(f.does)
	figures := text != ""
	begins := len(strings.TrimRightFunc(text, unicode.IsSpace)) - len(unlabelled(text))
	board := true    // nothing but numbers and single signs
	digits := true   // nothing but single ones
	large := 0       // numbers of several digits
	var scene uint64 // a digest of all but those
	first := true    // no word came yet
	advert := false  // the line is an advertisement, or says how long it took
	amidst := false  // the advertisement began within the line, and ends with its sentence
	var label uint64 // the word before, where it may name a score or a record
	rated := 0       // scores
	var listing uint64
	stamps, changing := 0, 0 // dates and ids; clocks and durations, too
	dated := false
	for s.next() {
		t := &s.token
		if t.newLine || first {
			first = t.class == mark
			advert, amidst = isAdvert(text, t) || isTiming(text, t), false
			if succeeds = lineSucceeds(text, t.start); succeeds && !succeeded {
				// Up to here nothing was left out of them.
				succeeded, fault, exactFault = true, residue, masked
			}
		} else if !advert && t.end < len(text) && text[t.end] == ':' && saysAdvert(text, t) {
			advert, amidst = true, true
		}
		if advert {
			advert = !amidst || !endsSentence(text, t)
			continue
		}
		if t.class == number && t.start < begins { // the answers are counted: "Observation 7:"
			continue
		}
		result = fold(result, t.hash)
		if t.class == mark {
			names.end()
			continue
		}
		w := t.asWord(text)
		h, named := w, w                             // as acts have it
		digest, length, drawn := false, false, false // a word of letters alone is none
		if t.class != word || t.mixed {
			digest = states && t.mixed && isDigest(text, &s)
			f.state = f.state || digest
			if t.class == volatile && f.enters && f.numbers.hasDate(text[t.start:t.end]) {
				// What was typed and is shown is a word of both, and no clock.
				w := uint32(hashWord(text[t.start:t.end], false)) &^ 1
				if at, known := slices.BinarySearch(f.does, w); !known {
					f.does = slices.Insert(slices.Clone(f.does), at, w)
				}
				if !tells.full() {
					tells.add(w)
				}
			}
			length = t.class == number && f.isLength(text[t.start:t.end])
			drawn = length || !digest && (isDrawn(text[t.start:t.end]) || isSerial(text, t))
			if t.class != word || drawn || !digest && (isID(text, t) || isVersion(text[t.start:t.end])) {
				items.addID(text, t) // what is named can be worked on
				stands := t.class == volatile && isStanding(text[t.start:t.end])
				dated = dated || stands
				if t.class == volatile {
					changing++
				}
				if stands || t.class == word && !isVersion(text[t.start:t.end]) {
					stamps++
					listing = fold(listing, xxhash.Sum64String(text[t.start:t.end]))
				}
				h = 1
				w |= 1 // an id counts as a number does
			}
		}
		form = fold(form, uint64(h))
		now := mix(uint64(h))
		if t.class == word && !drawn {
			bag += now
			f.bagged++
		}
		if t.newLine {
			earlier, mixed, last, repeats = 0, 0, 0, false
			names.end()
		}
		inAct := acted.mayHave(named)
		if inAct {
			_, inAct = slices.BinarySearch(f.does, named)
		}
		paired := t.class == number && !inAct && f.namesBoth(text[t.start:t.end])
		inAct = inAct || paired
		if names.add(t); drawn || t.class == volatile {
			names.spoil()
		}
		if inAct {
			names.asked++
		} else {
			items.addListed(text, t)
		}
		if !turns.full() && !inAct && !repeats { // an answer that repeats the question
			turns.add(uint32(mix(earlier^(last<<32|uint64(h)))) &^ 1)
		}
		earlier, mixed, last, repeats = mixed, now, uint64(h), inAct
		if !inAct {
			h := t.hash
			if t.class == number || w&1 == 1 {
				h = volatileHash
			}
			residue = fold(residue, h)
			if succeeded && !succeeds {
				fault = fold(fault, h)
			}
		}
		if t.class == number && t.end-t.start > 1 {
			large++
		} else if large <= 1 && t.class != volatile {
			scene = fold(scene, t.hash)
		}
		if board {
			board = t.class == number || t.end-t.start <= 2 || t.start < begins
			digits = digits && t.end-t.start == 1
		}
		if t.class == number {
			value := text[t.start:t.end]
			if label != 0 && startsPhrase([]uint64{label}, scores) {
				if rated++; rated == 1 {
					f.score = numberOf(value)
				}
			}
			if label != 0 && !inAct && len(value) >= 3 && startsPhrase([]uint64{label}, records) {
				f.record = true
			}
			if !length {
				f.told.add(value)
				if strings.IndexByte(value, '.') < 0 {
					f.counts = fold(f.counts, t.hash)
				}
				if isShare(text, &s) {
					f.shares.add(value)
				}
				if !inAct {
					f.beside = fold(f.beside, t.hash)
				}
			}
		} else {
			figures = false
		}
		if label = 0; t.class == word && opens(t.hash)&(scores|records) != 0 {
			label = t.hash
		}
		if t.class != volatile && !tells.full() && !drawn && !paired {
			tells.add(w)
		}
		told := t.hash
		if drawn {
			told = volatileHash
		} else {
			plain++
		}
		if masked = fold(masked, told); succeeded && !succeeds {
			exactFault = fold(exactFault, told)
		}
	}
	f.bag = bag
	if plain >= atOnce && whole { // ids that nobody has seen before change nothing
		result = masked
	}
	if f.view = viewOf(text); f.view != 0 {
		result, form, residue = fold(result, f.view), fold(form, f.view), fold(residue, f.view)
		tells.add(viewWord(f.view))
	}
	switch {
	case changing >= 4 && whole: // a timetable
		f.listing = xxhash.Sum64String(text)
	case dated && stamps >= 2 && plain >= 2:
		f.listing = fold(listing, form)
	}
	f.scored, f.rated = rated > 0 && rated < atOnce, rated >= atOnce
	f.board = board && plain >= 4 && (!figures || digits && plain >= 16)
	if f.near = large <= 1 && f.told.n >= 4; f.near {
		f.scene = scene
	}
	f.figures = figures && !f.writes && !(f.told.n == 1 && isMade(strings.TrimSpace(text)+" ")) // how many bytes, and 204, compute nothing
	f.result, f.residue, f.form = result, residue, form
	if succeeded { // else it is the result
		f.fault, f.exactFault = fault, exactFault
	}
	f.tells = tells.distinct()
	f.sketch = sketchOf(f.tells)
	f.rest = countMissing(f.tells, f.does)
	f.turns = turns.distinctUpTo(maxTurns)
	f.mentions = names.distinct()
	f.lists = items.distinctUpTo(maxTurns)
}

// isStanding reports a date or an id, and no clock or duration: what is there has it the
// next time, too.
func isStanding(value string) bool {
	const shortestID = 8
	return strings.ContainsAny(value, "-/") || len(value) >= shortestID && strings.IndexByte(value, ':') < 0
}

// isAdvert reports a line that begins by saying that it is an advertisement:
// "Ad: Learn piano in 30 days", complementary "Advertisement": …. What it goes on
// with means nothing.
func isAdvert(text string, t *token) bool {
	const longest = 40
	line := text[t.start:min(len(text), t.start+longest)]
	if t.class != word || opens(t.hash)&adverts == 0 && strings.IndexByte(line, '"') < 0 {
		return false
	}
	end := 0
	for end < len(line) && line[end] != ':' && line[end] != ']' && line[end] != '\n' {
		end++
	}
	if end == len(line) || line[end] == '\n' {
		return false
	}
	name := line[:end]
	if _, quoted, ok := strings.Cut(name, `"`); ok {
		name, _, _ = strings.Cut(quoted, `"`) // what a part of a page is called
	} else if opens(t.hash)&adverts == 0 {
		return false
	}
	ws, _ := plainWords(name, maxAdvert)
	if len(ws) == 0 {
		return false
	}
	for _, p := range phrasesOf(ws[0]) {
		if p.says&adverts != 0 && len(ws) == 1+len(p.rest) && startsWith(ws[1:], p.rest) {
			return true
		}
	}
	return false
}

// saysAdvert reports a word within a line that says that what follows is an
// advertisement: "Banner: Sponsored: Learn Python in 30 days. Clock 13:48."
func saysAdvert(text string, t *token) bool {
	return t.class == word && t.end+1 < len(text) && text[t.end] == ':' && text[t.end+1] == ' ' && opens(t.hash)&adverts != 0 &&
		slices.ContainsFunc(phrasesOf(t.hash), func(p phrase) bool { return p.says&adverts != 0 && len(p.rest) == 0 })
}

// endsSentence reports the stop at the end of a sentence.
func endsSentence(text string, t *token) bool {
	return t.class == mark && text[t.start] == '.' && t.end < len(text) && text[t.end] == ' '
}

// lineSucceeds reports a line by which a tool says that one of many is fine: "ok  	pkg/a
// 0.2s", "test b ... ok", "tests/c.py::d PASSED [ 12%]", "✓ e (3 ms)", "Tests run: 3, Failures: 0, Errors: 0, …".
func lineSucceeds(text string, at int) bool {
	const longest = 400
	line := text[at:min(len(text), at+longest)]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	line = strings.TrimRight(line, " \r")
	first := line[:runOf(line, 0, func(b byte) bool { return b > ' ' && b != ':' })]
	switch first {
	case "ok", "PASS", "PASSED", "pass", "passed", "✓", "✔", "√":
		return true
	}
	return strings.HasSuffix(line, " ok") || strings.HasSuffix(line, " PASSED") || strings.Contains(line, " PASSED [") || strings.Contains(line, "Failures: 0, Errors: 0,")
}

// isTiming reports a line in which a shell says how long a command took:
// "real	0m0.839s".
func isTiming(text string, t *token) bool {
	switch text[t.start:t.end] {
	case "real", "user", "sys":
		at := runOf(text, t.end, func(b byte) bool { return b == ' ' || b == '\t' })
		return at > t.end && at < len(text) && age(text, at) > 0
	}
	return false
}

// maxAdvert is of how many words what stands before an advertisement is at most.
const maxAdvert = 4

// namesBoth reports two numbers that the act named, with a comma between them: where a
// click was.
func (f *round) namesBoth(pair string) bool {
	x, y, is := strings.Cut(pair, ",")
	if !is {
		return false
	}
	for _, n := range [...]string{x, y} {
		if _, named := slices.BinarySearch(f.does, uint32(hashWord(n, true))|1); !named {
			return false
		}
	}
	return true
}
