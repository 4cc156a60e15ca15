package detection

import (
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// manner is how a round acts.
type manner uint8

const (
	silent    manner = iota // neither a call nor a word
	spoken                  // words only
	commanded               // a command in the text: a fenced block, after "Action:", or a bare line
	called                  // native tool calls
)

// round is what is kept of one round, whatever stands around it. It holds no
// text but the name of the tool, so that a cache of many rounds stays small.
type round struct {
	id     uint64 // digest of the round's whole content
	manner manner
	name   string // of the tools, or the first word of a command
	tools  uint64 // digest of name
	// program is tools and, of a tool that takes any command, the program that
	// the command runs: a shell that answers "date" does not take back what
	// "git push" was refused.
	program uint64

	// What was done, as four digests: to the letter; without prose, ids and
	// clocks, so that a reworded goal beside the same click is the same act;
	// without numbers, too, so that the steps of a walk are alike; and without
	// any word that has a digit in it.
	act, core, shape, frame uint64
	numbers                 amounts  // the first numbers of the act
	does                    []uint32 // distinct words of the act, sorted
	items                   []uint32 // those of does that can name a thing to work on; none where the act has several lines
	listed                  []uint32 // the lines among them, as a task may list them
	idents                  []uint32 // those of items that look like a name: digits, capitals inside, parts joined by a mark
	ids                     []uint32 // the random ones of its words, which core leaves out
	aims                    []uint32 // the short values that it names
	says                    []uint32 // distinct words of the assistant's text, sorted
	claims                  []uint32 // those of says that state something checkable: numbers, identifiers
	cites                   []uint32 // those of says that name something, beside an act
	aloud                   bool     // they stand in the call itself: {"next_goal":"…"}
	prose                   bool     // the text ends as a sentence does, not as a command
	asked                   bool     // the text has a question in it
	polite                  bool     // the text thanks, praises or takes leave
	sumsUp                  bool     // the turn, or what a user says to it, sums up a conversation that goes on
	wordy                   bool     // the act is made of prose alone
	values                  int      // how many arguments have a value
	payload                 bool     // the act carries several lines of content
	bytes, runes            int      // the length of the longest text that the act hands over
	rests                   bool     // the act itself lets time pass
	thinks                  bool     // the act is a thought that was written down
	paged                   bool     // the act says which part of a list is wanted
	moves                   bool     // the act moves a view or a cursor, as far as its name says
	writes                  bool     // the act changes a text, as far as its name says
	enters                  bool     // the act types a text into what a screen shows, as far as it says
	plans                   bool     // the act writes a plan, as far as its name says
	looks                   bool     // the act looks for something, and changes nothing
	shapes                  bool     // a command that moves or makes files, and says nothing when that went well
	effects                 bool     // the act does something to what it names, as far as its name says
	stirs                   bool     // the act starts, stops or does something anew, as far as it says
	changes, leaves         []uint32 // the lines that an edit is about, and those that it puts in
	calls                   int      // how many calls the reply makes
	doubles                 int      // calls of this round that repeat another of it, result included

	wasWords bool // what was written as a command was part of a text
	answered bool // something came back
	labelled bool // what came back has a label, as a harness writes it where tools are not native
	outcome  outcome
	taken    bool   // the answer says by its status that something was made or taken in
	missing  bool   // it failed because there is no such command or tool
	absent   bool   // it says that what was asked for is not there
	thanked  bool   // the answer thanks, praises or takes leave, too
	waiting  bool   // the answer says that something is pending, or refused for now
	ended    bool   // the answer says that the range has ended
	lastPage bool   // the answer says that no page follows
	result   uint64 // digest of what came back, volatile tokens masked
	residue  uint64 // result without the words of the act, numbers masked
	// fault is the residue without the lines that report a success, and exactFault the
	// result without them; 0 where there are none.
	fault, exactFault uint64
	form              uint64   // result without numbers and ids
	bag               uint64   // sum of the digests of its words, in whatever order, each as often as it comes
	bagged            int      // how many those are
	view              uint64   // digest of where the cursor of a screen stands and of what is drawn with signs; 0 where there is neither
	tells             []uint32 // distinct words of what came back, sorted
	sketch            sketch   // of tells
	rest              int      // how many of them the act did not name
	turns             []uint32 // a sample of the pairs of words in what came back
	mentions          []uint32 // the names in what came back
	asks              []uint32 // the lines of it that a client without a history says for the first time
	lists             []uint32 // the words that stand by themselves in it, as items of a list do
	figures           bool     // it is numbers and nothing else
	near              bool     // its numbers are several, all of one digit but one: how far it is to this and that
	scene             uint64   // digest of such an answer without that one, which counts the steps; 0 of others
	board             bool     // it is numbers and single letters: a board, of which every arrangement is another
	full              bool     // it says that as much was changed as the act allows at a time
	listing           uint64   // digest of it with its dates and ids, where it has some: it lists what is there, and is no acknowledgement; else 0
	state             bool     // it has the digest of something: a screen, a file
	told              amounts  // the first numbers in it
	shares            amounts  // those of its numbers that are part of a whole: 54 %, 3 of 20
	beside            uint64   // of its numbers, those that the act did not name
	counts            uint64   // of its numbers, the whole ones: others measure something
	record            bool     // one of its numbers is what something was filed under
	scored            bool     // it has a score, a level or the like
	rated             bool     // each of its parts has one: how well it was found
	score             float64  // the first of them

	input    uint64        // digest of the user messages, numbers and clocks masked; 0 where they are the result or there are none
	hears    []uint32      // distinct words of those messages
	promised time.Duration // within which the answer says that something is there
	event    bool          // they are records of what happened
	scripted bool          // they begin with a tag or a label: software wrote them
	orders   *orders       // in those messages, where they say how often something is to be done; nil else
}

// roundID digests the content of a round, with a digest that rounds share. Rounds with
// the same id have the same features.
func roundID(d *xxhash.Digest, r *haltd.Round, native bool) uint64 {
	d.Reset()
	writeRound(d, r, native)
	return d.Sum64()
}

func writeRound[H io.StringWriter](d H, r *haltd.Round, native bool) {
	if native {
		d.WriteString(sep[1:])
	}
	d.WriteString(r.Text)
	for i := range r.Calls {
		d.WriteString(sep[:1])
		d.WriteString(r.Calls[i].Name)
		d.WriteString(sep[:1])
		d.WriteString(r.Calls[i].Arguments)
	}
	for i := range r.Results {
		d.WriteString(sep[1:])
		if r.Results[i].Error {
			d.WriteString(sep)
		}
		d.WriteString(r.Results[i].Text)
	}
	for i := range r.Inputs {
		d.WriteString(sep)
		d.WriteString(roles[r.Inputs[i].Role:][:1])
		d.WriteString(r.Inputs[i].Text)
	}
}

// What stands between the parts of a round. They are strings, because a slice
// that is handed to any writer takes memory each time.
const sep = "\x00\x01"

var roles = func() string {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	return string(all[:])
}()

// readRound reads a round. native says that the conversation has native tool
// calls: then user messages after a result are a person or a harness, else
// they are what came back.
func readRound(r *haltd.Round, native bool) *round {
	f := &round{}
	act := f.readTurn(r)
	answer := f.resultText(r)
	goesOn := len(r.Results) == 0 && onlyTellsToGoOn(answer)
	if f.manner == commanded && goesOn {
		*f = round{wasWords: true} // its examples were no commands
		act = f.readTurn(r)
	}
	f.answered = len(r.Results) > 0 || answer != ""
	f.labelled = len(r.Results) == 0 && len(unlabelled(answer)) < len(strings.TrimSpace(answer))
	if f.answered {
		f.readAnswer(r, answer, act)
	}
	if f.manner == spoken && goesOn && f.outcome == empty && len(f.says) >= manyTold {
		f.outcome = neutral // "It is not complete. Go on."
	}
	f.doubles = doubles(r)
	f.sumsUp = len(r.Calls) == 0 && (saysItGoesOn(r.Text) || anySaysItGoesOn(r.Inputs))
	if native && !f.inputsAnswer(r) {
		f.readInputs(r)
	}
	return f
}

// onlyTellsToGoOn reports an answer of a few words with a sentence that begins by telling
// to go on, as nothing that runs a command answers.
func onlyTellsToGoOn(answer string) bool {
	const most = 16 // words
	if len(answer) > headBytes || len(words(answer, nil)) > most || meaningOf(answer, most, failure|missing) != 0 {
		return false
	}
	for sentence := range strings.FieldsFuncSeq(answer, func(r rune) bool { return strings.ContainsRune(".!?):;\n。！", r) }) {
		if meaningOf(sentence, atOnce-1, goOn) != 0 && !strings.Contains(sentence, " to ") {
			return true
		}
	}
	return false
}

// readAnswer reads what came back. The digest of a screen or file tells one from
// another; beside a failure it is one more id.
func (f *round) readAnswer(r *haltd.Round, answer, act string) {
	before := *f
	f.readResult(answer, true)
	f.readOutcome(r, answer, act)
	if f.outcome == failed && f.state {
		*f = before
		f.readResult(answer, false)
		f.readOutcome(r, answer, act)
	}
}

// readTurn reads the assistant's part of a round. It returns the act as text.
func (f *round) readTurn(r *haltd.Round) string {
	act := f.readAct(r)
	if f.manner > spoken { // words alone are of no tool, whichever comes first
		f.tools = xxhash.Sum64String(f.name)
	}
	if f.manner == commanded && f.program == 0 {
		f.program = programIn(act)
		f.looks, f.shapes = looks(act), shapes(act)
	}
	f.program = fold(f.tools, f.program)
	f.payload = len(f.does) > manyWords && (strings.Contains(act, "\n") || strings.Contains(act, `\n`))
	if f.manner >= commanded {
		says := nameSays(f.name)
		f.stirs = says&stirs != 0 || commandStirs(act)
		f.readNames(act, says)
	}
	f.readWords(r, act)
	return act
}

// readAct finds what the assistant did: its tool calls in any order, else the
// fenced blocks of its text, else what follows the last "Action:", else the
// whole text. It returns the act as text.
func (f *round) readAct(r *haltd.Round) string {
	if len(r.Calls) > 0 {
		act := f.readCalls(r.Calls)
		if f.thinks {
			f.manner = spoken // a tool to think with does nothing
		}
		return act
	}
	text := strings.TrimSpace(r.Text)
	if isBlank(text) {
		return ""
	}
	command, call, acts := actIn(text)
	if f.wasWords {
		command, call, acts = text, haltd.ToolCall{}, false
	}
	if call.Name != "" {
		act := f.readCalls([]haltd.ToolCall{call})
		f.manner = commanded
		return act
	}
	f.manner = spoken
	if acts {
		f.manner = commanded
	}
	f.act = spacedDigest(cut(command))
	a := actReader{round: f}
	if isObject(command) {
		a.object(cut(command))
		f.does = words(command, nil)
	} else {
		a.words(command)
		if acts {
			a.edit.readChanges(command)
			a.edited()
		}
	}
	if f.name == "" {
		f.name = strings.Clone(toolName(command)) // not the whole command
	}
	f.rests = f.manner == commanded && commandRests(command)
	return command
}

// isBlank reports a reply that is empty, or nothing but dots and dashes. A single sign
// may be a key.
func isBlank(text string) bool {
	return len(text) != 1 && strings.Trim(text, ".…-–—_ \n\u200b") == ""
}

// actIn is what the text of a reply does, where it is written as a call that call,
// and whether it does anything but speak.
func actIn(text string) (command string, call haltd.ToolCall, acts bool) {
	command, found := commandIn(text)
	call, written := writtenCall(command)
	if !written {
		call = haltd.ToolCall{}
	}
	return command, call, written || found || isObject(command) || isBareCommand(text)
}

// onlySpeaks reports the text of a reply in which readAct finds no command.
func onlySpeaks(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return true
	}
	_, _, acts := actIn(text)
	return !acts
}

