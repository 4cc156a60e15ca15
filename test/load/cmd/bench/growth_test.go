package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answered is a question with an answer.
func answered(value float64) *question {
	return &question{
		Name: "agents", Title: "What <agents> cost", Text: "So it is measured.", Axis: "agents seen", Log: true,
		Charts: []chart{
			{Title: "processor time", Unit: "µs", Log: true, Lines: []series{
				{"new", []point{{1000, 1250}, {1e6, 2500.4}}}, {"seen", []point{{1, 80.25}, {1000, 99.99}, {1e6, 2500}}},
			}},
			{Title: "memory", Unit: "MB", Lines: []series{{"RSS", []point{{1, 40}, {1000, 50}, {1e6, value}}}}, Limit: 300},
		},
		Bounds: []bound{{"Memory after 1,000,000 agents", value, 300, "MB"}},
	}
}

func TestTheTableOfAQuestion(t *testing.T) {
	want := `| agents seen | new, µs | seen, µs | RSS, MB |
|---|---|---|---|
| 1 | – | 80.2 | 40 |
| 1,000 | 1,250 | 100 | 50 |
| 1,000,000 | 2,500 | 2,500 | 301 |

Memory after 1,000,000 agents: 301 MB; at most 300 MB: **does not hold**.
`
	if diff := cmp.Diff(want, answered(300.6).table()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTextsAreBrokenIntoLines(t *testing.T) {
	got := fill(strings.Repeat("four ", 20) + "µµµµ")
	want := strings.TrimSpace(strings.Repeat("four ", 16)) + "\nfour four four four µµµµ"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestBoundsAreChecked(t *testing.T) {
	if err := checkGrowth([]*question{answered(300)}); err != nil {
		t.Error(err)
	}
	err := checkGrowth([]*question{answered(299), answered(800)})
	if err == nil || err.Error() != "Memory after 1,000,000 agents: 800 MB; at most 300 MB: does not hold." {
		t.Errorf("the check says %v", err)
	}
}

func TestTheDocumentHasTablesAndPictures(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "performance.md")
	begin, end := growthLines("agents")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "images"), 0o700),
		os.WriteFile(path, []byte("before\n"+begin+"old\n"+end+docsBegin+"other tables\n"+docsEnd), 0o600)); err != nil {
		t.Fatal(err)
	}
	q := answered(100)
	if err := writeGrowth(path, []*question{q}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin + "\n### What <agents> cost\n\nSo it is measured.\n\n![What <agents> cost](images/cost-agents.svg)\n\n" +
		q.table() + "\n" + end + docsBegin + "other tables\n" + docsEnd
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if drawn, err := os.ReadFile(filepath.Join(dir, "images", "cost-agents.svg")); err != nil || string(drawn) != q.svg() {
		t.Errorf("the picture is %.40q, %v", drawn, err)
	}
}

func TestAPictureIsXMLWithALabelOnEachLine(t *testing.T) {
	drawn := answered(100).svg()
	d := xml.NewDecoder(strings.NewReader(drawn))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["polyline"] != 3 || count["circle"] != 8 || count["rect"] != 1 {
		t.Errorf("it has %v, want 3 lines, 8 points and a background", count)
	}
	for _, words := range []string{"What &lt;agents&gt; cost", "processor time, µs", "memory, MB", "agents seen", ">new<", ">seen<", ">RSS<", ">limit 300<", ">1M<"} {
		if !strings.Contains(drawn, words) {
			t.Errorf("it does not say %q", words)
		}
	}
	if strings.Contains(drawn, "NaN") {
		t.Error("something has no place")
	}
}

func TestAxes(t *testing.T) {
	for name, c := range map[string]struct {
		log         bool
		values      []float64
		ticks       []float64
		value, want float64 // pixels of 100
	}{
		"linear":            {false, []float64{10, 87}, []float64{0, 20, 40, 60, 80, 100}, 50, 50},
		"linear, from zero": {false, []float64{0}, []float64{0, 1e-9}, 0, 0},
		"logarithmic":       {true, []float64{2, 900}, []float64{1, 10, 100, 1000}, 10, 100.0 / 3},
		"one decade":        {true, []float64{1}, []float64{1, 10}, 1, 0},
		"below the first":   {true, []float64{10, 100}, []float64{10, 100}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, ticks := newAxis(c.log, c.values, 0, 100)
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
			if diff := cmp.Diff(c.ticks, ticks, near); diff != "" {
				t.Errorf("ticks (-want +got):\n%s", diff)
			}
			if got := a.pixel(c.value); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("%v is at %v, want %v", c.value, got, c.want)
			}
		})
	}
}

func TestLabelsDoNotCoverEachOther(t *testing.T) {
	all := []label{{y: 100}, {y: 101}, {y: 20}, {y: 99}}
	spreadLabels(all)
	for i := 1; i < len(all); i++ {
		if gap := all[i].y - all[i-1].y; gap < labelHeight-0.5 {
			t.Errorf("labels %d and %d are %.1f apart", i-1, i, gap)
		}
	}
	if all[0].y != 20 {
		t.Errorf("a label that was alone moved to %v", all[0].y)
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1e6: "1,000,000", 100_000: "100,000", 999: "999", 1.234: "1.23", 12.34: "12.3", 2: "2", 1.5: "1.5", 123.4: "123", -1234: "-1,234"} {
		if got := figure(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

func TestMediansAreOrdered(t *testing.T) {
	m := medians{}
	for _, v := range []float64{3, 1, 2} {
		m.add("a", 10, v)
		m.add("a", 1, 10*v)
	}
	if diff := cmp.Diff(series{"a", []point{{1, 20}, {10, 2}}}, m.line("a")); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestEveryCallIsARoundLonger(t *testing.T) {
	c, err := newConversation(stepping, 7, 1, 50<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	if last := len(c.turns) - 1; c.length(last) < 50<<10 || c.length(last-1) >= 50<<10 {
		t.Errorf("the last two calls have %d and %d bytes", c.length(last-1), c.length(last))
	}
	for i := range c.turns {
		if _, messages := messagesOf(t, c, i); len(messages) != 2+2*i {
			t.Fatalf("call %d has %d messages, want %d", i, len(messages), 2+2*i)
		}
		if i > 0 {
			if round := c.length(i) - c.length(i-1); round < 700 || round > 1400 {
				t.Errorf("call %d is %d bytes longer, want 1 KB or so", i, round)
			}
		}
	}
}

func TestAnAgentComesBackWithAnotherText(t *testing.T) {
	l, err := newLoad(visiting, 512, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]bool{}
	for text := range 50 {
		request := exchange{l, 7, int64(text), l.conversations[0], 0, nil}.request(nil)
		var wire strings.Builder
		if _, err := request.WriteTo(&wire); err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(wire.String(), "\r\n\r\n")
		if !strings.Contains(head, "X-Session-Id: bench-7\r\n") || !strings.Contains(head, "X-Agent-Id: bench-07\r\n") {
			t.Fatalf("the request begins\n%s", head)
		}
		sent[body] = true
	}
	if len(sent) != 50 {
		t.Errorf("%d texts in 50 calls", len(sent))
	}
}
