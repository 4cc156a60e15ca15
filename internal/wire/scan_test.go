package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

// The scanner accepts what jsontext accepts and reads the same out of it:
// what the two would take differently, a provider might, too.
func FuzzScannerAgreesWithJSONText(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(agree)
}

func TestScannerAgreesOnEveryShortDocument(t *testing.T) {
	const alphabet = "{}[],:\"\\ 10-.eunt\n\xc3"
	doc := make([]byte, 0, 4)
	var extend func()
	extend = func() {
		agree(t, doc)
		for i := 0; i < len(alphabet) && len(doc) < cap(doc); i++ {
			doc = append(doc, alphabet[i])
			extend()
			doc = doc[:len(doc)-1]
		}
	}
	extend()
}

func agree(t *testing.T, doc []byte) {
	for _, lenient := range []bool{false, true} {
		want, wantErr := tokensOfJSONText(doc, lenient)
		got, err := tokensOfReader(doc, lenient)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("lenient %v: %q: %v, jsontext says %v", lenient, doc, err, wantErr)
		}
		if err != nil {
			if haltd.ErrorCode(err) != haltd.CodeMalformed {
				t.Fatalf("lenient %v: %q: an error without its code: %v", lenient, doc, err)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("lenient %v: %q reads differently (-jsontext +haltd):\n%s", lenient, doc, diff)
		}
		skipped := newReader(doc, lenient)
		if raw := skipped.Raw(); !bytes.Equal(raw, bytes.Trim(doc, " \t\r\n")) {
			t.Fatalf("lenient %v: %q as a whole is %q", lenient, doc, raw)
		}
		skipped.release()
	}
}

var documents = []string{
	``, ` `, `{}`, `[]`, ` [ ] `, `{"a":1}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":1,"A":2}`, `{"a":{"b":[1,2,{"c":null}]},"d":true}`,
	`[1,]`, `[,1]`, `[1 2]`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a",1}`, `{"a":}`, `{1:2}`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`, `]`, `[`, `{`, `{"a"`, `{"a":`, `[1`, `[1,`,
	`0`, `-0`, `01`, `-`, `-a`, `1.`, `1.5`, `.5`, `1e`, `1e5`, `1E+05`, `1e-`, `1.5e3x`, `+1`, `1_0`, `NaN`, `Infinity`, `0x1`,
	`true`, `tru`, `truE`, `trueish`, `false`, `f`, `null`, `nul`, `nulL`, `[true,false,null]`,
	`"a"`, `"`, `"a`, `"\"`, `"\""`, `"\\"`, `"\\\""`, `"\n\t\r\b\f\/"`, `"\x"`, `"\u00e9"`, `"\u00E9"`, `"\u00g9"`, `"\u12"`, `"\u"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00"`, `"\ud83d\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\u00"`, `"\ud83d\n"`,
	"\"a\nb\"", "\"a\x00\"", "\"a\x1f\"", "\"\x7f\"", "\"\xff\"", "\"é\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"12345678\x01\"", "\"1234567\\n12345678\\\"\"", "\xef\xbb\xbf{}", "{}x", "{} {}", "1 2", "\u00a01",
	"{\n\t\"pretty\" : [ 1 , 2 ] ,\r\n \"printed\" : \"yes\\n\"\n}",
	strings.Repeat("[", 100) + strings.Repeat("]", 100),
	`{` + strings.Repeat(`"n":0,`, 2) + `"m":0}`,
	`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"r":0,"s":0,"t":0,"u":0,"v":0,"w":0,"x":0,"y":0,"z":0,"a":1}`,
	`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"r":0,"s":0,"t":0,"u":0,"v":0,"w":0,"x":0,"y":0,"z":0,"z":1}`,
	`[{"a":1},{"a":1},{"a":{"a":{"a":[]}}}]`,
}

