package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/haltd/haltd"
)

// The forms show every setting that is declared, and none by its name in the
// dashboard's sources.
func TestFormsShowEverySetting(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	const agent = "formed-bot"
	n.send(t, call{agent: agent})
	n.killSwitch(t, agent, true)
	p := newTab(t, n)
	p.open("/agents/" + agent)
	card := p.in("region", "Kill Switch")
	card.sees("for everybody who uses it", "let a kill stop the session, and keep the window per session")
	card.button("Edit")
	shows := func(place *part, s haltd.Setting) {
		t.Helper()
		switch s.Type {
		case haltd.SettingInteger, haltd.SettingNumber, haltd.SettingMoney:
			place.in("textbox", s.Label).there()
		case haltd.SettingBoolean:
			place.in("switch", s.Label).there()
		default:
			place.sees(s.Label)
		}
	}
	sections := haltd.SettingsOf[haltd.Policy]()
	for _, s := range sections[0].Settings {
		shows(card, s)
	}
	p.button("Edit policy")
	editor := p.dialog("Policy of " + agent)
	for _, section := range sections[1:] {
		editor.sees(section.Label)
		for _, s := range section.Settings {
			shows(editor, s)
		}
	}

	editor.fill("Day, soft USD", "8")
	editor.fill("Day, hard USD", "5")
	editor.sees("Above the day, hard USD of $5.00")
	editor.fill("Day, soft USD", "4")
	editor.fill("Requests per minute", "60")
	editor.fill("Smallest prompt", "500")
	for label, value := range map[string]string{
		"Calls per session": "2", "USD per session": "5", "Tokens per session": "90000", "Minutes per session": "60", "Calls per turn": "7", "USD per turn": "1.5",
	} {
		editor.fill(label, value)
	}
	editor.button("Save, effective on the next call")
	editor.gone()
	var saved struct{ Policy haltd.Policy }
	n.Must(t, "GET", "/v1/agents/"+agent, nil, &saved)
	got := saved.Policy
	if got.Budgets.Day.SoftUSD != 4*haltd.Dollar || got.Budgets.Day.HardUSD != 5*haltd.Dollar || got.Budgets.ReserveTokens != 32768 ||
		got.Rates.Requests != 60 || got.Growth.MinPromptTokens != 500 || !got.KillSwitch.Enabled {
		t.Errorf("saved is %+v", got)
	}
	limits := haltd.SessionLimits{Calls: 2, USD: 5 * haltd.Dollar, Tokens: 90000, Minutes: 60, Turn: haltd.TurnLimits{Calls: 7, USD: 3 * haltd.Dollar / 2}}
	if got.Sessions != limits {
		t.Errorf("saved are the session limits %+v, want %+v", got.Sessions, limits)
	}
	p.sees("60", "500 tokens")

	p.fill("Window size", "12")
	p.button("Save, effective on the next call")
	p.sees("Saved.")
	p.fill("Window size", "")
	p.button("Save, effective on the next call")
	p.becomes("textbox", "Window size", field{Value: "20"})
	if got := n.standing(t, agent).Policy.KillSwitch.WindowSize; got != 20 {
		t.Errorf("a window that was cleared is %d, want that of the defaults", got)
	}
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusBadRequest} {
		if status, _ := n.send(t, call{agent: agent, session: "long", messages: []message{user(fmt.Sprint("Question ", i))}}); status != want {
			t.Errorf("call %d of a session that may have two is answered %d, want %d", i+1, status, want)
		}
	}
}
