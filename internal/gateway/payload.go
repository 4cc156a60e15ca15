package gateway

import (
	"io"
	"sync"

	"github.com/haltd/haltd/internal/http1"
)

// payload is a request body that is sent to an upstream. net/http keeps a
// request as long as its reply is read, which may be minutes; a payload
// releases its bytes as soon as nobody needs them. Until answered it can be
// opened again, as net/http does when a kept connection turns out to be closed.
type payload struct {
	mu       sync.Mutex // net/http may close a body while it reads it
	bytes    []byte
	share    memoryShare // of bytes
	first    payloadReader
	opened   bool // first is in use
	reading  bool // the newest reader is not at its end
	answered bool
}

func (p *payload) open() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = true
	r := &p.first
	if p.opened {
		r = new(payloadReader)
	}
	p.opened, r.payload = true, p
	return r, nil
}

// answer says that a reply has begun: the bytes are not needed again.
func (p *payload) answer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = true
	p.release()
}

func (p *payload) release() {
	if !p.answered || p.reading || p.bytes == nil {
		return
	}
	releaseBuffer(p.bytes)
	p.bytes = nil
	p.share.release()
}

var _ http1.Body = (*payloadReader)(nil)

// payloadReader reads a payload once.
type payloadReader struct {
	payload *payload
	next    int
}

// Bytes are all that is read, until it is closed.
func (r *payloadReader) Bytes() []byte {
	p := r.payload
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

func (r *payloadReader) Read(b []byte) (int, error) {
	p := r.payload
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.next >= len(p.bytes) {
		return 0, io.EOF
	}
	n := copy(b, p.bytes[r.next:])
	r.next += n
	return n, nil
}

func (r *payloadReader) Close() error {
	p := r.payload
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	p.release()
	return nil
}
