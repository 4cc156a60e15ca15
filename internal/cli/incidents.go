package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/haltd/haltd"
)

// IncidentsLsCmd lists incidents.
type IncidentsLsCmd struct {
	Agent  string `help:"Only incidents of this agent."`
	Kind   string `enum:"kill_switch,growth,budget_soft,budget_hard,session_limit,steer," default:"" help:"Only incidents of this kind: kill_switch, growth, budget_soft, budget_hard, session_limit or steer."`
	Status string `enum:"open,resumed,continued,recovered,unmoved,kept,false_positive,all" default:"open" help:"Only incidents in this state: open, resumed, continued, recovered, unmoved, kept, false_positive or all."`
	Since  string `help:"Only incidents from then on, for example 24h or 7d."`
}

// Run prints a table, or one JSON object.
func (c *IncidentsLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	for name, value := range map[string]string{"agent": c.Agent, "kind": c.Kind, "status": c.Status, "since": c.Since} {
		if value != "" && value != "all" {
			query.Set(name, value)
		}
	}
	raw, err := api.list(env.Context, "/v1/incidents", "incidents", query)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(map[string]any{"incidents": raw})
	}
	incidents, err := decoded[haltd.Incident](raw)
	if err != nil {
		return err
	}
	if len(incidents) == 0 {
		text := "No open incidents."
		if c.Status != "open" {
			text = "No matches."
		}
		_, err := fmt.Fprintln(env.Stdout, text)
		return err
	}
	rows := [][]string{{"ID", "TIME", "AGENT", "WHAT", "STATUS", "SENTENCE"}}
	for i := range incidents {
		v := &incidents[i]
		rows = append(rows, []string{clean(v.ID), minute(v.Time), clean(v.Agent), done(v.Action, v.Shadow), clean(v.StatusWords()), clean(v.Sentence)})
	}
	return table(env.Stdout, rows)
}

// done is what an action did, in the dashboard's words.
func done(action haltd.Action, shadow bool) string {
	if shadow {
		if action == haltd.Kill {
			return "Would stop"
		}
		return "Would " + action.String()
	}
	switch action {
	case haltd.Kill:
		return "Stopped"
	case haltd.Halt:
		return "Halted"
	case haltd.Steer:
		return "Steered"
	case haltd.Block:
		return "Blocked"
	case haltd.Reject:
		return "Rejected"
	case haltd.Throttle:
		return "Throttled"
	}
	return "Warned"
}

// IncidentsShowCmd shows one incident.
type IncidentsShowCmd struct {
	ID string `arg:"" help:"Id of the incident, as incidents ls shows it."`
}

type shownIncident struct {
	haltd.Incident
	TraceURL string `json:"trace_url"`
	Money    struct {
		Burned      haltd.Money  `json:"burned_usd"`
		Calls       int64        `json:"burned_calls"`
		Saved       *haltd.Money `json:"saved_usd"`
		SavedReason string       `json:"saved_reason"`
	} `json:"money"`
}

// Run prints what happened, what it cost and what can be done.
func (c *IncidentsShowCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(env.Context, http.MethodGet, "/v1/incidents/"+url.PathEscape(c.ID), nil, nil, &raw); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(raw)
	}
	var v shownIncident
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("read the answer of haltd: %w", err)
	}
	fmt.Fprintf(env.Stdout, "%s\n\n", clean(v.Sentence))
	if err := table(env.Stdout, incidentRows(&v)); err != nil {
		return err
	}
	if v.Status != haltd.IncidentOpen || v.Action < haltd.Halt || v.Shadow {
		return nil
	}
	session := ""
	if v.Scope == haltd.ScopeSession {
		session = v.Session
	}
	_, err = fmt.Fprintf(env.Stdout, "\nResume with `haltd agents resume %s`; add --grace 30m to only warn for a while.\n", command(v.Agent, session))
	return err
}

func incidentRows(v *shownIncident) [][]string {
	rows := [][]string{
		{"Incident", clean(v.ID)}, {"Time", minute(v.Time)}, {"What", done(v.Action, v.Shadow)}, {"Status", clean(v.StatusWords())},
	}
	if v.ClosedAt != nil {
		rows = append(rows, []string{"Decided", minute(*v.ClosedAt) + ", by " + clean(dash(v.ClosedBy))})
	}
	if v.Note != "" {
		rows = append(rows, []string{"Note", clean(v.Note)})
	}
	rows = append(rows,
		[]string{"Agent", clean(v.Agent)}, []string{"Session", clean(dash(v.Session))}, []string{"Model", clean(dash(v.Model))})
	if v.Trace != "" {
		rows = append(rows, []string{"Trace", clean(cmp.Or(v.TraceURL, v.Trace))})
	}
	rows = append(rows,
		[]string{"Detector", clean(dash(string(v.Detector)))},
		[]string{"Burned", cost(v.Money.Burned) + " in " + amount(v.Money.Calls) + " calls"})
	saved := "no estimate. "
	if v.Money.Saved != nil {
		saved = cost(*v.Money.Saved) + " (estimate). "
	}
	rows = append(rows, []string{"Saved", saved + clean(v.Money.SavedReason)})
	if v.Verdict != nil {
		for _, r := range v.Verdict.Rungs {
			rows = append(rows, []string{"Rung", fmt.Sprintf("%s at round %d, %s", r.Action, r.Round, minute(r.Time))})
		}
		for _, f := range v.Verdict.Findings {
			if f.Note != "" {
				rows = append(rows, []string{"Note added", clean(f.Note)})
			}
		}
	}
	if v.Verdict != nil && v.Verdict.Basis != nil {
		b := v.Verdict.Basis
		rows = append(rows, []string{"Judged by", fmt.Sprintf("%d rounds, %d calls, weights of %s", b.Rounds, b.Calls, clean(b.Weights))})
	}
	return rows
}
