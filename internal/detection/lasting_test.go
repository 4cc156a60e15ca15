package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// What changes on the surface, and stays what it is; and what stays what it is on the
// surface, and is another thing each time.
func TestWhatLiesUnderTheSurface(t *testing.T) {
	const rounds = 40
	name := func(n int) string { return topics[n%len(topics)] + "_" + topics[(n*7+3)%len(topics)] }
	stuck := map[string]func(k *talk, i int){
		"tests that cannot reach their database, whatever is edited": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("Edit", fmt.Sprintf(`{"file_path":"src/catalog.py","old_string":"def %s(value):","new_string":"def %s(value):\n    # %s\n    return %s(value)"}`, name(i), name(i), fresh(i), name(i+1)), "The file src/catalog.py has been updated.")
				return
			}
			k.pause = time.Duration(6+i%5) * time.Second
			k.does("Bash", []string{`{"command":"pytest tests/test_catalog.py -x -q"}`, `{"command":"python -m pytest tests/test_catalog.py"}`}[i/2%2], "Exit code 1\n=== ERRORS ===\n___ ERROR at setup of test_catalog_region ___\ntests/conftest.py:19: in db\n    conn = connect(settings.URL)\nE   psycopg.OperationalError: connection failed: connection to server at \"127.0.0.1\", port 5432 failed: Connection refused\nERROR tests/test_catalog.py::test_catalog_region")
		},
		"a page that has ended, and shows advertisements": func(k *talk, i int) {
			ad := []string{"Ad: Hearing aids, local clinic near you", "Sponsored: Learn Python in 30 days", "Sponsored: Nordic treadmills, free delivery", "Ad: Airlines from $59 one way", "Ad: Save on car insurance with Otto", "Sponsored: Try Quill Notes"}[i*i*7%11%6]
			k.does("computer", fmt.Sprintf(`{"action":"scroll","coordinate":[%d,%d],"scroll_direction":"down","scroll_amount":%d}`, 600+i*37%80, 430+i*53%160, 3+i*i%17), fmt.Sprintf("[screenshot] https://shop.example/catalogue: footer 'Terms · Cookies · © Papelera SL'. Banner: %s. Clock 13:%02d. Chat bubble: Hi!", ad, i))
		},
		"a record that is refused, behind an id of each answer": func(k *talk, i int) {
			if i%3 == 2 {
				k.does("crm_get", `{"id":450442}`, fmt.Sprintf(`{"id":450442,"stage":"negotiation","viewed":"07:%02d:03"}`, i))
				return
			}
			id := uint64(i+3) * 0x9e3779b97f4a7c15
			k.does("crm_update", []string{`{"id":450442,"fields":{"stage":"won"}}`, `{"id":450442,"fields":{"Stage":"won"}}`, `{"id":450442,"fields":{"stage":"won","close_date":"2026-02-17"}}`, `{"id":450442,"fields":{"dealstage":"won"}}`}[i*i%7%4],
				fmt.Sprintf(`{"status":422,"error":%q,"correlation":"%08x-%04x-%04x","ts":"2026-02-17T07:%02d:31Z"}`, []string{"Unprocessable entity", "Validation failed: required property missing"}[i%2], uint32(id>>32), uint16(id>>16), uint16(id), i))
		},
		"a plan that is only revised": func(k *talk, i int) {
			steps := []string{"gather requirements", "pick a data source", "clean the data", "build the model", "write the report", "align stakeholders"}
			list := ""
			for n := range 5 {
				list += fmt.Sprintf(`,"%d. %s%s"`, n+1, steps[(n*(1+i%2)+i*i)%len(steps)], []string{"", " (detailed)"}[(i+n*n)%3%2])
			}
			k.does("revise_plan", fmt.Sprintf(`{"version":%d,"steps":[%s]}`, i+2, list[1:]), fmt.Sprintf(`{"ok":true,"plan_version":%d,"steps":5,"executed":0}`, i+2))
		},
		"a list that opens and closes, under other numbers": func(k *talk, i int) {
			n := 100 + i*617%2300
			page := fmt.Sprintf("OBSERVATION:\nRootWebArea focused\n  [%d] link 'Home'\n  [%d] combobox 'Country' expanded=%v", n, n+3, i%2 == 0)
			if i%2 == 0 {
				page += fmt.Sprintf("\n    [%d] option 'Spain'\n    [%d] option 'France'", n+4, n+5)
			}
			k.does("click", fmt.Sprintf(`{"element":%d}`, 103+(i-1)*617%2300), page+fmt.Sprintf("\n  [%d] button 'OK'", n+12))
		},
	}
	playAll(t, rounds, stuck, true)
	healthy := map[string]func(k *talk, i int){
		"a cursor that goes down a menu": func(k *talk, i int) {
			const items = 20
			screen := fmt.Sprintf(" Setup Utility                10:%02d:17\n Main  [Advanced]  Security  Boot  Exit", i)
			for n := range items {
				screen += fmt.Sprintf("\n|%s %-24s [%s] |", map[bool]string{true: ">", false: " "}[n == i%items], topics[n], []string{"Auto", "Enabled", "Disabled"}[n%3])
			}
			if i < items {
				k.does("send_keys", `{"keys":"<DOWN>"}`, screen)
				return
			}
			k.does("send_keys", fmt.Sprintf(`{"keys":"%s"}`, name(i)), "set "+topics[i-items]+" to "+fresh(i))
		},
		"the banner of one site after the other": func(k *talk, i int) {
			site := fmt.Sprintf("www.%s.example", strings.ReplaceAll(name(i/2), "_", ""))
			if i%2 == 0 {
				k.does("go_to_url", fmt.Sprintf(`{"url":"https://%s/search?q=bicycle+computer"}`, site), fmt.Sprintf("Current url: https://%s\nAvailable tabs: bicycle computer\nInteractive elements of the page:\nWe value your privacy\n[0]<button>Accept all</button>\n[1]<button>Reject all</button>\n[2]<button>Settings</button>\n[End of page]", site))
				return
			}
			k.does("click_element_by_index", `{"index":1}`, fmt.Sprintf("Current url: https://%s\nAvailable tabs: bicycle computer\nInteractive elements of the page:\n[0]<a>Cart (0)</a>\n[1]<a>bicycle computer</a>\n%d.%02d EUR, shipping 4.95, 2-3 days\n[2]<button>Add to cart</button>\n[End of page]", site, 340+i*37%90, i*53%100))
		},
		"one device after the other, and nothing to tell of it": func(k *talk, i int) {
			k.does("call_service", fmt.Sprintf(`{"domain":"light","service":"turn_off","entity":"light.%s_%s"}`, topics[i%20], topics[(i*7+i/20)%20]), "[]")
		},
		"items of a list, after each of which a hook says to go on": func(k *talk, i int) {
			item := name(i / 3)
			switch i % 3 {
			case 0:
				k.does("Write", fmt.Sprintf(`{"file_path":"src/%s.ts","content":"export const x = 1"}`, item), "File created successfully")
			case 1:
				k.does("Bash", fmt.Sprintf(`{"command":"npx vitest run %s"}`, item), "8 passed in 0.37s")
			default:
				k.says(fmt.Sprintf("%s is done, %d left.", item, 20-i/3), "Stop hook feedback:\nYou still have open items in your list. Continue.")
			}
		},
		"a hero who walks over a map": func(k *talk, i int) {
			const width = 20
			field := strings.Repeat("#", width+2)
			for y := range 2 {
				row := []byte("#" + strings.Repeat(" ", width) + "#")
				if y == i/width {
					row[1+i%width] = '@'
				}
				field += "\n" + string(row)
			}
			k.does("move", `{"direction":"right"}`, fmt.Sprintf("%s\n%s\nmoves: %d", field, strings.Repeat("#", width+2), i))
		},
		"rows of a table, each typed into the same form": func(k *talk, i int) {
			row := i / 3
			number, amount := fmt.Sprintf("INV-%05d", 10000+row*7919%89999), fmt.Sprintf("%d.%02d", 100+row*617%4000, row*37%100)
			page := func(n, a, note string) string {
				return fmt.Sprintf("Page: Supplier portal - New invoice   13:%02d:04\n[banner] Promoted: Learn Excel in %d days\n- main\n[1] link Home  [2] link Help\n[3] textbox Number: '%s'\n[4] textbox Amount: '%s'\n[5] button Save and next\n%s", i, 20+i*7%50, n, a, note)
			}
			switch i % 3 {
			case 0:
				k.does("fill", fmt.Sprintf(`{"ref":3,"text":%q}`, number), page(number, "", ""))
			case 1:
				k.does("fill", fmt.Sprintf(`{"ref":4,"text":%q}`, amount), page(number, amount, ""))
			default:
				k.does("click", `{"ref":5}`, page("", "", fmt.Sprintf("✓ Invoice %s saved (%d today)", number, row+1)))
			}
		},
	}
	playAll(t, rounds, healthy, false)
}

