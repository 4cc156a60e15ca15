package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// A run that is started anew and fails as the last one did is the same act, however
// new its number is.
func TestAHandleThatFailsAgainIsTheSameAct(t *testing.T) {
	lap := func(run int) []haltd.Round {
		return []haltd.Round{
			did("gh", `{"cmd":"workflow run release"}`, fmt.Sprintf("created run %d", run)),
			did("gh", fmt.Sprintf(`{"cmd":"run view %d --log-failed"}`, run), "publish\nError: secret NPM_TOKEN is not set for environment release"),
		}
	}
	var rounds []haltd.Round
	for _, run := range []int{5098, 5106, 5110, 5115} {
		rounds = append(rounds, lap(run)...)
	}
	all := relations("Make the release pipeline green.", rounds...)
	for i, s := range all {
		if want := i >= 3 && i%2 == 1; s.anchor != want {
			t.Errorf("round %d: anchor %v, want %v", i, s.anchor, want)
		}
	}
	if s := all[6]; !s.spins || s.news > 0 {
		t.Errorf("starting it anew: spins %v, news %.2f; want a treadmill", s.spins, s.news)
	}
	// A list that was given at once is gone through.
	rounds = []haltd.Round{did("gh", `{"cmd":"run list"}`, "runs 5098 5106 5110 5115")}
	for _, run := range []int{5098, 5106, 5110, 5115} {
		rounds = append(rounds, lap(run)[1])
	}
	for i, s := range relations("Which runs failed?", rounds...) {
		if i > 1 && s.anchor {
			t.Errorf("round %d of a list is on a treadmill", i)
		}
	}
}

// What is made and taken back leaves nothing; what is fetched and done with is work.
func TestWhatIsTakenBackIsNoWork(t *testing.T) {
	made := func(id string) []haltd.Round {
		return []haltd.Round{
			did("topic.create", `{"name":"events","partitions":12}`, fmt.Sprintf(`{"id":%q,"created":true}`, id)),
			did("topic.delete", fmt.Sprintf(`{"id":%q}`, id), "deleted "+id),
		}
	}
	fetched := func(id string, left int) []haltd.Round {
		return []haltd.Round{
			did("receive", `{"queue":"orders"}`, fmt.Sprintf(`{"order":%q,"left":%d}`, id, left)),
			did("delete", fmt.Sprintf(`{"order":%q}`, id), "deleted "+id),
		}
	}
	var treadmill, queue []haltd.Round
	for i, id := range []string{"d30446", "2ab1a8", "7c6ab0", "e06623", "91c2f7"} {
		treadmill = append(treadmill, made(id)...)
		queue = append(queue, fetched(id, 20-i)...)
	}
	if s := relations("Create a topic.", treadmill...)[9]; !s.anchor || !s.spins || s.wrote {
		t.Errorf("made and taken back: anchor %v, spins %v, wrote %v", s.anchor, s.spins, s.wrote)
	}
	if s := relations("Empty the queue.", queue...)[9]; s.anchor || s.spins {
		t.Errorf("fetched and done with: anchor %v, spins %v", s.anchor, s.spins)
	}
}

// Names that are asked for one after the other are a list, as long as some of them
// are there; where none is, they are guesses.
func TestAListThatIsGoneThroughIsSearched(t *testing.T) {
	probe := func(path, answer string) haltd.Round {
		return did("http_probe", fmt.Sprintf(`{"url":"http://lab.example/%s"}`, path), answer)
	}
	const absent = "HTTP/1.1 404 Not Found\nServer: nginx\n"
	found := relations("Go through the word list.", probe("debug", "HTTP/1.1 200 OK\n<title>Debug</title>"), probe("backup", absent), probe("shell", absent))
	if !found[2].probes {
		t.Error("a list of which something was found is no search")
	}
	vain := relations("Go through the word list.", probe("debug", absent), probe("backup", absent), probe("shell", absent))
	if vain[2].probes {
		t.Error("guesses in vain are a search")
	}
}

// Programs warn before they answer.
func TestWarningsBeforeAnAnswerAreNoFailure(t *testing.T) {
	for text, want := range map[string]outcome{
		"bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)\nTime (mean): 400.8 ms": neutral,
		"npm warn config invalid option\nnpm error code ENOENT\nnpm error no such file":               failed,
		"warning: cannot find it": failed,
	} {
		if got, _ := outcomeOf(text, false); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

// What is left goes down though the same statement is run again.
func TestWhatIsLeftGoesDown(t *testing.T) {
	var rounds []haltd.Round
	for left := 250000; left > 150000; left -= 10000 {
		rounds = append(rounds, did("psql", `{"sql":"UPDATE orders SET currency='EUR' WHERE id IN (SELECT id FROM orders WHERE currency IS NULL LIMIT 10000)","then":"count"}`, fmt.Sprintf("UPDATE 10000\nleft=%d", left)))
	}
	if s := relations("Backfill orders.currency in batches.", rounds...)[9]; s.signs[doneAgain]+s.signs[writtenAgain] > 0 {
		t.Errorf("a batch of a backfill is %v done again, %v written again", s.signs[doneAgain], s.signs[writtenAgain])
	}
}

// The same content in other words, counted, is nothing new.
func TestTheSameNotesAreNoNews(t *testing.T) {
	save := func(text string, notes int) haltd.Round {
		return did("memory.save", fmt.Sprintf(`{"text":%q}`, text), fmt.Sprintf("saved (%d notes)", notes))
	}
	all := relations("Prepare the interview.",
		save("candidate Nakamura, data engineer; interview Tuesday; topics SQL, streaming, teamwork", 7),
		save("interview Tuesday; candidate Nakamura, data engineer; topics SQL, streaming, teamwork", 8),
		save("topics SQL, streaming, teamwork; candidate Nakamura, data engineer; interview Tuesday", 9))
	if all[2].news > 0 {
		t.Errorf("news %.2f, want none", all[2].news)
	}
}

// A page is the same page under another advertisement, and a command's result the
// same after another time.
func TestAdvertsAndTimingsChangeNothing(t *testing.T) {
	for _, c := range [][2]string{
		{"[Ad] Cheap flights from sponsor80.example\n1. A field study\n2. A review", "[Ad] Mattress sale at sponsor53.example\n1. A field study\n2. A review"},
		{"1 problem\n\nreal\t0m5.506s\nuser\t0m1.503s", "1 problem\n\nreal\t0m0.839s\nuser\t0m2.748s"},
		{"1 problem\n\nreal\t0m5.506s\nuser\t0m1.503s", "1 problem"},
		{"worker-7f75b9c2-hmvxk restarted", "worker-6r8prd296-b9bnt restarted"},
	} {
		a, b := did("look", "{}", c[0]), did("look", "{}", c[1])
		if x, y := readRound(&a, true), readRound(&b, true); x.form != y.form {
			t.Errorf("%q and %q are two forms", c[0], c[1])
		}
	}
}
