package wire

import (
	"bytes"
	"errors"
	"slices"
)

// linesMediaType is how a stream of documents, one a line, announces itself.
const linesMediaType = "application/x-ndjson"

// errLongLine means that a line is longer than the parser's limit.
var errLongLine = errors.New("line is too long")

// lineParser cuts a stream of documents into its lines, as Ollama streams its
// replies. It keeps at most one line.
type lineParser struct {
	limit int
	emit  func(name, data []byte)
	held  []byte // start of a line whose end has not arrived
	err   error
}

// Feed takes the next bytes and does not keep them. After an error nothing more
// is parsed.
func (p *lineParser) Feed(chunk []byte) error {
	for len(chunk) > 0 && p.err == nil {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			p.hold(chunk)
			break
		}
		line := chunk[:end]
		if len(p.held) > 0 {
			p.hold(line)
			line = p.held
		}
		p.line(line)
		p.held, chunk = p.held[:0], chunk[end+1:]
	}
	return p.err
}

// Flush ends the stream: its last line may lack its end.
func (p *lineParser) Flush() error {
	p.line(p.held)
	p.held = nil
	return p.err
}

// Held is how much memory a line takes whose end has not arrived, with what it was
// copied from when it grew.
func (p *lineParser) Held() int { return 2 * cap(p.held) }

func (p *lineParser) hold(part []byte) {
	if len(p.held)+len(part) > p.limit {
		p.held, p.err = nil, errLongLine
		return
	}
	if cap(p.held)-len(p.held) < len(part) { // small steps leave more behind than is kept
		p.held = slices.Grow(p.held, max(len(part), cap(p.held)))
	}
	p.held = append(p.held, part...)
}

func (p *lineParser) line(line []byte) {
	if line = bytes.TrimSpace(line); p.err == nil && len(line) > 0 {
		p.emit(nil, line)
	}
}
