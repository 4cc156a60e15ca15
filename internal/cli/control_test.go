package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
)

// fakeControl is who may call, in memory.
type fakeControl struct {
	haltd.AgentStore
	haltd.IncidentStore
	agents    []haltd.Agent
	incidents []haltd.Incident
	asked     haltd.IncidentQuery
	policy    haltd.PolicyOverride
	standings map[haltd.Target]haltd.Standing
	last      string // what changed last, by whom and why
	bypass    haltd.Bypass
	notReady  error
	gateway   string
	degraded  []string
	upstreams []haltd.Upstream
	alerts    haltd.AlertStatus
}

// fakeAlerts only says how it stands.
type fakeAlerts struct {
	admin.Alerts
	status *haltd.AlertStatus
}

func (f fakeAlerts) AlertStatus(context.Context) (haltd.AlertStatus, error) { return *f.status, nil }

// Agents answers one agent a page.
func (f *fakeControl) Agents(_ context.Context, q haltd.AgentQuery) ([]haltd.Agent, string, error) {
	var found []haltd.Agent
	for _, a := range f.agents {
		if q.Active == nil || *q.Active == a.Active {
			found = append(found, a)
		}
	}
	at := len(q.Cursor)
	if at >= len(found) {
		return nil, "", nil
	}
	next := ""
	if at+1 < len(found) {
		next = q.Cursor + "x"
	}
	return found[at : at+1], next, nil
}

func (f *fakeControl) AgentCounts(context.Context, string) (haltd.AgentCounts, error) {
	return haltd.AgentCounts{}, nil
}

func (f *fakeControl) Agent(_ context.Context, id string) (haltd.Agent, error) {
	for _, a := range f.agents {
		if a.ID == id {
			return a, nil
		}
	}
	return haltd.Agent{}, haltd.Errorf(haltd.CodeNotFound, "There is no agent %s", id).WithFix("Agents appear with their first call.")
}

func (f *fakeControl) Session(_ context.Context, agent, id string) (haltd.Session, error) {
	return haltd.Session{ID: id, Agent: agent}, nil
}

func (f *fakeControl) Incidents(_ context.Context, q haltd.IncidentQuery) ([]haltd.Incident, string, error) {
	f.asked = q
	return f.incidents, "", nil
}

func (f *fakeControl) Incident(context.Context, string) (haltd.Incident, error) {
	return f.incidents[0], nil
}

func (f *fakeControl) Activate(_ context.Context, t haltd.Target, grace time.Duration, by, why string) (haltd.Standing, error) {
	f.last = "activate " + t.Agent + "/" + t.Session + " for " + grace.String() + " by " + by + ": " + why
	s := haltd.Standing{Agent: t.Agent, Session: t.Session, Active: true, ActivatedAt: noon, At: noon, By: by}
	if grace > 0 {
		s.GraceUntil = noon.Add(grace)
	}
	f.standings[t] = s
	return s, nil
}

func (f *fakeControl) Deactivate(_ context.Context, t haltd.Target, now bool, by, why string) (haltd.Standing, error) {
	f.last = "deactivate " + t.Agent + "/" + t.Session + " by " + by + ": " + why
	if now {
		f.last = "now " + f.last
	}
	manual := haltd.ByManual
	f.standings[t] = haltd.Standing{Agent: t.Agent, Session: t.Session, DeactivatedBy: &manual, At: noon, By: by, Why: why}
	return f.standings[t], nil
}

func (f *fakeControl) Policy(agent string) (haltd.Policy, haltd.PolicyOverride) {
	if _, err := f.Agent(context.Background(), agent); err != nil {
		return haltd.DefaultPolicy(), haltd.PolicyOverride{}
	}
	return f.policy.Over(haltd.DefaultPolicy()), f.policy
}

func (f *fakeControl) Override(context.Context, string, string, func(*haltd.PolicyOverride) error) (haltd.Policy, error) {
	return haltd.Policy{}, nil
}

