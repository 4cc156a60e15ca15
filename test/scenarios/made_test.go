//go:build !race

// What is judged in one goroutine, ten times faster without the race detector;
// make test runs it so.

package scenarios

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// TestMadeUpBehaviours holds detection to rates over made-up behaviours. The
// weights were fitted to other draws of the same families; how families come
// out that were not fitted to says make quality.
func TestMadeUpBehaviours(t *testing.T) {
	t.Parallel()
	const draws, unseen = 2, 1000
	var runs, killed [2]int
	for _, f := range Families() {
		for n := range draws {
			c := f.Draw(unseen + n)
			p := &play{Case: &c, agent: c.Name}
			p.requests, p.before = c.Requests()
			told := p.judge()
			kind := 0
			if f.Stuck {
				kind = 1
			}
			runs[kind]++
			if told[haltd.LevelKill] != nil {
				killed[kind]++
			}
			if k := told[haltd.LevelKill]; k != nil && !f.Stuck {
				t.Logf("%s is healthy and killed at call %d: %s", c.Name, k.call, k.Sentence)
			}
			if f.Stuck && told[haltd.LevelKill] == nil {
				t.Logf("%s is stuck and lives", c.Name)
			}
		}
	}
	rate := func(kind int) float64 { return float64(killed[kind]) / float64(runs[kind]) }
	t.Logf("healthy killed %.3f of %d, stuck killed %.3f of %d", rate(0), runs[0], rate(1), runs[1])
	if rate(0) > .05 {
		t.Errorf("healthy killed %.3f, want .05 at most", rate(0))
	}
	if rate(1) < .8 {
		t.Errorf("stuck killed %.3f, want .8 at least", rate(1))
	}
}

// The corpus of made-up behaviours must stay broad, and a draw must be the
// same whenever it is drawn.
func TestFamilies(t *testing.T) {
	t.Parallel()
	count := map[bool]int{}
	seen := map[string]bool{}
	for _, f := range Families() {
		if seen[f.Name] {
			t.Errorf("two families are called %s", f.Name)
		}
		seen[f.Name] = true
		count[f.Stuck]++
		a, b, other := recorded(t, f.Draw(1)), recorded(t, f.Draw(1)), recorded(t, f.Draw(2))
		if a != b {
			t.Errorf("%s: a draw is not the same twice", f.Name)
		}
		if a == other {
			t.Errorf("%s: two draws are alike", f.Name)
		}
	}
	if count[false] < 60 || count[true] < 40 {
		t.Errorf("%d healthy and %d stuck families, want 60 and 40 at least", count[false], count[true])
	}
}

// recorded is what a case says, call by call, without its name.
func recorded(t *testing.T, c Case) string {
	c.Name = ""
	requests, _ := c.Requests()
	var b strings.Builder
	for i := range requests {
		r := &requests[i]
		if err := json.NewEncoder(&b).Encode([]any{r.At, r.Session, r.New, r.Turn}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
