package eventstream

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// message frames a payload as Amazon does, with checksums that nobody reads.
func message(kind, name, payload string) []byte {
	var headers []byte
	for _, h := range [][2]string{{":message-type", kind}, {":event-type", name}, {":content-type", "application/json"}} {
		headers = append(append(append(headers, byte(len(h[0]))), h[0]...), 7)
		headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(preludeLen+len(headers)+len(payload)+checksumLen))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = append(append(append(b, 0, 0, 0, 0), headers...), payload...)
	return append(b, 0, 0, 0, 0)
}

func TestMessagesAreCutAnywhere(t *testing.T) {
	inner := `{"type":"message_stop"}`
	stream := slices.Concat(
		message("event", "chunk", `{"p":"abc","bytes":"`+base64.StdEncoding.EncodeToString([]byte(inner))+`"}`),
		message("event", "metadata", `{"usage":{"inputTokens":1}}`),
		message("exception", "throttlingException", `{"message":"slow down"}`),
	)
	want := []string{"chunk " + inner, `metadata {"usage":{"inputTokens":1}}`, `throttlingException {"error":{"message":"slow down"}}`}
	for size := 1; size <= len(stream); size++ {
		var got []string
		p := NewParser(1<<20, func(name, data []byte) { got = append(got, string(name)+" "+string(data)) })
		for piece := range slices.Chunk(stream, size) {
			if err := p.Feed(piece); err != nil {
				t.Fatalf("in pieces of %d: %v", size, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

func TestWhatIsNoEventStreamIsNotFollowed(t *testing.T) {
	for name, b := range map[string][]byte{
		"text":            []byte(`{"message":"this is JSON and no stream"}`),
		"too long":        message("event", "chunk", string(bytes.Repeat([]byte{' '}, 2000))),
		"headers too big": append([]byte{0, 0, 0, 20, 0, 0, 0, 200}, make([]byte, 12)...),
	} {
		p := NewParser(1000, func(_, data []byte) { t.Errorf("%s: emitted %q", name, data) })
		if err := p.Feed(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want %v", name, err, ErrMalformed)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add(message("event", "chunk", `{"bytes":"e30="}`), 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		var whole, pieces []byte
		p := NewParser(1<<16, func(_, data []byte) { whole = append(whole, data...) })
		errWhole := p.Feed(b)
		p = NewParser(1<<16, func(_, data []byte) { pieces = append(pieces, data...) })
		var err error
		for piece := range slices.Chunk(b, min(max(size, 1), 1<<16)) {
			if err = p.Feed(piece); err != nil {
				break
			}
		}
		if !bytes.Equal(whole, pieces) || (err != nil) != (errWhole != nil) {
			t.Errorf("%q, %v at once; %q, %v in pieces", whole, errWhole, pieces, err)
		}
	})
}
