package http1

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

const canWatch = true

// watch tells which clients have left, of all connections at once and without reading
// from them: what they have sent is for who serves them. Each is told of once.
type watch struct {
	file *os.File // of the kernel's list
	raw  syscall.RawConn

	mu    sync.Mutex
	last  int32 // the number that was given last
	conns map[int32]*serverConn
}

func newWatch() (*watch, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	// Go's own poller waits for the list, so that no thread has to.
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	w := &watch{file: os.NewFile(uintptr(fd), "epoll"), conns: map[int32]*serverConn{}}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		_ = w.file.Close()
		return nil, fmt.Errorf("watch connections: %w", err)
	}
	go w.run()
	return w, nil
}

func (w *watch) close() { _ = w.file.Close() }

// add watches a connection until it is removed or closed. Events are known by a number
// that no other connection has: a descriptor may be that of the next one when they are
// looked at.
func (w *watch) add(c *serverConn) {
	w.mu.Lock()
	w.last++
	c.number = w.last
	w.conns[c.number] = c
	w.mu.Unlock()
	event := syscall.EpollEvent{Events: syscall.EPOLLRDHUP | edge, Fd: c.number}
	var failed error
	err := c.raw.Control(func(conn uintptr) {
		failed = w.raw.Control(func(list uintptr) {
			failed = syscall.EpollCtl(int(list), syscall.EPOLL_CTL_ADD, int(conn), &event)
		})
	})
	if err != nil || failed != nil { // its end shows when something is written to it
		w.remove(c)
	}
}

// edge asks to be told once of what has happened.
const edge = -syscall.EPOLLET

func (w *watch) remove(c *serverConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c.number)
}

// run waits for clients to leave until the list is closed.
func (w *watch) run() {
	var events [64]syscall.EpollEvent
	_ = w.raw.Read(func(list uintptr) bool {
		for {
			n, err := syscall.EpollWait(int(list), events[:], 0)
			switch {
			case err == syscall.EINTR:
				continue
			case err != nil || n == 0:
				return false // wait, or hear that it is closed
			}
			for _, e := range events[:n] {
				w.mu.Lock()
				c := w.conns[e.Fd]
				w.mu.Unlock()
				if c != nil {
					c.leave()
				}
			}
		}
	})
}
