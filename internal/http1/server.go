package http1

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves plain HTTP/1.1, each connection on one goroutine. That of net/http has
// a second one for every request, which waits for the client to leave, and 10 KB of
// buffers for every connection: a good part of what a short call costs, and most of what
// a stream holds that waits for its next word. Requests are read by net/http's own
// parser. Its fields are set before it serves.
type Server struct {
	Handler http.Handler
	// HeaderTimeout is how long a client may take to send the head of a request, and
	// IdleTimeout how long until it begins the next one, or takes a reply for which the
	// handler sets no deadline.
	HeaderTimeout, IdleTimeout time.Duration
	// MaxHeader bounds the head of a request.
	MaxHeader int64
	Log       *log.Logger

	closing atomic.Bool // no request is taken any more
	mu      sync.Mutex
	watch   *watch // who leaves; nil before the first listener
	serving sync.WaitGroup
	open    map[net.Listener]bool
	conns   map[*serverConn]bool
}

// CanServe reports whether this machine can tell Server which clients have left.
func CanServe() bool { return canWatch }

// Serve takes connections until Shutdown or Close, and returns http.ErrServerClosed
// then.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if err := s.begin(l); err != nil {
		return err
	}
	defer s.serving.Done()
	var pause time.Duration
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.accept(c)
		case s.closing.Load():
			return http.ErrServerClosed
		case !isTemporary(err):
			return err
		default: // such as too many open files: connections in use have to end first
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.Log.Printf("http: accept: %v; retrying in %v", err, pause)
			time.Sleep(pause)
		}
	}
}

// isTemporary reports an error of a listener that may be gone a little later.
func isTemporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

func (s *Server) begin(l net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return http.ErrServerClosed
	}
	if s.watch == nil {
		w, err := newWatch()
		if err != nil {
			return err
		}
		s.watch, s.open, s.conns = w, map[net.Listener]bool{}, map[*serverConn]bool{}
	}
	s.open[l] = true
	s.serving.Add(1)
	return nil
}

func (s *Server) accept(opened net.Conn) {
	c := newServerConn(s, opened)
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	go c.serve()
}

// forget lets go of a connection that has ended.
func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Shutdown takes no more requests, and waits for those in work until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopListening()
	const longest = 500 * time.Millisecond
	for pause := time.Millisecond; !s.closeIdle(); pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	s.end()
	return nil
}

// Close ends all connections, also those in use.
func (s *Server) Close() error {
	s.stopListening()
	s.mu.Lock()
	for c := range s.conns {
		c.cut()
	}
	s.mu.Unlock()
	s.end()
	return nil
}

func (s *Server) stopListening() {
	s.mu.Lock()
	s.closing.Store(true)
	for l := range s.open {
		_ = l.Close()
	}
	clear(s.open)
	s.mu.Unlock()
	s.serving.Wait()
}

// graceOfNew is how long a connection of which nothing came may yet bring a request while
// the server shuts down: it may be on its way.
const graceOfNew = 5 * time.Second

// closeIdle closes the connections that wait for a request, and reports whether no other
// is left.
func (s *Server) closeIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := false
	for c := range s.conns {
		switch state := c.state.Load(); {
		case state == waitsForNext, state == waitsForFirst && time.Since(c.opened) > graceOfNew:
			c.cut()
		default:
			left = true
		}
	}
	return !left
}

// end stops watching clients, where no connection is left that could be watched.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch.close()
	}
}
