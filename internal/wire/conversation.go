package wire

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
)

// Conversation turns the messages of any format into the rounds of a Call,
// so that the same conversation reads the same whatever its format.
//
// A format hands over the parts of a message in order (Text, ToolCall, Result,
// Opaque) and then says with End who spoke, because JSON may name the role
// after the content.
type Conversation struct {
	// Call takes what needs no ordering: model, hints, tools.
	Call *haltd.Call

	parts    []part
	rounds   []openRound
	calls    []openCall
	results  []openResult
	messages []haltd.Message // the opening, then the inputs round by round

	opening   int  // how many messages came before the first round
	answering bool // the newest round is still the assistant's
	started   bool // somebody other than the system has spoken
	top       []string
	system    []string
	stored    []string // by the provider, for the question
	content   []byte   // scratch of Content
	pairs     pairing
	size      promptSize

	known  *Prefix      // what the body may begin with
	passed *Prefix      // what it does begin with, and was passed over
	behind bool         // what follows goes on with rounds that were passed over
	starts []roundStart // where the rounds that were read begin

	reader *Reader // which ends where there is no memory for more
}

// part is a text, or a tool call with its arguments as the text, or a result.
type part struct {
	kind           partKind
	failed         bool // the result says so
	id, name, text string
}

type partKind uint8

const (
	partText partKind = iota
	partCall
	partResult
)

type openRound struct {
	text                 string
	firstCall, endCall   int
	firstInput, endInput int
}

type openCall struct {
	haltd.ToolCall
	round    int
	answered bool
}

type openResult struct {
	haltd.ToolResult
	round, call int
}

// unpaired sorts results that no call asked for behind those that one did.
const unpaired = math.MaxInt

// promptSize adds up what the estimate of prompt tokens rests on.
type promptSize struct{ bytes, messages, opaque int }

func (s promptSize) tokens() int {
	return (s.bytes+3)/4 + 4*s.messages + 1000*s.opaque
}

// Speaker is who says a message.
type Speaker uint8

// The three sides of a conversation. Tools speak through Result.
const (
	User Speaker = iota
	System
	Assistant
)

// SpeakerOf reads a role. A role that no format knows is not taken for a
// person, whose word counts for more.
func SpeakerOf(role string) Speaker {
	switch role {
	case "user":
		return User
	case "assistant", "model":
		return Assistant
	}
	return System
}

var conversations = sync.Pool{New: func() any { return new(Conversation) }}

// ReadCall reads a request body, which must be one JSON object, strictly.
// Every error is an *haltd.Error; CodeUnavailable is that of a body for whose
// parts memory was refused.
func ReadCall(format string, body []byte, m *Memory, read func(*Reader, *Conversation)) (*haltd.Call, error) {
	if m == nil {
		m = &Memory{}
	}
	r := newReaderOn(body, false, m.Known)
	r.memory, r.shares = m.Texts, m.Shares
	defer r.release()
	c := conversations.Get().(*Conversation)
	defer c.release()
	c.Call, c.known, c.reader = &haltd.Call{Format: format}, m.Known, r
	r.grant(m.Take)
	if k := r.Kind(); k != KindObject {
		r.Skip()
		r.Refuse("a JSON object")
	}
	read(r, c)
	c.askStored()
	r.end()
	if c.passed != nil && c.looksBack() {
		m.Known = nil
		return ReadCall(format, body, m, read)
	}
	if r.err != nil {
		return nil, r.err
	}
	m.Known, m.Next = c.passed, c.prefix(r)
	return c.finish(), nil
}

func (c *Conversation) release() {
	clear(c.parts)
	clear(c.rounds)
	clear(c.calls)
	clear(c.results)
	clear(c.messages)
	clear(c.top)
	clear(c.system)
	clear(c.stored)
	c.pairs.clear()
	*c = Conversation{
		parts: c.parts[:0], rounds: c.rounds[:0], calls: c.calls[:0], results: c.results[:0],
		messages: c.messages[:0], top: c.top[:0], system: c.system[:0], stored: c.stored[:0], content: c.content[:0],
		pairs: c.pairs, starts: c.starts[:0],
	}
	if cap(c.content) <= maxScratch && cap(c.parts) <= 1<<12 && cap(c.calls) <= 1<<14 && cap(c.messages) <= 1<<14 {
		conversations.Put(c)
	}
}

// hold takes memory for a part of the conversation. Where there is none, the
// reading ends.
func (c *Conversation) hold(bytes int64) {
	if !c.reader.scan.grant.hold(bytes) {
		c.reader.Fail(noMemoryForParts())
	}
}

// Instructions adds standing instructions from outside the messages.
func (c *Conversation) Instructions(text string) {
	if text != "" {
		c.top = append(c.top, text)
		c.size.bytes += len(text)
	}
}

