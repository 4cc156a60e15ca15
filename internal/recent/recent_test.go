package recent

import (
	"testing"

	"pgregory.net/rapid"
)

// The newest `keep` entries are always there and memory never holds more
// than twice as many.
func TestCacheIsBoundedAndKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 20).Draw(t, "keep")
		r := New[int, int](keep)
		n := rapid.IntRange(0, 200).Draw(t, "n")
		for i := range n {
			r.Set(i, i)
			if size := r.Len(); size > 2*keep {
				t.Fatalf("holds %d entries, bound is %d", size, 2*keep)
			}
		}
		for i := max(0, n-keep); i < n; i++ {
			if _, ok := r.new[i]; ok {
				continue
			}
			if _, ok := r.old[i]; !ok {
				t.Fatalf("entry %d of %d is forgotten, keep is %d", i, n, keep)
			}
		}
	})
}
