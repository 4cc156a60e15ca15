//go:build !race

// How long a thing takes says nothing under the race detector: make test runs
// these without it.

package detection

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

var started = time.Now()

// spent is a clock for what takes long: that of the wall, where there is no
// better one.
var spent = func() time.Duration { return time.Since(started) }

// A hostile request must not keep the gateway busy: what is judged is bounded,
// and what is only looked through is looked through once.
func TestHostileRequestsAreJudgedInTime(t *testing.T) {
	for _, c := range []struct {
		name string
		call func() *haltd.Call
	}{
		{"100,000 different rounds", func() *haltd.Call {
			return history(100_000, func(i int) haltd.Round { return did("f", fmt.Sprint(i), fmt.Sprint("r", i)) })
		}},
		{"100,000 equal rounds", func() *haltd.Call {
			return history(100_000, func(int) haltd.Round { return did("f", "", "r", "go on") })
		}},
		{"100,000 rounds in text", func() *haltd.Call {
			return history(100_000, func(i int) haltd.Round {
				return haltd.Round{Text: fmt.Sprint("go ", i), Inputs: []haltd.Message{{Text: "You went there."}}}
			})
		}},
		{"4 MB of history, sent twice", func() *haltd.Call {
			call := history(20_000, func(i int) haltd.Round {
				r := did("read", fmt.Sprintf(`{"path":"%d"}`, i), prose(100, i+1))
				r.Calls[0].ID, r.Results[0].CallID = fmt.Sprint("call_", i), fmt.Sprint("call_", i)
				return r
			})
			call.Rounds[len(call.Rounds)-1].Inputs = []haltd.Message{{Text: "go on"}}
			call.Rounds = append(call.Rounds, call.Rounds...)
			return call
		}},
		{"4 MB of long rounds, sent twice", func() *haltd.Call {
			call := history(40, func(i int) haltd.Round {
				r := did("read", fmt.Sprintf(`{"path":"%d"}`, i), prose(50_000, i+1), "go on")
				r.Calls[0].ID, r.Results[0].CallID = fmt.Sprint("call_", i), fmt.Sprint("call_", i)
				return r
			})
			call.Rounds = append(call.Rounds, call.Rounds...)
			return call
		}},
		{"the same ids in every round", func() *haltd.Call {
			return history(20_000, func(int) haltd.Round {
				r := did("read", "{}", "nothing", "go on")
				r.Calls[0].ID, r.Results[0].CallID = "call_1", "call_1"
				return r
			})
		}},
		{"one turn with 40,000 tools", func() *haltd.Call {
			var r haltd.Round
			for i := range 40_000 {
				id, name := fmt.Sprint("call_", i), fmt.Sprintf("tool_%d_%s", i, topics[i%len(topics)])
				r.Calls = append(r.Calls, haltd.ToolCall{ID: id, Name: name, Arguments: fmt.Sprintf(`{"b":%d,"a":"x"}`, i)})
				r.Results = append(r.Results, haltd.ToolResult{CallID: id, Name: name, Text: fmt.Sprint("done ", i)})
			}
			return history(3, func(int) haltd.Round { return r })
		}},
		{"reminders that nothing ends", func() *haltd.Call {
			return history(8, func(i int) haltd.Round {
				return did("read", fmt.Sprint(i), strings.Repeat(fmt.Sprintf("<a%d-reminder>", i), 100_000))
			})
		}},
		{"reminders without end", func() *haltd.Call {
			return history(8, func(i int) haltd.Round {
				return did("read", fmt.Sprint(i), strings.Repeat("<reminder>x</reminder>y", 50_000))
			})
		}},
		{"envelopes of 200 KB", func() *haltd.Call {
			return history(64, func(i int) haltd.Round {
				return did("read", fmt.Sprint(i), `{"content":[{"type":"text","text":"`+strings.Repeat(fmt.Sprint("x", i, " "), 50_000)+`"}]}`)
			})
		}},
		{"results of blank lines", func() *haltd.Call {
			return history(8, func(i int) haltd.Round { return did("read", fmt.Sprint(i), strings.Repeat("\n", 2<<20)) })
		}},
		{"a message of 32 MiB", func() *haltd.Call { return userCall("go", huge(32)) }},
		{"a message of 32 MiB without a space", func() *haltd.Call { return userCall("go", strings.Repeat("x", 32<<20)) }},
		{"a message of 32 MiB of short lines", func() *haltd.Call { return userCall("go", strings.Repeat("a\n", 16<<20)) }},
		{"an opening of 32 MiB", func() *haltd.Call { return userCall(huge(32)) }},
		{"a result of 32 MiB", func() *haltd.Call {
			return history(1, func(int) haltd.Round { return did("read", "{}", huge(32)) })
		}},
		{"a turn of 32 MiB", func() *haltd.Call {
			return history(1, func(int) haltd.Round {
				return haltd.Round{Text: huge(32), Inputs: []haltd.Message{{Text: "and?"}}}
			})
		}},
		{"arguments of 4 MiB", func() *haltd.Call {
			var b strings.Builder
			for i := 0; b.Len() < 4<<20; i++ {
				fmt.Fprintf(&b, `,"key%d":"value %d"`, i*7919%1_000_003, i)
			}
			return history(1, func(int) haltd.Round { return did("f", `{"a":1`+b.String()+"}", "ok") })
		}},
		{"arguments that are brackets", func() *haltd.Call {
			return history(1, func(int) haltd.Round { return did("f", strings.Repeat("[", 8<<20), "ok") })
		}},
		{"text that is fences", func() *haltd.Call {
			return history(1, func(int) haltd.Round {
				return haltd.Round{Text: strings.Repeat("```\nx\n", 1<<20), Inputs: []haltd.Message{{Text: "no"}}}
			})
		}},
		{"long results that are nearly the same", func() *haltd.Call {
			text := prose(40_000, 3)
			return history(maxRounds, func(i int) haltd.Round { return did("read", "{}", fmt.Sprint(text, topics[i%len(topics)], i)) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := c.call()
			took := time.Duration(math.MaxInt64)
			for range 3 { // the processor may be shared
				st, cache := newState(), NewCache(1<<20)
				runtime.GC() // what the test itself left behind is not to be paid here
				began := spent()
				v := Judge(DefaultSettings(), st, Read(cache, call, st.Session.Pending()), noon)
				took = min(took, spent()-began)
				checkReasons(t, v)
				if took < time.Second {
					break
				}
			}
			if took >= time.Second {
				t.Errorf("took %v, want less than %v", took, time.Second)
			}
			t.Logf("took %v", took)
		})
	}
}

// huge is n MiB of text.
func huge(n int) string { return strings.Repeat(prose(1<<20, 7), n) }

// history is a request with n rounds.
func history(n int, round func(i int) haltd.Round) *haltd.Call {
	call := userCall("Please do the task.")
	for i := range n {
		call.Rounds = append(call.Rounds, round(i))
	}
	return call
}

// A long conversation goes on at the pace of a short one.
func TestALongConversationGoesOnInTime(t *testing.T) {
	call := history(maxRounds, func(i int) haltd.Round { return did("read", fmt.Sprint(i), prose(4_000, i+1)) })
	set, st := DefaultSettings(), newState()
	judge(set, st, call, noon)
	const more = 50
	began := spent()
	for i := range more {
		call.Rounds = append(call.Rounds, did("read", fmt.Sprint(maxRounds+i), prose(4_000, maxRounds+i+1)))
		judge(set, st, call, noon)
	}
	if each := (spent() - began) / more; each > 100*time.Millisecond {
		t.Errorf("each request took %v", each)
	} else {
		t.Logf("each request took %v", each)
	}
}

// Replies are read as quickly, and so is what a client without a history says
// after them.
func TestHostileRepliesAreReadInTime(t *testing.T) {
	var calls []haltd.ToolCall
	for i := range 40_000 {
		calls = append(calls, haltd.ToolCall{Name: fmt.Sprintf("tool_%d", i), Arguments: fmt.Sprintf(`{"b":%d,"a":"x"}`, i)})
	}
	for _, c := range []struct {
		name  string
		reply *haltd.Reply
		next  string
	}{
		{"40,000 calls", &haltd.Reply{Calls: calls}, "Results of tool_1: none."},
		{"32 MiB of text", said(huge(32)), huge(32)},
		{"32 MiB of lines", said(strings.Repeat("a line\n", 32<<20/7)), strings.Repeat("a line\nb line\n", 32<<20/14)},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, st, opening := DefaultSettings(), newState(), userCall("Please do the task.\nStep by step.\n")
			began := spent()
			v := judge(set, st, opening, noon)
			answer(set, st, v, opening, c.reply, noon)
			judge(set, st, userCall(c.next), noon)
			if took := spent() - began; took > 2*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}
