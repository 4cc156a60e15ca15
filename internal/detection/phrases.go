package detection

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// meaning is what a phrase says, one bit each.
type meaning uint64

const (
	failure    meaning = 1 << iota // something went wrong
	missing                        // there is no such command or tool
	nothing                        // nothing was found
	pending                        // something is still going on
	later                          // refused for now
	ended                          // the range that was walked over has ended
	moves                          // the name of a tool that moves a view or a cursor
	rests                          // an act that lets time pass
	times                          // a number of repetitions
	narration                      // the name of an argument in which the model talks to itself
	volatileID                     // the name of an argument that changes with every call
	courtesy                       // thanks, praise, a farewell
	negation                       // no, not, nothing
	digests                        // the name of what tells one state from another
	commandArg                     // the name of an argument that is a shell command
	wrapper                        // a program that runs another
	thinks                         // the name of a tool that only writes a thought down
	labels                         // what a harness writes before a result
	none                           // the word before what is not there: no errors
	fine                           // nothing is wrong
	changes                        // how much an act has changed
	absent                         // what was asked for is not there
	verdicts                       // the name of a field that says how it went
	turns                          // a turn, a step or an attempt, which somebody counts
	measures                       // what makes an error a quantity: norm, rate
	pages                          // the name of an argument that says which part of a list is wanted
	scores                         // the name of a number that goes up with progress
	mended                         // what was wrong is so no more
	adverts                        // what a page writes before an advertisement
	unpaid                         // refused until somebody pays, or a month is over
	every                          // before a time: how often something is to be done
	writes                         // the name of a tool that changes a text
	effects                        // the name of a tool that does something to what it is told
	takesBack                      // an act that undoes another
	surrounds                      // the name of what a service puts around every answer
	notices                        // what software writes before a message of its own
	unsteady                       // comes out one way now and another way then
	usage                          // what a client counts of its own: tokens, context
	reported                       // what a client reports of a command, one thing a line
	records                        // the word before the number that something was filed under
	enters                         // an action that types a text into what a screen shows
	looksFor                       // a program or tool that looks for something and changes nothing
	plans                          // the name of a tool that keeps a plan
	present                        // the name of a field that says whether something is there
	away                           // an answer that is sent by itself, because nobody is there
	takesOut                       // the name of an argument with the text that an edit takes out
	putsIn                         // the name of an argument with the text that it puts in
	inFile                         // the name of an argument that says in which file
	shows                          // what a tool is told that only has something shown
	fetches                        // the name of a tool that hands out the next item
	concludes                      // a label before what the work has come to
	makesFiles                     // a command that moves or makes files
	sumsUp                         // an opening that sums up a conversation
	promises                       // an answer that says within what time something is there
	surveys                        // a task that asks to look at one thing after the other
	unspoken                       // a command ran and printed nothing
	stirs                          // a command that starts, stops or does something anew
	goOn                           // told to go on, and nothing else
)

// anything is all that phrases can say.
const anything = ^meaning(0)

var meanings = map[string]meaning{
	"failure": failure, "missing": missing, "nothing": nothing, "pending": pending, "later": later,
	"ended": ended, "times": times, "narration_arguments": narration, "moves": moves, "rests": rests, "volatile_arguments": volatileID, "courtesy": courtesy, "thinks": thinks, "command_arguments": commandArg, "wrappers": wrapper, "digests": digests, "negation": negation, "labels": labels, "none": none, "fine": fine, "changes": changes, "absent": absent, "verdicts": verdicts, "turns": turns, "pages": pages, "measures": measures, "scores": scores, "mended": mended, "adverts": adverts, "unpaid": unpaid, "every": every, "writes": writes, "effects": effects, "surroundings": surrounds, "undoes": takesBack, "notices": notices, "reported": reported, "usage": usage, "unsteady": unsteady, "records": records, "present": present, "away": away, "enters": enters, "looks_for": looksFor, "plans": plans, "taken_out_arguments": takesOut, "put_in_arguments": putsIn, "file_arguments": inFile, "shows": shows, "surveys": surveys, "promises": promises, "goes_on_from": sumsUp, "makes_files": makesFiles, "conclusions": concludes, "fetches": fetches, "unspoken": unspoken, "stirs": stirs, "go_on": goOn,
}

//go:embed phrases.json
var phrasesJSON []byte

// phrase is a sequence of words; rest are those after the first.
type phrase struct {
	rest []uint64
	says meaning
}