// isObject reports a text in braces.
func isObject(text string) bool { return text[0] == '{' && text[len(text)-1] == '}' }

// short reports an answer that is an acknowledgement rather than data, the
// words of the act left out: "The file … has been updated".
// The digest of a screen stands for all that is on it.
func (f *round) short() bool {
	most := shortAnswer * max(1, min(f.calls, 4))
	if f.taken {
		most *= 4
	}
	return f.rest <= most && !f.state
}

// readCalls reads native tool calls.
func (f *round) readCalls(calls []haltd.ToolCall) string {
	f.manner, f.calls = called, len(calls)
	acts := make([]string, 0, 8) // of a fixed size, so that they need no heap
	names := make([]string, 0, 8)
	for i := range calls {
		acts = append(acts, actText(&calls[i]))
		names = append(names, calls[i].Name)
	}
	slices.Sort(acts)
	slices.Sort(names)
	names = slices.Compact(names)
	f.name = strings.Clone(strings.Join(names[:min(len(names), maxNames)], ", "))
	joined := strings.Join(acts, "\n")
	f.act = xxhash.Sum64String(joined)
	f.does = words(joined, nil)
	a := actReader{round: f}
	for _, act := range acts[:min(len(acts), maxCalls)] {
		a.call(cut(act))
	}
	if len(a.aloud) > 0 {
		f.cites, f.aloud = words(strings.Join(a.aloud, "\n"), isCited), true
	}
	f.rests, f.thinks = true, true
	for _, n := range names[:min(len(names), maxNames)] {
		says := nameSays(n)
		f.rests = f.rests && says&rests != 0 && namesRest(n)
		f.thinks = f.thinks && says&thinks != 0
	}
	says := nameSays(names[0])
	f.moves, f.writes, f.effects = says&moves != 0, says&writes != 0, says&effects != 0 || a.acts && says&looksFor == 0
	if a.views { // an editor that is told to view
		f.writes, f.effects = false, false
	}
	f.plans = says&plans != 0 && (f.writes || f.effects)
	f.looks = f.looks || says&looksFor != 0 && !f.writes && !f.effects
	for i := 0; i < len(calls) && i < maxCalls && !f.rests; i++ {
		f.rests = commandRests(calls[i].Arguments)
	}
	return joined
}

