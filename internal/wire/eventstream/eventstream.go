// Package eventstream cuts a copied byte stream into the messages of Amazon's
// event streams, which Bedrock streams its replies in. Like sse it watches what
// flows past, keeps at most one message, and knows nothing of what it means.
package eventstream

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MediaType is how such a stream announces itself.
const MediaType = "application/vnd.amazon.eventstream"

// ErrMalformed means that the stream is none, or that a message is longer than
// the parser's limit.
var ErrMalformed = errors.New("not an event stream of Amazon's")

// A message is a prelude (its length, that of its headers, a checksum), headers,
// a payload and a checksum. TCP has checked the bytes already.
const preludeLen, checksumLen = 12, 4

// Parser takes a stream in chunks cut anywhere and emits what its messages
// hold. Of a chunk of a model's own stream that is the document inside it.
type Parser struct {
	limit int
	emit  func(name, data []byte)
	held  []byte // start of a message whose end has not arrived
	inner []byte
	err   error
}

// NewParser makes a parser that keeps at most limit bytes of a message. emit
// gets the type and the document of each; they are only valid during the call.
func NewParser(limit int, emit func(name, data []byte)) *Parser {
	return &Parser{limit: limit, emit: emit}
}

// Feed takes the next bytes of the stream and does not keep them. After an
// error nothing more is parsed.
func (p *Parser) Feed(chunk []byte) error {
	for len(chunk) > 0 && p.err == nil {
		message := chunk
		if len(p.held) > 0 {
			need := preludeLen
			if len(p.held) >= preludeLen {
				need = int(binary.BigEndian.Uint32(p.held))
			}
			n := min(need-len(p.held), len(chunk))
			p.hold(chunk[:n])
			message, chunk = p.held, chunk[n:]
		}
		size, whole := p.size(message)
		switch {
		case p.err != nil:
		case whole && len(p.held) > 0:
			p.message(p.held[:size])
			p.held = p.held[:0]
		case whole:
			p.message(chunk[:size])
			chunk = chunk[size:]
		case len(p.held) == 0:
			p.hold(chunk)
			chunk = nil
		}
	}
	return p.err
}

// Flush ends the stream. Half a message says nothing.
func (p *Parser) Flush() error { return p.err }

// Held is how much memory a message takes whose end has not arrived, with what it
// was copied from when it grew.
func (p *Parser) Held() int { return 2 * cap(p.held) }

// hold keeps the next bytes of a message. It doubles its memory: what many small
// steps leave behind is more than what is kept.
func (p *Parser) hold(part []byte) {
	if cap(p.held)-len(p.held) < len(part) {
		p.held = slices.Grow(p.held, max(len(part), cap(p.held)))
	}
	p.held = append(p.held, part...)
}

// size is how long the message is that b starts with, once its prelude is
// there, and whether all of it is.
func (p *Parser) size(b []byte) (size int, whole bool) {
	if len(b) < preludeLen {
		return 0, false
	}
	total, headers := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if total < preludeLen+checksumLen || uint64(total) > uint64(p.limit) || headers > total-preludeLen-checksumLen {
		p.err = ErrMalformed
		return 0, false
	}
	return int(total), len(b) >= int(total)
}

func (p *Parser) message(b []byte) {
	end := preludeLen + int(binary.BigEndian.Uint32(b[4:]))
	name, isError := eventType(b[preludeLen:end])
	payload := b[end : len(b)-checksumLen]
	switch {
	case len(payload) == 0:
	case isError:
		p.inner = append(append(append(p.inner[:0], `{"error":`...), payload...), '}')
		p.emit(name, p.inner)
	case string(name) == "chunk":
		p.emit(name, p.chunk(payload))
	default:
		p.emit(name, payload)
	}
}

// eventType reads the headers: what the message is, and whether it is an error.
func eventType(h []byte) (name []byte, isError bool) {
	const text = 7 // the type of all headers here
	for len(h) > 1 {
		n := int(h[0])
		if len(h) < 1+n+3 || h[1+n] != text {
			return name, isError
		}
		key, rest := h[1:1+n], h[1+n+1:]
		size := int(binary.BigEndian.Uint16(rest))
		if len(rest) < 2+size {
			return name, isError
		}
		value := rest[2 : 2+size]
		switch string(key) {
		case ":event-type", ":exception-type", ":error-code":
			name = value
		case ":message-type":
			isError = !bytes.Equal(value, []byte("event"))
		}
		h = rest[2+size:]
	}
	return name, isError
}

// chunk is the document that the payload of a chunk holds, or the payload where
// it holds none.
func (p *Parser) chunk(payload []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(payload))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '{' {
		return payload
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return payload
		}
		if name.String() != "bytes" || d.PeekKind() != '"' {
			if d.SkipValue() != nil {
				return payload
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return payload
		}
		if p.inner, err = base64.StdEncoding.AppendDecode(p.inner[:0], []byte(value.String())); err != nil {
			return payload
		}
		return p.inner
	}
	return payload
}
