package haltd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

func TestAgentID(t *testing.T) {
	for name, want := range map[string]string{
		"billing-bot":            "billing-bot",
		"Billing-Bot":            "billing-bot",
		"team:a@host_1.x":        "team:a@host_1.x",
		"0":                      "0",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		strings.Repeat("a", 129): "",
		"":                       "",
		"-a":                     "",
		"a b":                    "",
		"a/b":                    "",
		"a\n":                    "",
		"ä":                      "",
		"../x":                   "",
	} {
		id, ok := haltd.AgentID(name)
		if ok != (want != "") || ok && id != want {
			t.Errorf("AgentID(%q) = %q, %v; want %q", name, id, ok, want)
		}
	}
}

func TestMoneyText(t *testing.T) {
	for m, want := range map[haltd.Money]string{
		0:                          "0.00",
		haltd.Dollar:               "1.00",
		3 * haltd.Dollar / 2:       "1.50",
		15_000:                     "0.000015",
		75:                         "0.000000075",
		-haltd.Dollar / 4:          "-0.25",
		21*haltd.Dollar + 840e6:    "21.84",
		haltd.Money(math.MaxInt64): "9223372036.854775807",
		haltd.Money(math.MinInt64): "-9223372036.854775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(m), got, want)
		}
	}
}

func TestMoneyToTheCent(t *testing.T) {
	for m, want := range map[haltd.Money]string{0: "$0.00", haltd.Dollar / 200: "$0.01", haltd.Dollar/200 - 1: "$0.00", 1234*haltd.Dollar + haltd.Dollar/2: "$1234.50"} {
		if got := m.Rounded(); got != want {
			t.Errorf("%s to the cent is %s, want %s", m, got, want)
		}
	}
}

func TestMoneySurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := haltd.Money(rapid.Int64Range(-1e15, 1e15).Draw(t, "money"))
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back haltd.Money
		if err := json.Unmarshal(b, &back); err != nil || back != m {
			t.Fatalf("%d → %s → %d (%v)", int64(m), b, int64(back), err)
		}
	})
}

func TestEventIDSortsAndReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := haltd.EventID(rapid.Int64Min(0).Draw(t, "a"))
		b := haltd.EventID(rapid.Int64Min(0).Draw(t, "b"))
		if (a < b) != (a.String() < b.String()) && a != b {
			t.Fatalf("%d and %d sort differently as text", a, b)
		}
		if back, err := haltd.ParseEventID(a.String()); err != nil || back != a {
			t.Fatalf("%d → %s → %d (%v)", a, a, back, err)
		}
	})
	for _, bad := range []string{"", "evt_", "evt_000000000000u", "evt_zzzzzzzzzzzzz", "xyz_0000000000000", "evt_00000000000000"} {
		if id, err := haltd.ParseEventID(bad); haltd.ErrorCode(err) != haltd.CodeInvalid {
			t.Errorf("ParseEventID(%q) = %v, %v; want an invalid error", bad, id, err)
		}
	}
}

func TestEventIDsGrowUnderConcurrency(t *testing.T) {
	var ids haltd.EventIDs
	now := time.UnixMilli(1_800_000_000_000)
	var mu sync.Mutex
	seen := map[haltd.EventID]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			last := haltd.EventID(0)
			for range 1000 {
				id := ids.Next(now)
				if id <= last {
					t.Errorf("id %v after %v", id, last)
				}
				last = id
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 8000 {
		t.Errorf("%d different ids of 8000", len(seen))
	}
	if back := ids.Next(now.Add(-time.Hour)); back <= haltd.EventID(now.UnixMilli()<<20) {
		t.Errorf("an earlier clock gave the smaller id %v", back)
	}
}

// Two nodes in one millisecond make no id twice, whatever each makes, and ids
// of the first release, which counted in the bits of the node, come before.
func TestEventIDsOfNodes(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	old := haltd.EventID(now.UnixMilli()<<20 | 1<<20 - 1) // the last that a millisecond held
	seen := map[haltd.EventID]bool{}
	for _, number := range []int{0, 1, 2, haltd.MostNodes - 1} {
		var ids haltd.EventIDs
		ids.Node(number)
		for range 5000 {
			seen[ids.Next(now)] = true
		}
		ids.After(old)
		last := old
		for range 5000 {
			id := ids.Next(now)
			if id <= last {
				t.Fatalf("node %d: id %v after %v", number, id, last)
			}
			last = id
		}
		if back, err := haltd.ParseEventID(last.String()); err != nil || back != last {
			t.Errorf("node %d: %v reads back as %v, %v", number, last, back, err)
		}
	}
	if len(seen) != 20_000 {
		t.Errorf("%d different ids of 20000", len(seen))
	}
}

func TestErrorCode(t *testing.T) {
	e := haltd.Errorf(haltd.CodeInvalid, "threshold: %v is not above 0", -1).WithFix("Use a number above 0.")
	if got, want := e.Error(), "threshold: -1 is not above 0. Use a number above 0."; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	for err, want := range map[error]string{
		nil:                          "",
		e:                            haltd.CodeInvalid,
		fmt.Errorf("load: %w", e):    haltd.CodeInvalid,
		errors.New("something else"): haltd.CodeInternal,
	} {
		if got := haltd.ErrorCode(err); got != want {
			t.Errorf("ErrorCode(%v) = %q, want %q", err, got, want)
		}
	}
}

func TestNewest(t *testing.T) {
	user := func(s string) haltd.Message { return haltd.Message{Role: haltd.RoleUser, Text: s} }
	system := haltd.Message{Role: haltd.RoleSystem, Text: "reminder"}
	result := func(s string) haltd.ToolResult { return haltd.ToolResult{Text: s} }
	for _, tc := range []struct {
		name  string
		call  haltd.Call
		want  string
		tools bool
	}{
		{"nothing said", haltd.Call{}, "", false},
		{"one question", haltd.Call{Opening: []haltd.Message{user("a")}}, "a", false},
		{"the last of several openings", haltd.Call{Opening: []haltd.Message{user("a"), user("b")}}, "b", false},
		{"ends with tool results", haltd.Call{Opening: []haltd.Message{user("a")}, Rounds: []haltd.Round{{Results: []haltd.ToolResult{result("x"), result("y")}}}}, "x\ny", true},
		{"results and a reminder from the harness", haltd.Call{Rounds: []haltd.Round{{Results: []haltd.ToolResult{result("x")}, Inputs: []haltd.Message{system}}}}, "x", true},
		{"results, then a person speaks", haltd.Call{Rounds: []haltd.Round{{Results: []haltd.ToolResult{result("x")}, Inputs: []haltd.Message{user("stop")}}}}, "stop", false},
		{"assistant prefill at the end", haltd.Call{Opening: []haltd.Message{user("a")}, Rounds: []haltd.Round{{Text: "Sure,"}}}, "a", false},
		{"prefill after a later question", haltd.Call{Opening: []haltd.Message{user("a")}, Rounds: []haltd.Round{{Text: "x", Inputs: []haltd.Message{user("b")}}, {Text: "Sure,"}}}, "b", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, tools := tc.call.Newest(); got != tc.want || tools != tc.tools {
				t.Errorf("Newest() = %q, %v; want %q, %v", got, tools, tc.want, tc.tools)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"agent", "session", "base_url", "key"}
	for name, want := range map[string]string{
		"agnet":                       "agent",
		"Agent":                       "agent",
		"bse_url":                     "base_url",
		"baseurl":                     "base_url",
		"ke":                          "key",
		"xyz":                         "",
		"":                            "",
		strings.Repeat("agent", 1000): "",
	} {
		if got := haltd.Nearest(name, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}
