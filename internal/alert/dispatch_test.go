package alert

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestWithoutARuleEveryNoticeGoesToEveryEnabledChannel(t *testing.T) {
	w := newWorld(t)
	one, two, off := newReceiver(t), newReceiver(t), newReceiver(t)
	w.hook("one", one)
	w.hook("two", two)
	c := w.hook("off", off)
	c.Enabled = false
	if _, err := w.SaveChannel(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	for i, topic := range topics {
		w.store.raise(notice(i, func(n *haltd.Notice) { n.Topic = topic }))
	}
	w.settle()
	for name, c := range map[string]struct {
		r    *receiver
		want int
	}{"one": {one, len(topics)}, "two": {two, len(topics)}, "off": {off, 0}} {
		if got := len(c.r.got()); got != c.want {
			t.Errorf("channel %s got %d messages, want %d", name, got, c.want)
		}
	}
}

func TestRulesChooseTheChannels(t *testing.T) {
	recovery := func(n *haltd.Notice) { n.Recovery = true }
	growth := func(n *haltd.Notice) { n.Topic = haltd.IncidentGrowth }
	other := func(n *haltd.Notice) { n.Agent = "other-bot" }
	kills := haltd.AlertRule{Enabled: true, Topics: []haltd.IncidentKind{haltd.IncidentKillSwitch}, Channels: []string{"a"}}
	billing := haltd.AlertRule{Enabled: true, Agents: []string{"billing-bot"}, Channels: []string{"b"}}
	all := haltd.AlertRule{Enabled: true}
	off := haltd.AlertRule{Channels: []string{"a"}}
	gone := haltd.AlertRule{Enabled: true, Channels: []string{"deleted"}}
	for name, c := range map[string]struct {
		rules []haltd.AlertRule
		n     haltd.Notice
		want  []string
	}{
		"no rule":                      {nil, notice(1), []string{"a", "b"}},
		"by topic":                     {[]haltd.AlertRule{kills}, notice(1), []string{"a"}},
		"another topic":                {[]haltd.AlertRule{kills}, notice(1, growth), []string{}},
		"by agent":                     {[]haltd.AlertRule{billing}, notice(1), []string{"b"}},
		"another agent":                {[]haltd.AlertRule{billing}, notice(1, other), []string{}},
		"two rules":                    {[]haltd.AlertRule{billing, kills}, notice(1), []string{"a", "b"}},
		"two rules, each channel once": {[]haltd.AlertRule{all, kills, billing}, notice(1), []string{"a", "b"}},
		"a rule for all":               {[]haltd.AlertRule{all}, notice(1, growth, other), []string{"a", "b"}},
		"only a switched off rule":     {[]haltd.AlertRule{off}, notice(1), []string{}},
		"a channel that is no more":    {[]haltd.AlertRule{gone}, notice(1), []string{}},
		"a recovery":                   {[]haltd.AlertRule{kills}, notice(1, recovery), []string{"a"}},
	} {
		r := &router{channels: []string{"a", "b"}, rules: inForce(c.rules)}
		if diff := cmp.Diff(c.want, r.route(c.n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAChannelIsToldOnceOfAnIncidentAndOnceOfItsEnd(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	w.hook("ops", r)
	same := func(n *haltd.Notice) { n.Incident = "inc_same" }
	end := func(n *haltd.Notice) { n.Incident, n.Recovery = "inc_same", true }
	w.store.raise(notice(1, same), notice(2, same))
	w.settle()
	w.store.raise(notice(3, same), notice(4, end), notice(5, end))
	w.settle()
	if diff := cmp.Diff([]string{"ntc_1", "ntc_4"}, r.ids()); diff != "" {
		t.Errorf("message ids (-want +got):\n%s", diff)
	}
}

func TestCooldownIsPerAgentAndTopicAndSurvivesARestart(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	w.hook("ops", r)
	w.rule(haltd.AlertRule{Cooldown: 600})
	at := func(d time.Duration) func(*haltd.Notice) {
		return func(n *haltd.Notice) { n.Time = noon.Add(d) }
	}
	w.store.raise(
		notice(1, at(0)),
		notice(2, at(time.Second)),
		notice(3, at(time.Second), func(n *haltd.Notice) { n.Agent = "other-bot" }),
		notice(4, at(time.Second), func(n *haltd.Notice) { n.Topic = haltd.IncidentGrowth }),
		notice(5, at(time.Second), func(n *haltd.Notice) { n.Recovery = true }),
	)
	w.settle()
	w.move(10 * time.Minute)
	w.store.raise(notice(6, at(9*time.Minute+59*time.Second)), notice(7, at(10*time.Minute)), notice(8, at(11*time.Minute)))
	w.settle() // every settle is a new worker, which knows only the store
	got := map[string]bool{}
	for _, id := range r.ids() {
		got[id] = true
	}
	want := map[string]bool{"ntc_1": true, "ntc_3": true, "ntc_4": true, "ntc_5": true, "ntc_7": true}
	if diff := cmp.Diff(want, got); diff != "" || len(r.ids()) != len(want) {
		t.Errorf("%d messages (-want +got):\n%s", len(r.ids()), diff)
	}
}

func TestCooldownLooksAsFarBackAsItMust(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	id := w.hook("ops", r).ID
	w.rule(haltd.AlertRule{Cooldown: 3600})
	told := haltd.Delivery{ID: "dlv_old", Channel: id, Status: haltd.DeliveryDelivered, Notice: notice(0)}
	for range pageSize + 1 {
		w.store.deliveries = append(w.store.deliveries, haltd.Delivery{
			Channel: id, Status: haltd.DeliveryDelivered, Notice: notice(0, func(n *haltd.Notice) { n.Agent = "other-bot" }),
		})
	}
	w.store.deliveries = append(w.store.deliveries, told) // the oldest
	w.store.raise(notice(1))
	w.settle()
	if ids := r.ids(); len(ids) != 0 {
		t.Errorf("messages %v were sent within the cooldown", ids)
	}
}

func TestWithoutAChannelNoticesDoNotPileUp(t *testing.T) {
	w := newWorld(t)
	w.store.raise(notice(1), notice(2))
	w.settle()
	if n := len(w.store.notices); n != 0 {
		t.Errorf("%d notices wait for a channel", n)
	}
}