// phraseFile is the file: what is said, in which language, by which phrases.
var phraseFile = func() (file map[string]map[string][]string) {
	if err := json.Unmarshal(phrasesJSON, &file); err != nil {
		panic(fmt.Sprintf("phrases.json: %v", err)) // part of the program
	}
	return file
}()

// numbers names the words in the file that are numbers, from two on; tallies
// those before a number that every attempt moves on.
const numbers, tallies = "numbers", "tallies"

// tallyWords are the latter, by their hashes, and turnWords those for a turn. Reading
// a text needs them, so that they are not read as other phrases are.
var tallyWords, turnWords = hashesOf(tallies), hashesOf("turns")

func hashesOf(name string) map[uint64]bool {
	index := map[uint64]bool{}
	for _, list := range phraseFile[name] {
		for _, w := range list {
			index[hashWord(w, false)] = true
		}
	}
	return index
}

// numberWords are the numbers that people write out, by the hashes of the words.
var numberWords = func() map[uint64]float64 {
	index := map[uint64]float64{}
	for _, list := range phraseFile[numbers] {
		for i, w := range list {
			ws, _ := plainWords(w, maxPhraseWords)
			index[ws[0]] = float64(i + 2)
		}
	}
	return index
}()

// units are those of time, in seconds.
var units = func() map[string]float64 {
	index := map[string]float64{}
	for name, seconds := range lasts {
		for _, list := range phraseFile[name] {
			for _, w := range list {
				index[w] = seconds
			}
		}
	}
	return index
}()

// lasts says how many seconds the units of time in the file last.
var lasts = map[string]float64{"seconds": 1, "minutes": 60, "hours": 3600}

// phrases are found by the hash of their first word.
var phrases = func() map[uint64][]phrase {
	index := map[uint64][]phrase{}
	for name, languages := range phraseFile {
		if name == numbers || name == tallies || lasts[name] > 0 {
			continue
		}
		says, ok := meanings[name]
		if !ok {
			panic(fmt.Sprintf("phrases.json: meaning %q is unknown", name))
		}
		for _, list := range languages {
			for _, text := range list {
				ws, _ := plainWords(text, maxPhraseWords)
				index[ws[0]] = append(index[ws[0]], phrase{ws[1:], says})
			}
		}
	}
	return index
}()

// phraseIndex says, for the last bits of a word, where in opened it may stand, from one
// on; the next place is looked at where another word stands there. It holds twice as
// many as there are, so that most words end at the first place, without the cost of a
// map: each word of many texts is looked up.
var phraseIndex, opened = func() (index [1 << 12]uint16, all []firstWordOf) {
	for w, list := range phrases {
		all = append(all, firstWordOf{w, list})
		at := w % uint64(len(index))
		for index[at] != 0 {
			at = (at + 1) % uint64(len(index))
		}
		index[at] = uint16(len(all))
	}
	return index, all
}()

// firstWordOf is a word and the phrases that begin with it.
type firstWordOf struct {
	word uint64
	list []phrase
}

// phrasesOf are the phrases that begin with a word.
func phrasesOf(w uint64) []phrase {
	for at := w % uint64(len(phraseIndex)); phraseIndex[at] != 0; at = (at + 1) % uint64(len(phraseIndex)) {
		if o := &opened[phraseIndex[at]-1]; o.word == w {
			return o.list
		}
	}
	return nil
}

// openings has what phrases say by the last bits of their first word: most words
// of a text open none of those that are looked for, and are told so without a
// look into the index.
var openings = func() (table [1 << 11]meaning) {
	for w, list := range phrases {
		for _, p := range list {
			table[w%uint64(len(table))] |= p.says
		}
	}
	for w := range numberWords {
		table[w%uint64(len(table))] |= counted
	}
	return table
}()

// counted stands in openings for a number that is written out.
const counted meaning = 1 << 63

// opens is what phrases may say that begin with a word; 0 where there are none.
func opens(w uint64) meaning {
	if w == 0 {
		return 0
	}
	return openings[w%uint64(len(openings))]
}

// maxPhraseWords is how many words of a text are searched for phrases.
// Deeper inside, the word "error" is more often content (a source file, a log
// that was asked for) than an outcome.
const maxPhraseWords = 48

// plainWords are the hashes of the first words of a text, n at most. Words
// that are part of a path, of an identifier or of a JSON key are left out, as
// are those of a file's name: only whole words speak. ends has a bit for each
// word that a sentence or a line ends before.
func plainWords(text string, n int) (ws []uint64, ends uint64) {
	return appendPlainWords(make([]uint64, 0, min(n, len(text)/2+1)), text, n)
}

