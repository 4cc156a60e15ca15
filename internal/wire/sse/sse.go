// Package sse cuts a copied byte stream into server-sent events. It watches
// a stream that flows past: it never blocks, keeps at most one event, and
// touches neither the network nor what the events mean.
package sse

import (
	"bytes"
	"errors"
	"slices"
)

// ErrTooLong means that a line or an event is longer than the parser's limit.
var ErrTooLong = errors.New("server-sent event is too long")

// Parser takes a stream in chunks cut anywhere and emits its events. Where a
// chunk holds a whole event, the event is a slice of the chunk.
type Parser struct {
	limit int
	emit  func(name, data []byte)

	line    []byte // start of a line whose end has not arrived
	name    []byte
	data    []byte // of the event so far: a slice of the chunk, or of own
	own     []byte
	owned   bool // data is in own
	hasData bool
	skipLF  bool // the last byte was a CR, which an LF may complete
	bom     int  // bytes of the byte order mark seen, -1 when it is settled
	err     error
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// NewParser makes a parser that keeps at most limit bytes of an event. emit
// gets each event; its arguments are only valid during the call.
func NewParser(limit int, emit func(name, data []byte)) *Parser {
	return &Parser{limit: limit, emit: emit}
}

// Feed takes the next bytes of the stream and does not keep them. After an
// error, which is ErrTooLong, nothing more is parsed.
func (p *Parser) Feed(chunk []byte) error {
	if p.err != nil {
		return p.err
	}
	if p.bom >= 0 {
		chunk = p.skipMark(chunk)
	}
	p.lines(chunk)
	p.keepData()
	return p.err
}

// Flush ends the stream: an event that lacks its empty line is emitted all
// the same.
func (p *Parser) Flush() error {
	if p.err == nil && p.bom > 0 {
		p.bom = -1
	}
	if p.err == nil && len(p.line) > 0 {
		p.field(p.line)
		p.line = p.line[:0]
	}
	if p.err == nil {
		p.dispatch()
	}
	return p.err
}

// Held is how much memory an event takes whose end has not arrived, with what it
// was copied from when it grew.
func (p *Parser) Held() int { return 2 * (cap(p.line) + cap(p.own)) }

// grow makes room for n bytes more. It doubles: what many small steps leave behind
// is more than what is kept.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return slices.Grow(b, max(n, cap(b)))
}

// skipMark passes over a byte order mark at the start of the stream, which
// may be cut too. What turns out to be no mark is a line's start.
func (p *Parser) skipMark(chunk []byte) []byte {
	for len(chunk) > 0 && p.bom < len(byteOrderMark) && chunk[0] == byteOrderMark[p.bom] {
		p.bom++
		chunk = chunk[1:]
	}
	switch {
	case p.bom == len(byteOrderMark):
		p.bom = -1
	case len(chunk) > 0:
		p.line = append(p.line, byteOrderMark[:p.bom]...)
		p.bom = -1
	}
	return chunk
}

// lines cuts chunk at CR, LF and CRLF. The place of the next LF is kept
// between lines, so that a stream of nothing but CRs stays linear.
func (p *Parser) lines(chunk []byte) {
	lf := -1
	for pos := 0; pos < len(chunk) && p.err == nil; {
		if p.skipLF {
			p.skipLF = false
			if chunk[pos] == '\n' {
				pos++
				continue
			}
		}
		if lf < pos {
			if lf = bytes.IndexByte(chunk[pos:], '\n'); lf < 0 {
				lf = len(chunk)
			} else {
				lf += pos
			}
		}
		end := lf
		if cr := bytes.IndexByte(chunk[pos:lf], '\r'); cr >= 0 {
			end = pos + cr
			p.skipLF = true
		}
		if end == len(chunk) {
			p.hold(chunk[pos:])
			return
		}
		p.endLine(chunk[pos:end])
		pos = end + 1
	}
}

func (p *Parser) hold(part []byte) {
	if len(p.line)+len(part) > p.limit {
		p.err = ErrTooLong
		return
	}
	p.line = append(grow(p.line, len(part)), part...)
}

func (p *Parser) endLine(rest []byte) {
	if len(p.line) > 0 {
		if p.hold(rest); p.err != nil {
			return
		}
		p.field(p.line)
		p.keepData() // the line's memory is used again
		p.line = p.line[:0]
		return
	}
	if len(rest) > p.limit {
		p.err = ErrTooLong
		return
	}
	p.field(rest)
}

// field takes one whole line.
func (p *Parser) field(line []byte) {
	if len(line) == 0 {
		p.dispatch()
		return
	}
	field, value, found := bytes.Cut(line, []byte{':'})
	if found && len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		p.addData(value)
	case "event":
		p.name = append(p.name[:0], value...)
	}
}

func (p *Parser) addData(value []byte) {
	if !p.hasData {
		p.data, p.hasData = value, true
		return
	}
	if len(p.data)+1+len(value) > p.limit {
		p.err = ErrTooLong
		return
	}
	p.keepData()
	p.own = append(append(grow(p.own, 1+len(value)), '\n'), value...)
	p.data = p.own
}

// keepData copies what the event has so far out of memory that is not the
// parser's.
func (p *Parser) keepData() {
	if p.hasData && !p.owned {
		p.own = append(p.own[:0], p.data...)
		p.data, p.owned = p.own, true
	}
}

func (p *Parser) dispatch() {
	if p.hasData {
		p.emit(p.name, p.data)
	}
	p.name, p.data, p.owned, p.hasData = p.name[:0], nil, false, false
}
