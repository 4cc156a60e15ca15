// Package statetest holds what every state must do, as one suite that each
// adapter runs in its own tests. It sees a state through the ports only, from
// several nodes at once.
package statetest

import (
	"context"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/policy"
)

// State is all that an adapter implements, as one node has it.
type State struct {
	States   States
	Limits   Limits
	Attempts Attempts
	Replies  Replies
	Guesses  Guesses
}

// States is the port of that name of package judge.
type States interface {
	Acquire(ctx context.Context, p detect.Place, now time.Time) (detect.Lease, error)
	Await(ctx context.Context, p detect.Place, version uint64) error
}

// Limits is the port of that name of package judge.
type Limits interface {
	Ask(ctx context.Context, c policy.Claim, now time.Time) (policy.Answer, error)
	Take(ctx context.Context, draws []policy.Draw, now time.Time) (refused int, wait time.Duration, err error)
	Charge(ctx context.Context, draws []policy.Draw, now time.Time) error
}

// Attempts is the port of that name of package gateway.
type Attempts interface {
	Last(ctx context.Context, digest uint64) (haltd.Attempt, error)
	Ended(ctx context.Context, digest uint64, how haltd.Ending) error
}

// Replies is the port of that name of package gateway.
type Replies interface {
	Session(ctx context.Context, agent, reply string) (string, error)
	SaveReply(ctx context.Context, agent, reply, session string) error
}

// Guesses is the port of that name of package gateway.
type Guesses interface {
	Use(ctx context.Context, digest uint64, now time.Time) (began time.Time, err error)
}

// Run runs the suite. open answers a new, empty state as so many nodes have
// it, and closes it when its test ends. Nodes of an adapter that is not shared
// have the same.
func Run(t *testing.T, open func(t *testing.T, nodes int) []State) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, nodes []State)
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
		{"a hit counts for its window", hitsExpire},
		{"concurrent draws", limitsConcurrent},
		{"draws of nodes whose clocks differ", limitsSkew},
		{"attempts go on from the last one", attempts},
		{"concurrent attempts are all counted", attemptsConcurrent},
		{"guessed sessions end when nobody uses them", guesses},
		{"sessions of replies", replies},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t, 3)) })
	}
}

// noon is when the suite's calls are made.
var noon = time.Now().Truncate(time.Second)