// appendPlainWords is plainWords into memory of the caller, which is empty.
func appendPlainWords(ws []uint64, text string, n int) (_ []uint64, ends uint64) {
	ended := false
	s := scanner{text: text}
	for len(ws) < n && s.next() {
		t := &s.token
		if t.class == mark {
			ended = ended || endsClause[text[t.start]]
			continue
		}
		if ended = ended || t.newLine; t.class == volatile {
			continue
		}
		if ended {
			ends, ended = ends|1<<len(ws), false
		}
		if !standsAlone(text, t.start, t.end) {
			ws = append(ws, 0) // matches nothing and parts the words around it
			continue
		}
		ws = append(ws, t.hash)
	}
	return ws, ends
}

var endsClause, partsWords = marks(".!?;"), marks(`/\.-@#$&=`)

// standsAlone reports whether a word is one by itself and no part of a path,
// a name or a key.
func standsAlone(text string, start, end int) bool {
	if start > 0 && partsWords[text[start-1]] && !(text[start-1] == '-' && (start < 2 || text[start-2] <= ' ')) &&
		!(text[start-1] == '.' && (start < 2 || !isWord[text[start-2]])) {
		return false
	}
	if end >= len(text) {
		return true
	}
	if start > 0 && text[start-1] == '<' && text[end] == '>' && end+1 < len(text) && isDigit(text[end+1]) {
		return false // <invalid>2</invalid>
	}
	switch next := text[end]; next {
	case '/', '\\', '-', '@', '=':
		return end+1 < len(text) && text[end+1] <= ' '
	case '.':
		return end+1 >= len(text) || !isWord[text[end+1]]
	case '"':
		return !isKeyEnd(text, end)
	}
	return true
}

// isKeyEnd reports whether the quotation mark at i ends the key of a JSON
// object.
func isKeyEnd(text string, i int) bool {
	for i++; i < len(text) && text[i] == ' '; i++ {
	}
	return i < len(text) && text[i] == ':'
}

// meaningOf is what the phrases among the first words of a text say, n at most,
// of what is asked for.
func meaningOf(text string, n int, asked meaning) (says meaning) {
	var memory [maxPhraseWords]uint64
	ws, ends := appendPlainWords(memory[:0], text, n)
	if asked&failure != 0 && namesError(text) {
		says |= failure
	}
	for i, w := range ws {
		if opens(w)&asked&^says == 0 {
			continue
		}
		for _, p := range phrasesOf(w) {
			if p.says&asked&^says != 0 && startsWith(ws[i+1:], p.rest) && !(p.says&failure != 0 && (noneOf(ws, ends, i, len(p.rest)) || measured(ws, i, len(p.rest)) && hasFraction(text))) {
				says |= p.says
			}
		}
	}
	return says
}

// noneOf reports a phrase of which there is none: "no errors", "0 failed",
// "0 parse failures", "errors: 0", "blocked: false".
func noneOf(ws []uint64, ends uint64, i, rest int) bool {
	if i > 1 && ends>>(i-1)&3 == 0 && ws[i-2] == zeroHash {
		return true
	}
	if i > 0 && ends>>i&1 == 0 && opens(ws[i-1])&none != 0 {
		for _, p := range phrasesOf(ws[i-1]) {
			if p.says&none != 0 && len(p.rest) == 0 {
				return true
			}
		}
	}
	next := i + 1 + rest
	if next < len(ws) && ws[next] == falseHash && ends>>next&1 == 0 {
		return true
	}
	return next < len(ws) && ws[next] == zeroHash && ends>>next&1 == 0 && !(next+1 < len(ws) && ends>>(next+1)&1 == 0 && startsPhrase(ws[next+1:], failure))
}

// hasFraction reports a text whose beginning has a number with a fraction, or per cent:
// "1 validation error" is no quantity.
func hasFraction(text string) bool {
	text = text[:min(len(text), headBytes)]
	for i := 1; i+1 < len(text); i++ {
		if (text[i] == '.' || text[i] == ',') && isDigit(text[i-1]) && isDigit(text[i+1]) {
			return true
		}
	}
	return strings.IndexByte(text, '%') >= 0
}

// measured reports an error that is a quantity: "error norm 8.4 %", "mean error".
func measured(ws []uint64, i, rest int) bool {
	next := i + 1 + rest
	return i > 0 && startsPhrase(ws[i-1:i], measures) || next < len(ws) && startsPhrase(ws[next:next+1], measures)
}

// The hashes of what says that there is none.
var zeroHash, falseHash = hashWord("0", true), hashWord("false", false)

