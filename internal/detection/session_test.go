package detection

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

// stateless plays an agent that keeps its history to itself: each request is
// one user message.
func stateless(t *testing.T, exchange func(i int) (tool, arguments, message string), n int) haltd.Level {
	t.Helper()
	set := plainSettings()
	st := newState()
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Check the model and report."}}}
	highest := haltd.LevelPass
	for i := range n {
		v := judge(set, st, call, noon)
		for _, s := range v.Signals {
			if s.Detector == haltd.DetectorStall {
				highest = max(highest, s.Level)
			}
		}
		tool, arguments, message := exchange(i)
		answer(set, st, v, call, ran(tool, arguments), noon)
		call = &haltd.Call{Opening: []haltd.Message{{Text: "Continue the task. Results of " + tool + ": " + message}}}
	}
	return highest
}

func TestLedgerOfAStatelessAgent(t *testing.T) {
	loop := func(i int) (string, string, string) {
		return []string{"read", "list"}[i%2], `{}`, []string{"the model has a pump and a valve", "one file: model"}[i%2]
	}
	if got := stateless(t, loop, 12); got != haltd.LevelKill {
		t.Errorf("level %v of a read and list cycle, want kill", got)
	}
	work := func(i int) (string, string, string) { return "read", fmt.Sprintf(`{"part":%d}`, i), fresh(i) }
	if got := stateless(t, work, 30); got != haltd.LevelPass {
		t.Errorf("level %v of an agent that reads on, want pass", got)
	}
}

func TestSamplingOnePromptIsNoConversation(t *testing.T) {
	set := DefaultSettings()
	st := newState()
	call := &haltd.Call{Opening: []haltd.Message{{Text: "Write a limerick."}}}
	for i := range 30 {
		v := judge(set, st, call, noon)
		if v.Level == haltd.LevelKill {
			t.Fatalf("sample %d was killed: %+v", i, v.Signals)
		}
		answer(set, st, v, call, said(fresh(i)), noon)
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
			st := newState()
			for i := range 30 {
				call := &haltd.Call{Opening: []haltd.Message{{Text: []string{"heartbeat ok", "disk nearly full", "login from new place"}[i/3%3]}}}
				v := judge(set, st, call, noon)
				for _, s := range v.Signals {
					if s.Detector == haltd.DetectorStall {
						t.Fatalf("job %d: %+v", i, s)
					}
				}
				answer(set, st, v, call, c.reply, noon)
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
			set := plainSettings()
			st := newState()
			var rounds []haltd.Round
			highest := haltd.LevelPass
			for i := range 8 {
				rounds = append(rounds, c.round(i))
				call := &haltd.Call{Opening: []haltd.Message{{Text: "Fetch x."}}, Rounds: rounds[max(0, len(rounds)-2):]}
				for _, s := range judge(set, st, call, noon).Signals {
					if s.Detector == haltd.DetectorStall {
						highest = max(highest, s.Level)
					}
				}
				st.Session.attach(ReadReply(&haltd.Reply{}, true), noon)
			}
			if highest != haltd.LevelKill {
				t.Errorf("level %v, want kill", highest)
			}
		})
	}
}

func TestOneRequestProvesALoop(t *testing.T) {
	k := newTalkWith(t, plainSettings(), "Please do the task.")
	for range 8 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	after := newState()
	if v := judge(plainSettings(), after, &k.call, time.Time{}); v.Level != haltd.LevelKill {
		t.Errorf("level %v after a restart, want kill", v.Level)
	}
}

func TestMarkPutsTheOldLoopBehind(t *testing.T) {
	k := newTalkWith(t, plainSettings(), "Please do the task.")
	loop := func(n int) {
		for range n {
			k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
		}
	}
	loop(6)
	if k.last.Level != haltd.LevelKill {
		t.Fatalf("level %v before the resume, want kill", k.last.Level)
	}
	k.st.Window.Clear()
	k.st.Mark = k.st.Session.MarkHere(Read(testCache, &k.call, nil), k.now)
	k.judge(nil)
	if k.last.Level != haltd.LevelPass {
		t.Errorf("level %v right after the resume, want pass: %+v", k.last.Level, k.last.Signals)
	}
	loop(2)
	if k.last.Level == haltd.LevelKill {
		t.Errorf("killed after two more rounds: the old ones count")
	}
	loop(4)
	if k.last.Level != haltd.LevelKill {
		t.Errorf("level %v after six more rounds, want kill", k.last.Level)
	}
}

