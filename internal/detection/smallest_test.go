package detection

import (
	"math/rand/v2"
	"testing"
)

// What is kept of a list is what sorting all of it leaves.
func TestSmallestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		l := newWordList()
		seen := map[uint32]bool{}
		for range r.IntN(3000) {
			w := r.Uint32() >> r.IntN(32)
			l.add(w)
			seen[w] = true
		}
		most := 1 + r.IntN(600)
		got := l.distinctUpTo(most)
		l.free()
		if len(got) != min(most, len(seen)) {
			t.Fatalf("%d words of %d, at most %d", len(got), len(seen), most)
		}
		for i, w := range got {
			if !seen[w] || i > 0 && got[i-1] >= w {
				t.Fatalf("word %d is %d after %v", i, w, got[max(0, i-1)])
			}
			delete(seen, w)
		}
		for w := range seen {
			if len(got) > 0 && w < got[len(got)-1] {
				t.Fatalf("%d is smaller than the last that is kept and is not kept", w)
			}
		}
	}
}
