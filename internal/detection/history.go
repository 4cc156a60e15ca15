package detection

import (
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// maxRounds bounds what a session remembers. A loop shows in far fewer.
const maxRounds = 512

// History is a request as the detectors compare it. Reading one needs no
// state, so that it is done outside of every lock; the texts stay with the
// call.
type History struct {
	rounds  []readOnce
	sent    *sent // those rounds by digests; nil where they are not all that the request has
	opening opening
	prompt  Prompt
	model   string
	system  uint64

	// Of a request without a history:
	messages []uint64 // digests of its messages, in order
	lines    []uint64 // digests of the lines of the last of them
	forms    []uint32 // and without their numbers, where something came before
	before   *Pending // what it was joined with
	next     *round   // the round that it completes; nil where it begins anew
	// kept are those of its texts that the request before it had.
	kept []haltd.Message

	// texts are those of the opening, which are read when it turns out that the
	// session goes on. Most requests without a history are the only one of theirs.
	texts []haltd.Message
}

// readOnce is a round, with a digest of the assistant's turn alone: clients
// drop what came back for it when it is old, the turn they keep.
type readOnce struct {
	*round
	turn uint64
}

// opening is what a conversation begins with. It has a digest alone until its
// words are needed.
type opening struct {
	digest uint64
	words  []uint32 // nothing that repeats them later is news
	names  []uint32 // those of several words
	orders
}

// orders are what a person's words say of how often something is to be done.
type orders struct {
	counts []float64 // the numbers in them that may say so
	bounds []float64 // the first numbers, those at the end of a name or an address included
	every  float64   // how many seconds lie between two times that they ask for; 0 where they ask for none
	each   bool      // they ask to look at one thing after the other: an audit, a checklist
}

// readOrders reads them from the beginning of a text.
func readOrders(text string) (o orders) {
	last := 0.0
	s := scanner{text: text}
	for s.next() && s.token.start < countsWithin {
		last = o.read(text, &s.token, last)
	}
	o.each = asksForEach(text)
	return o
}

// asksForEach reports a task that asks to look at one thing after the other.
func asksForEach(text string) bool {
	const words = 600
	return meaningOf(text[:min(len(text), countsWithin)], words, surveys) != 0
}

// Read reads a request. before is what the session said last, for requests
// without a history: see Session.Pending.
func Read(cache *Cache, call *haltd.Call, before *Pending) *History {
	if len(call.Rounds) == 0 {
		return readLoose(call, before, openingRead)
	}
	rounds, turns := sentRounds(call)
	s := &sent{native: isNative(call), turns: turns}
	s.add(cache, rounds)
	h, _ := readHistory(cache, call, s) // all texts are at hand
	return h
}

// ReadShown is Read in a session that is known by its system prompt and its first
// message: all its requests show how it began, so that the words of that are read
// when there is another.
func ReadShown(cache *Cache, call *haltd.Call, before *Pending) *History {
	if !IsFirst(call) {
		return Read(cache, call, before)
	}
	return readLoose(call, before, 0)
}

// IsFirst reports a call that ends with the first message of a user: in a session
// that is known by that message, whatever goes on from the call shows it again.
func IsFirst(call *haltd.Call) bool {
	first := slices.IndexFunc(call.Opening, func(m haltd.Message) bool { return m.Role == haltd.RoleUser })
	return len(call.Rounds) == 0 && first >= 0 && first == len(call.Opening)-1
}

// readLoose reads a request without a history, and at once the words of an
// opening of up to the given size.
func readLoose(call *haltd.Call, before *Pending, most int) *History {
	h := &History{model: call.Model, system: call.System}
	h.readMessages(call, most)
	h.prompt = promptOf(call, h.messages)
	h.Follow(call, before)
	return h
}

// Follow reads a request without a history as one that goes on from what its
// session said last.
func (h *History) Follow(call *haltd.Call, before *Pending) {
	if n := len(call.Opening); before != nil && n > 0 && h.forms == nil {
		h.forms = formsOf(call.Opening[n-1].Text)
	}
	h.before, h.next = before, before.join(h, call)
}

// Follows reports whether it was read so.
func (h *History) Follows(before *Pending) bool { return h.before.is(before) }

func readOpening(messages []haltd.Message) *opening {
	o := &opening{}
	l := newWordList()
	defer l.free()
	for i := range messages {
		text := messages[i].Text
		o.digest = fold(o.digest, xxhash.Sum64String(text))
		o.readText(l, cut(text), messages[i].Role == haltd.RoleUser)
	}
	o.words = l.distinct()
	return o
}

// readText adds a text of an opening in one pass: its words to the list, its
// names and ids to the names and, of a user's, the numbers of repetitions.
func (o *opening) readText(l *wordList, text string, asks bool) {
	names := nameReader{list: newWordList(), least: 2}
	defer names.list.free()
	ids := newWordList()
	defer ids.free()
	var last float64 // the number before, where words may say what it counts
	s := scanner{text: text}
	for s.next() {
		t := &s.token
		names.read(text, &s)
		if isMaskedID(text, t) {
			ids.addID(text, t)
		}
		if t.class != mark && t.class != volatile && !l.full() {
			l.add(t.asWord(text))
		}
		if asks && t.start < countsWithin {
			last = o.orders.read(text, t, last)
		}
	}
	o.names = append(o.names, names.distinct()...)
	o.names = append(o.names, ids.distinctUpTo(maxTurns)...)
	if asks {
		o.names = append(o.names, listedLines(text)...)
		o.each = o.each || asksForEach(text)
	}
}

const (
	// maxCounts is how many numbers of an opening are looked at.
	maxCounts = 16
	// runsMeasured is how often something that is flaky is run to see how flaky it is.
	runsMeasured = 12
	// countsWithin is in how many bytes of a text they are looked for.
	countsWithin = 4 << 10
)

// read adds a number of repetitions, "30 times", at the word that says so. It
// returns the number that waits for such a word.
func (o *orders) read(text string, t *token, last float64) float64 {
	if w := text[t.start:t.end]; len(o.bounds) < maxCounts && (t.class == number || t.class == word && isDigit(w[len(w)-1])) {
		if t.class == word { // host7, 10.0.0.7
			w = w[len(strings.TrimRight(w, "0123456789")):]
		}
		o.bounds = append(o.bounds, numberOf(w))
	}
	switch t.class {
	case number:
		return numberOf(text[t.start:t.end])
	case word:
	default:
		return last
	}
	if o.every == 0 && startsPhrase([]uint64{t.hash, 0}, every) {
		o.every = interval(text[t.end:])
	}
	if len(o.counts) < maxCounts && startsPhrase([]uint64{t.hash, 0}, unsteady) {
		o.counts = append(o.counts, runsMeasured)
	}
	if opens(t.hash)&counted != 0 && numberWords[t.hash] > 0 {
		return numberWords[t.hash]
	}
	switch strings.ToLower(text[t.start:t.end]) {
	case "single", "separate", "independent", "full", "more", "further":
		return last // "15 single runs"
	}
	if last > 0 && len(o.counts) < maxCounts && opens(t.hash)&times != 0 {
		for _, p := range phrasesOf(t.hash) {
			if p.says == times && len(p.rest) == 0 {
				o.counts = append(o.counts, last)
			}
		}
	}
	return 0
}

func (h *History) readMessages(call *haltd.Call, most int) {
	h.messages, h.texts = make([]uint64, len(call.Opening)), call.Opening
	for i := range call.Opening {
		h.messages[i] = messageDigest(&call.Opening[i])
		h.opening.digest = fold(h.opening.digest, h.messages[i])
	}
	if n := len(call.Opening); n > 0 {
		h.lines = linesOf(call.Opening[n-1].Text, h.messages[n-1])
	}
	if size(call.Opening) <= most { // later requests may not show it again
		h.opening.readTexts(call.Opening)
	}
}

// messageDigest is the digest of what a message says.
func messageDigest(m *haltd.Message) uint64 {
	if m.Digest != 0 {
		return m.Digest
	}
	return xxhash.Sum64String(m.Text)
}

// openingRead is the size up to which the words of an opening are read before it
// is known whether its session goes on: most do not.
const openingRead = 4 << 10

func size(messages []haltd.Message) (n int) {
	for i := range messages {
		n += len(messages[i].Text)
	}
	return n
}

// readTexts reads the words of an opening that has only a digest so far.
func (o *opening) readTexts(messages []haltd.Message) {
	if len(o.words)+len(o.names) > 0 || len(messages) == 0 {
		return
	}
	digest := o.digest
	*o = *readOpening(messages)
	o.digest = digest
}

// isNative reports whether a conversation uses the format's own tool calls.
func isNative(call *haltd.Call) bool {
	for i := range call.Rounds {
		if len(call.Rounds[i].Calls) > 0 || len(call.Rounds[i].Results) > 0 {
			return true
		}
	}
	return false
}

// Answer is a reply as the detectors keep it: digests and words, no text.
type Answer struct {
	response uint64 // SimHash of the text
	exact    uint64 // digest of the text
	tools    uint64
	tasks    []task // what it asks its tools for
	said     task   // what it says instead
	act      *round // what the reply does; what comes back is not known yet
	names    []string
	usage    haltd.Usage
	counted  bool
	object   bool // it is written as one
	cut      bool // its end did not come
}

// cutReply is how much of a reply tells it apart whose end did not come: those that
// a client hangs up on are equal, wherever each was cut.
const cutReply = 1 << 10

// ReadReply reads a reply, outside of every lock. What it does is read where its
// call was loose, carrying no history; else the next request shows it.
func ReadReply(reply *haltd.Reply, loose bool) *Answer {
	a, _ := readReply(reply, loose)
	if len(reply.Calls) == 0 {
		a.said = taskOf(reply.Text[:min(len(reply.Text), askedBytes)])
	}
	return a
}

// readReply is ReadReply, and says whether the text of a reply without calls has a
// command in it.
func readReply(reply *haltd.Reply, loose bool) (a *Answer, acts bool) {
	text := reply.Text
	if !reply.Complete {
		text = text[:min(len(text), cutReply)]
	}
	a = &Answer{
		response: SimHash(text), exact: xxhash.Sum64String(text), tools: toolSignature(reply.Calls),
		usage: reply.Usage, counted: reply.Counted, cut: !reply.Complete,
	}
	if !loose {
		acts = len(reply.Calls) == 0 && !onlySpeaks(text)
		a.tasks = tasksOf(reply, acts)
		return a, acts
	}
	a.act, a.object = &round{}, strings.HasPrefix(strings.TrimSpace(reply.Text), "{")
	r := haltd.Round{Text: reply.Text, Calls: reply.Calls}
	a.act.readTurn(&r)
	a.act.id = roundID(&xxhash.Digest{}, &r, false)
	if a.tools == 0 {
		a.tools = a.act.signature()
	}
	acts = a.act.manner == commanded
	a.tasks = tasksOf(reply, false) // who tells the history anew quotes a command, and gives nobody a task by that
	for i := range min(len(reply.Calls), maxNames) {
		a.names = append(a.names, strings.Clone(reply.Calls[i].Name))
	}
	return a, acts
}

// ReadFirstReply reads the reply to a first message, see ReadShown. Nothing goes on
// from what it does: the same request again begins anew, any other shows it.
func ReadFirstReply(reply *haltd.Reply) *Answer {
	a, acts := readReply(reply, false)
	if a.tools == 0 && acts {
		a.tasks = nil // see readReply
		var f round
		f.readAct(&haltd.Round{Text: reply.Text})
		a.tools = f.signature()
	}
	return a
}

// signature is that of a command, which is a call whatever is said around it; 0
// of anything else.
func (f *round) signature() uint64 {
	if f.manner != commanded {
		return 0
	}
	return f.act | inText
}

// interval is how many seconds a time is that a text begins with: "30 seconds",
// "minute"; 0 where it begins with none. "Every second" is no time: most say so of
// every other.
func interval(text string) float64 {
	text = strings.TrimPrefix(strings.TrimLeft(text[:min(len(text), headBytes)], " "), "les ")
	digits := endOfDigits(text, 0)
	unit := strings.TrimLeft(text[digits:], " ")
	seconds := units[strings.ToLower(unit[:runOf(unit, 0, func(b byte) bool { return isWord[b] })])]
	switch {
	case digits > 0:
		return numberOf(text[:digits]) * seconds
	case seconds > 1:
		return seconds
	}
	return 0
}