func TestMarkSurvivesARestart(t *testing.T) {
	k := newTalkWith(t, plainSettings(), "Please do the task.")
	for range 6 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	mark := k.st.Session.MarkHere(Read(testCache, &k.call, nil), k.now)
	b, err := json.Marshal(mark)
	if err != nil {
		t.Fatal(err)
	}
	var restored Mark
	if err := json.Unmarshal(b, &restored); err != nil {
		t.Fatal(err)
	}
	st := newState()
	st.Mark = restored
	if v := judge(plainSettings(), st, &k.call, noon); v.Level != haltd.LevelPass {
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
	s.follow(Read(cache, call, nil), noon)
	if len(s.past) != maxRounds {
		t.Errorf("the ledger holds %d rounds, want %d", len(s.past), maxRounds)
	}
	if n := cache.held; n > 1<<12 {
		t.Errorf("the cache holds %d words, want %d at most", n, 1<<12)
	}
}

func TestARoundIsReadOnce(t *testing.T) {
	call, cache := conversation100(), NewCache(1<<20)
	first, again := Read(cache, call, nil), Read(cache, call, nil)
	if len(first.rounds) != len(call.Rounds) || len(again.rounds) != len(call.Rounds) {
		t.Fatalf("%d and %d rounds were read of %d", len(first.rounds), len(again.rounds), len(call.Rounds))
	}
	for i := range first.rounds {
		if first.rounds[i].round != again.rounds[i].round {
			t.Fatalf("round %d was read twice", i)
		}
	}
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
		st := newState()
		if v := judge(DefaultSettings(), st, call, noon); v.Level == haltd.LevelKill {
			rt.Fatalf("killed although every result is new: %+v", v.Signals)
		}
	})
}

