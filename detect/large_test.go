package detect

import (
	"fmt"
	"runtime"
	"strings"
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

// What is remembered of a request must not hold its memory: the pieces of a
// conversation may share it.
func TestSessionsDoNotHoldTheirRequests(t *testing.T) {
	const size, requests = 1 << 20, 64
	cache := NewCache(1 << 20)
	states := make([]State, requests)
	before := heapInUse()
	for i := range states {
		page := strings.Repeat(fmt.Sprintf("tool%03d ", i), size/8)
		name, command := page[:7], page[8:64]
		states[i] = State{Cache: cache, Window: &Window{}, Session: &Session{}}
		call := &haltd.Call{
			Opening: []haltd.Message{{Text: page[64:128]}},
			Rounds: []haltd.Round{{
				Calls:   []haltd.ToolCall{{ID: page[:4], Name: name, Arguments: page[8:32]}},
				Results: []haltd.ToolResult{{CallID: page[:4], Name: name, Text: page[:512]}},
			}},
		}
		if i%2 == 1 {
			call.Rounds = []haltd.Round{{Text: "```\n" + command + "\n```", Inputs: []haltd.Message{{Text: page[:512]}}}, {Text: command, Inputs: []haltd.Message{{Text: page[:256]}}}}
		}
		v := Judge(DefaultSettings(), states[i], call, noon)
		Admit(DefaultSettings(), states[i], v, noon)
	}
	if held := heapInUse() - before; held > size*requests/8 {
		t.Errorf("%d sessions hold %d KB of %d KB that their requests had", requests, held>>10, size*requests>>10)
	}
	runtime.KeepAlive(states)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
