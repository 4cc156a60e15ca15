package detection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// page is a web page with a clock and a counter of visitors.
func page(title string, clock, visitors int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. It is %02d:%02d:09. You are visitor %d today.\n", title, clock/60, clock%60, visitors)
	for i := range 12 {
		fmt.Fprintf(&b, "%s offers %s with %s\n", title, topics[(i*5+len(title))%len(topics)], topics[(i*3+len(title)*7)%len(topics)])
	}
	return b.String()
}

func TestAPageWithAClockAndACounterIsTheSamePlace(t *testing.T) {
	all := relations("Buy a lamp.",
		did("open", `{"url":"/shop"}`, page("Shop", 601, 412)),
		did("open", `{"url":"/help"}`, page("Helpdesk", 602, 77)),
		did("open", `{"url":"/shop"}`, page("Shop", 603, 430)),
	)
	if s := all[1]; s.place >= samePlace {
		t.Errorf("another page is the same place: %v", s.place)
	}
	s := all[2]
	if s.place < samePlace || s.placeAgo != 2 || !s.repeats() {
		t.Errorf("place %v, %d rounds ago, repeats %v; want the page of two rounds ago", s.place, s.placeAgo, s.repeats())
	}
}

func TestHitsInAnotherOrderAreTheSamePlace(t *testing.T) {
	hits := make([]string, 10)
	for i := range hits {
		hits[i] = fmt.Sprintf("%s and %s: about %s", topics[3*i], topics[3*i+1], topics[3*i+2])
	}
	other := slices.Clone(hits)
	slices.Reverse(other)
	all := relations("Find the owner.",
		did("search", `{"query":"owner"}`, strings.Join(hits, "\n")),
		did("search", `{"query":"owner"}`, strings.Join(other, "\n")),
		did("search", `{"query":"proprietor"}`, strings.Join(hits[5:], "\n")+"\n"+strings.Join(hits[:5], "\n")),
	)
	if s := all[1]; s.place < samePlace || s.pairAgo != 0 || !s.repeats() {
		t.Errorf("place %v, repeats %v; want the same search again", s.place, s.repeats())
	}
	if s := all[2]; s.place < samePlace || s.repeats() || s.signs[sameVaried] == 0 {
		t.Errorf("place %v, sign %v; want another search that led to the same place", s.place, s.signs[sameVaried])
	}
}

// Who writes ten files is told ten times that they were written.
func TestEqualAcknowledgementsOfDifferentPayloadsAreNoRepetition(t *testing.T) {
	var rounds []haltd.Round
	for i := range 10 {
		rounds = append(rounds, did("write_file", fmt.Sprintf(`{"path":"src/%s.go","text":%q}`, topics[i], fresh(i)+"\n"+fresh(i+50)), "File written."))
	}
	for i, s := range relations("Write the module.", rounds...) {
		if s.repeats() || s.family() != "" || s.signs[useless] > 0 || !s.wrote {
			t.Errorf("file %d: repeats %v, family %q, useless %v, wrote %v; want something written", i, s.repeats(), s.family(), s.signs[useless], s.wrote)
		}
	}
}

func TestTheSamePayloadAcknowledgedAgainIsRepetition(t *testing.T) {
	payload := fmt.Sprintf(`{"path":"src/a.go","text":%q}`, fresh(1)+"\n"+fresh(2))
	s := relations("Write the module.", did("write_file", payload, "File written."), did("write_file", payload, "File written."))[1]
	if !s.repeats() || s.wrote || s.signs[writtenAgain] == 0 {
		t.Errorf("repeats %v, wrote %v, sign %v; want the same content written again", s.repeats(), s.wrote, s.signs[writtenAgain])
	}
}

// The steps of a walk over numbers or dates are work, whatever they find.
func TestAWalkOverNumbersIsWork(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(i int) string
		walk bool
	}{
		{"upwards", func(i int) string { return fmt.Sprintf(`{"id":%d}`, 100+i) }, true},
		{"downwards in steps", func(i int) string { return fmt.Sprintf(`{"id":%d}`, 900-25*i) }, true},
		{"numbers that end a word", func(i int) string { return fmt.Sprintf(`{"box":"B%03d"}`, 12+i) }, true},
		{"host by host", func(i int) string { return fmt.Sprintf(`{"command":"nmap -p22 10.113.91.%d"}`, 8+i) }, true},
		{"day by day", func(i int) string { return fmt.Sprintf(`{"day":"2026-02-%02d"}`, 1+i) }, true},
		{"to and fro", func(i int) string { return fmt.Sprintf(`{"id":%d}`, 100+[]int{0, 9, 3, 7, 1, 8, 2, 6}[i%8]) }, false},
		{"on the spot", func(int) string { return `{"id":100}` }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rounds []haltd.Round
			for i := range 8 {
				rounds = append(rounds, did("get_invoice", c.at(i), "The invoice is paid, and nothing is open on this account."))
			}
			all := relations("Check the invoices.", rounds...)
			for i, s := range all[3:] {
				if s.walk != c.walk {
					t.Errorf("step %d: walk %v, want %v", i+3, s.walk, c.walk)
				}
				if c.walk && (s.family() != "" || s.signs[idle] > 0 || s.signs[useless] > 0) {
					t.Errorf("step %d: family %q, idle %v, useless %v; want work", i+3, s.family(), s.signs[idle], s.signs[useless])
				}
			}
		})
	}
}

