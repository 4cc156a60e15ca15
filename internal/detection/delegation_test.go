package detection

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Who gives a task to a worker ends it as well, and a kill would stop the whole team:
// it takes more to kill a worker.
func TestAWorkerOfATeamMayTryLonger(t *testing.T) {
	const (
		task     = "Enumerate the shares of the training server with the accounts that were collected yesterday and report which of them accept a password."
		brief    = "You are an executor.\n\nTask from your planner:\n" + task + "\nStop when you have tried what you can."
		notFound = "bash: smbtool: command not found"
	)
	// try is a round in which something else fails in the same way.
	try := func(k *talk, i int) {
		flags := []string{"--list", "-L", "shares --all", "-N -L", "enum --users", "--depth 2", "-U guest", "session --null", "rid --brute", "--anonymous"}
		k.does("bash", fmt.Sprintf(`{"command":"smbtool %s //srv%d"}`, flags[i%len(flags)], i*7%13), notFound)
	}
	again := func(k *talk, _ int) { k.does("bash", `{"command":"smbtool --list //srv"}`, notFound) }
	// killedAt is the round after which a session is killed; 0 where it is not.
	killedAt := func(k *talk, rounds int, does func(*talk, int)) int {
		for i := range rounds {
			if does(k, i); k.killed != nil {
				return i + 1
			}
		}
		return 0
	}
	begin := func(w *Window, opening string) *talk {
		k := &talk{t: t, now: noon, pause: 2e9, set: DefaultSettings(), st: State{Window: w, Session: &Session{}, SessionID: 2}}
		k.call = haltd.Call{Model: "m", System: 7, Opening: []haltd.Message{{Role: haltd.RoleUser, Text: opening}}}
		k.judge(nil)
		return k
	}
	lead := func(reply *haltd.Reply) *Window {
		k := newTalk(t, "Find out how well the training network is protected.")
		Observe(k.set, k.st, Admit(k.set, k.st, k.last, k.now), Source{}, ReadReply(reply, false), k.now)
		return k.st.Window
	}
	byCall := func() *Window {
		return lead(ran("perform_task", fmt.Sprintf(`{"executor":"shell","task":%q,"budget":20}`, task)))
	}
	byText := func() *Window {
		return lead(said("Thought: the executor should look at the shares.\nCode:\n```py\nanswer = executor(\n    \"" + task + "\"\n)\nprint(answer)\n```"))
	}

	alone := killedAt(begin(&Window{}, brief), 40, try)
	if alone == 0 || alone > 16 {
		t.Fatalf("who tries alone is killed after round %d, want one up to 16: else this test says nothing", alone)
	}
	for name, w := range map[string]*Window{"a call": byCall(), "code in a text": byText()} {
		k := begin(w, brief)
		at := killedAt(k, 60, try)
		if least := alone + BoundedRounds - 2; at < least || at > 40 {
			t.Errorf("a worker that was given its task in %s is killed after round %d, want one from %d to 40\n%s", name, at, least, drawn(k))
		}
	}
	// Who begins the same task once more is no worker of the session that went on with it.
	before := byCall()
	before.Attach(before.Add(Prompt{Hash: 1}, 20, noon), ReadReply(said("Done."), false), noon)
	if at := killedAt(begin(before, brief), 40, try); at != alone {
		t.Errorf("a session that begins with what another did is killed after round %d, want %d, as if it were alone", at, alone)
	}
	if at := killedAt(begin(byCall(), "You are an executor. Translate the manual of the coffee machine into Dutch, section by section."), 40, try); at != alone {
		t.Errorf("a session with another task is killed after round %d, want %d, as if it were alone", at, alone)
	}
	if at, alone := killedAt(begin(byCall(), brief), 40, again), killedAt(begin(&Window{}, brief), 40, again); at < alone+BoundedRounds-1 || at > alone+BoundedRounds {
		t.Errorf("a worker that does the same again is killed after round %d, want %d rounds after the one of any other, %d", at, BoundedRounds-1, alone)
	}
}

