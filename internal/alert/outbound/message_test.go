package outbound

import (
	"testing"

	"github.com/haltd/haltd"
)

func TestSpent(t *testing.T) {
	for cost, want := range map[haltd.Money]string{
		0:                         "$0.00 in this session",
		haltd.Dollar / 1000:       "less than $0.01 in this session",
		haltd.Dollar / 100:        "$0.01 in this session",
		1234 * haltd.Dollar / 100: "$12.34 in this session",
	} {
		m := Message{Notice: haltd.Notice{Cost: cost, CostOf: "in this session"}}
		if got := m.Spent(); got != want {
			t.Errorf("%s: %q, want %q", cost, got, want)
		}
	}
	if got := (&Message{}).Spent(); got != "" {
		t.Errorf("%q where nobody knows", got)
	}
}