// startsPhrase reports words that begin with a phrase that says so.
func startsPhrase(ws []uint64, says meaning) bool {
	if opens(ws[0])&says == 0 {
		return false
	}
	for _, p := range phrasesOf(ws[0]) {
		if p.says&says != 0 && startsWith(ws[1:], p.rest) {
			return true
		}
	}
	return false
}

// firstOf is which of some meanings a text says first: "nothing was found" is
// no failure, though "not found" stands in it.
func firstOf(text string, among meaning) meaning {
	ws, ends := plainWords(text[:min(len(text), 2*headBytes)], maxPhraseWords)
	for i, w := range ws {
		if opens(w)&among == 0 {
			continue
		}
		for _, p := range phrasesOf(w) {
			if p.says&among != 0 && startsWith(ws[i+1:], p.rest) && !(p.says&failure != 0 && noneOf(ws, ends, i, len(p.rest))) {
				return p.says & among
			}
		}
	}
	return 0
}

// namesError reports a line that begins as programs begin what they say about
// an error: "TimeoutError: …", "ReadTimeout: …", "java.io.IOException: …", "usage: …", and the
// errors of a spreadsheet. Source code names errors, too, but not so.
func namesError(text string) bool {
	if i := strings.IndexByte(text, '#'); i >= 0 && len(text) <= headBytes {
		for _, name := range [...]string{"#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CIRC!", "#ERROR!"} {
			if strings.Contains(text[i:], name) {
				return true
			}
		}
	}
	if n := runOf(text, 0, isConstantByte); n == len(text) || text[n] == ':' || text[n] == '\n' {
		if strings.Contains(text[:n], "_") && readsAs(text[:n])&failure != 0 {
			return true
		}
	}
	for line := range strings.Lines(text) {
		name, _, found := strings.Cut(withoutStamp(line), ":")
		if found && !strings.ContainsAny(name, " \t(\"'") && (strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") || strings.HasSuffix(name, "Timeout") || strings.EqualFold(name, "usage")) {
			return true
		}
	}
	return false
}

// withoutStamp is a line of a log without the day and the time before it.
func withoutStamp(line string) string {
	for {
		end := runOf(line, 0, func(b byte) bool { return isDigit(b) || strings.IndexByte(":-/.,TZ[]+", b) >= 0 })
		if end < len("07:10") || end == len(line) || line[end] != ' ' {
			return line
		}
		line = line[end+1:]
	}
}

// isConstantByte reports what names such as PLANNING_FAILED are made of.
func isConstantByte(b byte) bool { return b-'A' < 26 || isDigit(b) || b == '_' }

// constantSays is what a name in capitals at the beginning of a text says of what is
// not there, or went wrong: GRASP_EMPTY (closed at 0.05 mm), COMMAND_DENIED: geofence. What
// is set to a value says nothing: MAX_ERRORS=5.
func constantSays(text string) meaning {
	n := runOf(text, 0, isConstantByte)
	if n > labelBytes || !strings.Contains(text[:n], "_") || strings.HasPrefix(strings.TrimLeft(text[n:], " "), "=") {
		return 0
	}
	return readsAs(text[:n]) & (nothing | failure)
}

// readsAs is what a name says whose words are joined: no_object, NOT-FOUND.
func readsAs(name string) meaning {
	return meaningOf(strings.NewReplacer("_", " ", "-", " ").Replace(name), maxPhraseWords, anything)
}

func startsWith(ws, start []uint64) bool {
	if len(ws) < len(start) {
		return false
	}
	for i, w := range start {
		if ws[i] != w {
			return false
		}
	}
	return true
}

// nameSays is what the words of a name say: wait_for_job, sleepSeconds.
func nameSays(name string) (says meaning) {
	var memory [8]uint64
	for _, part := range appendNameWords(memory[:0], name) {
		if opens(part) == 0 {
			continue
		}
		for _, p := range phrasesOf(part) {
			if len(p.rest) == 0 {
				says |= p.says
			}
		}
	}
	return says
}

// appendNameWords appends the words that a tool's name is made of.
func appendNameWords(ws []uint64, name string) []uint64 {
	start := 0
	for i := range len(name) {
		switch b := name[i]; {
		case !isWord[b] || b == '_':
			ws = appendWord(ws, name[start:i])
			start = i + 1
		case b-'A' < 26 && i > start && name[i-1]-'A' >= 26:
			ws = appendWord(ws, name[start:i])
			start = i
		}
	}
	return appendWord(ws, name[start:])
}

func appendWord(ws []uint64, part string) []uint64 {
	if s := (scanner{text: part}); s.next() && s.class == word {
		ws = append(ws, s.hash)
	}
	return ws
}
