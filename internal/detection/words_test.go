package detection

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWordListSortsAndLeavesOutDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]uint32{1, 1 << 12, 1 << 24, 1<<32 - 1}).Draw(t, "top")
		ws := rapid.SliceOfN(rapid.Uint32Range(0, top), 0, 3*fewToSort).Draw(t, "words")
		l := newWordList()
		defer l.free()
		for _, w := range ws {
			l.add(w)
		}
		slices.Sort(ws)
		want := slices.Compact(ws)
		if diff := cmp.Diff(want, l.distinct(), cmp.Transformer("empty", func(ws []uint32) []uint32 { return slices.Concat([]uint32{}, ws) })); diff != "" {
			t.Fatalf("words (-want +got):\n%s", diff)
		}
	})
}

func TestWordListKeepsTheFirstOfTooMany(t *testing.T) {
	l := newWordList()
	defer l.free()
	for w := uint32(0); !l.full(); w++ {
		l.add(w * 2654435761) // spread as hashes are
	}
	got := l.distinct()
	all := slices.Clone(l.words[:])
	slices.Sort(all)
	if diff := cmp.Diff(all[:maxWords], got); diff != "" {
		t.Errorf("the smallest %d of %d words (-want +got):\n%s", maxWords, len(all), diff)
	}
}

func TestCharactersWithoutSpacesAreNewInPairs(t *testing.T) {
	var f wordFilter
	f.add(words("我的包裹还没有到学校。", nil))
	for _, tt := range []struct {
		text string
		want int
	}{
		{"包裹还没有到。", 1}, // 到 alone
		{"我到学校没有？", 3}, // 我到, 校没, 有 alone
		{"到学校。", 0},
	} {
		if got := f.count(words(tt.text, nil)); got != tt.want {
			t.Errorf("%s has %d new words, want %d", tt.text, got, tt.want)
		}
	}
}

// A word that is found in eight bytes at once is the one that is found byte by
// byte, and nothing that changes by itself begins so.
func TestShortWordsAreReadAsAllOthers(t *testing.T) {
	parts := rapid.SampledFrom([]string{"a", "e", "F", "Z", "m", "call", "msg", "req", "kxbtz", "7", "_", "-", " ", ".", "\n", "\x00", "\x7f", "[", "`", "{", "é", "日", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "parts"), "") + strings.Repeat(" ", 8)
		for i := range len(text) - 8 {
			got, want := scanner{text: text, pos: i}, scanner{text: text, pos: i}
			if !got.shortWord() {
				continue
			}
			if volatileRun(text, i) > 0 {
				t.Fatalf("%q is volatile at %d", text, i)
			}
			if want.word(i); got.token != want.token || got.pos != want.end {
				t.Fatalf("%q at %d: %+v, want %+v", text, i, got.token, want.token)
			}
		}
	})
}

// A number that is read by itself is the one that is read as any word.
func TestPlainNumbersAreReadAsAllOthers(t *testing.T) {
	parts := rapid.SampledFrom([]string{"7", "0", "12", "2024", "1700000000", "12345678", "-1234-1234-1234-123456789012", "-01-15", ":30", ".5", ",", ".", "/", ":", "-", "x", "f", "s", " s", " of 9", "%", "_", " ", "\n", "pid ", "line ", "turn ", "#", "[", "]:", "é", "日"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "parts"), "")
		for i := range len(text) {
			got, want := scanner{text: text, pos: i}, scanner{text: text, pos: i}
			if !isDigit(text[i]) || !got.plainNumber() {
				continue
			}
			if volatileRun(text, i) > 0 {
				t.Fatalf("%q is volatile at %d", text, i)
			}
			if want.word(i); want.changesByItself() {
				want.class, want.hash = volatile, volatileHash
			}
			if got.token != want.token || got.pos != want.end {
				t.Fatalf("%q at %d: %+v, want %+v", text, i, got.token, want.token)
			}
		}
	})
}
