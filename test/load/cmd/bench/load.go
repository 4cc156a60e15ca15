package main

import (
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

// load is what one kind of cell sends in one round of the benchmark.
type load struct {
	kind          string // of its replies
	replies       *replySet
	conversations []*conversation
}

// newLoad makes sessions that no other kind or round has.
func newLoad(size int, stream bool, round int) (*load, error) {
	works := size >= questionBelow
	l := &load{kind: replyKind(works, stream), replies: newReplySet(works, stream), conversations: make([]*conversation, pool)}
	seed := round<<32 | size<<1
	if stream {
		seed |= 1
	}
	for i := range l.conversations {
		c, err := newConversation(i, seed, size, stream)
		if err != nil {
			return nil, err
		}
		l.conversations[i] = c
	}
	return l, nil
}

// clients are n clients that hold the sessions of the load one after the
// other. begun counts sessions, so that none has the name of another. Each
// client is at another place of its first session.
func (l *load) clients(n int, begun *atomic.Int64) []*client {
	all := make([]*client, n)
	for i := range all {
		all[i] = &client{load: l, begun: begun}
		all[i].begin()
		all[i].turn = i * (len(all[i].conversation.turns) - 1) / n
	}
	return all
}

// client holds one session after the other, turn by turn.
type client struct {
	load  *load
	begun *atomic.Int64

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
	e := exchange{c.load, c.session, c.conversation, c.turn}
	c.turn++
	return e
}

// exchange is one turn of a session.
type exchange struct {
	load         *load
	session      int64
	conversation *conversation
	turn         int
}

// reply is the body of the reply that is expected.
func (e exchange) reply() []byte { return e.load.replies[e.conversation.turns[e.turn].reply].whole }

// request is the whole HTTP/1.1 request. buf is used for its head.
func (e exchange) request(buf []byte) net.Buffers {
	t := e.conversation.turns[e.turn]
	head := fmt.Appendf(buf[:0], "POST /v1/chat/completions HTTP/1.1\r\n"+
		"Host: 127.0.0.1\r\n"+
		"User-Agent: OpenAI/Python 2.8.1\r\n"+
		"Accept: application/json\r\n"+
		"Content-Type: application/json\r\n"+
		"Authorization: Bearer sk-bench-000000000000000000000000\r\n"+
		"X-Agent-Id: bench-%02d\r\n"+
		"X-Session-Id: bench-%d\r\n"+
		replyHeader+": %s-%d\r\n"+
		"Content-Length: %d\r\n\r\n", e.session%agents, e.session, e.load.kind, t.reply, e.conversation.length(e.turn))
	head = append(head, e.conversation.head...)
	return net.Buffers{head, e.conversation.messages[t.from:t.to], e.conversation.tail}
}