func (f *fakeControl) Reopen(context.Context, string, string) (haltd.Incident, error) {
	return haltd.Incident{}, haltd.Errorf(haltd.CodeNotFound, "there is no incident")
}

func (f *fakeControl) Decide(context.Context, string, haltd.IncidentStatus, string, string) (haltd.Incident, error) {
	return haltd.Incident{}, nil
}

func (f *fakeControl) Standing(t haltd.Target) (haltd.Standing, bool) {
	if s, ok := f.standings[t]; ok {
		return s, true
	}
	return haltd.Standing{Agent: t.Agent, Session: t.Session, Active: true}, false
}

func (f *fakeControl) Stopped(string) []string { return nil }

func (f *fakeControl) KeySpending(context.Context, haltd.Key) ([]haltd.PeriodSpending, error) {
	return nil, nil
}

func (f *fakeControl) Spending(context.Context, string) ([]haltd.PeriodSpending, error) {
	return []haltd.PeriodSpending{{
		Period: haltd.Daily, Resets: noon, Spent: haltd.Spending{Cost: 21 * haltd.Dollar, Tokens: 1500}, Budget: haltd.Budget{HardUSD: 60 * haltd.Dollar},
	}}, nil
}

func (f *fakeControl) Bypass() haltd.Bypass { return f.bypass }

func (f *fakeControl) SetBypass(_ context.Context, on bool, by, why string) (haltd.Bypass, error) {
	f.bypass = haltd.Bypass{On: on, By: by, Why: why, At: noon}
	return f.bypass, nil
}

// staffed is a node with two agents, one of them killed.
func staffed() *node {
	n := newNode()
	killed := haltd.ByKillSwitch
	standing := haltd.Standing{Agent: "looper", DeactivatedBy: &killed, Incident: "inc_a", By: "haltd", Why: "it loops", At: noon}
	n.agents = []haltd.Agent{
		{ID: "billing-bot", Active: true, Standing: haltd.Standing{Active: true}, LastSeen: noon, Totals: haltd.Totals{Calls: 1200, Cost: 2 * haltd.Dollar}},
		{ID: "looper", DeactivatedBy: &killed, Standing: standing, Totals: haltd.Totals{Blocked: 3}},
	}
	n.standings[haltd.Target{Agent: "looper"}] = standing
	n.policy = haltd.MustOverride(`{"kill_switch": {"enabled": true}, "rate_limits": {"requests_per_minute": 60},
		"allowed_hours": [{"days": ["mon", "tue"], "from": "08:00", "to": "18:00"}]}`)
	return n
}

// run runs a command and answers what it printed.
func run(t *testing.T, term *terminal, c interface{ Run(*Env) error }) string {
	t.Helper()
	term.out.b.Reset()
	if err := c.Run(term.Env); err != nil {
		t.Fatal(err)
	}
	return term.out.String()
}

func TestAgentsLs(t *testing.T) {
	term := newTerminal(t, staffed().serve(t).URL)
	want := "AGENT        STATE                       KILL SWITCH  CALLS  BLOCKED  COST   LAST SEEN\n" +
		"billing-bot  Active                      on           1.2k   0        $2.00  " + minute(noon) + "\n" +
		"looper       Deactivated by Kill Switch  on           0      3        $0     -\n"
	if diff := cmp.Diff(want, run(t, term, &AgentsLsCmd{})); diff != "" {
		t.Errorf("ls (-want +got):\n%s", diff)
	}
	if got := run(t, term, &AgentsLsCmd{Inactive: true}); strings.Contains(got, "billing-bot") || !strings.Contains(got, "looper") {
		t.Errorf("ls --inactive = %s", got)
	}
	for until, want := range map[time.Duration]string{time.Minute: "Grace until " + minute(noon.Add(time.Minute)), -time.Minute: "Shadow"} {
		if got := term.stateOf(&listedAgent{Agent: haltd.Agent{Active: true, Standing: haltd.Standing{GraceUntil: noon.Add(until)}}}); got != want {
			t.Errorf("grace that ends in %v = %q, want %q", until, got, want)
		}
	}
	term.JSON = true
	var list struct{ Agents []haltd.Agent }
	if err := json.Unmarshal([]byte(run(t, term, &AgentsLsCmd{})), &list); err != nil || len(list.Agents) != 2 {
		t.Errorf("--json = %+v, error %v", list, err)
	}
	term = newTerminal(t, newNode().serve(t).URL)
	if got := run(t, term, &AgentsLsCmd{}); got != "No agent yet. It appears with its first call.\n" {
		t.Errorf("an empty list = %q", got)
	}
}