// Who has one worker after the other try the same gets nowhere, in whatever words they say
// that they failed, and the time that they took is no patience.
func TestWorkersThatFailInOtherWords(t *testing.T) {
	const soon = 12
	oneOf := func(i, n int, of ...string) string { return of[(i*n+i*i/3)%len(of)] }
	k := newTalk(t, "Get all of it to run.")
	k.st.SessionID = 1
	for i := range soon {
		task := fmt.Sprintf("%s, make the integration tests of parcel pass in the repository. %s", oneOf(i, 1, "As a careful engineer", "As a debugger", "With all care"), oneOf(i, 5, "Return a short summary.", "Be thorough.", "Try every option."))
		r := did("task", fmt.Sprintf(`{"prompt":%q}`, task), fmt.Sprintf("%s. %s `connect ECONNREFUSED 10.0.0.7:5432`. %s.", oneOf(i, 3, "I could not finish", "It was not possible to complete this", "No success here", "I have to give up"),
			oneOf(i, 7, "The cause is", "Blocked by", "The command says"), oneOf(i, 11, "No change was made", "This needs access from outside", "Credentials and network are to be checked", "Nothing else was tried")))
		r.Calls[0].ID = fmt.Sprint("call_", i)
		r.Results[0].CallID = r.Calls[0].ID
		k.reply(haltd.Reply{Calls: r.Calls, Complete: true})
		w := &talk{t: t, now: k.now, pause: 20 * time.Second, set: k.set, st: State{Window: k.st.Window, Session: &Session{}, SessionID: uint64(i + 2)}}
		w.call = haltd.Call{Model: "m", System: 9, Opening: []haltd.Message{{Role: haltd.RoleUser, Text: "You are a sub-agent. " + task}}}
		w.judge(nil)
		w.does("bash", `{"command":"pnpm e2e"}`, "Exit code 1\nError: connect ECONNREFUSED 10.0.0.7:5432")
		w.reply(haltd.Reply{Text: "I give up.", Complete: true})
		k.now = w.now
		k.judge(&r)
	}
	if k.highest() != haltd.LevelKill {
		t.Errorf("it is not killed within %d tasks: %v\n%s", soon, k.levels, drawn(k))
	}
}

// What a reply asks for are words of its calls' arguments, without escapes that stick
// to them, or of the last line of a command that says something.
func TestWhatAReplyAsksFor(t *testing.T) {
	const task = "collect yesterday's invoices and compare totals against ledgers"
	want := taskOf(task)
	if len(want) < leastAsked {
		t.Fatalf("of %q there are %d words", task, len(want))
	}
	for name, reply := range map[string]*haltd.Reply{
		"a call":       ran("work", `{"task":"`+task+`"}`),
		"escapes":      ran("work", `{"task":"collect\nyesterday's\tinvoices and compare totals against ledgers\n"}`),
		"a brace":      ran("work", `{"kind":"a \"task\"", "task":"`+task+` {\"x\"}"}`),
		"several":      {Calls: []haltd.ToolCall{{Name: "note", Arguments: `{}`}, {Name: "work", Arguments: `{"task":"` + task + `"}`}}},
		"a text":       said("I begin.\n\n" + task + "\nrun()\n"),
		"another case": ran("work", `{"task":"Collect Yesterday's INVOICES and compare totals against ledgers"}`),
	} {
		got := tasksOf(reply, len(reply.Calls) == 0)
		if len(got) != 1 || !got[0].isIn(words("Please "+task+" {x} soon", nil)) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	two := tasksOf(&haltd.Reply{Calls: []haltd.ToolCall{{Name: "work", Arguments: `{"task":"` + task + `"}`}, {Name: "work", Arguments: `{"task":"count the bottles behind the bar"}`}}}, false)
	if len(two) != 2 || two[1].isIn(want) {
		t.Errorf("of two calls: %v, want two tasks", two)
	}
	for name, reply := range map[string]*haltd.Reply{"a short order": ran("read", `{"path":"main.go"}`), "nothing": {}, "words alone": said(task)} {
		if got := tasksOf(reply, false); got != nil {
			t.Errorf("%s: %v, want nothing", name, got)
		}
	}
}
