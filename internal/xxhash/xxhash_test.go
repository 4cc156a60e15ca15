package xxhash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

func TestDigestsAreThoseOfTheLibrary(t *testing.T) {
	for n := range 200 {
		text := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 6)[:n]
		if got, want := Sum64String(text), xxhash.Sum64String(text); got != want {
			t.Errorf("%d bytes: got %x, want %x", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var ours Digest
		theirs := xxhash.New()
		ours.Reset()
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 100)).Draw(t, "pieces") {
			ours.Write(piece)
			ours.WriteString(string(piece))
			theirs.Write(piece)
			theirs.Write(piece)
			if got, want := ours.Sum64(), theirs.Sum64(); got != want {
				t.Fatalf("got %x, want %x", got, want)
			}
		}
	})
}

// A text is read where it is: the compiler sees that nobody writes to its bytes.
func TestTextsAreNotCopied(t *testing.T) {
	text := strings.Repeat("x", 1000)
	var d Digest
	if n := testing.AllocsPerRun(10, func() {
		Sum64String(text)
		d.Reset()
		d.WriteString(text)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSum64String(b *testing.B) {
	for _, n := range []int{8, 100, 10_000} {
		text := strings.Repeat("x", n)
		b.Run(fmt.Sprint(n, "/hand"), func(b *testing.B) {
			for b.Loop() {
				Sum64String(text)
			}
		})
		b.Run(fmt.Sprint(n, "/library"), func(b *testing.B) {
			for b.Loop() {
				xxhash.Sum64String(text)
			}
		})
	}
}
