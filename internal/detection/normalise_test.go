package detection

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNormalise(t *testing.T) {
	for _, c := range []struct{ scenario, in, want string }{
		{"Normalize numbers", "Order #12345 costs 19.90", "order #<NUM> costs <NUM>"},
		{"Normalize numbers with thousands", "1,234,567 rows", "<NUM> rows"},
		{"Normalize numbers inside words", "page2 of report_7", "page<NUM> of report_<NUM>"},
		{"Normalize timestamps", "at 2024-01-15T10:30:00Z sharp", "at <TS> sharp"},
		{"Normalize timestamps with fraction and zone", "2024-01-15T10:30:00.123+02:00", "<TS>"},
		{"Normalize timestamps with a space", "2024-01-15 10:30:00 done", "<TS> done"},
		{"Normalize dates", "due 2024-01-15", "due <TS>"},
		{"Normalize UUIDs", "id 550e8400-e29b-41d4-a716-446655440000.", "id <ID>."},
		{"Normalize UUIDs in capitals", "550E8400-E29B-41D4-A716-446655440000", "<ID>"},
		{"Normalize whitespace", "  a \t b\r\n\r\nc  ", "a b c"},
		{"Normalize whitespace beyond ASCII", "a\u00a0b", "a b"},
		{"lowercase", "Look UP the Äpfel", "look up the äpfel"},
		{"nothing", "", ""},
		{"only white space", " \n\t ", ""},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			if got := normalise(c.in); got != c.want {
				t.Errorf("normalise(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestNormaliseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		out := normalise(in)
		if strings.Contains(out, "  ") || strings.TrimSpace(out) != out {
			t.Fatalf("normalise(%q) = %q keeps white space", in, out)
		}
		for i := range len(out) {
			if isDigit(out[i]) {
				t.Fatalf("normalise(%q) = %q keeps a digit", in, out)
			}
		}
	})
}
