//go:build !race

package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// A history that is sent again costs memory for itself, not for each answer in
// which notes were found before.
func TestNotesAreLookedForOnceInEveryAnswer(t *testing.T) {
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Look at all crates."}}}
	for i := range 20 {
		text := []string{"A crate of apples.", "Placed in the hall.", "It weighs little."}[i%3] + "\n\n" + policyNote
		call.Rounds = append(call.Rounds, did("scan", fmt.Sprintf(`{"item":"crate-%d"}`, i), text))
	}
	cache := NewCache(1 << 16)
	if got := testing.AllocsPerRun(10, func() { Read(cache, call, nil) }); got > 12 {
		t.Errorf("reading a history again allocates %.0f times", got)
	}
}
