package control

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haltd/haltd"
)

// Of the messages of a person that reach a halted session at once, one goes on
// with it: what came of the halt is counted once.
func TestAHaltIsLiftedOnce(t *testing.T) {
	b := newBench(t)
	target := haltd.Target{Agent: "bot", Session: "s"}
	if halted, err := b.Halt(t.Context(), haltd.Mark{Agent: "bot", Session: "s", Round: 1, Count: 1}, incident("inc_1", "s"), event(haltd.EventHalt)); err != nil || !halted {
		t.Fatalf("halted %v, %v", halted, err)
	}
	var lifts atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, lifted, err := b.Continue(t.Context(), target)
			if err != nil || !s.Active {
				t.Errorf("active %v, %v; want the session to go on", s.Active, err)
			}
			if lifted {
				lifts.Add(1)
			}
		})
	}
	wg.Wait()
	if n := lifts.Load(); n != 1 {
		t.Errorf("lifted %d times, want once", n)
	}
}
