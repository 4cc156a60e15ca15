package wire

import (
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/haltd/haltd"
)

// Memory is what reading a call may use, and what it leaves to the next one.
type Memory struct {
	// Texts is empty: what the conversation says is written there, as far as it
	// has room. The call is valid as long as it is left alone.
	Texts []byte
	// Shares says that a text which stands in the body as it is may be that part of
	// it: the call is then valid as long as the body is left alone, too.
	Shares bool
	// Take is asked for the memory of what is read beside the texts, where there
	// is much of it; nil grants all.
	Take Take
	// Known is what the body begins with; nil where nothing of it is known.
	// Whoever sets it has compared the bytes. After the call was read it is what
	// was passed over: the call then has the rounds behind it alone.
	Known *Prefix
	// Next is what the next body of the conversation may begin with, where that is
	// more than what was known; else nil.
	Next *Prefix
}

// Prefix stands for the first rounds of a conversation in a body that was read:
// where they are, not a word of them. In a body that begins with the same bytes
// they are passed over. It never changes.
type Prefix struct {
	format     string
	first, end int // of the body: where the rounds begin and end
	messages   int // that end there
	rounds     int
	size       promptSize // of the rounds
}

const (
	// leastPrefix is how many bytes more than before a prefix has: less is read
	// faster than remembered.
	leastPrefix = 4 << 10
	// freshRounds are the newest rounds of a body, which no prefix has: clients
	// mark their newest messages (cache_control) and take the mark away again.
	freshRounds = 3
)

// Format is the name of the format that the body was read in.
func (p *Prefix) Format() string { return p.format }

// End is how many bytes of a body it stands for.
func (p *Prefix) End() int { return p.end }

// Len is how many bytes its rounds take, which are passed over.
func (p *Prefix) Len() int { return p.end - p.first }

// Rounds is how many rounds those are.
func (p *Prefix) Rounds() int { return p.rounds }

// roundStart is how far a conversation was read when a round began.
type roundStart struct {
	offset          int // in the body
	messages        int
	rounds, tools   int
	size            promptSize
	answering, asks bool // the round before is not over; a user has spoken before the first
}

// Messages yields the indexes of the messages of a conversation, as Array does,
// but for those of the rounds that are known already.
func (c *Conversation) Messages(r *Reader) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !r.enter(KindArray, "an array") {
			return
		}
		top := len(r.scan.levels) - 1
		for i := c.pass(r, 0); r.Kind() != ']'; i = c.pass(r, i+1) {
			before := c.start(r, i)
			if r.err != nil || !yield(i) {
				return
			}
			if r.err == nil && r.scan.levels[top].count == i {
				r.Skip()
			}
			if r.err != nil {
				return
			}
			if len(c.rounds) > before.rounds {
				c.starts = append(c.starts, before)
			}
		}
		r.leave()
	}
}

func (c *Conversation) start(r *Reader, messages int) roundStart {
	return roundStart{r.scan.last, messages, len(c.rounds), len(c.Call.Tools), c.size, c.answering, c.opening > 0}
}

// pass passes over the known rounds where they begin, and says how many messages
// were read or passed over by then.
func (c *Conversation) pass(r *Reader, messages int) int {
	p := c.known
	if p == nil || p.format != c.Call.Format || p.first != r.scan.last || len(r.scan.levels) != 2 || len(c.rounds) > 0 || c.passed != nil || r.err != nil {
		return messages
	}
	r.scan.next, r.scan.last, r.scan.ready = p.end, p.end, false
	r.scan.levels[1].count = p.messages
	c.passed, c.started, c.answering = p, true, false
	c.size.bytes += p.size.bytes
	c.size.messages += p.size.messages
	c.size.opaque += p.size.opaque
	return p.messages
}

// isText reports whether a body is text, of which what is known was looked at
// before.
func (p *Prefix) isText(body []byte) bool {
	if p == nil || p.end > len(body) {
		return utf8.Valid(body)
	}
	return utf8.Valid(body[:p.first]) && utf8.Valid(body[p.end:])
}

// looksBack reports a conversation of which the rounds that were passed over must
// be read after all: what follows belongs to them, or what the client newly said
// may stand in them.
func (c *Conversation) looksBack() bool {
	if c.behind || len(c.rounds) == 0 {
		return true
	}
	n := len(c.rounds) - 1
	last := &c.rounds[n]
	return !slices.ContainsFunc(c.messages[last.firstInput:last.endInput], func(m haltd.Message) bool { return m.Role == haltd.RoleUser }) &&
		!slices.ContainsFunc(c.results, func(r openResult) bool { return r.round == n })
}

// prefix is what the next body may begin with.
func (c *Conversation) prefix(r *Reader) *Prefix {
	at := len(c.starts) - freshRounds
	for at > 0 && c.starts[at].answering {
		at--
	}
	if at < 0 || !r.scan.utf8 {
		return nil
	}
	next, first := c.starts[at], c.starts[0]
	p := &Prefix{
		format: c.Call.Format, first: first.offset, end: next.offset, messages: next.messages, rounds: next.rounds,
		size: promptSize{next.size.bytes - first.size.bytes, next.size.messages - first.size.messages, next.size.opaque - first.size.opaque},
	}
	if k := c.passed; k != nil {
		p.first, p.rounds = k.first, p.rounds+k.rounds
		p.size = promptSize{p.size.bytes + k.size.bytes, p.size.messages + k.size.messages, p.size.opaque + k.size.opaque}
		first.offset = k.end
	}
	if p.end-first.offset < leastPrefix || !first.asks || next.tools != first.tools {
		return nil
	}
	return p
}
