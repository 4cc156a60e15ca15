package gateway

import (
	"slices"
	"testing"

	"github.com/haltd/haltd"
)

// However the calls of an agent end, those that are left can be cut.
func TestCallsInFlightAreKnownByTheirAgent(t *testing.T) {
	const calls = 3
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		g := &Gateway{}
		var cut []int
		start := func(agent string, number int) *exchange {
			x := &exchange{recorded: make(chan struct{}), cut: func(error) { cut = append(cut, number) }}
			x.event.Agent = agent
			g.inFlight.add(x)
			return x
		}
		other := start("other", calls)
		var open []*exchange
		for i := range calls {
			open = append(open, start("bot", i))
		}
		left := []int{0, 1, 2}
		for _, i := range order {
			g.inFlight.remove(open[i])
			left = slices.DeleteFunc(left, func(n int) bool { return n == i })
			cut = nil
			g.Cut(haltd.Target{Agent: "bot"})
			slices.Sort(cut)
			if !slices.Equal(cut, left) || g.Calling("bot") != (len(left) > 0) {
				t.Errorf("ended in the order %v, after %d: cut %v, want %v", order, i, cut, left)
			}
		}
		g.inFlight.remove(other)
		if len(g.inFlight.calls) != 0 {
			t.Errorf("agents without a call are kept: %v", g.inFlight.calls)
		}
	}
}