// Stored adds what the provider keeps for the question: a prompt of its own and
// what fills it in, a document in its cache.
func (c *Conversation) Stored(text string) {
	if text != "" {
		c.stored = append(c.stored, text)
		c.size.bytes += len(text)
	}
}

// askStored makes what the provider keeps part of a question without a history:
// the same words about another document ask something else. How the conversation
// began, by which it is known again, stays as it is.
func (c *Conversation) askStored() {
	if len(c.stored) == 0 || len(c.rounds) > 0 {
		return
	}
	asked := strings.Join(c.stored, "\n")
	for _, m := range slices.Backward(c.messages) {
		if m.Role == haltd.RoleUser {
			asked += "\n" + m.Text
			break
		}
	}
	c.addInput(haltd.Message{Role: haltd.RoleUser, Text: asked})
}

// Tool declares a tool whose definition takes up size bytes.
func (c *Conversation) Tool(name string, size int64) {
	if name != "" {
		c.hold(toolCost)
		c.Call.Tools = append(c.Call.Tools, name)
	}
	c.size.bytes += int(size)
}

// Schema adds what the reply must look like, which is part of the prompt.
func (c *Conversation) Schema(size int) { c.size.bytes += size }

// Model names a model that may answer in place of another.
func (c *Conversation) Model(name string) {
	const most = 16
	if name != "" && len(c.Call.Models) < most {
		c.Call.Models = append(c.Call.Models, name)
	}
}

// Text is a part of the message being read.
func (c *Conversation) Text(text string) {
	c.hold(partCost)
	c.parts = append(c.parts, part{text: text})
}

// TextFirst is a part that comes before all parts so far, for formats that
// keep text and tool calls in members without an order.
func (c *Conversation) TextFirst(text string) {
	c.Text(text)
	if n := len(c.parts) - 1; n > 0 {
		first := c.parts[n]
		copy(c.parts[1:], c.parts[:n])
		c.parts[0] = first
	}
}

// ToolCall is a tool call in the message being read.
func (c *Conversation) ToolCall(call haltd.ToolCall) {
	c.hold(partCost)
	c.parts = append(c.parts, part{kind: partCall, id: call.ID, name: call.Name, text: call.Arguments})
}

// Result is a tool result in the message being read.
func (c *Conversation) Result(result haltd.ToolResult) {
	c.hold(partCost)
	c.parts = append(c.parts, part{kind: partResult, id: result.CallID, name: result.Name, text: result.Text, failed: result.Error})
}

// End ends the message being read. Texts that follow each other in it are
// joined.
func (c *Conversation) End(speaker Speaker) {
	c.size.messages++
	if speaker == Assistant && c.isEmpty() {
		c.newRound() // an empty reply is a turn, too
	}
	for i := 0; i < len(c.parts); {
		p := &c.parts[i]
		i++
		switch p.kind {
		case partCall:
			c.addCall(haltd.ToolCall{ID: p.id, Name: p.name, Arguments: p.text})
		case partResult:
			c.addResult(haltd.ToolResult{CallID: p.id, Name: p.name, Text: p.text, Error: p.failed})
		default:
			first := i - 1
			for i < len(c.parts) && c.parts[i].kind == partText {
				i++
			}
			c.say(speaker, joinTexts(c.parts[first:i]))
		}
	}
	c.Drop()
}

// isEmpty reports a message that neither says nor does anything.
func (c *Conversation) isEmpty() bool {
	for i := range c.parts {
		if c.parts[i].kind != partText || c.parts[i].text != "" {
			return false
		}
	}
	return true
}

// EndInstructions makes the texts of the message being read standing
// instructions.
func (c *Conversation) EndInstructions() {
	for i := range c.parts {
		if c.parts[i].kind == partText {
			c.Instructions(c.parts[i].text)
		}
	}
	c.Drop()
}

// Drop forgets the parts of the message being read.
func (c *Conversation) Drop() {
	clear(c.parts)
	c.parts = c.parts[:0]
}

func joinTexts(parts []part) string {
	if len(parts) == 1 {
		return parts[0].text
	}
	var b strings.Builder
	for i := range parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(parts[i].text)
	}
	return b.String()
}

func (c *Conversation) say(speaker Speaker, text string) {
	c.size.bytes += len(text)
	switch {
	case speaker == Assistant && text != "":
		if c.answering {
			if last := &c.rounds[len(c.rounds)-1]; last.text == "" && last.firstCall == last.endCall {
				last.text = text
				return
			}
		}
		c.newRound().text = text
	case speaker == Assistant:
	case speaker == System && !c.started:
		c.system = append(c.system, text)
	default:
		role := haltd.RoleUser
		if speaker == System {
			role = haltd.RoleSystem
		}
		c.addInput(haltd.Message{Role: role, Text: text})
	}
}

