package servers

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy stands between one node and a server, and delays, holds or cuts what
// passes.
type Proxy struct {
	Address string

	server   string
	listener net.Listener
	mu       sync.Mutex
	delay    time.Duration
	cut      bool
	conns    map[net.Conn]bool
	frozen   chan struct{} // until it is closed; nil where nothing is held
}

// NewProxy passes on to an address until the test ends.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), server: server, listener: l, conns: map[net.Conn]bool{}}
	go p.serve()
	t.Cleanup(func() {
		l.Close()
		p.Freeze(false)
		p.Cut(true)
	})
	return p
}

// Lead has connections that are made from now on end at another server, as a name
// does that was given to it.
func (p *Proxy) Lead(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = server
}

func (p *Proxy) leads() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server
}

// Delay has every piece of an answer arrive that much later.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Cut ends all connections and takes no new ones, until it is undone.
func (p *Proxy) Cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut = cut; !cut {
		return
	}
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

// Freeze keeps all connections and lets nothing pass, until it is undone: then
// what was held passes.
func (p *Proxy) Freeze(frozen bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.frozen != nil; held == frozen {
		return
	}
	if frozen {
		p.frozen = make(chan struct{})
		return
	}
	close(p.frozen)
	p.frozen = nil
}

// hold waits as long as nothing may pass.
func (p *Proxy) hold() {
	for {
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if frozen == nil {
			return
		}
		<-frozen
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if server, err := net.Dial("tcp", p.leads()); err != nil || !p.keep(client, server) {
			client.Close()
			if err == nil {
				server.Close()
			}
		} else {
			go p.pass(server, client, false)
			go p.pass(client, server, true)
		}
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if !p.cut {
			p.conns[c] = true
		}
	}
	return !p.cut
}

// pass copies from one side to the other; both end together.
func (p *Proxy) pass(to, from net.Conn, late bool) {
	defer to.Close()
	defer from.Close()
	type piece struct {
		at   time.Time
		data []byte
	}
	pieces := make(chan piece, 10_000)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if n > 0 {
				p.mu.Lock()
				at := time.Now()
				if late {
					at = at.Add(p.delay)
				}
				p.mu.Unlock()
				pieces <- piece{at, b[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for b := range pieces {
		time.Sleep(time.Until(b.at))
		p.hold()
		if _, err := to.Write(b.data); err != nil {
			_, _ = io.Copy(io.Discard, from)
			return
		}
	}
}
