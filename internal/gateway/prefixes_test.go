package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/haltd/haltd"
)

// stuckAfter is a request of an agent that reads so many parts of something, and
// then the same one again and again. The newest message has a mark that the next
// request has no longer.
func stuckAfter(parts, times int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-x","messages":[{"role":"system","content":"Work."},{"role":"user","content":"Find out why it fails."}`)
	for i := range parts + times {
		part, mark := min(i, parts), ""
		if i == parts+times-1 {
			mark = `,"cache_control":{"type":"ephemeral"}`
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","function":{"name":"read","arguments":"{\"part\":%d}"}}]},{"role":"tool","tool_call_id":"c%d","content":[{"type":"text","text":"%s"%s}]}`,
			i, part, i, strings.Repeat(fmt.Sprintf(`word%d of chapter%d\n`, part*7, part*part), 60), mark)
	}
	return b.String() + `],"user":"u"}`
}

// A conversation that is read on from what is known of it ends as one that is read
// as a whole each time: at the same call, with the same evidence and the same
// words of its rounds.
func TestReadingOnChangesNoVerdict(t *testing.T) {
	type end struct {
		Calls    int
		Sentence string
		Verdict  *haltd.Verdict
		Excerpt  *haltd.IncidentExcerpt
	}
	ends := map[int]end{}
	for _, limit := range []int{0, prefixMemory} {
		log := &changes{}
		f := startOver(t, answer(200, "application/json", chatReply), setup{yaml: killYAML, control: log.over})
		f.prefixes.limit = limit
		calls := 0
		for calls = 1; calls < 60 && len(log.all) == 0; calls++ {
			f.send(t, "POST", chatPath, inSession("s"), stuckAfter(min(calls, 24), max(0, calls-24)))
		}
		if len(log.all) == 0 || log.all[0].Incident == nil {
			t.Fatalf("not killed after %d calls", calls)
		}
		i := log.all[0].Incident
		ends[limit] = end{calls, i.Sentence, i.Verdict, i.Excerpt}
		known := 0
		for _, p := range f.prefixes.young {
			known = max(known, p.Rounds())
		}
		if limit > 0 && known < calls/2 || limit == 0 && known > 0 {
			t.Errorf("%d rounds of %d are known, with %d bytes to remember them", known, calls, limit)
		}
	}
	if diff := cmp.Diff(ends[0], ends[prefixMemory], cmpopts.IgnoreTypes(time.Time{}, time.Duration(0))); diff != "" {
		t.Errorf("read on it ends otherwise (-whole +on):\n%s", diff)
	}
}

// What is known stays within its bounds, and is not found by others.
func TestWhatIsKnownIsBounded(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	f.prefixes.limit = 20 << 10
	for n := range 40 {
		body := strings.Replace(stuckAfter(12, 0), "Find out", fmt.Sprintf("Find %d out", n), 1)
		f.send(t, "POST", "/agents/bot/openai/v1/chat/completions", nil, body)
		held := 0
		for _, all := range []map[prefixKey]*prefix{f.prefixes.young, f.prefixes.old} {
			for key, p := range all {
				if held += p.weight(); key.agent != "bot" {
					t.Fatalf("it is kept for %q", key.agent)
				}
			}
		}
		if held > f.prefixes.limit || n > 2 && held == 0 {
			t.Fatalf("%d bytes are held, %d may be", held, f.prefixes.limit)
		}
	}
}
