package detect

import (
	"fmt"
	"strings"
	"testing"

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
			if d := Distance(SimHash(c.a), SimHash(c.b)); d >= 3 {
				t.Errorf("distance %d, want less than 3", d)
			}
			if !Similar(SimHash(c.a), SimHash(c.b)) {
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
			if d := Distance(SimHash(a), SimHash(b)); d <= 5 {
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
	if d := Distance(SimHash(a), SimHash(a+" postscript")); d >= 3 {
		t.Errorf("distance %d, want less than 3", d)
	}
}

func TestNothingIsSimilarToNoText(t *testing.T) {
	for _, text := range []string{"", "  ", "..."} {
		if Similar(SimHash(text), SimHash(text)) {
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
		if d := Distance(SimHash(text(a)), SimHash(text(b))); d != 0 {
			t.Fatalf("distance %d, want 0", d)
		}
	})
}
