package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

const (
	policyNote = "This sandbox cannot reach the network; see the policy of your team."
	reminder   = "<system-reminder>The list of tasks is empty. Do not mention this.</system-reminder>"
)

func notesOf(rounds []haltd.Round, native bool) notes {
	s := &sent{native: native}
	s.add(testCache, rounds)
	n, _ := testCache.notesOf(s)
	return n
}

// What a harness adds to every result is no part of what came back.
func TestNotesAreNoOutcome(t *testing.T) {
	tools := []string{"scan", "place", "weigh"}
	noted := func(i int) haltd.Round {
		return did(tools[i%3], fmt.Sprintf(`{"item":"crate-%d"}`, i), []string{"A crate of apples.", "Placed in the hall.", "It weighs little."}[i%3]+"\n\n"+policyNote)
	}
	var rounds []haltd.Round
	for i := range 6 {
		rounds = append(rounds, noted(i))
	}
	if n := notesOf(rounds, true); len(n) != 1 || n.strip("Done.\n"+policyNote) != "Done.\n" {
		t.Fatalf("notes %v; want the one line", n)
	}
	read := Read(testCache, &haltd.Call{Rounds: rounds}, nil)
	if got := read.rounds[5].outcome; got == failed {
		t.Error("a note is read as a failure")
	}
	for range 9 { // they stay notes when all that comes back is the same
		rounds = append(rounds, noted(0))
	}
	if n := notesOf(rounds, true); len(n) != 1 {
		t.Errorf("notes %v in a loop; want those of its beginning", n)
	}
}

func TestWhatSaysWhyItFailedIsNoNote(t *testing.T) {
	for _, c := range []struct {
		name   string
		result func(i int) string
	}{
		{"an error that quotes the call", func(i int) string {
			return fmt.Sprintf("ERROR: column \"total\" does not exist here\nLINE 1: select %s", []string{"region", "sum of orders", "every name"}[i%3])
		}},
		{"an error among others", func(i int) string {
			return []string{"fatal: one", "Error: two", "cannot three"}[i%3] + "\nThe whole build has been stopped at once."
		}},
		{"numbers and ids alone differ", func(i int) string { return fmt.Sprintf("Ray a%dc3498c986d5 took %d\n%s", i, i, policyNote) }},
		{"an exit code", func(i int) string {
			return []string{"red", "green", "blue"}[i%3] + "\n[The command completed with exit code 1.]"
		}},
		{"the whole answer", func(int) string { return policyNote }},
	} {
		var rounds []haltd.Round
		for i := range 6 {
			rounds = append(rounds, did("query", fmt.Sprintf(`{"q":"q%d"}`, i), c.result(i)))
		}
		if n := notesOf(rounds, true); len(n) > 0 {
			t.Errorf("%s: %d notes, want none", c.name, len(n))
		}
	}
}

// A harness that counts turns adds nothing to what came back; a count of what
// was done does.
func TestALineThatCountsTurnsIsANote(t *testing.T) {
	said := []string{"A crate of apples.", "Placed in the hall.", "It weighs little."}
	rounds := func(line func(i int) string) (rounds []haltd.Round) {
		for i := range 6 {
			rounds = append(rounds, did("scan", fmt.Sprintf(`{"item":"crate-%d"}`, i), said[i%3]+"\n"+line(i)))
		}
		return rounds
	}
	turns := rounds(func(i int) string { return fmt.Sprintf("[turn %d of 80]", i+1) })
	if n := notesOf(turns, true); len(n) != 1 || n.strip("Done.\n[turn 31 of 80]") != "Done.\n" {
		t.Errorf("notes %v; want the line that counts", n)
	}
	same := rounds(func(i int) string { return fmt.Sprintf("[turn %d of 80]", i+1) })
	for i := range same {
		same[i].Results[0].Text = fmt.Sprintf("Blocked!\n[turn %d of 80]", i+1)
	}
	if n := notesOf(same, true); len(n) != 1 {
		t.Errorf("notes %v where all else is the same; want the line that counts", n)
	}
	asides := rounds(func(int) string { return "(Open file: n/a)" })
	if n := notesOf(asides, true); len(n) != 1 {
		t.Errorf("notes %v; want the aside", n)
	}
	if n := notesOf(rounds(func(i int) string { return fmt.Sprintf("found %d crates", 7*i%5) }), true); len(n) > 0 {
		t.Errorf("a number that goes up and down is taken for a count of turns")
	}
}