// addInput adds a message from the client's side.
func (c *Conversation) addInput(m haltd.Message) {
	c.hold(messageCost)
	c.started, c.answering = true, false
	c.messages = append(c.messages, m)
	if n := len(c.rounds); n > 0 {
		c.rounds[n-1].endInput = len(c.messages)
	} else {
		c.opening, c.behind = len(c.messages), c.passed != nil
	}
}

func (c *Conversation) newRound() *openRound {
	c.hold(roundCost)
	c.started, c.answering = true, true
	n, m := len(c.calls), len(c.messages)
	c.rounds = append(c.rounds, openRound{firstCall: n, endCall: n, firstInput: m, endInput: m})
	return &c.rounds[len(c.rounds)-1]
}

func (c *Conversation) addCall(call haltd.ToolCall) {
	c.hold(callCost)
	c.size.bytes += len(call.Name) + len(call.Arguments)
	if !c.answering {
		c.newRound()
	}
	last := len(c.rounds) - 1
	c.calls = append(c.calls, openCall{ToolCall: call, round: last})
	c.rounds[last].endCall = len(c.calls)
}

func (c *Conversation) addResult(result haltd.ToolResult) {
	c.hold(resultCost)
	c.size.bytes += len(result.Text)
	if len(c.rounds) == 0 { // the provider keeps the history that made the call
		c.behind = c.passed != nil
		c.newRound()
	}
	c.answering = false
	last := len(c.rounds) - 1
	i, ok := c.pairs.find(c.calls, c.rounds[last].firstCall, &result)
	if !ok {
		c.behind = c.behind || c.passed != nil
		c.results = append(c.results, openResult{result, last, unpaired})
		return
	}
	call := &c.calls[i]
	call.answered = true
	if result.Name == "" {
		result.Name = call.Name
	}
	c.results = append(c.results, openResult{result, call.round, i})
}

// finish copies all that was collected into the Call, each kind into one
// array of just its size.
func (c *Conversation) finish() *haltd.Call {
	call := c.Call
	if call.Model == "" && len(call.Models) > 0 {
		call.Model = call.Models[0]
	}
	call.System = c.digestSystem()
	call.PromptTokens = c.size.tokens()
	messages := slices.Clone(c.messages)
	if c.opening > 0 {
		call.Opening = messages[:c.opening:c.opening]
	}
	if c.isPrefilled() {
		call.Opening = append(call.Opening, haltd.Message{Role: haltd.RoleSystem, Text: c.rounds[0].text})
		return call
	}
	if len(c.rounds) == 0 {
		return call
	}
	calls := make([]haltd.ToolCall, len(c.calls))
	for i := range c.calls {
		calls[i] = c.calls[i].ToolCall
	}
	c.orderResults()
	results := make([]haltd.ToolResult, len(c.results))
	for i := range c.results {
		results[i] = c.results[i].ToolResult
	}
	call.Rounds = make([]haltd.Round, len(c.rounds))
	next := 0
	for i := range c.rounds {
		from, to := &c.rounds[i], &call.Rounds[i]
		to.Text = from.text
		if from.firstCall < from.endCall {
			to.Calls = calls[from.firstCall:from.endCall:from.endCall]
		}
		if from.firstInput < from.endInput {
			to.Inputs = messages[from.firstInput:from.endInput:from.endInput]
		}
		first := next
		for next < len(c.results) && c.results[next].round == i {
			next++
		}
		if first < next {
			to.Results = results[first:next:next]
		}
	}
	return call
}

// isPrefilled reports a question with the beginning of its answer, which the
// model is to go on with: an instruction, not a turn that was taken.
func (c *Conversation) isPrefilled() bool {
	if len(c.rounds) != 1 || c.opening == 0 || c.passed != nil || len(c.results) > 0 {
		return false
	}
	r := &c.rounds[0]
	return r.text != "" && r.firstCall == r.endCall && r.firstInput == r.endInput
}

// orderResults puts results in the order of the calls that asked for them.
func (c *Conversation) orderResults() {
	order := func(a, b openResult) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.call, b.call))
	}
	if !slices.IsSortedFunc(c.results, order) {
		slices.SortStableFunc(c.results, order)
	}
}

// digestSystem hashes top-level instructions before system messages, because
// the order of members in a JSON object means nothing.
func (c *Conversation) digestSystem() uint64 {
	if len(c.top)+len(c.system) == 0 {
		return 0
	}
	var d xxhash.Digest
	d.Reset()
	for _, texts := range [...][]string{c.top, c.system} {
		for _, text := range texts {
			d.WriteString(text)
			d.Write([]byte{0})
		}
	}
	return max(d.Sum64(), 1)
}
