package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// data is what a webhook gets.
func data(t *testing.T, q request) (d haltd.Notice) {
	t.Helper()
	var body struct{ Data json.RawMessage }
	if err := errors.Join(json.Unmarshal(q.body, &body), json.Unmarshal(body.Data, &d)); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAStormIsOneNotice(t *testing.T) {
	var w *world
	w = newWorld(t, func(o *Options) {
		o.Tell = func(_ context.Context, n haltd.Notice) error { w.store.raise(n); return nil }
	})
	r, quiet := newReceiver(t), newReceiver(t)
	w.hook("ops", r)
	c := w.hook("billing", quiet)
	w.rule(haltd.AlertRule{Agents: []string{"agent-30"}, Channels: []string{c.ID}})
	w.rule(haltd.AlertRule{Channels: []string{w.store.channels[0].ID}})
	for i := range 40 {
		w.store.raise(notice(i, func(n *haltd.Notice) {
			n.Time, n.Agent, n.Incident = w.clock(), fmt.Sprint("agent-", i), fmt.Sprint("inc_", i)
		}))
		w.settle()
		w.move(time.Second)
	}
	if got := len(r.got()); got != stormSize {
		t.Fatalf("%d alerts before the rest is told, want %d", got, stormSize)
	}
	w.store.raise(notice(90, func(n *haltd.Notice) { n.Time, n.Topic = w.clock(), haltd.IncidentBudgetHard }))
	w.settle()
	if got := len(r.got()); got != stormSize+1 {
		t.Errorf("%d alerts: a storm on one topic holds another", got)
	}
	w.move(stormHold)
	w.settle()
	w.settle() // what was told is sent
	got := r.got()
	if len(got) != stormSize+2 {
		t.Fatalf("%d alerts, want %d", len(got), stormSize+2)
	}
	last := data(t, got[len(got)-1])
	if last.Together != 30 || len(last.Agents) != 30 || !strings.Contains(last.Sentence, "30 further alerts on kill switch") || !strings.Contains(last.Sentence, "agent-10, ") {
		t.Errorf("the alert for the rest: %+v", last)
	}
	if body := string(got[len(got)-1].body); !strings.Contains(body, `"url":"https://haltd.example/incidents/"`) {
		t.Errorf("the alert for the rest leads nowhere: %s", body)
	}
	if n := len(quiet.got()); n != 1 {
		t.Errorf("the channel of agent-30 got %d alerts, want the one that stands for it too", n)
	}
	w.move(2 * stormSpan)
	w.store.raise(notice(91, func(n *haltd.Notice) { n.Time = w.clock() }))
	w.settle()
	if len(r.got()) != stormSize+3 {
		t.Error("after the storm an alert does not come by itself")
	}
}

func TestAnAlertSaysWhatItCost(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Spent = func(context.Context, haltd.Notice) (haltd.Money, string, error) {
			return 3 * haltd.Dollar / 2, "in this session", nil
		}
	})
	r := newReceiver(t)
	w.hook("ops", r)
	w.store.raise(notice(1))
	w.settle()
	if d := data(t, r.got()[0]); d.Cost != 3*haltd.Dollar/2 || d.CostOf != "in this session" {
		t.Errorf("it cost %v %q", d.Cost, d.CostOf)
	}
}

// Slack takes 140 characters of what to do; more would be cut in the middle of it.
func TestWhatToDoIsShort(t *testing.T) {
	for _, topic := range append(slices.Clone(topics), haltd.TopicShadow) {
		for _, action := range []haltd.Action{haltd.Kill, haltd.Halt, haltd.Reject, haltd.Block} {
			for _, scope := range []haltd.Scope{haltd.ScopeAgent, haltd.ScopeSession} {
				n := haltd.Notice{Topic: topic, Action: action, Scope: scope}
				if said := next(n); said == "" || len(said) > 140 {
					t.Errorf("%s, %s of a %s: %d characters: %q", topic, action, scope, len(said), said)
				}
			}
		}
	}
}

func TestShadowIsForThoseWhoNameIt(t *testing.T) {
	n := notice(1, func(n *haltd.Notice) { n.Topic = haltd.TopicShadow })
	for want, rules := range map[int][]haltd.AlertRule{
		0: nil,
		1: {{Enabled: true, Topics: []haltd.IncidentKind{haltd.TopicShadow}}},
	} {
		r := &router{channels: []string{"a"}, rules: inForce(rules)}
		if got := len(r.route(n)); got != want {
			t.Errorf("under %v: %d channels, want %d", rules, got, want)
		}
	}
}
