package state_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/internal/state/redis"
	"github.com/haltd/haltd/internal/state/statetest"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

var server *servers.Server

func TestMain(m *testing.M) { servers.Main(m, servers.Redis, &server) }

// secrets are those of the tests that run: the nodes of one share a state, and
// no other test does.
var secrets sync.Map

func secret(t *testing.T) []byte {
	s, _ := secrets.LoadOrStore(t, []byte(haltd.NewName("")))
	return s.([]byte)
}

// patience is that of the tests: a machine that does other things as well may
// need longer for an answer than haltd waits for one. slack is what it adds to
// a bound.
const patience, slack = 500 * time.Millisecond, 500 * time.Millisecond

// node is one of three that share the state of a test.
func node(t *testing.T, address string) *state.Guard { return patient(t, address, patience) }

func patient(t *testing.T, address string, patience time.Duration) *state.Guard {
	t.Helper()
	return guard(t, remoteAt(t, address), patience)
}

func remoteAt(t *testing.T, address string) *redis.State {
	t.Helper()
	remote, err := redis.New("redis://"+address, secret(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remote.Close)
	return remote
}

func guard(t *testing.T, remote state.Remote, patience time.Duration) *state.Guard {
	t.Helper()
	g := state.NewGuard(t.Context(), state.GuardOptions{
		Remote: remote, Local: func() state.Port { return memory.New(1000, 1000, 1e6) },
		Nodes: func() int { return 3 }, Patience: patience, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	t.Cleanup(g.Close)
	return g
}

var place = state.Place{Agent: "bot", Session: "a"}

// call is what a call of an agent with a limit of nine a minute does, and how
// long it waited. told is how many calls of the session the state knows.
func call(t *testing.T, g *state.Guard) (passed bool, told int, waited time.Duration) {
	t.Helper()
	began := time.Now()
	a, err := g.Open(t.Context(), state.Question{
		Attempt: 1, Place: &place,
		Claim: policy.Claim{Draws: []policy.Draw{{Key: "rpm:bot", Limit: policy.PerMinute(9), Cost: 1}}},
	}, time.Now())
	waited = time.Since(began)
	if err != nil || a.Lease == nil {
		t.Fatalf("a call is not answered: %v", err)
	}
	m := a.Lease.Memory()
	m.Progress.ReportedLevel++
	told = int(m.Progress.ReportedLevel)
	if err := a.Lease.Commit(t.Context()); err != nil {
		t.Logf("commit: %v", err)
	}
	return a.Limits.Refused < 0, told, waited
}

func degraded(t *testing.T, g *state.Guard, want bool) {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool { return (g.Degraded() != nil) == want }); err != nil {
		t.Fatalf("degraded is %v, want %v", g.Degraded(), want)
	}
}

// trip makes calls until the breaker is open, none of which waits for long.
func trip(t *testing.T, g *state.Guard) {
	t.Helper()
	for range 10 {
		if _, _, waited := call(t, g); waited > patience+slack {
			t.Errorf("a call waited for %v, want %v at most", waited, patience)
		}
		if g.Degraded() != nil {
			return
		}
	}
	t.Fatal("the breaker stays closed")
}

func TestConformanceOfAGuardedState(t *testing.T) {
	statetest.Run(t, func(t *testing.T, nodes int) []state.Port {
		all := make([]state.Port, nodes)
		for i := range all {
			all[i] = patient(t, server.Address, harness.Patience)
		}
		return all
	})
}

// However Redis goes away, calls go on at once, with a state and limits of the
// node's own; when it is back, nodes share it again.
func TestRedisGoesAwayAndComesBack(t *testing.T) {
	for _, tc := range []struct {
		name       string
		away, back func(t *testing.T, p *servers.Proxy)
		kept       bool // what was known before
	}{
		{"stopped, and started empty", func(t *testing.T, _ *servers.Proxy) { server.Stop(t) }, func(t *testing.T, _ *servers.Proxy) { server.Start(t) }, false},
		{"frozen", func(t *testing.T, _ *servers.Proxy) { server.Freeze(t) }, func(t *testing.T, _ *servers.Proxy) { server.Thaw(t) }, true},
		{"slow", func(_ *testing.T, p *servers.Proxy) { p.Delay(5 * time.Second) }, func(_ *testing.T, p *servers.Proxy) { p.Delay(0) }, true},
		{"cut from this node", func(_ *testing.T, p *servers.Proxy) { p.Cut(true) }, func(_ *testing.T, p *servers.Proxy) { p.Cut(false) }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := servers.NewProxy(t, server.Address)
			g := node(t, p.Address)
			for i := range 3 {
				if passed, told, _ := call(t, g); !passed || told != i+1 {
					t.Fatalf("call %d: passed %v, the state knows %d", i+1, passed, told)
				}
			}
			tc.away(t, p)
			trip(t, g)
			// The breaker is open: nobody waits, and the limit is a third of
			// nine, of which the calls so far have taken some.
			var slowest time.Duration
			passes := 0
			for range 20 {
				passed, _, waited := call(t, g)
				slowest = max(slowest, waited)
				if passed {
					passes++
				}
			}
			if slowest > slack/4 {
				t.Errorf("with an open breaker a call waited for %v", slowest)
			}
			if passes > 3 {
				t.Errorf("%d calls passed, want three at most", passes)
			}
			if _, told, _ := call(t, g); told < 20 {
				t.Errorf("the node's own state knows %d calls", told)
			}
			tc.back(t, p)
			degraded(t, g, false)
			_, told, _ := call(t, g)
			if want := 4; tc.kept && told < want || told > want+10 || !tc.kept && told != 1 {
				t.Errorf("back again, the state knows %d calls; kept %v", told, tc.kept)
			}
		})
	}
}

// probed counts the probes that a remote state refuses.
type probed struct {
	state.Remote
	refused atomic.Int64
}

func (p *probed) Ping(ctx context.Context) error {
	err := p.Remote.Ping(ctx)
	if err != nil {
		p.refused.Add(1)
	}
	return err
}

// A Redis that answers who reads and refuses who writes is as good as gone, as
// long as it does: the node keeps a state of its own, which grows, and says so.
func TestRedisRefusesWrites(t *testing.T) {
	for _, tc := range []struct{ name, refuse, allow, says string }{
		{"its memory is full", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"},
		{"it has become a replica", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "READONLY"},
		{"it lacks replicas", "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS"},
		{"its user may not run scripts", "ACL SETUSER default -eval -evalsha", "ACL SETUSER default +eval +evalsha", "NOPERM"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			remote := &probed{Remote: remoteAt(t, server.Address)}
			g := guard(t, remote, patience)
			call(t, g)
			server.Command(t, tc.refuse)
			allowed := false
			allow := func() {
				if !allowed {
					server.Command(t, tc.allow)
				}
				allowed = true
			}
			defer allow()
			known := 0
			err := harness.Until(t.Context(), func() bool {
				_, told, _ := call(t, g)
				if known++; told != known {
					t.Fatalf("the node's own state knows %d calls of %d", told, known)
				}
				if _, err := g.Reply(t.Context(), "bot", "any"); err != nil {
					t.Fatal(err)
				}
				if err := g.Degraded(); known >= 3 && (err == nil || !strings.Contains(err.Error(), tc.says)) {
					t.Fatalf("after %d calls the breaker has %v", known, err)
				}
				return known > 20 && remote.refused.Load() >= 3
			})
			if err != nil {
				t.Fatalf("%d probes were refused, want three: %v", remote.refused.Load(), err)
			}
			allow()
			degraded(t, g, false)
			if _, told, _ := call(t, g); told != 2 {
				t.Errorf("back again, the state knows %d calls, want two", told)
			}
		})
	}
}

// A Redis that is there and does nothing for anybody, because a script of somebody
// else does not end or because it reads its disk, is as good as gone until it is done.
func TestRedisIsOccupied(t *testing.T) {
	for _, tc := range []struct {
		name   string
		start  func() (*servers.Server, error)
		occupy func(t *testing.T, s *servers.Server) (end func())
	}{
		{"a script does not end", servers.Redis, func(t *testing.T, s *servers.Server) func() {
			s.Set(t, "lua-time-limit", "50")
			s.Occupy(t, `EVAL "while true do end" 0`)
			return func() { s.Command(t, "SCRIPT KILL") }
		}},
		{"it reads its disk", servers.RedisThatReloads, func(t *testing.T, s *servers.Server) func() {
			s.Fill(t, 6000) // three seconds
			s.Reload(t)
			return func() {}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := tc.start()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			g := node(t, s.Address)
			call(t, g)
			end := tc.occupy(t, s)
			trip(t, g)
			_, known, _ := call(t, g)
			for i := range 20 {
				if _, told, waited := call(t, g); g.Degraded() == nil || told != known+1+i || waited > slack {
					t.Fatalf("the node's own state knows %d calls of %d after %v; the breaker has %v", told, known+1+i, waited, g.Degraded())
				}
			}
			end()
			degraded(t, g, false)
			if _, told, _ := call(t, g); told != 2 {
				t.Errorf("back again, the state knows %d calls, want two", told)
			}
		})
	}
}

// An address that leads to another Redis, because the one before has become a
// replica, is dialled again: connections to a replica stay.
func TestTheAddressOfRedisLeadsElsewhere(t *testing.T) {
	other, err := servers.Redis()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	p := servers.NewProxy(t, other.Address)
	g := node(t, p.Address)
	call(t, g)
	other.Command(t, "REPLICAOF 127.0.0.1 1")
	p.Lead(server.Address)
	trip(t, g)
	degraded(t, g, false)
	call(t, g)
	if _, told, _ := call(t, node(t, server.Address)); told != 2 {
		t.Errorf("another node knows %d calls of two", told)
	}
}

// Nodes that still reach Redis do not notice that one does not.
func TestOneNodeIsCutOff(t *testing.T) {
	p := servers.NewProxy(t, server.Address)
	cut, other := node(t, p.Address), node(t, server.Address)
	call(t, cut)
	call(t, other)
	p.Cut(true)
	trip(t, cut)
	if _, told, _ := call(t, other); told != 3 || other.Degraded() != nil {
		t.Errorf("the other node knows %d calls and has %v", told, other.Degraded())
	}
	p.Cut(false)
	degraded(t, cut, false)
	if _, told, _ := call(t, cut); told < 4 {
		t.Errorf("the node knows %d calls, want those of the other", told)
	}
}

// A node starts without Redis, and finds it.
func TestANodeStartsWithoutRedis(t *testing.T) {
	p := servers.NewProxy(t, server.Address)
	p.Cut(true)
	g := node(t, p.Address)
	if g.Degraded() == nil {
		t.Fatal("the node believes that it has Redis")
	}
	call(t, g)
	p.Cut(false)
	degraded(t, g, false)
	if _, told, _ := call(t, g); told != 1 {
		t.Errorf("Redis knows %d calls before this one, want none", told-1)
	}
}

// Many calls at once do not wait longer than one.
func TestManyCallsAtOnceWhenRedisFreezes(t *testing.T) {
	g := node(t, server.Address)
	call(t, g)
	server.Freeze(t)
	defer server.Thaw(t)
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			p := state.Place{Agent: fmt.Sprint("bot", i%50), Session: fmt.Sprint(i)}
			began := time.Now()
			l, err := g.Acquire(t.Context(), p, time.Now())
			if waited := time.Since(began); err != nil || waited > patience+2*slack {
				t.Errorf("%v after %v, want a state within %v", err, waited, patience)
				return
			}
			l.Release()
		})
	}
	wg.Wait()
}

// A client that leaves, and a state that was changed by somebody else, are no
// failures of Redis.
func TestWhatIsNoFailure(t *testing.T) {
	g := node(t, server.Address)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		if _, err := g.Open(gone, state.Question{Place: &place}, time.Now()); err == nil {
			t.Error("a call that is over was answered")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := g.Await(ctx, place, 0); !errors.Is(err, context.DeadlineExceeded) && haltd.ErrorCode(err) != "" {
		t.Errorf("Await: %v", err)
	}
	if g.Degraded() != nil {
		t.Errorf("the breaker is open: %v", g.Degraded())
	}
}