// stringsIn visits all strings that can be reached from a value.
func stringsIn(v reflect.Value, visit func(string)) {
	switch v.Kind() {
	case reflect.String:
		visit(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Location]() {
			stringsIn(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			stringsIn(v.Field(i), visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			stringsIn(v.Index(i), visit)
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			stringsIn(i.Key(), visit)
			stringsIn(i.Value(), visit)
		}
	}
}

// What a session remembers is digests, words as hashes and the names of tools.
func TestASessionHoldsNoText(t *testing.T) {
	const secret = "sesame"
	for _, c := range []struct {
		name  string
		reply *haltd.Reply
		next  func(call *haltd.Call, r *haltd.Reply) *haltd.Call
	}{
		{"without a history, in text", said("The word is " + secret + ", as I told you before."), func(_ *haltd.Call, r *haltd.Reply) *haltd.Call {
			return userCall("You said: " + r.Text + " Is " + secret + " right?")
		}},
		{"without a history, by a call", ran("unlock", `{"word":"`+secret+`"}`), func(_ *haltd.Call, r *haltd.Reply) *haltd.Call {
			return userCall("Result of unlock: " + secret + " is wrong.")
		}},
		{"with a history", &haltd.Reply{Text: "I try " + secret, Calls: ran("unlock", `{"word":"`+secret+`"}`).Calls}, func(call *haltd.Call, r *haltd.Reply) *haltd.Call {
			next := *call
			next.Rounds = append(next.Rounds, haltd.Round{Text: r.Text, Calls: r.Calls, Results: []haltd.ToolResult{{Text: secret + " is wrong"}}, Inputs: []haltd.Message{{Text: "not " + secret}}})
			return &next
		}},
		{"commands in text", said("```\nunlock " + secret + "\n```"), func(call *haltd.Call, r *haltd.Reply) *haltd.Call {
			next := *call
			next.Rounds = append(next.Rounds, haltd.Round{Text: r.Text, Inputs: []haltd.Message{{Text: secret + " is wrong"}}})
			return &next
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, st := DefaultSettings(), newState()
			call := userCall("Open the door with " + secret + ".")
			for range 6 {
				v := judge(set, st, call, noon)
				answer(set, st, v, call, c.reply, noon)
				call = c.next(call, c.reply)
			}
			stringsIn(reflect.ValueOf(st), func(s string) {
				if strings.Contains(s, secret) {
					t.Errorf("%q is remembered", s)
				}
			})
		})
	}
}

// A client that saves room puts a note in place of old results.
func TestResultsThatTheClientDroppedAreRemembered(t *testing.T) {
	const note = "[removed to save room]"
	dropping := func(k *talk) *talk {
		for i := range max(0, len(k.call.Rounds)-2) {
			k.call.Rounds[i].Results = slices.Clone(k.call.Rounds[i].Results)
			k.call.Rounds[i].Results[0].Text = note
		}
		return k
	}
	t.Run("a loop", func(t *testing.T) {
		k, full := newTalkWith(t, plainSettings(), "Please do the task."), newTalkWith(t, plainSettings(), "Please do the task.")
		for i := range 12 {
			tool, result := topics[i%2], fresh(i%2)
			dropping(k.does(tool, "{}", result))
			full.does(tool, "{}", result)
		}
		if diff := cmp.Diff(full.levels, k.levels); diff != "" {
			t.Errorf("levels with all results, and with old ones dropped (-want +got):\n%s", diff)
		}
	})
	t.Run("a page that is read again", func(t *testing.T) {
		k := newTalkWith(t, plainSettings(), "Please do the task.")
		for i := range 4 {
			dropping(k.does("read", fmt.Sprintf(`{"part":%d}`, i), fresh(i)))
		}
		dropping(k.does("fetch", `{"part":"first"}`, fresh(0)))
		dropping(k.does("fetch", `{"part":"last"}`, fresh(90)))
		all := k.st.Session.all
		if all[4].news > .1 || all[4].resultAgo != 4 {
			t.Errorf("news %v, the result was seen %d rounds ago; want what was read four rounds ago", all[4].news, all[4].resultAgo)
		}
	})
	t.Run("healthy work", func(t *testing.T) {
		k := newTalkWith(t, plainSettings(), "Please do the task.")
		for i := range 40 {
			dropping(k.does("read", fmt.Sprintf(`{"path":"%s%d"}`, topics[i%len(topics)], i), fresh(i)))
		}
		for i, s := range k.st.Session.all {
			if s.resultAgo != 0 {
				t.Fatalf("round %d: two notes are taken for the same result", i)
			}
		}
		if k.highest() != haltd.LevelPass {
			t.Errorf("level %v, want pass\n%s", k.highest(), drawn(k))
		}
	})
}

// Clients that run out of room write a summary in place of the history and go
// on from there.
func TestCompactionDoesNotForget(t *testing.T) {
	const task = "Please find out why the nightly export of the billing service is empty, and repair it."
	summary := task + "\n\nSummary of the work so far: the export was started several times and denied."
	fail := func(k *talk, n int) {
		for range n {
			k.does("run_export", `{"service":"billing"}`, "Error: permission denied for the export")
		}
	}
	failInText := func(k *talk, n int) {
		for range n {
			k.bash("run_export --service billing", "Error: permission denied for the export")
		}
	}
	for _, c := range []struct {
		name    string
		fail    func(k *talk, n int)
		compact func(k *talk)
	}{
		{"the summary is all that is left", fail, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Text: summary}}, nil
			k.judge(nil)
		}},
		{"commands in text", failInText, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Text: summary}}, nil
			k.judge(nil)
		}},
		{"a client says that it goes on, and no word of the task", fail, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Role: haltd.RoleUser, Text: "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nSo far an export was tried."}}, nil
			k.judge(nil)
		}},
		{"a snapshot of the state", fail, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Role: haltd.RoleUser, Text: "<state_snapshot>\n<overall_goal>An export.</overall_goal>\n</state_snapshot>"}}, nil
			k.judge(nil)
		}},
		{"the task, and a turn that sums up", fail, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Text: task}}, nil
			k.judge(&haltd.Round{Text: "So far an export was tried.", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: "Continue if you have next steps"}}})
		}},
		{"the newest rounds stay", fail, func(k *talk) {
			k.reply(*said("The export was started several times and denied."))
			k.call.Opening, k.call.Rounds = []haltd.Message{{Text: summary}}, k.call.Rounds[len(k.call.Rounds)-2:]
			k.judge(nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newTalkWith(t, plainSettings(), task)
			c.fail(k, 4)
			if k.highest() == haltd.LevelKill {
				t.Fatal("killed before anything was compacted")
			}
			c.compact(k)
			c.fail(k, 4)
			if k.killed == nil {
				t.Errorf("eight equal failures, four of them before the compaction, do not kill\n%s", drawn(k))
			}
		})
	}
	t.Run("another task begins from nothing", func(t *testing.T) {
		k := newTalkWith(t, plainSettings(), task)
		fail(k, 4)
		k.reply(*said("I could not repair it."))
		k.call.Opening, k.call.Rounds = []haltd.Message{{Text: "Write a poem about autumn leaves, two verses."}}, nil
		k.judge(nil)
		fail(k, 3)
		if n := len(k.st.Session.past); n != 3 {
			t.Errorf("%d rounds count, want the three of this task", n)
		}
		if k.killed != nil {
			t.Errorf("killed for another task's rounds\n%s", drawn(k))
		}
	})
}

