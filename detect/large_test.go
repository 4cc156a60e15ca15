package detect

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// A hostile history must not keep the gateway busy: what is judged is
// bounded, and what is only looked through is looked through once.
func TestHugeHistoriesAreJudgedInTime(t *testing.T) {
	for name, round := range map[string]func(i int) haltd.Round{
		"all different": func(i int) haltd.Round {
			return haltd.Round{Calls: []haltd.ToolCall{{Name: "f", Arguments: fmt.Sprint(i)}}, Results: []haltd.ToolResult{{Text: fmt.Sprint("r", i)}}}
		},
		"all the same": func(int) haltd.Round {
			return haltd.Round{Calls: []haltd.ToolCall{{Name: "f"}}, Results: []haltd.ToolResult{{Text: "r"}}, Inputs: []haltd.Message{{Text: "go on"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			call := &haltd.Call{Opening: []haltd.Message{{Text: "go"}}}
			for i := range 100_000 {
				call.Rounds = append(call.Rounds, round(i))
			}
			st := State{Cache: NewCache(1 << 20), Window: &Window{}, Session: &Session{}}
			began := time.Now()
			for range 3 {
				Judge(DefaultSettings(), st, call, noon)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("three requests with 100,000 rounds took %v", took)
			} else {
				t.Logf("three requests took %v", took)
			}
		})
	}
}
