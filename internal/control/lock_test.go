package control

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// hanging is a store that answers changes of one agent only when it is let.
type hanging struct {
	haltd.ControlStore
	agent   string
	reached chan struct{}
	let     chan struct{}
}

func (h *hanging) wait(agent string) {
	if agent == h.agent {
		select {
		case h.reached <- struct{}{}:
		case <-h.let: // a kill whose caller did not wait is written after all
		}
		<-h.let
	}
}

func (h *hanging) Commit(ctx context.Context, c haltd.Change) error {
	if c.Standing != nil {
		h.wait(c.Standing.Agent)
	}
	return h.ControlStore.Commit(ctx, c)
}

func (h *hanging) DeleteAgent(ctx context.Context, node, id string) error {
	h.wait(id)
	return h.ControlStore.DeleteAgent(ctx, node, id)
}

// However long the store takes to write or to delete one agent, another is
// killed meanwhile, rules and policies change, and a second change of the first
// waits only as long as whoever asks for it.
func TestASlowChangeDelaysNoKillOfAnother(t *testing.T) {
	for name, slow := range map[string]func(*bench) error{
		"delete": func(b *bench) error { return b.Delete(context.Background(), "slow", "ann") },
		"stop": func(b *bench) error {
			_, err := b.Deactivate(context.Background(), haltd.Target{Agent: "slow"}, false, "ann", "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			h := &hanging{ControlStore: b.store, agent: "slow", reached: make(chan struct{}), let: make(chan struct{})}
			if err := b.store.AppendEvents(t.Context(), []haltd.Event{{ID: 1, Time: noon, Type: haltd.EventCall, Agent: "slow"}}); err != nil {
				t.Fatal(err)
			}
			b.flaky.ControlStore = h
			ended := make(chan error, 1)
			go func() { ended <- slow(b) }()
			<-h.reached
			done := make(chan struct{})
			go func() {
				defer close(done)
				b.kill(t, haltd.Target{Agent: "bot"}, "inc_a")
				if _, err := b.SaveRule(t.Context(), haltd.Rule{Name: "r", Enabled: true, Action: haltd.RuleWarn}, "ann"); err != nil {
					t.Error(err)
				}
				b.Configure(haltd.DefaultPolicy(), nil)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				if _, err := b.Kill(ctx, haltd.Target{Agent: "slow"}, incident("inc_b", "s"), event(haltd.EventKillSwitch)); !errors.Is(err, context.DeadlineExceeded) || haltd.ErrorCode(err) != haltd.CodeUnavailable {
					t.Errorf("a second change of the same: %v; want it to end with its caller", err)
				}
			}()
			select {
			case <-done:
			case <-time.After(8 * time.Second):
				t.Error("a kill waits for the change of another agent")
			}
			close(h.let)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			<-done
			if b.Agent("bot").Active("s") || name == "stop" && b.Agent("slow").Active("s") {
				t.Error("a change was lost in another")
			}
		})
	}
}

// A person's decision about a spent budget stands, also when its period ends at
// that moment.
func TestRecoveryLeavesADecisionAlone(t *testing.T) {
	b := newBench(t)
	i := incident("inc_a", "")
	i.Kind, i.Verdict = haltd.IncidentBudgetHard, &haltd.Verdict{Findings: []haltd.Finding{{Check: haltd.CheckBudget, Period: haltd.Daily}}}
	b.Raise(i, event(haltd.EventAlert))
	var listed haltd.Incident // as the list was read before the decision
	if err := harness.Until(t.Context(), func() bool {
		var err error
		listed, err = b.store.Incident(t.Context(), "inc_a")
		return err == nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Decide(t.Context(), "inc_a", haltd.IncidentFalsePositive, "ann", "planned"); err != nil {
		t.Fatal(err)
	}
	b.passed.Store(int64(48 * time.Hour))
	if err := b.recoverBudget(t.Context(), &listed); err != nil {
		t.Fatal(err)
	}
	if got, err := b.store.Incident(t.Context(), "inc_a"); err != nil || got.Status != haltd.IncidentFalsePositive {
		t.Errorf("status %s, %v; want the decision", got.Status, err)
	}
}

// An incident that is gone, as with its agent, cannot be closed, and what is
// raised afterwards is written all the same.
func TestClosingWhatIsGone(t *testing.T) {
	b := newBench(t)
	b.CloseLater(haltd.Closing{ID: "inc_gone", Agent: "bot", Session: "s", Status: haltd.IncidentRecovered, At: noon})
	b.Raise(incident("inc_next", "s"), event(haltd.EventWarning))
	b = b.reopen(t)
	if _, err := b.store.Incident(t.Context(), "inc_next"); err != nil {
		t.Errorf("what was raised next: %v", err)
	}
}
