package detection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// checkout is a long answer, as a screen is, with something at its end.
func checkout(end string) string {
	return "Current url: https://shop.example/checkout\n[12] <input name='street' value='Lindenweg 4'/>\n[14] <input name='city' value='Kiel'/>\n" +
		"[16] <select name='country'>Germany</select>\nPlease confirm that this is your address.\n[23] <button type='submit'>Continue</button>\n[27] <a>Terms of the house</a>\n" + end
}

// A browser agent is shown the first page with its task: the words of the page
// are no task that the harness repeats.
func TestAPageInTheOpeningIsAPlace(t *testing.T) {
	click := func(i int) haltd.Round {
		return did("click", `{"index":23}`, "", checkout(fmt.Sprint("Current step: ", i, "/100")))
	}
	all := relations("Order the blue kettle.\n"+checkout("Current step: 1/100"), click(2), click(3), click(4))
	if s := all[2]; s.place < samePlace || s.placeAgo != 1 || s.signs[repeatPlace] == 0 {
		t.Errorf("place %v of %d rounds ago, sign %v; want the page of before", s.place, s.placeAgo, s.signs[repeatPlace])
	}
	// What the harness says beside the task is the answer.
	task := "Your task: " + strings.Repeat("find the way out of the old house, ", 3) + checkout("")
	all = relations(task, did("go", `{"to":"north"}`, task+"\nYou see a lamp on a table."), did("go", `{"to":"east"}`, task+"\nA cold wind blows through the hall."))
	if s := all[1]; s.place >= samePlace {
		t.Errorf("place %v; want another one, whatever the harness repeats", s.place)
	}
}

func TestAgesAndCountersAreVolatile(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"ages", "web-1 Running 0 11m", "web-1 Running 0 12m", true},
		{"ages of two units", "up for 2h30m", "up for 2h31m", true},
		{"clocks in names", "manual__2026-03-02T09:00:07 queued", "manual__2026-03-02T09:04:51 queued", true},
		{"clocks with underscores", "run-2026-03-02T02_32_22Z failed", "run-2026-03-02T02_32_58Z failed", true},
		{"sequence numbers", `{"seq": 41, "state": "idle"}`, `{"seq": 42, "state": "idle"}`, true},
		{"milliseconds by their name", `{"took_ms": 57, "rows": 3}`, `{"took_ms": 61, "rows": 3}`, true},
		{"numbers of records", `posted, log 00000000000487344392 of the day`, `posted, log 00000000000505065040 of the day`, true},
		{"short ids", `{"agent":"devices","reply":"ask billing","hop":"5a15"}`, `{"agent":"devices","reply":"ask billing","hop":"ab2e"}`, true},
		{"seconds by their name", `{"code":"x","valid_s":15,"of":"payroll"}`, `{"code":"x","valid_s":28,"of":"payroll"}`, true},
		{"speeds", "done, 3358 KB/s", "done, 2756 KB/s", true},
		{"running numbers", "queued (#628); position 100", "queued (#268); position 100", true},
		{"the clock of a device", "result=DENIED t=117816", "result=DENIED t=121007", true},
		{"frames of a game", "pos=(7,5) frame 16548", "pos=(7,5) frame 17120", true},
		{"restarts", "web-1 Running 3 11m", "web-1 Running 4 11m", false},
		{"rows", `{"took_ms": 57, "rows": 3}`, `{"took_ms": 57, "rows": 4}`, false},
		{"models", "the 5mm drill", "the 6mm drill", false},
		{"labelled digests", "screenshot sha256: 9f8a7c6d5e4b", "screenshot sha256: 1a2b3c4d5e6f", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := readRound(ptr(did("x", "", c.a)), true), readRound(ptr(did("x", "", c.b)), true)
			if got := a.result == b.result; got != c.same {
				t.Errorf("%q and %q: same %v, want %v", c.a, c.b, got, c.same)
			}
		})
	}
}

func TestMarksOfOtherScriptsAreMarks(t *testing.T) {
	for _, pair := range [][2]string{{"你好，世界。", "你好 世界"}, {"готово — да…", "готово да"}, {"«sí»", "sí"}} {
		a, b := words(pair[0], nil), words(pair[1], nil)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q has the words %x, %q has %x; want the same", pair[0], a, pair[1], b)
		}
	}
}

func TestNothingFoundInJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{"total":0,"hits":[],"took":57}`: true,
		`{"items":[],"query":"lamps"}`:    true,
		`{"hits":[],"took":57}`:           false, // 57 may be what was found
		`{"hits":[{"id":1}],"total":0}`:   false,
		`{"id":5}`:                        false,
		`{"items":[],"note":"There is nothing of that name in the whole house."}`: true,
		`{"items":[],"next":"b7f3e2"}`:                                            false,
		`{"trains":[],"message":"All trains on this day are sold out.","search_id":"c586a27a-b845-459b-85a3-071b153c710f","t":"2026-05-23T03:35:55.117Z"}`: true,
		`{"id":"l_5521a0","items":[]}`: false, // a list was made
		`{"idGroup":{}}`:               true,
		`{"schema":["total"],"rows":[[null]],"totalBytesProcessed":"88080384","cacheHit":false}`: true,
		`{"columns":["total"],"rows":[["7"]]}`:                                                   false,
		`{"status":"success","data":{"result":[]}}`:                                              true,
		`{"ok":true,"meta":{}}`:                                                                  false,
		`{"errors":{}}`:                                                                          false,
		`{"count":3,"filters":{}}`:                                                               false,
	} {
		if got := saysNothing(text, "search lamps"); got != want {
			t.Errorf("%s says that nothing was found: %v, want %v", text, got, want)
		}
	}
}

func TestShortNegations(t *testing.T) {
	for text, want := range map[string]outcome{
		"No.":                               empty,
		"No, it is in the other room":       empty,
		"Das ist nicht die Lampe.":          empty,
		"これは違います。":                          neutral,
		"Now it works, all 12 of 12.":       neutral,
		"It is the lamp that does not burn": neutral,
	} {
		round := haltd.Round{Text: "Is it the lamp?", Inputs: []haltd.Message{{Role: haltd.RoleUser, Text: text}}}
		if got := readRound(&round, false).outcome; got != want {
			t.Errorf("%q: outcome %d, want %d", text, got, want)
		}
	}
}

func TestCourtesiesOfTwoAgents(t *testing.T) {
	turn := func(text, answer string) haltd.Round {
		return haltd.Round{Text: text, Inputs: []haltd.Message{{Text: answer}}}
	}
	all := relations("Plan the trip together.",
		turn("The train leaves at nine, and the hotel is booked for two nights.", "Thank you, that was great teamwork!"),
		turn("You're welcome! It was a pleasure.", "Thanks again, see you soon."),
		turn("Thank you, take care!", "All the best, goodbye!"))
	if all[0].signs[courtesies] != 0 || all[1].signs[courtesies] == 0 || all[2].signs[courtesies] == 0 {
		t.Errorf("signs of courtesy %v, %v, %v; want none for the plan and one for each of the others", all[0].signs[courtesies], all[1].signs[courtesies], all[2].signs[courtesies])
	}
}

// Ids that a result lists are things to work on, one after another.
func TestListedIDsAreGiven(t *testing.T) {
	ids := []string{"b7f3e2a9d1c4", "c1d8a4f7e2b6", "e9a2c7b5d3f1"}
	rounds := []haltd.Round{did("list", "{}", strings.Join(ids, "\n"))}
	for _, id := range ids {
		rounds = append(rounds, did("delete", fmt.Sprintf(`{"id":%q}`, id), "deleted"))
	}
	rounds = append(rounds, did("delete", `{"id":"f4b8d6a1c9e3"}`, "deleted"))
	all := relations("Delete what is left over.", rounds...)
	for i := 1; i <= len(ids); i++ {
		if !all[i].nextID {
			t.Errorf("round %d is not about an id that was listed", i)
		}
	}
	if last := all[len(all)-1]; last.nextID {
		t.Error("an id that nobody named counts as listed")
	}
}

func TestWhatIsAskedForSoOftenMustNotFail(t *testing.T) {
	press := func(results ...string) (rounds []haltd.Round) {
		for _, r := range results {
			rounds = append(rounds, did("press", `{"key":"down"}`, r))
		}
		return rounds
	}
	if all := relations("Press the key 5 times.", press("ok", "ok", "ok")...); !all[2].asked {
		t.Error("the third of five presses is not what was asked for")
	}
	if all := relations("Press the key 5 times.", press("Error: no device", "Error: no device", "Error: no device")...); all[2].asked {
		t.Error("to fail three times of five is what was asked for")
	}
	if all := relations("Press the key 2 times.", press("ok", "ok", "ok")...); all[2].asked {
		t.Error("the third of two presses is what was asked for")
	}
}

// What changes as much at a time as it may goes on until nothing is left.
func TestAFullBatchIsNoRepetition(t *testing.T) {
	for _, c := range []struct {
		arguments, result string
		want              bool
	}{
		{`{"sql":"DELETE FROM logs WHERE old LIMIT 5000"}`, "DELETE 5000", true},
		{`{"sql":"DELETE FROM logs WHERE old LIMIT 5000"}`, "<returncode>0</returncode>\nDELETE 5000", true},
		{`{"sql":"DELETE FROM logs WHERE old LIMIT 5000"}`, "DELETE 0", false},
		{`{"sql":"UPDATE users SET seen=1 WHERE id=1"}`, "UPDATE 1", false},
		{`{"x":120,"y":340}`, "Clicked at 120, 340", false},
	} {
		batch := did("run", c.arguments, c.result)
		if all := relations("Clean up.", batch, batch, batch); all[2].asked != c.want {
			t.Errorf("%s: %s is work: %v, want %v", c.arguments, c.result, all[2].asked, c.want)
		}
	}
}

// News is none where an answer came before, but for numbers that do not advance.
func TestNewsThatIsNone(t *testing.T) {
	status := func(n int) haltd.Round { return did("status", "{}", fmt.Sprintf("Error: attempt %d was refused", n)) }
	if all := relations("Send it.", status(101), status(57), status(88)); all[2].news != 0 {
		t.Errorf("news %v of the same failure with another number; want none", all[2].news)
	}
}

func TestSketchesOfAlikeLists(t *testing.T) {
	list := func(from, n int) (ws []uint32) {
		for i := range n {
			ws = append(ws, uint32(mix(uint64(from+i)))&^1)
		}
		return ws
	}
	sketched := func(ws []uint32) *sketch { s := sketchOf(ws); return &s }
	if a := list(0, 200); !sketched(a).resembles(sketched(a)) || !sketched(a).resembles(sketched(list(10, 200))) {
		t.Error("lists that share nearly all their words do not resemble each other")
	}
	if sketched(list(0, 200)).resembles(sketched(list(5000, 200))) {
		t.Error("lists without a common word resemble each other")
	}
}

func TestIDsDrawnAtRandomAreNoNews(t *testing.T) {
	read := func(text string) *round {
		f := &round{}
		f.readResult(text, true)
		return f
	}
	a := read("Our systems have seen unusual traffic. Time: 2026-08-05T11:02:55Z Ray 13cc04a31a5c")
	b := read("Our systems have seen unusual traffic. Time: 2026-08-05T11:03:06Z Ray 045bc0e4dd9e")
	if a.result != b.result {
		t.Error("two answers that differ in a clock and an id are two results, want one")
	}
	if fmt.Sprint(a.mentions) != fmt.Sprint(b.mentions) {
		t.Errorf("their names are %x and %x, want the same: an id names nothing", a.mentions, b.mentions)
	}
	if read("13cc04a31a5c").result == read("045bc0e4dd9e").result {
		t.Error("two digests by themselves are one result, want two: nothing else was said")
	}
}

func TestAnAddressNamesAHost(t *testing.T) {
	for text, want := range map[string]class{"10.0.1.12": word, "1.25": number, "1.2.3": number, "1,234,567": number} {
		s := scanner{text: text}
		if s.next(); s.class != want || s.end != len(text) {
			t.Errorf("%s is read as class %d up to %d, want %d", text, s.class, s.end, want)
		}
	}
}

func TestAToolThatOnlyWaitsRests(t *testing.T) {
	for name, want := range map[string]bool{"wait_for_job": true, "browser_wait": true, "sleep": true, "send_and_wait_for_reply": false} {
		if got := nameSays(name)&rests != 0 && namesRest(name); got != want {
			t.Errorf("%s lets time pass: %v, want %v", name, got, want)
		}
	}
}

func TestLabelsBeforeResults(t *testing.T) {
	for text, want := range map[string]string{
		`Observation: {"status": 403}`:                     `{"status": 403}`,
		"[click] Result: Error: your session has expired.": "Error: your session has expired.",
		`Resposta do sistema: {"ok": false}`:               `{"ok": false}`,
		"Error: no such file":                              "Error: no such file",
		"Note: error handling was changed":                 "Note: error handling was changed",
		`{"note": {"a": 1}}`:                               `{"note": {"a": 1}}`,
		"[1, 2]":                                           "[1, 2]",
		"10:30 all is well":                                "10:30 all is well",
	} {
		if got := unlabelled(text); got != want {
			t.Errorf("%q without its label is %q, want %q", text, got, want)
		}
	}
}