func TestAgentsShow(t *testing.T) {
	n := staffed()
	term := newTerminal(t, n.serve(t).URL)
	rows := [][2]string{
		{"Agent", "looper"}, {"State", "Deactivated by Kill Switch"}, {"Since", minute(noon) + ", by haltd"}, {"Why", "it loops"}, {"Incident", "inc_a"},
	}
	own := map[string]string{
		"kill_switch.enabled": "true", "allowed_hours": `[{days: [mon, tue], from: "08:00", to: "18:00"}]`,
		"rate_limits.requests_per_minute": "60", "rate_limits.tokens_per_minute": "0",
	}
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		for _, s := range section.Settings {
			value, isOwn := own[s.Path]
			if isOwn {
				value += " (own)"
			} else {
				value = strings.TrimSuffix(s.Text(s.Default)+" "+s.Unit, " ")
			}
			rows = append(rows, [2]string{s.Path, value})
		}
	}
	rows = append(rows, [][2]string{
		{"Spent this day", "$21.00 of $60.00, 1.5k tokens; begins again " + minute(noon)}, {"Calls", "0, 3 blocked, 0 failed"},
		{"Tokens in/out", "0/0"}, {"Cost", "$0"}, {"Last seen", "-"},
	}...)
	width, want := 0, ""
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		want += fmt.Sprintf("%-*s  %s\n", width, row[0], row[1])
	}
	if diff := cmp.Diff(want, run(t, term, &AgentsShowCmd{Agent: "looper"})); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	term.JSON = true
	if got := run(t, term, &AgentsShowCmd{Agent: "looper"}); !strings.HasPrefix(got, `{"id":"looper","active":false,"deactivated_by":"kill_switch",`) {
		t.Errorf("--json = %s", got)
	}
	n.agents[0].Shared, term.JSON = true, false
	if got := run(t, term, &AgentsShowCmd{Agent: n.agents[0].ID}); !regexp.MustCompile(`kill_scope +session\n`).MatchString(got) {
		t.Errorf("an agent that many share:\n%s", got)
	}
	if err := (&AgentsShowCmd{Agent: "loper"}).Run(term.Env); haltd.ErrorCode(err) != haltd.CodeNotFound || ExitCode(err) != ExitFailure {
		t.Errorf("an unknown agent = %v", err)
	}
}

