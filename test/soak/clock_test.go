package soak

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/harness/inprocess"
)

// A clock that is set back loses no event and no money, and lifts no kill. Go
// asks the kernel for the time, past all that could be put between, so that
// this haltd runs inside the test and is handed a clock.
func TestAClockThatIsSetBack(t *testing.T) {
	p := newProvider(t)
	config := inprocess.NewConfig(t)
	config.Write(t, harness.Providers(p.url)+fmt.Sprintf("log: {level: error}\npricing: {models: {\"soak-*\": {input: %d, output: %d}}}\n"+
		"defaults: {budgets: {month: {hard_usd: %d}}}\n", inputPrice, outputPrice, budget))
	var back atomic.Int64
	noon := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	began := time.Now()
	n := inprocess.Start(t, config, func() time.Time { return noon.Add(time.Since(began) - time.Duration(back.Load())) })
	s := &run{node: &harness.Node{Listeners: n.Listeners}, provider: p, client: http.DefaultClient, stop: make(chan struct{})}

	if !s.switchOn("loop-0") {
		t.Fatal("the kill switch cannot be switched on")
	}
	s.runInCircles("loop-0")
	if len(s.loops.killed) != 1 {
		t.Fatal("the loop was not killed")
	}
	const perStep = 40
	random := rand.New(rand.NewPCG(1, 2))
	var owed haltd.Money
	for step := range 3 {
		back.Store(int64(step) * int64(time.Hour))
		for i := range perStep {
			c := call{number: step*perStep + i, manner: waits, script: fakellm.Script{Text: "Done.", Usage: &haltd.Usage{Input: int64(100 + i), Output: int64(10 + i)}}}
			s.make(&c, i%4, i%2 == 0, random)
			if c.status != http.StatusOK || !c.whole {
				t.Fatalf("call %d after the clock was set back %d times: %d %s %v", c.number, step, c.status, c.reason, c.err)
			}
			owed += cost(*c.script.Usage)
		}
	}
	found := map[int]bool{}
	var recorded, spent haltd.Money
	for _, e := range n.AllEvents(t, "limit=1000") {
		if number, ok := numberOf(&e); ok && !found[number] {
			found[number] = true
			recorded += e.Cost
		}
	}
	for a := range 1 + 3*perStep/perAgent {
		spent += s.spent(t, fmt.Sprintf("soak-%d", a))
	}
	if len(found) != 3*perStep || recorded != owed || spent != owed {
		t.Errorf("%d events of %d calls; $%v recorded and $%v in the ledgers of $%v", len(found), 3*perStep, recorded, spent, owed)
	}
	if !s.isKilled("loop-0") {
		t.Error("the killed agent may call again")
	}
}