// namesRest reports a tool that waits and does nothing else: wait_for_job,
// browser_wait and browser_wait_for, but not send_and_wait_for_reply.
func namesRest(name string) bool {
	var memory [8]uint64
	ws := appendNameWords(memory[:0], name)
	if n := len(ws); n > 2 && ws[n-1] == forHash {
		ws = ws[:n-1]
	}
	for _, w := range [...]uint64{ws[0], ws[len(ws)-1]} {
		for _, p := range phrasesOf(w) {
			if len(p.rest) == 0 && p.says&rests != 0 {
				return true
			}
		}
	}
	return false
}

var forHash = hashWord("for", false)

// Bounds for one reply: names that a sentence lists, calls that are read one
// by one. What lies beyond counts in the digests only.
const maxNames, maxCalls = 8, 256

// maxRead bounds the text of one act or message that is read word by word; a
// digest of the whole still tells it from another.
const maxRead = 1 << 18

func cut(text string) string { return text[:min(len(text), maxRead)] }

// commandRests reports a shell command that sleeps: the word at a command's
// place, with a number after it.
func commandRests(command string) bool {
	command = command[:min(len(command), headBytes)]
	for i := 0; ; {
		j := strings.Index(command[i:], "sleep ")
		if j < 0 {
			return false
		}
		i += j
		before := strings.TrimRight(command[:i], " ")
		after := strings.TrimLeft(command[i+len("sleep "):], " ")
		starts := before == "" || strings.IndexByte(";&|\"'(`\n", before[len(before)-1]) >= 0 || strings.HasSuffix(before, " do") || strings.HasSuffix(before, `\n`)
		if starts && after != "" && isDigit(after[0]) {
			return true
		}
		i += len("sleep ")
	}
}