func TestKillAndResume(t *testing.T) {
	clock := noon.Local().Format(time.TimeOnly)
	for _, c := range []struct {
		name    string
		command interface{ Run(*Env) error }
		changed string
		said    string
	}{
		{"kill", &AgentsKillCmd{Agent: "looper", Reason: "enough"}, "deactivate looper/ by ann@laptop: enough",
			"looper is stopped. Resume with `haltd agents resume looper`.\n"},
		{"kill now", &AgentsKillCmd{Agent: "looper", Now: true}, "now deactivate looper/ by ann@laptop: ",
			"looper is stopped. Resume with `haltd agents resume looper`.\n"},
		{"kill a session", &AgentsKillCmd{Agent: "looper", Session: "a/b c"}, "deactivate looper/a/b c by ann@laptop: ",
			"Session a/b c of looper is stopped. Resume with `haltd agents resume looper --session 'a/b c'`.\n"},
		{"resume", &AgentsResumeCmd{Agent: "looper"}, "activate looper/ for 0s by ann@laptop: ",
			"looper is active again. Rounds before " + clock + " no longer count.\n"},
		{"resume with grace", &AgentsResumeCmd{Agent: "looper", Session: "s", Grace: 90 * time.Second}, "activate looper/s for 2m0s by ann@laptop: ",
			"Session s of looper is active again. Rounds before " + clock + " no longer count. A kill only warns until " + minute(noon.Add(2*time.Minute)) + ".\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := staffed()
			term := newTerminal(t, n.serve(t).URL)
			term.Actor = "ann@laptop"
			if got := run(t, term, c.command); got != c.said || n.last != c.changed {
				t.Errorf("said %q, changed %q; want %q, %q", got, n.last, c.said, c.changed)
			}
		})
	}
}

// A person who was told to resume an agent must not believe that its killed
// session goes on.
func TestResumeNamesTheSessionsThatStayStopped(t *testing.T) {
	n := staffed()
	kill := haltd.Incident{
		ID: "inc_a", Time: noon, Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill,
		Scope: haltd.ScopeSession, Agent: "looper", Session: "a;b", Verdict: &haltd.Verdict{},
	}
	rejection, agentWide := kill, kill
	rejection.Action, agentWide.Scope = haltd.Reject, haltd.ScopeAgent
	n.incidents = []haltd.Incident{kill, rejection, agentWide}
	term := newTerminal(t, n.serve(t).URL)
	want := "Still stopped is its session a;b. Resume it with `haltd agents resume looper --session 'a;b'`.\n"
	if got := run(t, term, &AgentsResumeCmd{Agent: "looper"}); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, want) {
		t.Errorf("said %q, want it to end with %q", got, want)
	}
	if n.asked.Agent != "looper" || n.asked.Status != haltd.IncidentOpen {
		t.Errorf("asked for %+v", n.asked)
	}
	if got := run(t, term, &AgentsResumeCmd{Agent: "looper", Session: "a;b"}); strings.Contains(got, "Still stopped") {
		t.Errorf("resuming the session said %q", got)
	}
}

func TestAMisspeltAgentIsNotStopped(t *testing.T) {
	n := staffed()
	term := newTerminal(t, n.serve(t).URL)
	for _, c := range []interface{ Run(*Env) error }{&AgentsKillCmd{Agent: "loper"}, &AgentsResumeCmd{Agent: "loper"}, &AgentsKillCmd{Agent: "loper", Session: "s"}} {
		if err := c.Run(term.Env); haltd.ErrorCode(err) != haltd.CodeNotFound || n.last != "" {
			t.Errorf("%T = %v, changed %q", c, err, n.last)
		}
	}
	if err := (&AgentsResumeCmd{Agent: "looper", Grace: -time.Minute}).Run(term.Env); ExitCode(err) != ExitUsage {
		t.Errorf("a negative grace = %v (exit %d)", err, ExitCode(err))
	}
}

