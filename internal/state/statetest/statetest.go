// Package statetest holds what every state must do, as one suite that each
// adapter runs in its own tests. It sees a state through the ports only, from
// several nodes at once.
package statetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd/internal/state"
)

// Run runs the suite. open answers a new, empty state as so many nodes have
// it, and closes it when its test ends. Nodes of an adapter that is not shared
// have the same.
func Run(t *testing.T, open func(t *testing.T, nodes int) []state.Port) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, nodes []state.Port)
	}{
		{"a state is that of its session", scope},
		{"what is committed is seen everywhere", committed},
		{"what is only tried is kept apart", shadow},
		{"a person's decision empties the window", emptied},
		{"rejections belong to the window", rejections},
		{"what is looked at is not changed", released},
		{"no commit is lost", concurrent},
		{"nodes whose clocks differ agree", skew},
		{"a change is awaited", awaited},
		{"who waits in vain is let go", awaitedInVain},
		{"a call that has ended gets no state", canceled},
		{"draws are taken together or not at all", drawsTogether},
		{"debts and returns", debts},
		{"a claim is answered in one step", claims},
		{"a call is answered in one step", opened},
		{"a hit counts for its window", hitsExpire},
		{"concurrent draws", limitsConcurrent},
		{"draws of nodes whose clocks differ", limitsSkew},
		{"attempts go on from the last one", attempts},
		{"concurrent attempts are all counted", attemptsConcurrent},
		{"guessed sessions end when nobody uses them", guesses},
		{"sessions of replies", replies},
		{"what a reply was charged is settled once", unsettled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t, 3)) })
	}
}

// noon is when the suite's calls are made.
var noon = time.Now().Truncate(time.Second)
