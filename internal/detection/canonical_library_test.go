package detection

import (
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
