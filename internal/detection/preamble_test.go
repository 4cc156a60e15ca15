package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// What a client writes before every answer, its counters and times, is none of the
// answer; the exit code is.
func TestPreambleIsLeftOut(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"Call ID: 245e64\nWall time: 10.362 seconds\nTokens used so far: 16973\nOutput:\nThank you, goodbye!", "Thank you, goodbye!"},
		{"exit_code: 2\nwall_time: 3.3s\noutput:\nno rule to make target", "no rule to make target\nexit code: 2"},
		{"Result of Bash:\n(2026-05-15 00:38:36)\nExit code: 1\nWall time: 1.2 seconds\nOutput:\n", "exit code: 1"},
		{"name: billing\nport: 8080\nowner: team-a", "name: billing\nport: 8080\nowner: team-a"},
		{"Output:\nall there is", "Output:\nall there is"},
	} {
		if got := withoutPreamble(tc.text); got != tc.want {
			t.Errorf("%q is read as %q, want %q", tc.text, got, tc.want)
		}
	}
}

// A cursor that leads to other numbers is followed; one that leads to the same page
// goes nowhere.
func TestCursorsAreFollowed(t *testing.T) {
	cursors := []string{"32bd77681b45", "845782890adc", "d16faad04aec", "9c048a0941ac", "8156478e43fa", "2fe7852cee3a"}
	page := func(i, sum, mrr int) haltd.Round {
		return did("api", fmt.Sprintf(`{"method":"GET","path":"/v1/subscriptions","query":{"limit":100,"cursor":%q}}`, cursors[i]),
			fmt.Sprintf(`{"data":[{"id":"a%sf","mrr":%d},{"id":"7c17b9"},"98 more"],"next_cursor":%q,"page_sum":%d,"plan":"team","region":"north","currency":"euro","owner":"billing"}`, cursors[i][:6], mrr, cursors[i+1], sum))
	}
	var on, same []haltd.Round
	for i := range len(cursors) - 1 {
		on = append(on, page(i, 1092+317*i, 511+41*i))
		same = append(same, page(i, 1092, 511))
	}
	if s := relations("Sum the revenue.", on...)[4]; s.spins || !s.given {
		t.Errorf("pages with other numbers: spins %v, given %v", s.spins, s.given)
	}
	if s := relations("Sum the revenue.", same...)[4]; !s.spins {
		t.Error("one page under ever new cursors is followed")
	}
}

// A test that failed and passes after an edit is what the edit was for, though every
// word of it was seen before; one that goes on failing is not.
func TestMendedIsProgress(t *testing.T) {
	test := func(result string) haltd.Round { return did("shell", `{"command":"make test"}`, result) }
	edit := func(n int) haltd.Round {
		return did("write_file", fmt.Sprintf(`{"path":"a.py","text":"def total(rows):\n    return sum(rows) + %d\n"}`, n), "")
	}
	const fails = "collected 3 items\ntest_total FAILED\ntest_rows PASSED\ntest_empty PASSED\nError: 1 failed, 2 passed"
	const passes = "collected 3 items\ntest_total PASSED\ntest_rows PASSED\ntest_empty PASSED\nall passed"
	s := relations("Make the tests pass: all passed, no items failed.", test(fails), edit(1), test(fails), edit(2), test(passes))
	if s[4].news < .5 {
		t.Errorf("tests that pass at last bring %.2f news", s[4].news)
	}
	if s[2].news > 0 {
		t.Errorf("tests that fail as before bring %.2f news", s[2].news)
	}
}

// What software writes between two rounds with a label before it is no person.
func TestLabelledNoticesAreNoPerson(t *testing.T) {
	for text, want := range map[string]bool{
		"System: 120k tokens left in this session.":         true,
		"[notice] model latency is elevated, expect delays": true,
		"[Harness] context 84% used":                        true,
		"<system-reminder>Step 19.</system-reminder>":       true,
		"Hinweis: noch 12 Schritte":                         true,
		"Please also check the second bucket.":              false,
		"One thing: leave the tests alone.":                 false,
		"[x] done, go on with the next":                     false,
	} {
		if got := tagged([]haltd.Message{{Role: haltd.RoleUser, Text: text}}); got != want {
			t.Errorf("%q was written by software: %v, want %v", text, got, want)
		}
	}
}