func tokensOfJSONText(doc []byte, lenient bool) (tokens []string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(lenient), jsontext.AllowInvalidUTF8(lenient))
	for {
		switch kind := d.PeekKind(); kind {
		case '{', '[', '}', ']', '"':
			token, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			if kind == '"' {
				tokens = append(tokens, "text "+token.String())
			} else {
				tokens = append(tokens, string(kind))
			}
		default:
			value, err := d.ReadValue()
			if errors.Is(err, io.EOF) {
				return nil, io.EOF // an empty document
			}
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, string(value))
		}
		if d.StackDepth() > 0 {
			continue
		}
		if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
			return nil, errors.New("more follows")
		}
		return tokens, nil
	}
}

func tokensOfReader(doc []byte, lenient bool) (tokens []string, err error) {
	r := newReader(doc, lenient)
	defer r.release()
	readTokens(r, &tokens)
	r.end()
	return tokens, r.err
}

func readTokens(r *Reader, tokens *[]string) {
	add := func(token string) { *tokens = append(*tokens, token) }
	switch r.Kind() {
	case KindObject:
		add("{")
		for name := range r.Members() {
			add("text " + string([]rune(string(name))))
			readTokens(r, tokens)
		}
		add("}")
	case KindArray:
		add("[")
		for range r.Array() {
			readTokens(r, tokens)
		}
		add("]")
	case KindString:
		add("text " + r.Text())
	default:
		add(string(r.Raw()))
	}
}

func TestNestingIsBounded(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		r := newReader([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), false)
		if r.Skip(); (r.err == nil) != ok {
			t.Errorf("%d levels: %v", depth, r.err)
		}
		r.release()
	}
}

func TestSyntaxErrorsSayWhatAndWhere(t *testing.T) {
	for doc, want := range map[string]string{
		``:                          `the body is not valid JSON: the document is empty at byte 0`,
		`{"messages":[{"role":]}`:   `the body is not valid JSON: ']' stands where a value must be in /messages/0/role at byte 21`,
		`{"a":1,"a":2}`:             `the body is not valid JSON: duplicate member name "a" in /a at byte 7`,
		`{"a":[1,2`:                 `the body is not valid JSON: the document ends early in /a/1 at byte 9`,
		"{\"a\":\"b\nc\"}":          `the body is not valid JSON: '\n' stands where a string without control characters must be in /a at byte 7`,
		`{"a":"\ud800"}`:            `the body is not valid JSON: half of a surrogate pair stands alone in /a at byte 6`,
		`{"a":{"x/y":[true,{}{}]}}`: `the body is not valid JSON: '{' stands where a comma or ] must be in /a/x~1y/1 at byte 20`,
	} {
		r := newReader([]byte(doc), false)
		r.Skip()
		if r.err == nil || !strings.HasPrefix(r.err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", doc, r.err, want)
		}
		r.release()
	}
}

// What ends a run of plain bytes is found wherever it stands among eight of them, and
// however much room there is to copy them.
func TestPlainBytesEndAtTheFirstSpecialOne(t *testing.T) {
	const signs = "\"\\\x00\x1f !#[]\x7f\x80\xa2\xdc\xffa"
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.Repeat("plain", rapid.IntRange(0, 60).Draw(t, "length")))
		for range rapid.IntRange(0, 20).Draw(t, "signs") {
			if n := len(b); n > 0 {
				b[rapid.IntRange(0, n-1).Draw(t, "at")] = signs[rapid.IntRange(0, len(signs)-1).Draw(t, "sign")]
			}
		}
		want := bytes.IndexFunc(b, func(r rune) bool { return r == '"' || r == '\\' || r < 0x20 })
		if want < 0 {
			want = len(b)
		}
		if got := special(b); got != want {
			t.Fatalf("%q: %d, want %d", b, got, want)
		}
		before := make([]byte, 3, 3+rapid.IntRange(0, 400).Draw(t, "room"))
		if got, n := appendPlain(before, b); n != want || !bytes.Equal(got, append(bytes.Clone(before), b[:want]...)) {
			t.Fatalf("%q: %q of %d bytes, want %d", b, got, n, want)
		}
	})
}
