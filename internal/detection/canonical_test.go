package detection

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonicalArguments(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"sorted, without white space", ` { "b" : 1, "a" : [ 1, {"d":2,"c":3} ] } `, `{"a":[1,{"c":3,"d":2}],"b":1}`},
		{"large integers keep every digit", `{"n": 12345678901234567890123}`, `{"n":12345678901234567890123}`},
		{"numbers as sent", `[1.0, 1e3, -0]`, `[1.0,1e3,-0]`},
		{"one spelling for strings", `{"m\u006fde":"\u00e9\/"}`, `{"mode":"é/"}`},
		{"empty object", `{}`, `{}`},
		{"nothing", "  ", ""},
		{"free text is trimmed", "\n ls -l {x}\n", "ls -l {x}"},
		{"broken JSON stays", ` {"a": `, `{"a":`},
		{"the last of two equal keys", `{"b":1,"a":2,"b":3}`, `{"a":2,"b":3}`},
		{"escapes that have no other spelling", `{"z":"a\n\"b\"\t\\","a":"\b\f\r"}`, `{"a":"\b\f\r","z":"a\n\"b\"\t\\"}`},
		{"not quite a number", `[01]`, `[01]`},
		{"text after it", `[1] and more`, `[1] and more`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := CanonicalArguments(tc.raw); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// What is decoded to mend it takes fifty times as much memory: of long arguments that
// is not done.
func TestLongArgumentsAreNotMended(t *testing.T) {
	long := `{"a":1,"a":[` + strings.Repeat("[],", 1<<20) + `[]]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := CanonicalArguments(long)
	runtime.ReadMemStats(&after)
	if got != long {
		t.Errorf("%d bytes became %d others", len(long), len(got))
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > uint64(8*len(long)) {
		t.Errorf("%d bytes took %d", len(long), taken)
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"b":1,"a":[1,{"d":2,"c":-3.5e+7}]}`, `{"a":"\u00e9\/","a":"é"}`, "[\"\u2028\"]", "[\"\xff\"]", `[0, -0, 01, 1., .5]`,
		`{"a":{}} }`, `{"a\n":1}`, `[true,false,null,nul]`, strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"{\"\u2028\":1,\"\u2028\":2}", `["\ud800"]`, `{"𐐷":1,"ｚ":2}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { sameMeaning(t, text) })
}

func TestArgumentsKeepTheirMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := spaced(t, jsonValue(t, 3))
		sameMeaning(t, text)
		sameMeaning(t, text[:rapid.IntRange(0, len(text)).Draw(t, "cut")])
	})
}

// sameMeaning holds the canonical form to what it is for: it says the same,
// and there is one for all spellings.
func sameMeaning(t interface{ Fatalf(string, ...any) }, text string) {
	canonical := CanonicalArguments(text)
	if again := CanonicalArguments(canonical); again != canonical {
		t.Fatalf("%q is written as %q, and that as %q", text, canonical, again)
	}
	want, ok := decoded(text)
	if !ok {
		return
	}
	if got, _ := decoded(canonical); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is written as %q, which says something else", text, canonical)
	}
	respelled, err := json.MarshalIndent(want, " ", " ")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if other := CanonicalArguments(string(respelled)); other != canonical {
		t.Fatalf("%q is written as %q, another spelling of it as %q", text, canonical, other)
	}
}

// decoded reads an object or array; ok is false for everything else.
func decoded(text string) (v any, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

// jsonValue draws JSON with keys in any order, some of them twice.
func jsonValue(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind = max(kind, 2)
	}
	var parts []string
	switch kind {
	case 0:
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			parts = append(parts, jsonString(t)+":"+jsonValue(t, depth-1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case 1:
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			parts = append(parts, jsonValue(t, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 2:
		return jsonString(t)
	}
	return rapid.SampledFrom([]string{"0", "-0", "12.50", "1e9", "-2E-3", "true", "false", "null"}).Draw(t, "plain")
}

func jsonString(t *rapid.T) string {
	if rapid.Bool().Draw(t, "known") {
		return rapid.SampledFrom([]string{`"a"`, `"b"`, `"ab"`, `"\u0061"`, `"\/"`, `"\n"`, `"é"`, `""`}).Draw(t, "string")
	}
	b, err := json.Marshal(rapid.String().Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// spaced puts white space where JSON allows it, and sometimes where not.
func spaced(t *rapid.T, text string) string {
	if rapid.Bool().Draw(t, "dense") {
		return text
	}
	return strings.ReplaceAll(text, ",", rapid.SampledFrom([]string{" , ", ",\n\t", ",\v"}).Draw(t, "space"))
}

func TestArgumentsCanonical(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"order of keys", `{"a":1,"b":[1,2]}`, `{ "b":[1, 2], "a":1 }`, true},
		{"order in a list", `{"b":[1,2]}`, `{"b":[2,1]}`, false},
		{"numbers are not masked", `{"page":1}`, `{"page":2}`, false},
		{"digits are kept", `{"n":1.0}`, `{"n":1}`, false},
		{"white space in strings", `{"s":"a b"}`, `{"s":"a  b"}`, false},
		{"not JSON", `ls -la`, ` ls -la `, true},
		{"half JSON", `{"a":1`, `{"a":1`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CanonicalArguments(c.a) == CanonicalArguments(c.b); got != c.same {
				t.Errorf("%s and %s: same %v, want %v", CanonicalArguments(c.a), CanonicalArguments(c.b), got, c.same)
			}
		})
	}
}