// The end of a turn that is refused in the same words is refused, whatever the turn
// begins with.
func TestEndsOfTurnsAreRefused(t *testing.T) {
	const hook = "The hook says: tests are missing. You may not stop yet."
	var rounds []haltd.Round
	for i, begin := range []string{"Done,", "Finished:", "All set,", "Ready,", "Complete,", "Good,", "Perfect,", "Fine,"} {
		rounds = append(rounds,
			did("read_file", fmt.Sprintf(`{"path":"src/part%c.go"}`, 'a'+i), fmt.Sprintf("package part%c\n\nfunc Run%c() error { return open%c() }", 'a'+i, 'a'+i, 'a'+i)),
			haltd.Round{Text: begin + " the work is finished.", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: hook}}})
	}
	all := relations("Tidy up.", rounds...)
	if s := all[len(all)-1]; s.refusals < insists-1 {
		t.Errorf("%.0f refusals of 8 turns", s.refusals)
	}
}

// "Try again" asks for another answer; "try again later" to wait.
func TestTryAgainIsNoWait(t *testing.T) {
	for text, want := range map[string]bool{
		"Incorrect. Please try again.":                false,
		"Falsch. Bitte erneut versuchen.":             false,
		"Service busy, try again in 30 seconds.":      true,
		"Error 5: please try again later":             true,
		"Erreur: réessayez plus tard":                 true,
		"Ошибка сервера, пожалуйста, повторите позже": true,
	} {
		r := did("submit", `{"answer":"Lyon"}`, text)
		if got := readRound(&r, true).waiting; got != want {
			t.Errorf("%q waits: %v, want %v", text, got, want)
		}
	}
}

// Where every result has a label, new words without one are a person's; words that come
// again are a harness's.
func TestWordsWithoutALabelArePersons(t *testing.T) {
	play := func(asks func(i int) string) *talk {
		k := newTalk(t, fresh(90))
		k.pause = 0
		for i := range 24 {
			k.says("Action: recall\nAction Input: {}", "Observation: "+fresh(91)+". "+fresh(92)+".")
			k.says(fmt.Sprintf("Good day, Ada! %d euros.", 20+i*37%90), asks(i))
		}
		return k
	}
	if k := play(func(i int) string { return "How much is the " + topics[i%len(topics)] + "?" }); k.highest() != haltd.LevelPass {
		t.Errorf("a person who asks new things is taken for repetition\n%s", drawn(k))
	}
	if k := play(func(int) string { return "That is not in the format that was asked for. Use Action and Action Input." }); k.highest() != haltd.LevelKill {
		t.Errorf("a harness that refuses each answer is taken for a person\n%s", drawn(k))
	}
}

// One signal alone, of calls of other sessions, warns of no session that has just begun.
func TestAnswersOfOthersAloneWarnOfNothing(t *testing.T) {
	var w Window
	set := DefaultSettings()
	var v Detection
	for i := range 16 {
		st := State{Window: &w, Session: &Session{}, SessionID: uint64(i + 1)}
		call := &haltd.Call{Opening: []haltd.Message{{Text: fresh(i)}}, Rounds: []haltd.Round{did("open_file", fmt.Sprintf(`{"path":"%s.py"}`, topics[i%len(topics)]), "[observation not recorded]")}}
		v = judge(set, st, call, noon)
		answer(set, st, v, call, said(fresh(i+40)), noon)
	}
	if v.Level != haltd.LevelPass || v.Parts.Score() <= set.Threshold {
		t.Errorf("level %v at score %v and certainty %v, %q; want the score alone", v.Level, v.Parts.Score(), v.Certainty, v.Unmet)
	}
}
