package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// chats are requests: a question, a long text, and an agent that reads files.
func chats() []struct{ name, body string } {
	question := func(size int) string {
		return `{"model":"gpt-5","messages":[{"role":"system","content":"You answer briefly."},{"role":"user","content":"` +
			strings.Repeat("What is the weather like in Lisbon today? ", size/42) + `"}],"temperature":0.2}`
	}
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"Fix the failing test in the parser."}`)
	for i := 0; b.Len() < 100_000; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"Reading part %d.","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"internal/parser/part%d.go\",\"limit\":200}"}}]}`, i, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, strings.Repeat(`def parse(data: bytes) -> Node:\n    if len(data) == 0:\n        raise ValueError(\"the input is empty\")\n    return Parser(data).document()\n`, 10))
	}
	b.WriteString(`]}`)
	return []struct{ name, body string }{{"1KB", question(900)}, {"100KBText", question(100_000)}, {"100KBRounds", b.String()}}
}

// BenchmarkScanner reads all texts of a request with the scanner and with the
// library that would stand in for it. Both refuse what a strict Reader refuses,
// and write to memory that is used again.
func BenchmarkScanner(b *testing.B) {
	for _, chat := range chats() {
		body, decoder, memory := []byte(chat.body), new(jsontext.Decoder), make([]byte, 0, len(chat.body))
		for _, by := range []struct {
			name string
			read func() []byte
		}{
			{"hand", func() []byte {
				texts := memory
				eachText(b, body, nil, func(r *Reader) { texts = r.AppendText(texts) })
				return texts
			}},
			{"library", func() []byte { return textsOfJSONText(b, decoder, body, memory) }},
		} {
			if got, want := by.read(), textsOfJSONText(b, decoder, body, nil); !bytes.Equal(got, want) || len(want) < len(body)/2 {
				b.Fatalf("%s reads other texts", by.name)
			}
			b.Run(chat.name+"/"+by.name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					by.read()
				}
			})
		}
	}
}

// BenchmarkTexts reads the texts of a request into one memory that is used again,
// and each as a string of its own.
func BenchmarkTexts(b *testing.B) {
	for _, chat := range chats() {
		body, memory := []byte(chat.body), make([]byte, 0, len(chat.body))
		for _, by := range []struct {
			name string
			text func(*Reader) string
		}{{"memory", (*Reader).Piece}, {"strings", ownText}} {
			b.Run(chat.name+"/"+by.name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					eachText(b, body, memory, func(r *Reader) { by.text(r) })
				}
			})
		}
	}
}

// ownText is Piece without the memory: of a text without escapes one copy.
func ownText(r *Reader) string {
	start := r.scan.next
	raw := r.Raw()
	if r.scan.plain {
		return string(raw[1 : len(raw)-1])
	}
	_, r.text, _ = r.scan.str(start, r.text[:0], true)
	return string(r.text)
}

// eachText reads a document and hands over all strings that are values.
func eachText(b *testing.B, body, memory []byte, text func(*Reader)) {
	r := newReader(body, false)
	defer r.release()
	r.memory = memory
	var value func()
	value = func() {
		switch r.Kind() {
		case KindObject:
			for range r.Object() {
				value()
			}
		case KindArray:
			for range r.Array() {
				value()
			}
		case KindString:
			text(r)
		default:
			r.Skip()
		}
	}
	value()
	if r.end(); r.err != nil {
		b.Fatal(r.err)
	}
}

// textsOfJSONText appends all strings that are values.
func textsOfJSONText(b *testing.B, d *jsontext.Decoder, body, texts []byte) []byte {
	d.Reset(bytes.NewBuffer(body))
	for {
		kind, n := d.StackIndex(d.StackDepth())
		named := kind == KindObject && n%2 == 0
		var raw jsontext.Value
		var err error
		switch d.PeekKind() {
		case '{', '[', '}', ']':
			if _, err = d.ReadToken(); err == nil && d.StackDepth() == 0 {
				return texts
			}
		default:
			raw, err = d.ReadValue()
		}
		switch {
		case err != nil:
		case named && len(raw) > 0:
			err = checkCase(raw[1 : len(raw)-1])
		case raw.Kind() == KindString:
			texts, err = jsontext.AppendUnquote(texts, raw)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
