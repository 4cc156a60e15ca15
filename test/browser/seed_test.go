package browser

import (
	"context"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// The dashboard is asked for by two documents, whose scenarios these tests
// bear as their names. Three scenarios are in both, and are told once.

func TestSeed002Dashboard(t *testing.T) {
	t.Parallel()
	p := newTab(t, start(t, ""))
	t.Run("Toggle visibility", func(t *testing.T) { toggleVisibility(t, p) })
	t.Run("Notification check on enable", func(t *testing.T) { notificationCheck(t, p) })
	t.Run("Configure parameters", func(t *testing.T) { configureParameters(t, p) })
}

func TestSeed003Dashboard(t *testing.T) {
	t.Parallel()
	// Only a record from elsewhere knows agents that are off for no reason.
	n := startIn(t, recorded(t, func(ctx context.Context, s *sqlite.Store) error {
		return s.Commit(ctx, haltd.Change{Standing: &haltd.Standing{Agent: "old-bot", At: time.Now()}})
	}), "")
	p := newTab(t, n)
	t.Run("Display deactivation reason in dashboard", func(t *testing.T) {
		p.during(t)
		n.runAway(t, "billing-bot", "recon-11")
		p.open("/agents/billing-bot")
		p.sees("Deactivated by Kill Switch", "Stopped at")
		p.open("/agents")
		p.row("billing-bot").sees("Deactivated by Kill Switch")
	})
	t.Run("Display manual deactivation in dashboard", func(t *testing.T) {
		p.during(t)
		n.send(t, call{agent: "mail-bot"})
		n.Must(t, "POST", "/v1/agents/mail-bot/deactivate", map[string]string{"reason": "It is on holiday."}, nil)
		p.open("/agents/mail-bot")
		p.sees("Inactive", "Stopped by hand", "It is on holiday.")
		p.lacks("Deactivated by Kill Switch")
		p.open("/agents/old-bot")
		p.sees("Inactive", "Stopped by hand")
		p.lacks("Deactivated by Kill Switch")
		p.open("/agents")
		for _, agent := range []string{"mail-bot", "old-bot"} {
			p.row(agent).sees("Inactive")
			p.row(agent).lacks("Deactivated by Kill Switch")
		}
	})
}

func toggleVisibility(t *testing.T, p *tab) {
	p.during(t)
	for _, on := range []bool{true, false} {
		agent := map[bool]string{true: "watched-bot", false: "free-bot"}[on]
		p.n.send(t, call{agent: agent})
		p.n.killSwitch(t, agent, on)
		p.open("/agents/" + agent)
		p.becomes("switch", "Kill Switch", field{Value: "on", Checked: on})
		for _, setting := range []string{"Window size", "Threshold", "Warn line", "Kill line"} {
			if got := p.state("textbox", setting); got.Disabled == on {
				t.Errorf("%s with the switch on=%v is %+v", setting, on, got)
			}
		}
	}
}

func notificationCheck(t *testing.T, p *tab) {
	p.during(t)
	const agent, title = "unheard-bot", "Nobody would hear about a kill"
	p.n.send(t, call{agent: agent})
	p.n.killSwitch(t, agent, false)
	enabled := func() bool { return p.n.standing(t, agent).Policy.KillSwitch.Enabled }

	p.open("/agents/" + agent)
	p.click("switch", "Kill Switch")
	p.dialog(title).sees("No alert channel is configured", "Configure now", "Enable anyway", "Cancel")
	p.dialog(title).button("Cancel")
	p.dialog(title).gone()
	if enabled() {
		t.Error("the switch is on after Cancel")
	}

	p.click("switch", "Kill Switch")
	p.dialog(title).button("Configure now")
	p.at("/alerts")
	if enabled() {
		t.Error("the switch is on after Configure now")
	}

	p.open("/agents/" + agent)
	p.click("switch", "Kill Switch")
	p.dialog(title).button("Enable anyway")
	p.becomes("switch", "Kill Switch", field{Value: "on", Checked: true})
	if !enabled() {
		t.Error("the switch is off after Enable anyway")
	}
}

func configureParameters(t *testing.T, p *tab) {
	p.during(t)
	const agent = "tuned-bot"
	p.n.send(t, call{agent: agent})
	p.n.killSwitch(t, agent, true)
	p.open("/agents/" + agent)
	p.fill("Window size", "12")
	p.fill("Threshold", "7.5")
	p.button("Save, effective on the next call")
	p.sees("Saved.")
	if got := p.n.standing(t, agent).Policy.KillSwitch; got.WindowSize != 12 || got.Threshold != 7.5 {
		t.Errorf("saved is %+v, want a window of 12 and a threshold of 7.5", got)
	}
	p.open("/agents/" + agent)
	p.becomes("textbox", "Window size", field{Value: "12"})
	p.becomes("textbox", "Threshold", field{Value: "7.5"})
}
