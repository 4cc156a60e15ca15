package redis

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/statetest"
	"github.com/haltd/haltd/test/servers"
)

var server *servers.Server

func TestMain(m *testing.M) { servers.Main(m, servers.Redis, &server) }

// secrets are those of the tests that run: the nodes of one share a state, and
// no other test does.
var secrets sync.Map

// connect is a node of a test.
func connect(t testing.TB) *State {
	t.Helper()
	secret, _ := secrets.LoadOrStore(t, []byte(haltd.NewName("")))
	s, err := New(server.URL, secret.([]byte))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestConformance(t *testing.T) {
	statetest.Run(t, func(t *testing.T, nodes int) []state.Port {
		all := make([]state.Port, nodes)
		for i := range all {
			all[i] = connect(t)
		}
		return all
	})
}

// Whatever is kept has a hashed name and an end.
func TestKeysAreHashedAndExpire(t *testing.T) {
	s, ctx, now := connect(t), t.Context(), time.Now()
	p := state.Place{Agent: "secret-agent", Session: "secret-session", WindowPerSession: true, OneAgent: true}
	a, err := s.Open(ctx, state.Question{Attempt: 1, Place: &p, Claim: policy.Claim{
		Draws:   []policy.Draw{{Key: "rpm:secret-agent", Limit: policy.PerMinute(10), Cost: 1}},
		Shadows: []policy.Draw{{Key: "secret-agent", Limit: policy.PerMinute(10), Cost: 1}},
		Hits:    []policy.Hit{{Key: "secret-agent", Window: time.Minute}},
	}}, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		a.Lease.Commit(ctx),
		s.Ended(ctx, 1, haltd.EndedLost),
		s.SaveReply(ctx, "secret-agent", "secret-reply", haltd.PastReply{Session: "s"}),
		s.SaveUnsettled(ctx, "secret-agent", "secret-reply", haltd.Unsettled{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Use(ctx, 5, now); err != nil {
		t.Fatal(err)
	}
	held, err := s.Acquire(ctx, p, now)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	c, err := s.connected()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := c.Do(ctx, c.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(keys) < 11 {
		t.Fatalf("%d keys, %v: %q", len(keys), err, keys)
	}
	for _, k := range keys {
		ms, err := c.Do(ctx, c.B().Pttl().Key(k).Build()).AsInt64()
		// What ends within this millisecond, or has just done so, has an end, too.
		const endless = -1
		if err != nil || ms == endless || ms > (26*time.Hour).Milliseconds() {
			t.Errorf("%s ends in %d ms, %v; want it to end within a day or so", k, ms, err)
		}
		if !strings.HasPrefix(k, Prefix) || strings.Contains(k, "secret") {
			t.Errorf("key %q; want a hash behind %s", k, Prefix)
		}
	}
}

// A node that dies with a lease is in the way of others for a moment only, and
// then the faster commit counts.
func TestALeaseThatIsNeverGivenBack(t *testing.T) {
	dead, alive := connect(t), connect(t)
	p := state.Place{Agent: "bot", Session: "a"}
	lost, err := dead.Acquire(t.Context(), p, time.Now())
	if err != nil || !lost.Exclusive() {
		t.Fatalf("lease %v, %v; want an exclusive one", lost, err)
	}
	began := time.Now()
	l, err := alive.Acquire(t.Context(), p, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < lockWait || took > lockWait+200*time.Millisecond || l.Exclusive() {
		t.Errorf("a lease after %v, exclusive %v; want one that is not, after %v", took, l.Exclusive(), lockWait)
	}
	l.Memory().Progress.ReportedLevel = haltd.LevelWarn
	if err := l.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lost.Commit(t.Context()); haltd.ErrorCode(err) != haltd.CodeConflict {
		t.Errorf("the slower commit: %v, want a conflict", err)
	}
	l, err = alive.Acquire(t.Context(), p, time.Now())
	if err != nil || l.Memory().Progress.ReportedLevel != haltd.LevelWarn {
		t.Fatalf("%v, %v; want what the faster one wrote", l.Memory().Progress.ReportedLevel, err)
	}
	l.Release()
}

// A value that Redis has lost is not taken from what a node remembers of it.
func TestALostValueStartsEmpty(t *testing.T) {
	s, p := connect(t), state.Place{Agent: "bot", Session: "a"}
	for range 2 {
		l, err := s.Acquire(t.Context(), p, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Memory().Progress.ReportedLevel; got != haltd.LevelPass {
			t.Errorf("told of %v, want nothing", got)
		}
		l.Memory().Progress.ReportedLevel = haltd.LevelKill
		if err := l.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, _ := s.connected()
		if err := c.Do(context.Background(), c.B().Flushall().Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}

// scripts is how many scripts Redis has run.
func scripts(t testing.TB, s *State) (n int) {
	t.Helper()
	c, err := s.connected()
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Do(context.Background(), c.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_evalsha:calls="); ok {
			calls, _, _ := strings.Cut(rest, ",")
			if n, err = strconv.Atoi(calls); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// A call whose session others have not touched asks once before it is judged,
// with all limits, and writes once.
func TestACallAsksOnce(t *testing.T) {
	s, ctx := connect(t), t.Context()
	p := state.Place{Agent: "bot", Session: "a", WindowPerSession: true, OneAgent: true}
	call := func() {
		t.Helper()
		a, err := s.Open(ctx, state.Question{Attempt: 1, Place: &p, Claim: policy.Claim{
			Draws: []policy.Draw{{Key: "rpm", Limit: policy.PerMinute(1000), Cost: 1}, {Key: "tpm", Limit: policy.PerMinute(1000), Cost: 1}},
			Hits:  []policy.Hit{{Key: "k", Window: time.Minute}},
		}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Lease.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	call() // loads the scripts
	before := scripts(t, s)
	for range 10 {
		call()
	}
	if n := scripts(t, s) - before; n != 20 {
		t.Errorf("10 calls ran %d scripts, want one to ask and one to commit each", n)
	}
}
