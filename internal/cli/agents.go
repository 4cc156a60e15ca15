package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/haltd/haltd"
)

// listedAgent is an agent of a listing.
type listedAgent struct {
	haltd.Agent
	Policy haltd.Policy `json:"policy"`
}

// AgentsLsCmd lists agents.
type AgentsLsCmd struct {
	Inactive bool `help:"Only agents that are stopped or halted."`
}

// Run prints a table, or one JSON object.
func (c *AgentsLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Inactive {
		query.Set("active", "false")
	}
	raw, err := api.list(env.Context, "/v1/agents", "agents", query)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(map[string]any{"agents": raw})
	}
	agents, err := decoded[listedAgent](raw)
	if err != nil {
		return err
	}
	if len(agents) == 0 {
		text := "No agent yet. It appears with its first call."
		if c.Inactive {
			text = "Every agent may call."
		}
		_, err := fmt.Fprintln(env.Stdout, text)
		return err
	}
	rows := [][]string{{"AGENT", "STATE", "KILL SWITCH", "CALLS", "BLOCKED", "COST", "LAST SEEN"}}
	for i := range agents {
		a := &agents[i]
		rows = append(rows, []string{
			clean(a.ID), env.stateOf(a), onOff(a.Policy.KillSwitch.Enabled),
			amount(a.Totals.Calls), amount(a.Totals.Blocked), cost(a.Totals.Cost), seen(a.LastSeen),
		})
	}
	return table(env.Stdout, rows)
}

