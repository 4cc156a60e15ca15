package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// A cycle around a call that fails alike brings nothing, whatever numbers differ
// in the calls between.
func TestACycleAroundAFailureIsNoProgress(t *testing.T) {
	bash := func(command, result string) haltd.Round {
		return did("Bash", fmt.Sprintf(`{"command":%q}`, command), result)
	}
	var rounds []haltd.Round
	for i := range 4 {
		pid := 48213 + 977*i*i
		rounds = append(rounds,
			bash("npm start", "Error: listen EADDRINUSE: address already in use :::3000"),
			bash("lsof -ti :3000", fmt.Sprint("node ", pid, " LISTEN")),
			bash(fmt.Sprint("kill -9 ", pid), ""))
	}
	all := relations("Start the server.", rounds...)
	if s := all[4]; s.spins {
		t.Error("it spins before the second lap is complete")
	}
	for _, i := range []int{8, 9, 10, 11} {
		if s := all[i]; !s.spins || s.news != 0 || s.signs[useless] == 0 {
			t.Errorf("round %d spins: %v, with %v news, useless %v; want no progress", i, s.spins, s.news, s.signs[useless])
		}
	}
	for i := range rounds { // the same, but the call works
		if i%3 == 0 {
			rounds[i].Results[0].Text = fmt.Sprint("Server listening, worker ", 7*i)
		}
	}
	if s := relations("Start the server.", rounds...)[11]; s.spins {
		t.Error("it spins though no call failed")
	}
}

// A cursor that leads to the same page is no step of a walk.
func TestAPageThatLeadsToItself(t *testing.T) {
	page := func(cursor, next string, names ...string) haltd.Round {
		list := ""
		for i, n := range names {
			list += fmt.Sprintf(`{"id":%d,"title":%q},`, 9100+i, n)
		}
		return did("list_tickets", fmt.Sprintf(`{"limit":10,"cursor":%q}`, cursor), `{"items":[`+list+`],"next":"`+next+`"}`)
	}
	names := []string{"encode queue", "reset ledger", "check session", "parse canvas", "fetch archive", "merge review", "validate report"}
	same := []haltd.Round{page("8ddf37834d", "35b42762ec", names...), page("35b42762ec", "34e54705ad", names...), page("34e54705ad", "8aeaa3f1c5", names...)}
	if s := relations("Collect all tickets.", same...)[2]; s.given || !s.spins {
		t.Errorf("the same page again is given: %v, spins: %v; want no progress", s.given, s.spins)
	}
	same[2] = page("34e54705ad", "8aeaa3f1c5", "print badge", "rotate key", "close gate", "paint fence", "count sheep", "mow lawn", "wash car")
	if s := relations("Collect all tickets.", same...)[2]; s.spins {
		t.Error("another page is no progress, want it to be")
	}
}

// An edit that hardly differs from the one before mends nothing.
func TestCosmeticEditsAreNoAttempts(t *testing.T) {
	const failure = "E assert 44 == 80\nFAILED test_core.py::test_sum - assert 44 == 80"
	edits := func(text func(i int) string) relation {
		var rounds []haltd.Round
		for i := range 8 {
			rounds = append(rounds, did("bash", fmt.Sprintf(`{"command":%q}`, text(i)), ""), did("bash", `{"command":"pytest -q test_core.py"}`, failure))
		}
		return relations("Make it pass.", rounds...)[15]
	}
	words := []string{"tenant", "float(tenant)", "round(tenant)", "int(tenant)", "abs(tenant)", "(tenant)", "max(tenant)", "min(tenant)"}
	if s := edits(func(i int) string {
		return "sed -i '86s/.*/    return the total price of this order for one customer " + words[i] + "/' src/pricing.py"
	}); s.amid {
		t.Error("the test failed after an attempt, want a mere variation to be none")
	}
	if s := edits(func(i int) string { return "cat > src/" + fresh(i) + ".py <<< '" + fresh(i+20) + "'" }); !s.amid {
		t.Error("the test failed after no attempt, though each edit was another")
	}
}

// A lesson repeats its phrases and not its numbers.
func TestALessonIsNoChatter(t *testing.T) {
	lesson := func(question func(i int) string, answer func(i int) string) relation {
		var rounds []haltd.Round
		for i := range 8 {
			rounds = append(rounds, haltd.Round{Text: question(i), Inputs: []haltd.Message{{Text: answer(i)}}})
		}
		return relations("Practise with me.", rounds...)[7]
	}
	ask := func(i int) string { return fmt.Sprintf("Very good! Now %d × %d?", 3+i, 9-i) }
	if s := lesson(ask, func(i int) string { return fmt.Sprint((3 + i) * (9 - i)) }); !s.drills || s.signs[saidAgain] > 0 {
		t.Errorf("a lesson: drills %v, said again %v; want a next question", s.drills, s.signs[saidAgain])
	}
	if s := lesson(func(int) string { return "Not quite, try again: what is 8 × 6?" }, func(int) string { return "46" }); s.drills {
		t.Error("the same question for ever passes for a lesson")
	}
}