func TestIncidents(t *testing.T) {
	n := newNode()
	term := newTerminal(t, n.serve(t).URL)
	if got := run(t, term, &IncidentsLsCmd{Status: "open"}); got != "No open incidents.\n" {
		t.Errorf("none = %q", got)
	}
	n.incidents = []haltd.Incident{{
		ID: "inc_a", Time: noon, Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill, Scope: haltd.ScopeAgent,
		Agent: "looper", Session: "s", Detector: "stall", Sentence: "looper called search 6 times.", Verdict: &haltd.Verdict{},
	}}
	want := "ID     TIME              AGENT   WHAT     STATUS  SENTENCE\n" +
		"inc_a  " + minute(noon) + "  looper  Stopped  Open    looper called search 6 times.\n"
	if diff := cmp.Diff(want, run(t, term, &IncidentsLsCmd{Status: "open", Agent: "looper"})); diff != "" {
		t.Errorf("ls (-want +got):\n%s", diff)
	}
	if n.asked.Status != haltd.IncidentOpen || n.asked.Agent != "looper" {
		t.Errorf("asked %+v", n.asked)
	}
	if run(t, term, &IncidentsLsCmd{Status: "all"}); n.asked.Status != "" {
		t.Errorf("--status all asked %+v", n.asked)
	}
	want = "looper called search 6 times.\n\n" +
		"Incident  inc_a\n" +
		"Time      " + minute(noon) + "\n" +
		"What      Stopped\n" +
		"Status    Open\n" +
		"Agent     looper\n" +
		"Session   s\n" +
		"Model     -\n" +
		"Detector  stall\n" +
		"Burned    $0 in 0 calls\n" +
		"Saved     no estimate. The agent had no hard budget in dollars that would have ended it.\n" +
		"\nResume with `haltd agents resume looper`; add --grace 30m to only warn for a while.\n"
	if diff := cmp.Diff(want, run(t, term, &IncidentsShowCmd{ID: "inc_a"})); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	n.incidents[0].Verdict = &haltd.Verdict{Basis: &haltd.Basis{Calls: 20, Rounds: 12, Features: 1, Weights: "2026-11-15"}}
	if got := run(t, term, &IncidentsShowCmd{ID: "inc_a"}); !strings.Contains(got, "Judged by  12 rounds, 20 calls, weights of 2026-11-15\n") {
		t.Errorf("show says nothing of what the verdict rests on: %s", got)
	}
	n.incidents[0].Trace = "0af7651916cd43dd8448eb211c80319c"
	if got := run(t, term, &IncidentsShowCmd{ID: "inc_a"}); !strings.Contains(got, "Trace      0af7651916cd43dd8448eb211c80319c\n") {
		t.Errorf("show says nothing of the trace: %s", got)
	}
	n.incidents[0].Shadow, n.incidents[0].Status, n.incidents[0].ClosedAt, n.incidents[0].ClosedBy = true, haltd.IncidentFalsePositive, &noon, "ann"
	if got := run(t, term, &IncidentsShowCmd{ID: "inc_a"}); !strings.Contains(got, "Would stop") || !strings.Contains(got, "Marked as wrong") ||
		!strings.Contains(got, ", by ann") || strings.Contains(got, "Resume with") {
		t.Errorf("a shadow that was decided = %s", got)
	}
	term.JSON = true
	if got := run(t, term, &IncidentsShowCmd{ID: "inc_a"}); !strings.HasPrefix(got, `{"id":"inc_a",`) || !strings.Contains(got, `"money":{`) {
		t.Errorf("--json = %s", got)
	}
}

func TestBypass(t *testing.T) {
	n := newNode()
	term := newTerminal(t, n.serve(t).URL)
	term.Actor = "ann@laptop"
	if got := run(t, term, &BypassStatusCmd{}); got != "Bypass is off: policies and detectors are enforced.\n" {
		t.Errorf("status = %q", got)
	}
	want := "Bypass is ON since " + minute(noon) + ", by ann@laptop: it blocks all\n" +
		"Nothing is enforced except stops by hand. End it with `haltd bypass off`.\n"
	if got := run(t, term, &BypassOnCmd{Reason: "it blocks all"}); got != want {
		t.Errorf("on = %q, want %q", got, want)
	}
	run(t, term, &BypassOffCmd{})
	if n.bypass.On {
		t.Error("the bypass is still on")
	}
	term.JSON = true
	if got := run(t, term, &BypassStatusCmd{}); got != `{"on":false,"by":"ann@laptop","at":"2026-03-01T12:00:00Z"}`+"\n" {
		t.Errorf("--json = %s", got)
	}
}