// A certainty below the kill line that stays adds up to one; a person sees why.
func TestNearlyCertainForLong(t *testing.T) {
	at := lines{warn: .75, kill: .95}
	for name, test := range map[string]struct {
		before float32
		now    float32
		want   bool
	}{
		"near the kill line all along": {.9, .88, true},
		"a quarter of the way":         {.84, .84, true},
		"at the warn line":             {.76, .76, false},
		"risen just now":               {.2, .94, false},
		"beyond the kill line":         {.96, .96, false},
	} {
		c := &comparison{all: make([]relation, Lasting+3)}
		for i := range c.all {
			c.all[i].certainty, c.all[i].dose = test.before, 1
		}
		if got := c.lasts(len(c.all)-1, logOdds(test.now), at); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		c.since = 5 // a person spoke
		if c.lasts(len(c.all)-1, logOdds(test.now), at) {
			t.Errorf("%s: counts what was before a person spoke", name)
		}
		c.since = 0
		for i := range c.all {
			c.all[i].dose = .1
		}
		if c.lasts(len(c.all)-1, logOdds(test.now), at) {
			t.Errorf("%s: counts rounds that only waited", name)
		}
	}
	rs := stayed([]haltd.Contribution{{Name: "useless", Points: 60}, {Name: "news_good", Points: 24}}, at.kill)
	if last := rs[len(rs)-1]; len(rs) != 3 || last.Points != 11 || last.Text == "" {
		t.Errorf("the reasons are %+v; want that it lasted, and 95 points in all", rs)
	}
}

