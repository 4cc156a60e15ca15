package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/fakellm"
)

// decided lets an agent run away under a Kill Switch that leaves the decision
// to one detector, and answers the incident.
func (n *node) decided(t *testing.T, agent, by, killSwitch string) incident {
	t.Helper()
	n.Must(t, "PATCH", "/v1/agents/"+agent+"/kill-switch", json.RawMessage(killSwitch), nil)
	id := n.runAway(t, agent, "recon-of-"+agent)
	n.Eventually(t, "telling of its rejection", func() bool {
		status, _, err := n.Ask(t.Context(), "GET", "/v1/incidents/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return status == http.StatusOK
	})
	i := n.incident(t, id)
	if i.Detector != by {
		t.Fatalf("%s decided, want %s", i.Detector, by)
	}
	return i
}

// An incident shows why the detector that decided was certain, and the page
// of one is not taken for the other.
func TestReasons(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	p := newTab(t, n)

	t.Run("Stall decided", func(t *testing.T) {
		p.during(t)
		i := n.decided(t, "stuck-bot", "stall", `{"similarity": "warn"}`)
		p.open("/incidents/" + i.ID)
		p.settled()
		certainty := p.reasonsAddUp()
		if math.Abs(float64(certainty)-i.Verdict.Certainty) > 0.6 {
			t.Errorf("the reasons add up to %d, want the certainty of %v", certainty, i.Verdict.Certainty)
		}
		p.sees("by stall", fmt.Sprintf("Certainty %d %%, kill line 95 %%. Call #", certainty), "was not forwarded; stuck-bot is stopped.",
			"Similarity score of this call:", "Warn line 75 %", "Kill line 95 %")
		p.lacks("Score against threshold", "What if the threshold were", "exceeds the threshold")
		p.in("image", "Certainty after each round, warn line 75 %, kill line 95 %. Round…").there()
		p.accessible(axe(t))

		p.show(phone)
		p.in("region", "Reasons").sees("Certainty " + strconv.Itoa(certainty) + " %")
		p.fits()
		p.show(desktop)

		n.Must(t, "POST", "/v1/agents/stuck-bot/activate", json.RawMessage(`{}`), nil)
		p.open("/incidents/" + i.ID)
		p.sees("was not forwarded; stuck-bot was stopped.", "The agent is now: Active")
	})

	t.Run("Stall rejected", func(t *testing.T) {
		p.during(t)
		i := n.decided(t, "patient-bot", "stall", `{"similarity": "warn", "stall": "reject"}`)
		p.open("/incidents/" + i.ID)
		p.sees("Rejected", "was not forwarded. ", "The agent stays active.")
		p.lacks("is stopped")
		p.reasonsAddUp()
	})

	t.Run("Similarity decided", func(t *testing.T) {
		p.during(t)
		i := n.decided(t, "alike-bot", "similarity", `{"stall": "warn", "require_corroboration": false}`)
		p.open("/incidents/" + i.ID)
		p.sees("by similarity", "exceeds the threshold of 10.0", "Score against threshold", "What if the threshold were")
		p.settled()
		p.in("region", "Reasons").gone()
		p.lacks(", kill line 95 %.")
	})

	t.Run("Equal calls under changing sessions", func(t *testing.T) {
		p.during(t)
		n.killSwitch(t, "crowd-bot", true)
		id := ""
		for k := range 100 {
			status, stopped := n.send(t, call{agent: "crowd-bot", session: fmt.Sprint("one-of-", k), messages: []message{user("Is it raining?")}, reply: fakellm.Script{Text: "It is."}})
			if id = stopped; status != http.StatusOK {
				break
			}
		}
		i := n.incident(t, id)
		if !strings.Contains(i.Sentence, "under changing users or sessions") {
			t.Fatalf("the incident says: %s", i.Sentence)
		}
		p.open("/incidents/" + id)
		p.sees(i.Sentence, "was not forwarded")
		p.settled()
		p.lacks("Score against threshold", "What if the threshold were", "exceeds the threshold", ", kill line 95 %.")
	})
}

var (
	points  = regexp.MustCompile(`[+−]\d+`)
	reached = regexp.MustCompile(`Certainty (\d+) %`)
)

// reasonsAddUp reads the reasons as a person does: their points must add up to
// the certainty, which it answers.
func (p *tab) reasonsAddUp() int {
	p.t.Helper()
	card := p.in("region", "Reasons")
	card.sees("warn 75 %", "kill 95 %", "Certainty")
	shown, err := card.text()
	if err != nil {
		p.t.Fatal(err)
	}
	sum, each := 0, points.FindAllString(shown, -1)
	for _, n := range each {
		value, err := strconv.Atoi(strings.Replace(n, "−", "-", 1))
		if err != nil {
			p.t.Fatal(err)
		}
		sum += value
	}
	total := reached.FindStringSubmatch(shown)
	if total == nil || len(each) == 0 || strconv.Itoa(sum) != total[1] {
		p.t.Fatalf("the reasons %v add up to %d; they show: %s", each, sum, shown)
	}
	return sum
}

// Incidents from before the certainty was kept are shown with what they have.
func TestIncidentWithoutCertainty(t *testing.T) {
	t.Parallel()
	verdict := &haltd.Verdict{
		Action: haltd.Kill, Level: haltd.LevelKill, Score: 12, Parts: haltd.ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 4},
		Signals: []haltd.Signal{{
			Detector: haltd.DetectorStall, Family: haltd.FamilyRepeat, Level: haltd.LevelKill, Score: 3, Threshold: 3, Tools: []string{"find_payment"}, Count: 4, Outcome: "error",
			Rounds: []haltd.RoundEvidence{{Letter: "A", Tool: "find_payment", Act: "1f", Result: "2e"}},
		}},
	}
	old := haltd.Incident{
		ID: "inc_bcdfghjkmnpq", Time: time.Now().Add(-time.Hour), Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill, Scope: haltd.ScopeAgent,
		Agent: "old-bot", Session: "recon", Reason: haltd.ReasonLoop, Detector: "stall", Sentence: "old-bot called find_payment 4 times with the same arguments and got the same error.",
		Verdict: verdict, Settings: haltd.Policy{KillSwitch: haltd.KillSwitch{Enabled: true, WindowSize: 20, Threshold: 10}},
	}
	n := startIn(t, recorded(t, func(ctx context.Context, s *sqlite.Store) error {
		return s.Commit(ctx, haltd.Change{Incident: &old})
	}), "")
	p := newTab(t, n)
	p.expect("status of 404") // nobody has seen the agent
	p.open("/incidents/" + old.ID)
	p.sees(old.Sentence, "was not forwarded", "Settings at the time")
	p.in("region", "Reasons").sees("Same round 4 times, find_payment.", "was not recorded then", "Similarity score of this call: 12.0, above its threshold of 10.0.")
	p.settled()
	p.lacks("Certainty", "kill line", "What if the threshold were", "NaN", "undefined")
	p.fits()
}

func TestWarnAndKillLine(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	const agent = "lined-bot"
	n.send(t, call{agent: agent})
	n.killSwitch(t, agent, true)
	p := newTab(t, n)
	p.open("/agents/" + agent)
	p.becomes("textbox", "Warn line", field{Value: "75"})
	p.becomes("textbox", "Kill line", field{Value: "95"})
	p.fill("Warn line", "97")
	p.sees("Above the kill line of 95 %")
	if !p.state("button", "Save, effective on the next call").Disabled {
		t.Error("a warn line above the kill line can be saved")
	}
	p.fill("Kill line", "99.5")
	p.lacks("Above the kill line")
	p.fill("Warn line", "40")
	p.button("Save, effective on the next call")
	p.sees("Saved.")
	if got := n.standing(t, agent).Policy.KillSwitch; got.WarnAt != 40 || got.KillAt != 99.5 {
		t.Errorf("saved is %+v, want a warn line of 40 and a kill line of 99.5", got)
	}
	p.open("/agents/" + agent)
	p.becomes("textbox", "Warn line", field{Value: "40"})
	p.becomes("textbox", "Kill line", field{Value: "99.5"})
}