// stateOf is whether an agent may call, and whether it would be stopped, in the
// dashboard's words.
func (e *Env) stateOf(a *listedAgent) string {
	s := a.Standing
	switch {
	case !a.Active && s.DeactivatedBy != nil && *s.DeactivatedBy == haltd.ByKillSwitch:
		return "Deactivated by Kill Switch"
	case !a.Active && s.IsHalted():
		return "Halted until a person writes"
	case !a.Active:
		return "Inactive"
	case s.GraceUntil.After(e.Clock()):
		return "Grace until " + minute(s.GraceUntil)
	case !a.Policy.KillSwitch.Enabled:
		return "Shadow"
	}
	return "Active"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// seen is when an agent was last seen; a dash when it never called.
func seen(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return minute(t)
}

// AgentsShowCmd shows one agent.
type AgentsShowCmd struct {
	Agent string `arg:"" help:"Id of the agent."`
}

// Run prints its state, its policy and what it has spent.
func (c *AgentsShowCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(env.Context, http.MethodGet, agentPath(c.Agent), nil, nil, &raw); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(raw)
	}
	var a struct {
		listedAgent
		Override haltd.PolicyOverride   `json:"override"`
		Spending []haltd.PeriodSpending `json:"spending"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("read the answer of haltd: %w", err)
	}
	rows := [][]string{{"Agent", clean(a.ID)}, {"State", env.stateOf(&a.listedAgent)}}
	rows = append(rows, standingRows(&a.Standing)...)
	rows = append(rows, policyRows(&a.Policy, &a.Override, a.Shared)...)
	for _, p := range a.Spending {
		rows = append(rows, []string{"Spent this " + string(p.Period), spentText(&p)})
	}
	last := seen(a.LastSeen)
	if a.Totals.Calls == 0 {
		last = "-"
	}
	rows = append(rows,
		[]string{"Calls", fmt.Sprintf("%s, %s blocked, %s failed", amount(a.Totals.Calls), amount(a.Totals.Blocked), amount(a.Totals.Errors))},
		[]string{"Tokens in/out", amount(a.Totals.Tokens.Input) + "/" + amount(a.Totals.Tokens.Output)},
		[]string{"Cost", cost(a.Totals.Cost)}, []string{"Last seen", last})
	return table(env.Stdout, rows)
}

func standingRows(s *haltd.Standing) (rows [][]string) {
	if s.At.IsZero() {
		return nil
	}
	rows = append(rows, []string{"Since", minute(s.At) + ", by " + clean(dash(s.By))})
	if s.Why != "" {
		rows = append(rows, []string{"Why", clean(s.Why)})
	}
	if s.Incident != "" {
		rows = append(rows, []string{"Incident", clean(s.Incident)})
	}
	return rows
}

// policyRows show every setting, and which were set for this very agent by the
// API.
func policyRows[P any](p *P, own *haltd.Override[P], shared bool) (rows [][]string) {
	for _, section := range haltd.SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			text := s.Text(s.In(p))
			if shared && s.Shared != "" {
				text = s.Shared
			}
			if s.Unit != "" {
				text += " " + s.Unit
			}
			if own.Has(s) {
				text += " (own)"
			}
			rows = append(rows, []string{s.Path, clean(text)})
		}
	}
	return rows
}

func spentText(p *haltd.PeriodSpending) string {
	text := cost(p.Spent.Cost)
	if p.Budget.HardUSD > 0 {
		text += " of " + cost(p.Budget.HardUSD)
	}
	text += ", " + amount(p.Spent.Tokens)
	if p.Budget.HardTokens > 0 {
		text += " of " + amount(p.Budget.HardTokens)
	}
	return text + " tokens; begins again " + minute(p.Resets)
}

// AgentsKillCmd stops an agent, or one session of it.
type AgentsKillCmd struct {
	Agent   string `arg:"" help:"Id of the agent."`
	Session string `help:"Stop this session only."`
	Now     bool   `help:"Cut the calls in flight, too."`
	Reason  string `help:"Why, for the record."`
}

// Run stops the agent before its next call.
func (c *AgentsKillCmd) Run(env *Env) error {
	body := map[string]any{"now": c.Now, "reason": c.Reason}
	return env.changeStanding(c.Agent, c.Session, "deactivate", body, func(haltd.Standing) string {
		return fmt.Sprintf("%s is stopped. Resume with `haltd agents resume %s`.", named(c.Agent, c.Session), command(c.Agent, c.Session))
	})
}

// AgentsResumeCmd lets an agent, or one session of it, call again.
type AgentsResumeCmd struct {
	Agent   string        `arg:"" help:"Id of the agent."`
	Session string        `help:"Resume this session only."`
	Grace   time.Duration `help:"For how long a kill only warns, for example 30m."`
	Reason  string        `help:"Why, for the record."`
}

// Run clears the agent's window and lets it call.
func (c *AgentsResumeCmd) Run(env *Env) error {
	if c.Grace < 0 || c.Grace > 7*24*time.Hour {
		return haltd.Errorf(codeUsage, "--grace %s is not between 0 and 7d", c.Grace).WithFix("Use for example --grace 30m.")
	}
	body := map[string]any{"grace_minutes": int(math.Ceil(c.Grace.Minutes())), "reason": c.Reason}
	err := env.changeStanding(c.Agent, c.Session, "activate", body, func(s haltd.Standing) string {
		text := fmt.Sprintf("%s is active again. Rounds before %s no longer count.",
			named(c.Agent, c.Session), s.ActivatedAt.Local().Format(time.TimeOnly))
		if !s.GraceUntil.IsZero() {
			text += " A kill only warns until " + minute(s.GraceUntil) + "."
		}
		return text
	})
	if err != nil || c.Session != "" || env.JSON {
		return err
	}
	return env.tellKilledSessions(c.Agent)
}

// tellKilledSessions names the sessions of an agent that stay stopped though
// the agent itself may call: a kill that fell on a session is lifted from that
// session.
func (e *Env) tellKilledSessions(agent string) error {
	api, err := e.connect()
	if err != nil {
		return err
	}
	raw, err := api.list(e.Context, "/v1/incidents", "incidents", url.Values{
		"agent": {agent}, "kind": {string(haltd.IncidentKillSwitch)}, "status": {string(haltd.IncidentOpen)}, "shadow": {"false"},
	})
	if err != nil {
		return err
	}
	incidents, err := decoded[haltd.Incident](raw)
	if err != nil {
		return err
	}
	for i := range incidents {
		if v := &incidents[i]; v.Action >= haltd.Halt && v.Scope == haltd.ScopeSession {
			fmt.Fprintf(e.Stdout, "Still stopped is its session %s. Resume it with `haltd agents resume %s`.\n",
				clean(v.Session), command(v.Agent, v.Session))
		}
	}
	return nil
}

// changeStanding activates or deactivates, and says how it stands now. An
// agent that haltd does not know is a misspelt one more often than not: the
// one that was meant would go on as before.
func (e *Env) changeStanding(agent, session, verb string, body any, say func(haltd.Standing) string) error {
	api, err := e.connect()
	if err != nil {
		return err
	}
	path, query := agentPath(agent)+"/"+verb, url.Values(nil)
	if session != "" {
		path, query = "/v1/sessions/"+url.PathEscape(session)+"/"+verb, url.Values{"agent": {agent}}
	}
	var known json.RawMessage
	if err := api.call(e.Context, http.MethodGet, agentPath(agent), nil, nil, &known); err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(e.Context, http.MethodPost, path, query, body, &raw); err != nil {
		return err
	}
	if e.JSON {
		return e.printJSON(raw)
	}
	var changed struct {
		Standing haltd.Standing `json:"standing"`
	}
	if err := json.Unmarshal(raw, &changed); err != nil {
		return fmt.Errorf("read the answer of haltd: %w", err)
	}
	_, err = fmt.Fprintln(e.Stdout, say(changed.Standing))
	return err
}

func agentPath(agent string) string { return "/v1/agents/" + url.PathEscape(agent) }

func named(agent, session string) string {
	if session == "" {
		return clean(agent)
	}
	return "Session " + clean(session) + " of " + clean(agent)
}

func command(agent, session string) string {
	if session == "" {
		return clean(agent)
	}
	return clean(agent) + " --session " + quote(session)
}
