package detection

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// What is remembered of a request must not hold its memory: the pieces of a
// conversation may share it.
func TestSessionsDoNotHoldTheirRequests(t *testing.T) {
	const size, requests = 1 << 20, 64
	states := make([]State, requests)
	before := heapInUse()
	for i := range states {
		page := strings.Repeat(fmt.Sprintf("tool%03d ", i), size/8)
		name, command := page[:7], page[8:64]
		states[i] = newState()
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
		v := judge(DefaultSettings(), states[i], call, noon)
		answer(DefaultSettings(), states[i], v, call, &haltd.Reply{Text: page[100:300], Calls: []haltd.ToolCall{{Name: page[8:15], Arguments: page[16:40]}}}, noon)
		if i%4 < 2 { // the same for a client that keeps its history to itself
			states[i].Session = &Session{}
			loose := userCall(page[:700])
			v = judge(DefaultSettings(), states[i], loose, noon)
			answer(DefaultSettings(), states[i], v, loose, said(page[100:300]), noon)
			judge(DefaultSettings(), states[i], userCall(page[:900]), noon)
		}
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
