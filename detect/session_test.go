package detect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

// stateless plays an agent that keeps its history to itself: each request is
// one user message.
func stateless(t *testing.T, exchange func(i int) (tool, arguments, message string), n int) Level {
	t.Helper()
	set := DefaultSettings()
	st := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}}
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Check the model and report."}}}
	highest := Pass
	for i := range n {
		v := Judge(set, st, call, noon)
		for _, s := range v.Signals {
			if s.Detector == Stall {
				highest = max(highest, s.Level)
			}
		}
		tool, arguments, message := exchange(i)
		Observe(set, st, Admit(set, st, v, noon), call, ran(tool, arguments), noon)
		call = &haltd.Call{Opening: []haltd.Message{{Text: "Continue the task. Results of " + tool + ": " + message}}}
	}
	return highest
}

func TestLedgerOfAStatelessAgent(t *testing.T) {
	loop := func(i int) (string, string, string) {
		return []string{"read", "list"}[i%2], `{}`, []string{"the model has a pump and a valve", "one file: model"}[i%2]
	}
	if got := stateless(t, loop, 12); got != Kill {
		t.Errorf("level %v of a read and list cycle, want kill", got)
	}
	work := func(i int) (string, string, string) { return "read", fmt.Sprintf(`{"part":%d}`, i), fresh(i) }
	if got := stateless(t, work, 30); got != Pass {
		t.Errorf("level %v of an agent that reads on, want pass", got)
	}
}

func TestSamplingOnePromptIsNoConversation(t *testing.T) {
	set := DefaultSettings()
	st := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}}
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Write a limerick."}}}
	for i := range 30 {
		v := Judge(set, st, call, noon)
		if v.Level == Kill {
			t.Fatalf("sample %d was killed: %+v", i, v.Signals)
		}
		Observe(set, st, Admit(set, st, v, noon), call, said(fresh(i)), noon)
	}
	if n := len(st.Session.past); n != 0 {
		t.Errorf("the ledger holds %d rounds, want none", n)
	}
}

