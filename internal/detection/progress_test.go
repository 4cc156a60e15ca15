package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// A range that the task names is walked to its end, whatever refuses; one that it
// does not name is guessed at.
func TestAWalkWithinTheBoundsOfTheTaskIsWork(t *testing.T) {
	probe := func(n int) haltd.Round {
		return did("shell", fmt.Sprintf(`{"command":"nc -zv 10.0.4.%d 5"}`, n), fmt.Sprintf("nc: connect to 10.0.4.%d port 5 failed: Connection refused", n))
	}
	var rounds []haltd.Round
	for n := 1; n <= 9; n++ {
		rounds = append(rounds, probe(n))
	}
	for _, c := range []struct {
		task string
		want bool
	}{
		{"Check that port 5 is closed on 10.0.4.1 … 10.0.4.21.", true},
		{"Check that port 5 is closed on 10.0.4.1 to 10.0.4.7.", false},
		{"Find the host with an open port.", false},
	} {
		if all := relations(c.task, rounds...); all[8].probes != c.want {
			t.Errorf("%s: probes %v, want %v", c.task, all[8].probes, c.want)
		}
	}
}

// What is left goes down, whichever of two commands it was told by.
func TestABisectionGetsOn(t *testing.T) {
	bisect := func(word string, left int) haltd.Round {
		return did("shell", `{"command":"git bisect `+word+`"}`, fmt.Sprintf("Bisecting: %d revisions left to test after this\n%s", left, []string{"Fix a typo", "Pin the image", "Drop a flag"}[left%3]))
	}
	test := did("shell", `{"command":"cargo test parse"}`, "test result: FAILED. 0 passed; 1 failed")
	down := relations("Find the bad commit.", bisect("bad", 64), test, bisect("good", 32), test, bisect("bad", 16), test, bisect("good", 8))
	if !down[6].onward {
		t.Error("revisions left go down, and that is no progress")
	}
	fro := relations("Find the bad commit.", bisect("bad", 64), test, bisect("good", 32), test, bisect("bad", 64), test, bisect("good", 32))
	if fro[6].onward {
		t.Error("revisions left go to and fro, and that is progress")
	}
}

// A higher score than ever is news; one that was there before is none.
func TestAScoreThatRisesIsNews(t *testing.T) {
	move := func(score int) haltd.Round {
		return did("move", `{"direction":"left"}`, fmt.Sprintf(". . . .\n2 . . .\n4 2 . .\nscore %d", score))
	}
	all := relations("Reach a high tile.", move(4), move(8), move(12), move(16), move(12), move(16))
	if all[3].news < .5 {
		t.Errorf("news %v at a new high score", all[3].news)
	}
	if all[5].news >= .5 {
		t.Errorf("news %v at a score that was there before", all[5].news)
	}
}

// Numbers that a task writes out, and long results, count as asked for.
func TestRunsThatTheTaskAsksFor(t *testing.T) {
	run := func(result string) haltd.Round {
		return did("shell", `{"command":"pytest -q tests/test_race.py"}`, result)
	}
	long := "test session starts\nplatform linux, rootdir /srv/quartz, plugins: anyio, xdist, cov, mock, timeout\ncollected one item\ntests/test_race.py passed in a moment"
	var rounds []haltd.Round
	for range 7 {
		rounds = append(rounds, run(long))
	}
	all := relations("Show that it is stable in five runs.", rounds...)
	if !all[4].asked || all[5].asked {
		t.Errorf("asked %v at the fifth run and %v at the sixth", all[4].asked, all[5].asked)
	}
	if all := relations("You have 50 runs at most.", rounds...); all[4].asked {
		t.Error("what may be done at most is asked for")
	}
}

// An advertisement is no news.
func TestAdvertisementsAreNoNews(t *testing.T) {
	page := func(ad string) haltd.Round {
		return did("click", `{"ref":"e20"}`, "Invoices of the house\n"+ad+"\nMay 119.00 button Download\nJune 119.00 button Download\nimprint, privacy, terms, contact")
	}
	a, b := readRound(ptr(page("Ad: Learn piano in 30 days")), true), readRound(ptr(page("Sponsored: cloud backups made simple")), true)
	if a.result != b.result {
		t.Error("pages with other advertisements are told apart")
	}
	c := readRound(ptr(page("Add: 3 items")), true)
	if a.result == c.result {
		t.Error("a line that is no advertisement is left out")
	}
}

// The same request denied in other words is no news.
func TestDeniedInOtherWords(t *testing.T) {
	ask := func(how, answer string) haltd.Round {
		return did("delegate", `{"agent":"docs","task":"`+how+` the signed contract of customer 4411"}`, answer)
	}
	all := relations("Get the signed contract of customer 4411.",
		ask("Find", "I could not find a contract for customer 4411 there."), ask("Get", "There is no contract for customer 4411."),
		ask("Find", "There is no contract there for customer 4411."), ask("Get", "I could not find there a contract."))
	if s := &all[3]; s.signs[useless] == 0 {
		t.Errorf("signs %v; want a repetition", s.signs)
	}
}

// A request that carries its history in one message has rounds like any other:
// what a list names is work.
func TestALooseRoundKnowsWhatItIsAbout(t *testing.T) {
	a := ReadReply(said("Thought: the next one.\nAction: http_head\nAction Input: {\"url\": \"https://brightfield.io/tokenizer/94\"}"), true)
	whole := readRound(&haltd.Round{Text: "Thought: the next one.\nAction: http_head\nAction Input: {\"url\": \"https://brightfield.io/tokenizer/94\"}"}, false)
	if len(a.act.items) == 0 || fmt.Sprint(a.act.items) != fmt.Sprint(whole.items) || a.act.program != whole.program {
		t.Errorf("items %v, program %x; want those of a round in a history, %v and %x", a.act.items, a.act.program, whole.items, whole.program)
	}
}