// Sub-agents share a session with the agent that called them; each goes on
// where it was.
func TestConversationsOfOneSessionStayApart(t *testing.T) {
	for _, c := range []struct {
		name     string
		openings []string
	}{
		{"different tasks", []string{"Plan the journey.", "Look up the trains.", "Find a cheap hotel near it."}},
		{"tasks of one form", []string{"Plan the journey.", "Look up all the trains there.", "Look up all the hotels there."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, st := DefaultSettings(), newState()
			calls := make([]*haltd.Call, len(c.openings))
			for n, text := range c.openings {
				calls[n] = userCall(text)
			}
			for i := range 12 {
				for n, call := range calls {
					v := judge(set, st, call, noon)
					if v.Level != haltd.LevelPass {
						t.Fatalf("conversation %d, round %d: %+v", n, i, v.Signals)
					}
					if got := len(st.Session.past); got != i {
						t.Fatalf("conversation %d has %d rounds, want %d", n, got, i)
					}
					answer(set, st, v, call, ran("read", fmt.Sprint(i)), noon)
					r := did("read", fmt.Sprint(i), fresh(100*n+i))
					r.Calls[0].ID = fmt.Sprintf("call_%d_%06d", n, i)
					call.Rounds = append(call.Rounds, r)
				}
			}
		})
	}
}

// Whoever bounds the memory of many sessions goes by their weight.
func TestWeightIsAboutWhatASessionHolds(t *testing.T) {
	const sessions = 40
	held := make([]*Session, sessions)
	before, sum := heapInUse(), 0
	for n := range held {
		cache := NewCache(0) // keeps hardly anything
		st := newState()
		call := &haltd.Call{Opening: []haltd.Message{{Text: fresh(n)}}}
		for i := range 100 {
			call.Rounds = append(call.Rounds, did("read", fmt.Sprint(i), strings.Repeat(fresh(100*n+i), 3)))
		}
		Judge(DefaultSettings(), st, Read(cache, call, nil), noon)
		held[n] = st.Session
		sum += st.Session.Weight()
	}
	took := heapInUse() - before
	runtime.KeepAlive(held)
	if f := float64(took) / float64(8*sum); f > 1.5 || f < .5 {
		t.Errorf("sessions of a weight of %d KB take %d KB, %.2f times as much", 8*sum>>10, took>>10, f)
	}
}

// Some clients send a part of the history again when they resume a session,
// with the very ids of the first time. A loop makes new ids.
func TestWhatWasSentTwiceCountsOnce(t *testing.T) {
	block := func(prefix string, n int) (rounds []haltd.Round) {
		for i := range n {
			r := did("read", fmt.Sprintf(`{"part":%d}`, i), fresh(i))
			r.Calls[0].ID = fmt.Sprint(prefix, i)
			rounds = append(rounds, r)
		}
		rounds[n-1].Inputs = []haltd.Message{{Text: "go on"}}
		return rounds
	}
	same := func(rounds []haltd.Round) []haltd.Round {
		for i := range rounds {
			rounds[i].Calls[0].ID = "call_1"
		}
		return rounds
	}
	first := block("a", 4)
	for _, c := range []struct {
		name   string
		rounds []haltd.Round
		want   int
	}{
		{"once", first, 4},
		{"twice", slices.Concat(first, first), 4},
		{"three times, and going on", slices.Concat(first, first, first, block("b", 3)), 7},
		{"the end of it again", slices.Concat(first, first[2:]), 4},
		{"one round again", slices.Concat(first, first[3:]), 5},
		{"new ids", slices.Concat(first, block("b", 4)), 8},
		{"ids that are not unique", same(slices.Concat(block("a", 4), block("a", 4))), 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := len(SentRounds(&haltd.Call{Rounds: c.rounds})); got != c.want {
				t.Errorf("%d rounds count, want %d", got, c.want)
			}
		})
	}
}