func TestIndependentJobsAreNoConversation(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply *haltd.Reply
	}{
		{"a classifier that answers in text", said("benign")},
		{"a classifier that answers by a call", ran("classify", `{"label":"benign"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := DefaultSettings()
			st := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}}
			for i := range 30 {
				call := &haltd.Call{Opening: []haltd.Message{{Text: []string{"heartbeat ok", "disk nearly full", "login from new place"}[i/3%3]}}}
				v := Judge(set, st, call, noon)
				for _, s := range v.Signals {
					if s.Detector == Stall {
						t.Fatalf("job %d: %+v", i, s)
					}
				}
				Observe(set, st, Admit(set, st, v, noon), call, c.reply, noon)
			}
		})
	}
}

func TestLedgerRemembersWhatTheClientDropped(t *testing.T) {
	// The client keeps two rounds only, so no single request shows the loop.
	for _, c := range []struct {
		name  string
		round func(i int) haltd.Round
	}{
		{"native calls", func(i int) haltd.Round {
			id := fmt.Sprintf("call_%08d", i)
			return haltd.Round{
				Calls:   []haltd.ToolCall{{ID: id, Name: "fetch", Arguments: `{"url":"x"}`}},
				Results: []haltd.ToolResult{{CallID: id, Text: "Error: gateway closed"}},
			}
		}},
		{"plain text", func(int) haltd.Round {
			return haltd.Round{Text: "```\nfetch x\n```", Inputs: []haltd.Message{{Text: "Error: gateway closed"}}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := DefaultSettings()
			st := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}}
			var rounds []haltd.Round
			highest := Pass
			for i := range 8 {
				rounds = append(rounds, c.round(i))
				call := &haltd.Call{Opening: []haltd.Message{{Text: "Fetch x."}}, Rounds: rounds[max(0, len(rounds)-2):]}
				for _, s := range Judge(set, st, call, noon).Signals {
					if s.Detector == Stall {
						highest = max(highest, s.Level)
					}
				}
				st.Session.attach(&haltd.Reply{}, noon)
			}
			if highest != Kill {
				t.Errorf("level %v, want kill", highest)
			}
		})
	}
}

func TestOneRequestProvesALoop(t *testing.T) {
	k := newTalk(t, "Please do the task.")
	for range 5 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	after := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}}
	if v := Judge(DefaultSettings(), after, &k.call, time.Time{}); v.Level != Kill {
		t.Errorf("level %v after a restart, want kill", v.Level)
	}
}

func TestMarkPutsTheOldLoopBehind(t *testing.T) {
	k := newTalk(t, "Please do the task.")
	loop := func(n int) {
		for range n {
			k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
		}
	}
	loop(6)
	if k.last.Level != Kill {
		t.Fatalf("level %v before the resume, want kill", k.last.Level)
	}
	k.st.Window.Clear()
	k.st.Mark = k.st.Session.MarkHere(k.st.Cache, &k.call, k.now)
	k.judge(nil)
	if k.last.Level != Pass {
		t.Errorf("level %v right after the resume, want pass: %+v", k.last.Level, k.last.Signals)
	}
	loop(2)
	if k.last.Level == Kill {
		t.Errorf("killed after two more rounds: the old ones count")
	}
	loop(3)
	if k.last.Level != Kill {
		t.Errorf("level %v after five more rounds, want kill", k.last.Level)
	}
}

func TestMarkSurvivesARestart(t *testing.T) {
	k := newTalk(t, "Please do the task.")
	for range 6 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	mark := k.st.Session.MarkHere(k.st.Cache, &k.call, k.now)
	b, err := json.Marshal(mark)
	if err != nil {
		t.Fatal(err)
	}
	var restored Mark
	if err := json.Unmarshal(b, &restored); err != nil {
		t.Fatal(err)
	}
	st := State{Cache: NewCache(1 << 16), Window: &Window{}, Session: &Session{}, Mark: restored}
	if v := Judge(DefaultSettings(), st, &k.call, noon); v.Level != Pass {
		t.Errorf("level %v, want pass", v.Level)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	cache := NewCache(1 << 12)
	s := &Session{}
	call := &haltd.Call{Opening: []haltd.Message{{Text: "go"}}}
	for i := range 2 * maxRounds {
		call.Rounds = append(call.Rounds, haltd.Round{Text: fresh(i), Inputs: []haltd.Message{{Text: fresh(i + 1)}}})
	}
	s.rounds(cache, call, noon)
	if len(s.past) != maxRounds {
		t.Errorf("the ledger holds %d rounds, want %d", len(s.past), maxRounds)
	}
	if n := cache.held; n > 1<<12 {
		t.Errorf("the cache holds %d words, want %d at most", n, 1<<12)
	}
}

func TestCachedFeaturesAreTheSame(t *testing.T) {
	call := conversation100()
	warm := NewCache(1 << 20)
	s := &Session{}
	first := s.rounds(warm, call, noon)
	again := s.rounds(warm, call, noon)
	for i := range first {
		if first[i].features != again[i].features {
			t.Fatalf("round %d was read twice", i)
		}
	}
}

func TestArgumentsCanonical(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"order of keys", `{"a":1,"b":[1,2]}`, `{ "b":[1, 2], "a":1 }`, true},
		{"order in a list", `{"b":[1,2]}`, `{"b":[2,1]}`, false},
		{"numbers are not masked", `{"page":1}`, `{"page":2}`, false},
		{"digits are kept", `{"n":1.0}`, `{"n":1}`, false},
		{"white space in strings", `{"s":"a b"}`, `{"s":"a  b"}`, false},
		{"not JSON", `ls -la`, ` ls -la `, true},
		{"half JSON", `{"a":1`, `{"a":1`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CanonicalArguments(c.a) == CanonicalArguments(c.b); got != c.same {
				t.Errorf("%s and %s: same %v, want %v", CanonicalArguments(c.a), CanonicalArguments(c.b), got, c.same)
			}
		})
	}
}

func TestVolatileTokensAreMaskedInResultsOnly(t *testing.T) {
	result := func(text string) uint64 {
		return featuresOf(&haltd.Round{Calls: []haltd.ToolCall{{Name: "x"}}, Results: []haltd.ToolResult{{Text: text}}}, true).result
	}
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"addresses", "at 0x7f001122", "at 0x7fabcdef", true},
		{"clock times", "checked 10:31:07", "checked 10:31:12", true},
		{"dates and times", "on 2026-01-01T10:00:00Z", "on 2026-01-02T11:22:33Z", true},
		{"durations", "took 0.12s", "took 3.4s", true},
		{"durations in words", "Wall time 0.1 seconds", "Wall time 12 seconds", true},
		{"process groups", "Process Group PGID: 411", "Process Group PGID: 977", true},
		{"ids of calls", "call_9a8b7c6d5e failed", "call_1a2b3c4d5e failed", true},
		{"epoch seconds", "now 1767225600", "now 1767225999", true},
		{"lines that a shell has read", "/bin/bash: line 27424: javac: command not found", "/bin/bash: line 27478: javac: command not found", true},
		{"lines of a script", "./setup.sh: line 14: unbound variable", "./setup.sh: line 25: unbound variable", false},
		{"percentages", "40 % done", "42 % done", false},
		{"counts", "3 tests failed", "2 tests failed", false},
		{"checksums", "md5 a2c73685d78d4f062a8403c56082b876", "md5 b2c73685d78d4f062a8403c56082b877", false},
		{"line numbers", "error in line 12:3", "error in line 12:4", false},
		{"punctuation", "a + b", "a - b", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := result(c.a) == result(c.b); got != c.same {
				t.Errorf("%q and %q: same %v, want %v", c.a, c.b, got, c.same)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		text   string
		marked bool
		want   outcome
	}{
		{"anything", true, failed},
		{"", false, acknowledged},
		{"<returncode>0</returncode>\n<output>\n</output>", false, acknowledged},
		{"<returncode>0</returncode>\n<output>\nerror handling was added\n</output>", false, neutral},
		{"<returncode>127</returncode>\n<output>\nmvn\n</output>", false, failed},
		{"exit code: 1", false, failed},
		{`{"error":"no such user"}`, false, failed},
		{`{"error":"","rows":3}`, false, neutral},
		{`{"success": false}`, false, failed},
		{`{"status": 404}`, false, failed},
		{`{"results": []}`, false, empty},
		{"[]", false, empty},
		{"Error: user not found", false, failed},
		{"No matches found for x", false, empty},
		{strings.Repeat("a line of a source file\n", 40) + "err := failed\n" + strings.Repeat("more of the file\n", 40), false, neutral},
		{"user_17 has two orders", false, neutral},
	} {
		if got := outcomeOf(c.text, c.marked); got != c.want {
			t.Errorf("outcome of %.60q is %d, want %d", c.text, got, c.want)
		}
	}
}

func TestOutcomeDoesNotReadTheQuotedCommand(t *testing.T) {
	script := strings.Repeat("count_errors --month may\n", 20)
	for _, c := range []struct {
		answer string
		want   outcome
	}{
		{"The command " + script + " timed out.\nIt printed:\nmay", failed},
		{"The command " + script + " printed:\n41 in billing", neutral},
	} {
		round := &haltd.Round{
			Text:   "```bash\n" + script + "```",
			Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: strings.ReplaceAll(c.answer, script, strings.TrimSpace(script))}},
		}
		if got := featuresOf(round, false).outcome; got != c.want {
			t.Errorf("outcome of %.60q is %d, want %d", c.answer, got, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"bash: rg: command not found", true},
		{"<returncode>127</returncode>\n<output>\n/bin/sh: 1: xxd: not found\n</output>", true},
		{"Error: No such tool available: read_pdf", true},
		{"<returncode>1</returncode>\n<output>\ncommand not found in the table of commands\n</output>", false},
		{"exit code: 2", false},
		{"Error: user not found", false},
	} {
		if got := saysMissing(c.text); got != c.want {
			t.Errorf("%.60q says that something is missing: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestRemark(t *testing.T) {
	for _, c := range []struct {
		name, text string
		remark     string
	}{
		{"a sentence under a result", "412\nThis is what you had before, please try another way.\n", "\nThis is what you had before, please try another way.\n"},
		{"nothing above it", "This is what you had before, please try another way.", ""},
		{"a number in it", "loaded\nThe run would need 9000 megabytes more.", ""},
		{"a name in it", "loaded\nPlease call setLimit before the run starts.", ""},
		{"no sentence", "412\n417", ""},
		{"too short to be one", "412\nAll done.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.text[remark(c.text):]; got != c.remark {
				t.Errorf("the remark of %q is %q, want %q", c.text, got, c.remark)
			}
		})
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		signal Signal
		want   string
	}{
		{Signal{Detector: Stall, Family: Repeat, Tools: []string{"read_file"}, Count: 5, Outcome: "error"}, "bot called read_file 5 times with the same arguments and got the same error."},
		{Signal{Detector: Stall, Family: Cycle, Tools: []string{"list", "read"}}, "bot repeats list, read and nothing changes."},
		{Signal{Detector: Stall, Family: Futile, Count: 6, Outcome: "empty result"}, "bot tried 6 different calls and got the same empty result."},
		{Signal{Detector: Stall, Family: Chatter, Count: 9}, "bot said the same thing 9 times without a tool call."},
		{Signal{Detector: Growth, Session: "ses_1"}, "Prompt tokens of ses_1 grew 1.4 times or more, 3 calls in a row."},
		{Signal{Detector: Similarity, Score: 12, Threshold: 10, Window: 20}, "bot repeats itself: score 12.0 exceeds the threshold of 10.0 in a window of 20 calls."},
	} {
		if diff := cmp.Diff(c.want, c.signal.Sentence("bot")); diff != "" {
			t.Errorf("sentence (-want +got):\n%s", diff)
		}
	}
}

func TestEvidenceNamesTheRounds(t *testing.T) {
	k := newTalk(t, "Please do the task.")
	for range 5 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	s := k.last.Signals[0]
	if s.Count != 5 || s.Outcome != "error" || len(s.Tools) != 1 || s.Tools[0] != "read_file" {
		t.Errorf("signal %+v, want five errors of read_file", s)
	}
	if got := lettersOf(s.Rounds); got != "0A 1A 2A 3A 4A" {
		t.Errorf("rounds %s, want the first and all that repeat it", got)
	}
}

func TestEvidenceNamesTheRoundsThatAreRepeated(t *testing.T) {
	k := newTalk(t, "Please do the task.")
	k.does("list_files", `{}`, "a.go b.go")
	for range 4 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
		k.does("get_owner", `{"path":"/etc/x"}`, "Error: the owner is unknown")
	}
	if got := lettersOf(k.last.Signals[0].Rounds); got != "1A 2B 3A 4B 5A 6B 7A 8B" {
		t.Errorf("rounds %s, want both of the cycle from their first time on", got)
	}
}

func lettersOf(rounds []RoundEvidence) string {
	var words []string
	for _, r := range rounds {
		words = append(words, fmt.Sprint(r.Index, r.Letter))
	}
	return strings.Join(words, " ")
}

func TestNewsNeverKills(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(rt, "rounds")
		call := &haltd.Call{Opening: []haltd.Message{{Text: "go"}}}
		for i := range n {
			tool := rapid.SampledFrom([]string{"read", "search", "run"}).Draw(rt, "tool")
			arguments := rapid.SampledFrom([]string{"", `{"a":1}`, fmt.Sprintf(`{"a":%d}`, i)}).Draw(rt, "arguments")
			call.Rounds = append(call.Rounds, haltd.Round{
				Calls:   []haltd.ToolCall{{Name: tool, Arguments: arguments}},
				Results: []haltd.ToolResult{{Text: fresh(i)}},
			})
		}
		st := State{Cache: NewCache(1 << 18), Window: &Window{}, Session: &Session{}}
		if v := Judge(DefaultSettings(), st, call, noon); v.Level == Kill {
			rt.Fatalf("killed although every result is new: %+v", v.Signals)
		}
	})
}
