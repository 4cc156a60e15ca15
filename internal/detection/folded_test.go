package detection

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/haltd/haltd/internal/xxhash"
)

// A digest knows what was said from how it was typed.
func TestFoldedDigest(t *testing.T) {
	want := foldedDigest("What is the state of order 7?")
	for _, same := range []string{
		" What is the state of order 7?\n", "what  is\tthe STATE of\u00a0order 7?", "What is the sta\u200bte of order 7?\ufeff",
		strings.Repeat(" ", 5000) + "What is the state of order" + strings.Repeat("\n", 5000) + "7?",
	} {
		if foldedDigest(same) != want {
			t.Errorf("%.60q is told apart", same)
		}
	}
	for _, other := range []string{"What is the state of order 8?", "What is the state of order7?", "What is the state of order 7", ""} {
		if foldedDigest(other) == want {
			t.Errorf("%q is not told apart", other)
		}
	}
	long := strings.Repeat("Straße 7, ÉCOLE. ", 1000)
	if foldedDigest(long) != foldedDigest(strings.ToLower(long)+" ") || foldedDigest(long) == foldedDigest(long+"x") {
		t.Error("a long text is told apart by its case, or not by its end")
	}
	for cut := range 20 { // wherever the eight bytes that are read at once begin and end
		text := strings.Repeat("x", cut) + " Ünd Some-Words_of_DIFFERENT lengths[] {@Z`z} und Ärger"
		if foldedDigest(text) != foldedDigest(strings.ReplaceAll(strings.ToLower(text), " ", " \u200b\n ")) {
			t.Errorf("after %d bytes a text is told apart by its spaces", cut)
		}
	}
	if foldedDigest("@[") == foldedDigest("`{") {
		t.Error("signs are taken for letters")
	}
	if spacedDigest("git  Add a-long-name") != spacedDigest("git Add\na-long-name ") || spacedDigest("git add a-long-name") == spacedDigest("git add A-long-name") {
		t.Error("capitals do not count, or spaces do")
	}
	if n := testing.AllocsPerRun(10, func() { foldedDigest(long) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkFolded takes the digest of a long text by hand and with the library,
// which is as much as the text has no signs that nobody sees.
func BenchmarkFolded(b *testing.B) {
	library := func(text string) uint64 {
		return xxhash.Sum64String(strings.ToLower(strings.Join(strings.Fields(text), " ")))
	}
	text := longText(0, 1, 100<<10, rand.New(rand.NewPCG(1, 1)))
	for _, by := range []struct {
		name   string
		digest func(string) uint64
	}{{"hand", foldedDigest}, {"library", library}} {
		if by.digest(text) != foldedDigest(text) {
			b.Fatalf("%s has another digest", by.name)
		}
		b.Run("100KB/"+by.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				by.digest(text)
			}
		})
	}
}
