package detection

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// The canonical form is that of the library which wrote it before: what was
// fitted and recorded stays true.
func FuzzCanonicalAsTheLibrary(f *testing.F) {
	for _, seed := range []string{
		`{"b":1,"a":[1,{"d":2,"c":-3.5e+7}]}`, `{"a":"\u00e9\/","a":"é"}`, "[\"\u2028\"]", "[\"\xff\"]", `[0, -0, 01, 1., .5]`,
		`{"a":{}} }`, `{"a\n":1}`, `[true,false,null,nul]`, "{\"\u2028\":1,\"\u2028\":2}", `["\ud800"]`, `["\ud83d\ude00\u0001\u007f"]`,
		`{"𐐷":1,"ｚ":2}`, `{"\uff5a":1,"\ud801\udc37":2}`, "[\"a\tb\"]", `["\q"]`, `["\u00G0"]`, `["\u00ç0"]`, `{"a" : 1 , "a\u0000":2}`, `[1,]`, `{"a":1,}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { asTheLibrary(t, text) })
}

func TestCanonicalAsTheLibrary(t *testing.T) {
	for _, depth := range []int{100, 9_999, 10_000, 10_001, 10_002} {
		asTheLibrary(t, strings.Repeat("[", depth)+strings.Repeat("]", depth))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := spaced(t, jsonValue(t, 3))
		asTheLibrary(t, text)
		asTheLibrary(t, text[:rapid.IntRange(0, len(text)).Draw(t, "cut")])
	})
}

func asTheLibrary(t interface{ Fatalf(string, ...any) }, text string) {
	got, ok := appendCanonical([]byte("before"), text)
	want, err := jsontext.AppendFormat([]byte("before"), text, jsontext.ReorderRawObjects(true))
	if ok != (err == nil) {
		t.Fatalf("%.100q: read: %v; the library says %v", text, ok, err)
	}
	if ok && string(got) != string(want) {
		t.Fatalf("%q is written as %q, by the library as %q", text, got, want)
	}
}

// BenchmarkCanonical writes the arguments of tool calls by hand and with two
// libraries: jsontext, which would be another module of detect, gives the same
// bytes; encoding/json, which takes many times the memory of what it reads, those
// that mean the same.
func BenchmarkCanonical(b *testing.B) {
	code := strings.Repeat("\tif err := parse(data); err != nil {\n\t\treturn fmt.Errorf(\"line %d: %w\", n, err)\n\t}\n", 20)
	edit, err := json.Marshal(map[string]string{"path": "internal/parser/part.go", "old": code, "new": code + "// more"})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, arguments string }{
		{"Read", `{"path":"internal/parser/part.go","limit":200,"offset":1}`},
		{"Command", `{"command":"cd /src && go test ./internal/parser -run TestParse 2>&1 | tail -50","timeout":120,"description":"Run the tests of the parser"}`},
		{"Edit4KB", string(edit)},
	} {
		want := CanonicalArguments(c.arguments)
		for _, by := range []struct {
			name  string
			write func([]byte) []byte
		}{
			{"hand", func(dst []byte) []byte { return appendArguments(dst, c.arguments) }},
			{"jsontext", func(dst []byte) []byte {
				dst, _ = jsontext.AppendFormat(dst, c.arguments, jsontext.ReorderRawObjects(true))
				return dst
			}},
			{"json", func(dst []byte) []byte { return decodedAndWritten(dst, c.arguments) }},
		} {
			buf := by.write(nil)
			if string(buf) != want {
				b.Fatalf("%s writes %.200s", by.name, buf)
			}
			b.Run(c.name+"/"+by.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.arguments)))
				b.ReportAllocs()
				for b.Loop() {
					buf = by.write(buf[:0])
				}
			})
		}
	}
}

func decodedAndWritten(dst []byte, text string) []byte {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return append(dst, text...)
	}
	out := bytes.NewBuffer(dst)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return append(dst, text...)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
