package main

import (
	"bytes"
	"fmt"
	"net"
	"sync/atomic"
)

const (
	// pool is how many different sessions a load has. When they have all
	// been held, their texts come again under new names.
	pool = 192
	// agents is how many agents the sessions belong to.
	agents = 20
)

// kind is what the sessions of a load are.
type kind string

const (
	oneShot     kind = "one-shot"    // one call each, of a text that nobody sent before and that has no name
	sameAnswer  kind = "same answer" // like one-shot, of words of random letters, and all get one and the same reply
	questioning kind = "session"     // questions that have nothing to do with each other
	growing     kind = "growing"     // an agent at work, that sends its history again with every step
	stepping    kind = "stepping"    // the same, whose conversation is a round longer with every call
	visiting    kind = "visiting"    // like one-shot, of an agent and a session that have a name and come back
)

// works says whether a load is that of agents which call tools.
func (k kind) works() bool { return k == growing || k == stepping }

// fresh says whether every call has a text that nobody sent before.
func (k kind) fresh() bool { return k == oneShot || k == sameAnswer || k == visiting }

// named says whether the sessions have a name.
func (k kind) named() bool { return k != oneShot && k != sameAnswer }

// agentPrefix is how the names of the agents begin. Those that get the same answer
// again and again are others than the rest: haltd warns of an agent for what its
// last calls were.
func (k kind) agentPrefix() string {
	if k == sameAnswer {
		return "bench-same-"
	}
	return "bench-"
}

// load is what one kind of cell sends in one round of the benchmark.
type load struct {
	kind          kind
	agents        int64  // that the sessions belong to
	answers       string // the kind of its replies
	stream        bool
	replies       *replySet
	conversations []*conversation
	fresh         []byte // of which each call that says something new has a stretch of its own
}

// freshBytes is how long that text is, beside one call's: from each byte of it
// one call reads on, so that so many calls have texts of their own.
const freshBytes = 8 << 20

// freshStride is how far apart the stretches of one call and the next begin. It is
// prime, so that they come to every byte.
const freshStride = 3_000_017

// newLoad makes sessions that no other kind or round has.
func newLoad(k kind, size int, stream bool, round int) (*load, error) {
	works := k.works()
	l := &load{kind: k, agents: agents, answers: replyKind(works, stream), stream: stream, replies: newReplySet(works, stream), conversations: make([]*conversation, pool)}
	seed := round<<32 | size<<1
	if stream {
		seed |= 1
	}
	for i := range l.conversations {
		c, err := newConversation(k, i, seed, size, stream)
		if err != nil {
			return nil, err
		}
		l.conversations[i] = c
	}
	if k.fresh() {
		w := newWriter(-1, seed)
		write := w.text
		if k == sameAnswer {
			write = w.letters
		}
		l.fresh = []byte(write(freshBytes + size))
	}
	return l, nil
}

// clients are n clients that hold the sessions of the load one after the
// other. begun counts sessions, so that none has the name of another. Each
// client is at another place of its first session.
func (l *load) clients(n int, begun *atomic.Int64, of *peer) []*client {
	all := make([]*client, n)
	for i := range all {
		all[i] = &client{load: l, begun: begun, peer: of}
		all[i].begin()
		all[i].turn = i * (len(all[i].conversation.turns) - 1) / n
	}
	return all
}

// client holds one session after the other, turn by turn.
type client struct {
	load  *load
	begun *atomic.Int64
	peer  *peer // that it calls; nil for all that pass bytes through

	session      int64
	conversation *conversation
	turn         int
}

func (c *client) begin() {
	c.session = c.begun.Add(1)
	c.conversation, c.turn = c.load.conversations[c.session%pool], 0
}

// next is what the client does next.
func (c *client) next() exchange {
	if c.turn == len(c.conversation.turns) {
		c.begin()
	}
	e := exchange{c.load, c.session, c.session, c.conversation, c.turn, c.peer}
	c.turn++
	return e
}

// exchange is one turn of a session.
type exchange struct {
	load         *load
	session      int64
	text         int64 // which of the fresh ones it has
	conversation *conversation
	turn         int
	peer         *peer
}

// reply is the body of the reply that is expected.
func (e exchange) reply() []byte { return e.load.replies[e.conversation.turns[e.turn].reply].whole }

// check compares the body of a reply with what is expected.
func (e exchange) check(body []byte) error {
	if e.peer != nil {
		return checkRewritten(body, e.load.kind == growing, e.load.stream)
	}
	if !bytes.Equal(body, e.reply()) {
		return fmt.Errorf("a reply of %d bytes is not the one of %d bytes that the upstream sends", len(body), len(e.reply()))
	}
	return nil
}

// request is the whole HTTP/1.1 request. buf is used for its head.
func (e exchange) request(buf []byte) net.Buffers {
	t := e.conversation.turns[e.turn]
	session, headers := "", ""
	if e.peer != nil {
		headers = e.peer.headers
	}
	if e.load.kind.named() {
		session = fmt.Sprintf("X-Session-Id: bench-%d\r\n", e.session)
	}
	head := fmt.Appendf(buf[:0], "POST /v1/chat/completions HTTP/1.1\r\n"+
		"Host: 127.0.0.1\r\n"+
		"User-Agent: OpenAI/Python 2.8.1\r\n"+
		"Accept: application/json\r\n"+
		"Content-Type: application/json\r\n"+
		"Authorization: Bearer sk-bench-000000000000000000000000\r\n"+
		"X-Agent-Id: %s%02d\r\n"+
		"%s%s"+
		replyHeader+": %s-%d\r\n"+
		"Content-Length: %d\r\n\r\n", e.load.kind.agentPrefix(), e.session%e.load.agents, session, headers, e.load.answers, t.reply, e.conversation.length(e.turn))
	head = append(head, e.conversation.head...)
	messages := e.conversation.messages
	if fresh := e.conversation.fresh; fresh.to > 0 {
		from := int(e.text * freshStride % freshBytes)
		text := e.load.fresh[from : from+fresh.to-fresh.from]
		return net.Buffers{head, messages[t.from:fresh.from], text, messages[fresh.to:t.to], e.conversation.tail}
	}
	return net.Buffers{head, messages[t.from:t.to], e.conversation.tail}
}
