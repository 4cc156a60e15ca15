package judge_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/internal/state/redis"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

var redisServer *servers.Server

func TestMain(m *testing.M) { servers.Main(m, servers.Redis, &redisServer) }

// nodes are judges that share a store and a state in Redis. Their clocks may be
// ahead of the test's.
func nodes(t *testing.T, n int, ahead ...time.Duration) (*bench, []*judge.Judge) {
	t.Helper()
	var o judge.Options
	b := newBench(t, killing(), func(chosen *judge.Options) { o = *chosen })
	secret := []byte(haltd.NewName(""))
	var all []*judge.Judge
	for i := range n {
		remote, err := redis.New(redisServer.URL, secret)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		g := state.NewGuard(t.Context(), state.GuardOptions{
			Remote: remote, Local: func() state.Port { return memory.New(100, 100, 1e6) }, Nodes: func() int { return n },
			Patience: harness.Patience, Logger: log,
		})
		o.States, o.Later, o.Logger = g, state.NewLater(log), log
		if len(ahead) > 0 {
			o.Clock = func() time.Time { return b.clock().Add(ahead[i]) }
		}
		all = append(all, judge.New(o))
		t.Cleanup(func() { o.Later.Wait(); g.Close(); remote.Close() })
	}
	return b, all
}

// A loop whose calls land on three nodes in turn is killed at the same call as
// on one node, and once, though each next call is sent as soon as the reply is
// there, and the reply is observed a moment later.
func TestALoopOverThreeNodesIsKilledAtTheSameCall(t *testing.T) {
	for name, next := range map[string]func(i int) *haltd.Call{
		"a growing history": stuck,
		"the same prompt":   func(int) *haltd.Call { return saying("Check my order, please.") },
	} {
		t.Run(name, func(t *testing.T) {
			play := func(b *bench, all []*judge.Judge) (killed, kills int) {
				killed = -1
				for i := range 40 {
					b.move(start.Add(time.Duration(i) * time.Second))
					r := b.request("s", next(i))
					d, ticket := all[i%len(all)].Judge(context.Background(), r)
					if d.Action == haltd.Kill || d.Reason == haltd.ReasonKilled {
						if killed < 0 {
							killed = i
						}
						if d.Action == haltd.Kill {
							kills++
						}
						ticket.Release(context.Background())
						continue
					}
					observe := func() {
						ticket.Observe(context.Background(), &haltd.Reply{Text: "I cannot find that order."}, r.Now)
						ticket.Settle(context.Background(), haltd.Usage{Input: 10, Output: 10}, 0, r.Now)
					}
					if len(all) == 1 {
						observe()
						continue
					}
					time.AfterFunc(2*time.Millisecond, observe)
				}
				return killed, kills
			}
			one := newBench(t, killing())
			want, _ := play(one, []*judge.Judge{one.Judge})
			if want < 0 {
				t.Fatal("the loop is not killed on one node")
			}
			b, all := nodes(t, 3)
			if got, kills := play(b, all); got != want || kills != 1 {
				t.Errorf("killed at call %d, %d times; want call %d, as on one node, once", got+1, kills, want+1)
			}
		})
	}
}

// Nodes set their clocks to that of the store, but for some milliseconds. A
// client that calls again within those does not seem to call before it has its
// reply: the loop is killed at the same call as on one node.
func TestClocksThatDifferALittleHideNoLoop(t *testing.T) {
	play := func(b *bench, all []*judge.Judge, ahead ...time.Duration) int {
		for i := range 40 {
			now := start.Add(time.Duration(i) * time.Millisecond)
			b.move(now)
			r := b.request("s", saying("Check my order, please."))
			r.Now = now.Add(ahead[i%len(all)])
			d, ticket := all[i%len(all)].Judge(context.Background(), r)
			if d.Action == haltd.Kill {
				return i
			}
			ticket.Observe(context.Background(), &haltd.Reply{Text: "I cannot find that order."}, now.Add(ahead[i%len(all)]))
			ticket.Settle(context.Background(), haltd.Usage{Input: 10, Output: 10}, 0, r.Now)
		}
		return -1
	}
	one := newBench(t, killing())
	want := play(one, []*judge.Judge{one.Judge}, 0)
	ahead := []time.Duration{0, 20 * time.Millisecond, -20 * time.Millisecond}
	b, all := nodes(t, 3, ahead...)
	if got := play(b, all, ahead...); got != want || want < 0 {
		t.Errorf("killed at call %d; want call %d, as on one node", got+1, want+1)
	}
}

// The next call of a session waits on another node for the observation of the
// reply before it, 50 ms at most.
func TestACallWaitsForAReplyToAnotherNode(t *testing.T) {
	b, all := nodes(t, 2)
	for _, observed := range []bool{true, false} {
		session := fmt.Sprint("session", observed)
		_, first := all[0].Judge(t.Context(), b.request(session, stuck(1)))
		if observed {
			time.AfterFunc(10*time.Millisecond, func() { first.Observe(context.Background(), &haltd.Reply{Text: "well"}, start) })
		}
		began := time.Now()
		_, second := all[1].Judge(t.Context(), b.request(session, stuck(2)))
		if took := time.Since(began); took < 10*time.Millisecond || !observed && took < 50*time.Millisecond || took > time.Second {
			t.Errorf("observed %v: the next call was judged after %v", observed, took)
		}
		w, err := all[1].Window(t.Context(), "bot", "")
		if err != nil {
			t.Fatal(err)
		}
		replies := 0
		for _, e := range w.Entries {
			if e.ResponseHash != "" {
				replies++
			}
		}
		if observed != (replies == 1) {
			t.Errorf("observed %v: %d replies in the window", observed, replies)
		}
		first.Release(context.Background())
		second.Release(context.Background())
	}
}