func TestViewOfAScreen(t *testing.T) {
	menu := func(at int) (text string) {
		for i, name := range topics[:5] {
			text += map[bool]string{true: "│ ▶ ", false: "│   "}[i == at] + name + " │\n"
		}
		return text
	}
	if viewOf(menu(1)) == 0 || viewOf(menu(1)) == viewOf(menu(2)) {
		t.Error("the place of a cursor is not told")
	}
	field := func(row string) string { return "You walk.\n#####\n" + row + "\n#   #\n#####" }
	if viewOf(field("#@  #")) == 0 || viewOf(field("#@  #")) == viewOf(field("# @ #")) {
		t.Error("where somebody stands on a map is not told")
	}
	dungeon := func(row string) string {
		return "You see here a dagger.\n---------\n" + row + "\n|...%..%+####\n---------"
	}
	if viewOf(dungeon("|.((.@..|")) == 0 || viewOf(dungeon("|.((.@..|")) == viewOf(dungeon("|.((@...|")) {
		t.Error("where somebody stands among things that are drawn as brackets is not told")
	}
	for name, text := range map[string]string{
		"a quotation":          "He wrote:\n> first line\n> second line\nBest, Ada",
		"a prompt":             "You are in a hall.\nExits: north, south\n>",
		"tags":                 "<ul>\n<li\n>one</li>\n</ul>",
		"a sentence alone":     "> hello",
		"a session of input":   "before\n>>> print(1)\n1",
		"the end of a program": "func f() {\n\tif x {\n\t\treturn\n\t\t}\n\t}),\n  ]);\n}",
		"a table":              "| name | age |\n|------|-----|\n| Ada  | 36  |",
	} {
		if got := viewOf(text); got != 0 {
			t.Errorf("%s is taken for a screen with a cursor", name)
		}
	}
}