// isBareCommand reports a short line that is no sentence, as agents in games
// and on screens act: "go north", "click(12, 30)", and a text that is code: a query, a
// line for a shell, a function.
func isBareCommand(text string) bool {
	if endsAsSentence(text) || hasQuestion(text) {
		return false
	}
	return len(text) <= 160 && strings.Count(text, " ") < shortAnswer || isCode(text)
}

// isCode reports a text that does not begin as a sentence does and has as many signs as
// code has: in prose one stands beside a dozen words.
func isCode(text string) bool {
	const longest, wordsPerSign = 2 << 10, 4
	first := text[:runOf(text, 0, func(b byte) bool { return isWord[b] })]
	if len(text) > longest || len(first) < 2 || text[0] >= utf8.RuneSelf || strings.ToLower(first) != first && strings.ToUpper(first) != first {
		return false
	}
	signs, words := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\n', '\t':
			if i > 0 && text[i-1] > ' ' {
				words++
			}
		case '=', '<', '>', '|', '{', '}', '(', ')', '[', ']', ';', '$', '_', '/', '\\':
			signs++
		case '.':
			if i > 0 && i+1 < len(text) && isWord[text[i-1]] && isWord[text[i+1]] && !isDigit(text[i+1]) {
				signs++
			}
		case '-':
			if i > 0 && i+1 < len(text) && text[i-1] == ' ' && text[i+1] > ' ' {
				signs++
			}
		}
	}
	return signs*wordsPerSign >= words
}

