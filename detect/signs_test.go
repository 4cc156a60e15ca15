package detect

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSigns(t *testing.T) {
	phrases := []string{"not found", "no such ", "error", "not", "429", `"a":`, "не найден", "エラー"}
	s := signsOf(phrases...)
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", false}, {"n", false}, {"error", true}, {"an error", true}, {"erro", false}, {"no such", false}, {"no such file", true},
		{"nothing", true}, {"nor", false}, {"code 429", true}, {`{"a":1}`, true}, {"\xee\xf2ror", false}, {"é error", true},
		{"файл не найден", true}, {"не най", false}, {"エラー：", true}, {"エラ", false},
	} {
		if got := s.in(c.text); got != c.want {
			t.Errorf("in(%q) = %v, want %v", c.text, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"no", "t", " ", "found", "such", "err", "or", "4", "29", "é", "\xff", "не", "найден", "エ", "ラー"})).Draw(t, "parts"), "")
		want := false
		for _, p := range phrases {
			want = want || strings.Contains(text, p)
		}
		if got := s.in(text); got != want {
			t.Fatalf("in(%q) = %v, want %v", text, got, want)
		}
	})
}