func TestIDsInGroups(t *testing.T) {
	for text, want := range map[string]bool{
		"4407a796-ea67-05b6": true, "x=bf0494bc-0c99-605b,": true,
		"2026-11-17": false, "face-deed": false, "1234-5678": false, "ab12": false, "worker-c2d4-main": false, "cafe-1a2b": false,
	} {
		s := scanner{text: text}
		found := false
		for s.next() {
			found = found || inHexGroups(text, &s.token)
		}
		if found != want {
			t.Errorf("%q is an id in groups: %v, want %v", text, found, want)
		}
	}
}

func TestWhatARequestIsFiledUnder(t *testing.T) {
	for text, want := range map[string]bool{
		"401 Bad credentials (request 0ECG:D56D6B:462A3CD)": true, "Request ID: 4442587FB7D0A2F9": true, "correlation id=QNPM-6C7B3A": true,
		"(request limits)": false, "request payments-2024": false, "Request ID: none": false, "port:5432": false,
	} {
		s := scanner{text: text}
		found := false
		for s.next() {
			found = found || isReference(text, &s.token)
		}
		if found != want {
			t.Errorf("%q says what the request is filed under: %v, want %v", text, found, want)
		}
	}
}

func TestCellsThatCannotBeComputed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"range":"Budget!D14","values":[["#REF!"]]}`: true, "D14 = #DIV/0!": true, `["#NAME?"]`: true, "#N/A": true, `{"D14":"Err:522"}`: true,
		"issue #12!": false, "see #general!": false, "# HEADING": false, "#A!": false, "Err:12": false, "Budget!D14": false,
	} {
		if got := hasCellError(text); got != want {
			t.Errorf("%q has a cell that could not be computed: %v, want %v", text, got, want)
		}
	}
}

func TestModulesArePrograms(t *testing.T) {
	same := programIn("pytest tests/a.py")
	for _, command := range []string{"python -m pytest tests/a.py -x", "cd /src && python3 -m pytest", "sudo python -m pytest"} {
		if programIn(command) != same {
			t.Errorf("%q does not run pytest", command)
		}
	}
	if programIn("git commit -m pytest") == same {
		t.Error("a message is taken for a module")
	}
}

// Other tests that passed, in another order, do not make a failure a new one.
func TestAFailureAmongWhatIsFine(t *testing.T) {
	const failure = "--- FAIL: TestConvert (0.41s)\n    seeing_test.go:88: got 3 rows, want 5\nFAIL\n"
	run := func(passed string) *round {
		r := did("bash", `{"command":"go test ./..."}`, "Exit code: 1\n"+passed+failure)
		return readRound(&r, true)
	}
	a, b := run("ok  \tshop/cart\t0.564s\nok  \tshop/tax\t1.204s\n"), run("ok  \tshop/stock\t2.209s\nok  \tshop/cart\t0.100s\nok  \tshop/till\t0.900s\n")
	other := run("ok  \tshop/cart\t0.564s\n")
	r := did("bash", `{"command":"go test ./..."}`, "Exit code: 1\nok  \tshop/cart\t0.564s\n"+strings.Replace(failure, "rows", "columns", 1))
	different := readRound(&r, true)
	if !sameAnswer(&seenRound{round: a}, &seenRound{round: b}) || !sameAnswer(&seenRound{round: a}, &seenRound{round: other}) {
		t.Error("the same failure is a new one where other tests passed")
	}
	if sameAnswer(&seenRound{round: a}, &seenRound{round: different}) {
		t.Error("another failure is the same")
	}
}