// Who probes one number after the other learns something where there is nothing,
// too; who guesses does not.
func TestProbingInEqualStepsIsWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     func(i int) int
		answer string
		work   bool
	}{
		{"one after the other", func(i int) int { return 3317 + i }, `{"error":"not_found"}`, true},
		{"in threes", func(i int) int { return 7080 + 3*i }, "не найдено", true},
		{"guesses", func(i int) int { return 34441 + i*i*7 }, `{"error":"not_found"}`, false},
		{"attempts that are refused", func(i int) int { return i }, "Error: connection refused", false},
		{"one thing that is missing each time", func(i int) int { return i }, `{"error":"not_found","name":"assets/main-index.db"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rounds []haltd.Round
			for i := range 9 {
				rounds = append(rounds, did("get_asset", fmt.Sprintf(`{"id":%d,"from":"assets/main-index.db"}`, c.at(i)), c.answer))
			}
			all := relations("Which assets are there?", rounds...)
			for i, s := range all[4:] {
				if work := s.signs[failWork] > 0; work != c.work {
					t.Errorf("step %d is work: %v, want %v", i+4, work, c.work)
				}
			}
		})
	}
}

// Page after page that is the same long page is no walk.
func TestTheSamePageAgainIsNoWalk(t *testing.T) {
	var rounds []haltd.Round
	for i := range 6 {
		rounds = append(rounds, did("list_stock", fmt.Sprintf(`{"offset":%d}`, 11*i), prose(600, 5)))
	}
	for i, s := range relations("List the stock.", rounds...)[1:] {
		if s.walk || s.signs[useless] == 0 {
			t.Errorf("page %d: walk %v, useless %v", i+1, s.walk, s.signs[useless])
		}
	}
}

// The next of the things that the task or a result has named is work, too.
func TestAListIsWork(t *testing.T) {
	names := topics[:12]
	rounds := []haltd.Round{did("list", "{}", strings.Join(names, "\n"))}
	for _, n := range names {
		rounds = append(rounds, did("check", fmt.Sprintf(`{"name":%q}`, n), "This entry is complete."))
	}
	for i, s := range relations("Check what the list names by their name.", rounds...)[2:] {
		if !s.given || s.family() != "" || s.signs[sameWork] == 0 || s.signs[idle] > 0 {
			t.Errorf("entry %d: given %v, family %q, work %v, idle %v; want work", i+1, s.given, s.family(), s.signs[sameWork], s.signs[idle])
		}
	}
	rounds = nil
	for _, n := range names {
		rounds = append(rounds, did("check", fmt.Sprintf(`{"name":%q}`, n), "Error: there is no entry of that kind in the list."))
	}
	if s := relations("Find the entry.", rounds...)[11]; s.given || s.family() != haltd.FamilyFutile {
		t.Errorf("a guess: given %v, family %q; want it futile", s.given, s.family())
	}
}

func TestNewsIsWhatWasNotSeenBefore(t *testing.T) {
	all := relations("Read the notes.",
		did("read", `{"part":1}`, fresh(1)),
		did("read", `{"part":2}`, fresh(2)),
		did("find", `{"part":3}`, fresh(1)),
	)
	if all[0].news < .5 || all[1].news < .5 {
		t.Errorf("news %v and %v, want them new", all[0].news, all[1].news)
	}
	if all[2].news > .1 {
		t.Errorf("news %v of a text that was read before, want none", all[2].news)
	}
}

func TestACycleIsCounted(t *testing.T) {
	var rounds []haltd.Round
	for i := range 12 {
		rounds = append(rounds, did(topics[i%3], "{}", "the answer of "+topics[i%3]+" is always the same"))
	}
	last := relations("Go round.", rounds...)[11]
	if last.lap.of != 3 || last.lap.runs != 9 {
		t.Errorf("a cycle of %d, for %d rounds; want 3, for 9", last.lap.of, last.lap.runs)
	}
}

// Both counts of a window are of the rounds since a person last spoke.
func TestAPersonBeginsAnew(t *testing.T) {
	all := relations("Deploy it.",
		did("deploy", "{}", "Error: the server is restarting"),
		did("deploy", "{}", "Error: the server is restarting", "Wait for the maintenance to end, then use the blue cluster."),
		did("deploy", "{}", "Error: the server is restarting"),
	)
	if !all[1].human {
		t.Fatal("a person's word was not heard")
	}
	if all[2].pairAgo != 0 {
		t.Errorf("what was before the person spoke counts: %d rounds ago", all[2].pairAgo)
	}
}

func TestAHarnessIsNoPerson(t *testing.T) {
	for _, c := range []struct {
		name  string
		input func(i int) string
	}{
		{"numbers differ", func(i int) string { return fmt.Sprintf("You have used %d of 40 steps and %d tokens.", i, 5000+311*i) }},
		{"clocks differ", func(i int) string { return fmt.Sprintf("The time is now 2026-02-03T10:%02d:00Z, please go on.", i) }},
		{"a tag, whatever it says", func(i int) string { return "<system-reminder>" + fresh(i) + "</system-reminder>" }},
		{"the same words", func(int) string { return "Please continue with the next step." }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rounds []haltd.Round
			for i := range 8 {
				rounds = append(rounds, did("read", `{"path":"x"}`, "Error: permission denied", c.input(i)))
			}
			for i, s := range relations("Read the file.", rounds...) {
				if s.human {
					t.Errorf("after round %d a person is heard", i)
				}
			}
		})
	}
}

// Two people of a list may share each of their names with others on it.
func TestNamesOfKnownWordsAreGiven(t *testing.T) {
	var rounds []haltd.Round
	people := []string{"Anna Berg", "Otto Lind", "Anna Lind", "Otto Berg"}
	for _, p := range people {
		rounds = append(rounds, did("lookup_member", `{"name":"`+p+`"}`, `{"results":[],"total":0}`))
	}
	for i, s := range relations("Who of these is a member?\nAnna Berg\nOtto Lind\nAnna Lind\nOtto Berg", rounds...) {
		if i > 0 && !s.given || !s.aimed { // the first one names the tool, too
			t.Errorf("%s: given %v, aimed %v; want the next of the list", people[i], s.given, s.aimed)
		}
	}
	rounds = append(rounds, did("lookup_member", `{"name":"Berg Anna"}`, `{"results":[],"total":0}`))
	if s := relations("Who of these is a member?\nAnna Berg\nOtto Lind\nAnna Lind\nOtto Berg", rounds...)[4]; s.given {
		t.Error("a name that nobody gave counts as given")
	}
}

func TestNumbersThatGoToAndFroAreNoNews(t *testing.T) {
	status := func(pid, done int) haltd.Round {
		return did("read_entry", `{"name":"ledger","view":"short"}`,
			fmt.Sprintf("entry ledger of the second quarter, checked by the team in the north office twice, worker %d, done so far %d of all the rows that are open", pid, done))
	}
	fro := relations("Read the entry.", status(310, 7), status(900, 7), status(120, 7), status(800, 7))
	if last := fro[3]; last.news > .1 {
		t.Errorf("news %.2f of a number that goes to and fro, want hardly any", last.news)
	}
	on := relations("Read the entry.", status(5, 10), status(5, 20), status(5, 30), status(5, 40))
	if last := on[3]; last.news <= fro[3].news {
		t.Errorf("news %.2f of a number that goes on, want more than %.2f", last.news, fro[3].news)
	}
}

// What lies between two refusals does not take them back; writing does.
func TestRefusalsAreCountedAcrossOtherWork(t *testing.T) {
	run := func(between func(i int) haltd.Round) float32 {
		var rounds []haltd.Round
		for i := range 8 {
			rounds = append(rounds, between(i), did("submit_report", `{"note":"done"}`, "Error: the signature is missing"))
		}
		all := relations("Hand in the report.", rounds...)
		return all[len(all)-1].refusals
	}
	reads := run(func(i int) haltd.Round { return did("read_page", fmt.Sprintf(`{"page":"p%d"}`, i), fresh(i)) })
	writes := run(func(i int) haltd.Round {
		return did("edit_file", fmt.Sprintf(`{"path":"f.md","old":"%s","new":"%s"}`, fresh(i)[:20], fresh(i + 50)[:20]), "ok")
	})
	if reads != 7 || writes >= reads {
		t.Errorf("%.1f refusals with reading in between and %.1f with writing; want 7 and fewer", reads, writes)
	}
}
