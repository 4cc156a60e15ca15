package detection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSimHashOfSimilarTexts(t *testing.T) {
	for _, c := range []struct{ scenario, a, b string }{
		{"numbers differ", "Check order #12345 for customer 7", "Check order #99 for customer 81234"},
		{"timestamps differ", "Report as of 2024-01-15T10:30:00Z please", "Report as of 2025-12-31T23:59:59.9Z please"},
		{"UUIDs differ", "get 550e8400-e29b-41d4-a716-446655440000", "get 00000000-0000-4000-8000-000000000001"},
		{"case and white space differ", "Try  again\nnow", "try again now"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			if d := distance(SimHash(c.a), SimHash(c.b)); d >= 3 {
				t.Errorf("distance %d, want less than 3", d)
			}
			if !similar(SimHash(c.a), SimHash(c.b)) {
				t.Error("not similar")
			}
		})
	}
}

func TestSimHashOfDifferentTexts(t *testing.T) {
	texts := []string{
		"What is the capital of France?",
		"Translate this contract into German and keep the clauses numbered.",
		"The build failed because the linker could not find libssl.",
		"yes", "no",
		"List every file in the project that imports the logging package.",
		"Schreibe ein Gedicht über den Herbst.",
		"请把这份合同翻译成德语", "今天天气怎么样",
	}
	for i, a := range texts {
		for _, b := range texts[i+1:] {
			if d := distance(SimHash(a), SimHash(b)); d <= 5 {
				t.Errorf("distance of %q and %q is %d, want more than 5", a, b, d)
			}
		}
	}
}

func TestSimHashOfALongTextWithOneWordChanged(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "%s%s ", string(rune('a'+i%26)), strings.Repeat(string(rune('a'+i/26)), 3))
	}
	a := b.String()
	if d := distance(SimHash(a), SimHash(a+" postscript")); d >= 3 {
		t.Errorf("distance %d, want less than 3", d)
	}
}

func TestNothingIsSimilarToNoText(t *testing.T) {
	for _, text := range []string{"", "  ", "..."} {
		if similar(SimHash(text), SimHash(text)) {
			t.Errorf("%q is similar to itself", text)
		}
	}
}

func TestSimHashIgnoresNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}`), 1, 40).Draw(t, "words")
		text := func(n int) string {
			return fmt.Sprintf("%s %d", strings.Join(words, fmt.Sprintf(" %d ", n)), n)
		}
		a, b := rapid.IntRange(0, 1e9).Draw(t, "a"), rapid.IntRange(0, 1e9).Draw(t, "b")
		if d := distance(SimHash(text(a)), SimHash(text(b))); d != 0 {
			t.Fatalf("distance %d, want 0", d)
		}
	})
}

// longText is one of the kinds that fill long prompts: sentences, a listing whose
// lines have one form, code, and words of random letters. The numbers in them are drawn
// anew by figures.
func longText(kind, seed, bytes int, figures *rand.Rand) string {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	word := func() string {
		b := make([]byte, 2+r.IntN(8))
		for i := range b {
			b[i] = "etaoinshrdlcumwfgypbvkjxqz"[min(r.IntN(26), r.IntN(26))]
		}
		return string(b)
	}
	if kind == 3 {
		return randomLetters(uint64(seed), bytes, figures)
	}
	var b strings.Builder
	for b.Len() < bytes {
		switch kind {
		case 0:
			fmt.Fprintf(&b, "%s %s %s, %d %s %s. ", word(), word(), word(), figures.IntN(1e6), word(), word())
		case 1:
			fmt.Fprintf(&b, "{\"sku\": \"%s\", \"quantity\": %d, \"joined\": \"2024-01-%02dT10:00:00Z\", \"name\": \"%s %s\"},\n", word(), figures.IntN(1e9), 1+figures.IntN(28), word(), word())
		default:
			fmt.Fprintf(&b, "func %s(%s int) {\n\treturn %s + %d\n}\n", word(), word(), word(), figures.IntN(1e4))
		}
	}
	return b.String()
}

// randomLetters is a text of words in which all letters are equally frequent, as the
// texts of load tests are, and of a number here and there.
func randomLetters(seed uint64, bytes int, figures *rand.Rand) string {
	r := rand.New(rand.NewPCG(seed, 11))
	b := make([]byte, 0, bytes+10)
	for len(b) < bytes {
		for range 3 + r.IntN(7) {
			b = append(b, byte('a'+r.IntN(26)))
		}
		b = append(b, ' ')
		if r.IntN(20) == 0 {
			b = fmt.Appendf(b, "%d ", figures.IntN(1e6))
		}
	}
	return string(b)
}

func TestSimHashOfLongTexts(t *testing.T) {
	drawn := rand.New(rand.NewPCG(1, 2))
	for _, bytes := range []int{17 << 10, 30 << 10, 100 << 10, 300 << 10, 1000 << 10} {
		for kind := range 4 {
			a := longText(kind, 1, bytes, rand.New(rand.NewPCG(1, 1)))
			b := longText(kind, 1, bytes+bytes/50, drawn)[:len(a)]
			for _, c := range []struct {
				what     string
				text     string
				from, to int
			}{
				{"itself in capitals", strings.ToUpper(a), 0, 2},
				{"other numbers", longText(kind, 1, len(a)-1, drawn), 0, 2},
				{"a word more in front", "postscript " + a, 0, 4},
				{"a word more in the middle", a[:len(a)/2] + " postscript " + a[len(a)/2:], 0, 4},
				{"another text", longText(kind, 2, bytes, drawn), 6, 64},
				{"another second half", b[:len(b)/2] + longText(kind, 3, len(b)/2, drawn), 6, 64},
			} {
				if d := distance(SimHash(a), SimHash(c.text)); d < c.from || d > c.to {
					t.Errorf("kind %d, %d KB: distance to %s is %d, want %d to %d", kind, bytes>>10, c.what, d, c.from, c.to)
				}
			}
		}
	}
}

// How many passages vote follows the frequency of a letter without a step: where
// there was one, a quarter of the bits would differ.
func TestSimHashOfALongTextThatChangesALittle(t *testing.T) {
	words := strings.Fields(longText(3, 1, 64<<10, rand.New(rand.NewPCG(1, 1))))
	before := SimHash(strings.Join(words, " "))
	for i := 0; i+4 < len(words); i += 4 {
		for j := i; j < i+4; j++ {
			words[j] = strings.ReplaceAll(words[j], "q", "qaq")
		}
		after := SimHash(strings.Join(words, " "))
		if d := distance(before, after); d > 8 {
			t.Fatalf("distance to the text with each q of words %d to %d doubled is %d, want 8 at most", i, i+4, d)
		}
		before = after
	}
}

// Which passages vote does not depend on what is masked.
func TestSimHashOfLongTextsWhoseIdsAndWhiteSpaceDiffer(t *testing.T) {
	for kind := range 4 {
		text := longText(kind, 1, 300<<10, rand.New(rand.NewPCG(1, 1)))
		a, b := strings.Fields(text), strings.Fields(text)
		for i := range a {
			if i%3 == 0 {
				a[i] += " 550e8400-e29b-41d4-a716-446655440000"
				b[i] += "\n\t\tabcdefab-0000-4000-8000-00000000000f"
			}
		}
		if SimHash(strings.Join(a, " ")) != SimHash(strings.Join(b, "  ")) {
			t.Errorf("kind %d: the hashes differ", kind)
		}
	}
}

// Where a few words in Latin letters stand before a text in another script, they do not
// speak for it.
func TestSimHashOfALongTextInAnotherScript(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, kb := range []int{1, 2, 3, 4} {
		text := func() string {
			b := []byte(longText(0, 1, kb<<10, rand.New(rand.NewPCG(1, 1))))
			for len(b) < 60<<10 {
				b = utf8.AppendRune(b, rune(0x4e00+min(r.IntN(3000), r.IntN(3000))))
			}
			return string(b)
		}
		if d := distance(SimHash(text()), SimHash(text())); d <= 5 {
			t.Errorf("behind the same %d KB, distance of other texts is %d, want more than 5", kb, d)
		}
	}
}

// Words in which the rare letters are frequent are not read more than others.
func TestSimHashReadsFewPassagesOfRandomLetters(t *testing.T) {
	for _, bytes := range []int{64 << 10, 100 << 10, 1000 << 10} {
		text := longText(3, 1, bytes, rand.New(rand.NewPCG(1, 1)))
		v := votes{word: hashSeed}
		if !v.sample(text) {
			t.Fatalf("%d KB: no sample", bytes>>10)
		}
		if n := v.all(); n < leastVotes || n > 2*passages*passageWords {
			t.Errorf("%d KB: %d pairs voted", bytes>>10, n)
		}
	}
}

func TestSimHashOfALongTextWithoutAnySample(t *testing.T) {
	for what, text := range map[string]string{
		"Chinese":   strings.Repeat("请把这份合同翻译成德语今天天气怎么样", 400),
		"one word":  strings.Repeat("q", 100<<10),
		"one pair":  strings.Repeat("job queue ", 10<<10),
		"no spaces": strings.Repeat("aGVsbG8gd29ybGQ", 8<<10),
	} {
		whole := votes{word: hashSeed}
		whole.read(text, 0, len(text))
		if got, want := SimHash(text), whole.majority(); got != want {
			t.Errorf("%s: %x, want that of all words, %x", what, got, want)
		}
	}
}

// Of a long text that says few different things, as listings and logs do, passages vote
// as well: to read it all takes ten times as long.
func TestSimHashReadsFewPassagesOfFewWords(t *testing.T) {
	words := strings.Fields("account agent balance batch cache check client commit count customer delay event fetch file filter gateway handle " +
		"index invoice job key latency limit list lock message meter order page parse payment policy query queue quota read record refund reply")
	for _, bytes := range []int{20 << 10, 100 << 10, 1000 << 10, 4000 << 10} {
		r := rand.New(rand.NewPCG(1, 2))
		var b strings.Builder
		for b.Len() < bytes {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		v := votes{word: hashSeed}
		if !v.sample(b.String()) {
			t.Errorf("%d KB: no sample", bytes>>10)
		}
		other := strings.ReplaceAll(b.String(), "invoice", "bill")
		if d := distance(SimHash(b.String()), SimHash(other)); d <= 5 {
			t.Errorf("%d KB: distance to a text with another word in place of one of %d is %d", bytes>>10, len(words), d)
		}
	}
}