// readWords reads what the assistant said, after what it did.
func (f *round) readWords(r *haltd.Round, act string) {
	text := r.Text
	if f.thinks {
		text = joinedArguments(r)
	}
	// Where nothing but the text acts, its words have been read.
	read := f.claims != nil && !f.thinks && len(text) <= maxRead && act == strings.TrimSpace(text)
	var says []uint32
	switch {
	case f.manner == spoken:
		f.prose = endsAsSentence(text)
		f.asked = hasQuestion(text) && !f.thinks
		f.polite = isPolite(text)
		if claims := isClaim; !read {
			if f.thinks {
				claims = isNamed // its number is none
			}
			says, f.claims = wordsAndSome(cut(text), claims)
		}
	case text == "":
		f.claims = nil
	default:
		says, f.cites = wordsAndSome(cut(text), isCited)
		f.claims, f.aloud = nil, false
	}
	if f.says = says; read {
		f.says = f.does
	}
}

// joinedArguments is what was said and thought in a round.
func joinedArguments(r *haltd.Round) string {
	parts := append(make([]string, 0, 1+len(r.Calls)), r.Text)
	for i := range r.Calls[:min(len(r.Calls), maxCalls)] {
		parts = append(parts, r.Calls[i].Arguments)
	}
	return strings.Join(parts, "\n")
}

// isPolite reports a text that begins or ends with thanks, praise or a
// farewell.
func isPolite(text string) bool {
	if meaningOf(text[:min(len(text), headBytes)], maxPhraseWords, courtesy) != 0 {
		return true
	}
	return len(text) > headBytes && meaningOf(text[len(text)-headBytes:], maxPhraseWords, courtesy) != 0
}

// maxTurns is how many pairs of words are kept of a result: those with the
// smallest hashes, which is a sample that is the same for equal texts.
const maxTurns = 256

// doubles counts the calls of a reply that do what another of it did, with
// the same result.
func doubles(r *haltd.Round) (n int) {
	if len(r.Calls) < 2 || len(r.Results) < len(r.Calls) || len(r.Calls) > maxCalls {
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