// An MCP server's envelope is no part of what came back, but for its mark.
func TestEnvelopes(t *testing.T) {
	for _, c := range []struct {
		text, want string
		failed     bool
	}{
		{`{"content":[{"type":"text","text":"saved"}],"isError":false,"_meta":{"requestId":"5c1f"}}`, "saved", false},
		{`Observation: {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "isError": true}`, "a\nb", true},
		{`{"content":[{"type":"image","data":"…","text":""}]}`, `{"content":[{"type":"image","data":"…","text":""}]}`, false},
		{`{"content":"a text"}`, `{"content":"a text"}`, false},
		{`{"content":[{"type":"text","text":"cut`, `{"content":[{"type":"text","text":"cut`, false},
		{"plain", "plain", false},
		{"<tool_result>\nsaved\n</tool_result>", "saved", false},
		{"<p>a</p>", "<p>a</p>", false},
		{`{"data": {"id": "a", "n": 3}, "meta": {"request_id": "5c1f", "rate_limit": {"remaining": 12}}}`, `{"id": "a", "n": 3}`, false},
		{`{"output": "a\nb", "exit_code": 0, "wall_time": 0.15}`, "a\nb\nexit code: 0", false},
		{`{"output":"a","metadata":{"exit_code":1,"duration_seconds":0.1}}`, "a\nexit code: 1", false},
		{`{"error": "missing: order", "request_id": "7d4e", "_links": {"self": "/a,b"}}`, `{"error": "missing: order"}`, false},
		{`{"result":"no_object","took_ms":4}`, `{"result":"no_object"}`, false},
		{`{"output":"a text"}`, `{"output":"a text"}`, false},
		{`{"duration": 12}`, `{"duration": 12}`, false},
		{`{"took_ms": 12, "cut": `, `{"took_ms": 12, "cut": `, false},
		{`{"took_ms": 12, "cut"}`, `{"took_ms": 12, "cut"}`, false},
		{`{"took_ms": 12, "exit_code":}`, `{"exit_code":}`, false},
		{"{\"took_ms\": 1, \"row\": 1}\n{\"took_ms\": 2, \"row\": 2}", "{\"took_ms\": 1, \"row\": 1}\n{\"took_ms\": 2, \"row\": 2}", false},
		{`{"took_ms": 12, "row": 1} `, `{"row": 1}`, false},
	} {
		if got, failed := unwrapped(c.text); got != c.want || failed != c.failed {
			t.Errorf("%s holds %q, failed %v; want %q, %v", c.text, got, failed, c.want, c.failed)
		}
	}
	sent := []haltd.Round{did("save", "{}", `{"content":[{"type":"text","text":"The shelf."}],"isError":true}`)}
	if r := Read(testCache, &haltd.Call{Rounds: sent}, nil).rounds[0]; r.outcome != failed || !r.short() {
		t.Errorf("outcome %d, short %v; want a short failure", r.outcome, r.short())
	}
}

func TestReminders(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ok\n" + reminder, "ok\n"},
		{reminder + "ok" + reminder, "ok"},
		{reminder, reminder}, // all that came back
		{"a <b reminder> c", "a <b reminder> c"},
		{"<reminder>without an end", "<reminder>without an end"},
	} {
		if got := withoutReminders(c.text); got != c.want {
			t.Errorf("%q without reminders is %q, want %q", c.text, got, c.want)
		}
	}
}

// A search that halves what is left ends by itself.
func TestASearchThatNarrowsDownIsWork(t *testing.T) {
	try := func(size int, result string) haltd.Round {
		return did("train", fmt.Sprintf(`{"batch":%d}`, size), result)
	}
	const oom = "OutOfMemoryError: CUDA out of memory"
	sizes := []int{8192, 4096, 2048, 1024, 1536, 1280, 1152}
	var rounds []haltd.Round
	for _, size := range sizes {
		rounds = append(rounds, try(size, oom))
	}
	for i, s := range relations("Find the largest batch that fits.", rounds...)[3:] {
		if !s.given || s.signs[useless] > 0 {
			t.Errorf("step %d: %+v; want work", i+3, s.signs)
		}
	}
	rounds = nil
	for _, size := range []int{8192, 16, 4096, 512, 7000, 64, 900} {
		rounds = append(rounds, try(size, oom))
	}
	for i, s := range relations("Find the largest batch that fits.", rounds...)[3:] {
		if s.given {
			t.Errorf("step %d of a guess passes for a search", i+3)
		}
	}
}

// Between equal failures another call gets on: a bisection.
func TestWhatGetsOnTakesRefusalsBack(t *testing.T) {
	var rounds []haltd.Round
	left := 512
	for range 8 {
		rounds = append(rounds, did("test", `{"name":"login"}`, "login redirects: 1 failed"), did("bisect", `{"mark":"bad"}`, fmt.Sprintf("%d revisions left", left)))
		left /= 2
	}
	all := relations("Find the commit.", rounds...)
	if s := all[len(all)-2]; s.refusals >= insists {
		t.Errorf("%v refusals; want those before the count went down alone", s.refusals)
	}
}
