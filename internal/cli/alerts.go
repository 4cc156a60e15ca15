package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// AlertRulesLsCmd lists alert rules.
type AlertRulesLsCmd struct{}

// Run prints a table, or one JSON object.
func (c *AlertRulesLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	if env.JSON {
		return env.pass(api, http.MethodGet, "/v1/alert-rules", nil)
	}
	rules, err := env.alertRules(api)
	if err != nil {
		return err
	}
	if len(rules) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "No alert rule: every alert goes to every channel.")
		return err
	}
	names, err := env.channelNames(api)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATE", "TOPICS", "AGENTS", "CHANNELS", "COOLDOWN"}}
	for _, r := range rules {
		topics, channels := make([]string, len(r.Topics)), make([]string, len(r.Channels))
		for i, t := range r.Topics {
			topics[i] = string(t)
		}
		for i, id := range r.Channels {
			channels[i] = names.of(id)
		}
		rows = append(rows, []string{
			clean(r.ID), clean(r.Name), onOff(r.Enabled), orAll(topics), orAll(r.Agents), orAll(channels), cooldown(r.Cooldown),
		})
	}
	return table(env.Stdout, rows)
}

func (e *Env) alertRules(api *client) ([]haltd.AlertRule, error) {
	var list struct {
		Rules []haltd.AlertRule `json:"alert_rules"`
	}
	err := api.call(e.Context, http.MethodGet, "/v1/alert-rules", nil, nil, &list)
	return list.Rules, err
}

// orAll is a list of which none means all.
func orAll(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return clean(strings.Join(names, ", "))
}

func cooldown(seconds int) string {
	if seconds == 0 {
		return "none"
	}
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// channelNames are the names of channels by id.
type channelNames map[string]string

func (e *Env) channelNames(api *client) (channelNames, error) {
	channels, err := e.channels(api)
	names := channelNames{}
	for _, c := range channels {
		names[c.ID] = c.Name
	}
	return names, err
}

// of names a channel; one that was deleted has its id only.
func (n channelNames) of(id string) string {
	if name, ok := n[id]; ok {
		return name
	}
	return id
}

// AlertRulesAddCmd makes an alert rule.
type AlertRulesAddCmd struct {
	Name     string        `required:"" help:"What you call the rule."`
	Topic    []string      `help:"Only alerts about these: kill_switch, growth, budget_soft, budget_hard, session_limit, shadow, upstream, bypass, store." placeholder:"TOPIC"`
	Agent    []string      `help:"Only alerts about these agents." placeholder:"AGENT"`
	Channel  []string      `help:"Only to these channels, by id or name." placeholder:"CHANNEL"`
	Cooldown time.Duration `help:"For how long after an alert further ones about the same agent and topic are held back, for example 1h." placeholder:"SPAN"`
}

// Run makes the rule.
func (c *AlertRulesAddCmd) Run(env *Env) error {
	if c.Cooldown%time.Second != 0 {
		return haltd.Errorf(codeUsage, "--cooldown %s is not in whole seconds", c.Cooldown).WithFix("Use for example --cooldown 1h.")
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	channels := make([]string, len(c.Channel))
	for i, wanted := range c.Channel {
		found, err := env.channel(api, wanted)
		if err != nil {
			return err
		}
		channels[i] = found.ID
	}
	body := map[string]any{"name": c.Name, "channels": channels, "cooldown_seconds": int(c.Cooldown / time.Second)}
	if len(c.Topic) > 0 {
		body["topics"] = c.Topic
	}
	if len(c.Agent) > 0 {
		body["agents"] = c.Agent
	}
	if env.JSON {
		return env.pass(api, http.MethodPost, "/v1/alert-rules", body)
	}
	var made haltd.AlertRule
	if err := api.call(env.Context, http.MethodPost, "/v1/alert-rules", nil, body, &made); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "Alert rule %s is active. From now on only what a rule selects is sent.\n", clean(made.ID))
	return err
}

// AlertRulesRmCmd deletes an alert rule.
type AlertRulesRmCmd struct {
	Rule string `arg:"" help:"Id of the rule, or its name where no other rule has it."`
}

// Run deletes the rule.
func (c *AlertRulesRmCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	rules, err := env.alertRules(api)
	if err != nil {
		return err
	}
	rule, err := ruleNamed(rules, c.Rule)
	if err != nil {
		return err
	}
	text := "Alert rule " + clean(rule.ID) + " is deleted."
	if len(rules) == 1 {
		text += " It was the last one: every alert goes to every channel."
	}
	return env.remove(api, "/v1/alert-rules/"+url.PathEscape(rule.ID), rule, text)
}

// ruleNamed finds a rule by its id, or by a name that it has for itself.
func ruleNamed(rules []haltd.AlertRule, name string) (haltd.AlertRule, error) {
	var found []haltd.AlertRule
	for _, r := range rules {
		if r.ID == name {
			return r, nil
		}
		if r.Name == name {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return haltd.AlertRule{}, haltd.Errorf(haltd.CodeNotFound, "There is no alert rule %s", clean(name)).WithFix("haltd alert-rules ls shows them.")
	case 1:
		return found[0], nil
	}
	return haltd.AlertRule{}, haltd.Errorf(codeUsage, "%d alert rules are called %s", len(found), clean(name)).WithFix("Name one by its id; haltd alert-rules ls shows it.")
}

// DeliveriesLsCmd lists deliveries.
type DeliveriesLsCmd struct {
	Status   string `enum:"pending,delivered,dead,dismissed," default:"" help:"Only deliveries in this state: pending, delivered, dead (given up) or dismissed."`
	Channel  string `help:"Only deliveries to this channel, by id or name."`
	Incident string `help:"Only deliveries about this incident."`
	Last     int    `short:"n" default:"50" help:"How many of the newest to show, 1 to 1000."`
}

// Run prints a table, or one JSON object.
func (c *DeliveriesLsCmd) Run(env *Env) error {
	if c.Last < 1 || c.Last > 1000 {
		return haltd.Errorf(codeUsage, "-n %d is not between 1 and 1000", c.Last).WithFix("GET /v1/deliveries pages through all.")
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	query := url.Values{"limit": {strconv.Itoa(c.Last)}}
	if c.Channel != "" {
		found, err := env.channel(api, c.Channel)
		if err != nil {
			return err
		}
		query.Set("channel", found.ID)
	}
	for name, value := range map[string]string{"status": c.Status, "incident": c.Incident} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var page struct {
		Deliveries []json.RawMessage `json:"deliveries"`
	}
	if err := api.call(env.Context, http.MethodGet, "/v1/deliveries", query, nil, &page); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(page)
	}
	if len(page.Deliveries) == 0 {
		text := "Nothing has been sent."
		if c.Status != "" || c.Channel != "" || c.Incident != "" {
			text = "No matches."
		}
		_, err := fmt.Fprintln(env.Stdout, text)
		return err
	}
	return env.printDeliveries(api, page.Deliveries)
}

func (e *Env) printDeliveries(api *client, raw []json.RawMessage) error {
	deliveries, err := decoded[haltd.Delivery](raw)
	if err != nil {
		return err
	}
	names, err := e.channelNames(api)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "TIME", "ABOUT", "AGENT", "CHANNEL", "STATUS", "ANSWER"}}
	for i := range deliveries {
		d := &deliveries[i]
		rows = append(rows, []string{
			clean(d.ID), minute(d.Notice.Time), about(&d.Notice), clean(d.Notice.Agent), clean(names.of(d.Channel)),
			progress(d), short(clean(dash(d.LastAnswer())), 80),
		})
	}
	return table(e.Stdout, rows)
}

func about(n *haltd.Notice) string {
	if n.Recovery {
		return clean(string(n.Topic)) + " over"
	}
	return clean(string(n.Topic))
}

// progress is how far a delivery has come.
func progress(d *haltd.Delivery) string {
	switch {
	case d.Status == haltd.DeliveryDead:
		return fmt.Sprintf("given up after %d", d.Attempts)
	case d.Status == haltd.DeliveryPending && d.Attempts > 0:
		return fmt.Sprintf("failed %d, next %s", d.Attempts, d.NextAt.Local().Format(time.TimeOnly))
	}
	return clean(string(d.Status))
}

// DeliveriesRetryCmd tries dead deliveries again.
type DeliveriesRetryCmd struct{ deadOnes }

// Run makes the deliveries pending again.
func (c *DeliveriesRetryCmd) Run(env *Env) error {
	return c.change(env, "retry", "Retrying %d. `haltd deliveries ls` shows how it goes.")
}

// DeliveriesDismissCmd lets dead deliveries be.
type DeliveriesDismissCmd struct{ deadOnes }

// Run takes the deliveries off the list of those that were given up.
func (c *DeliveriesDismissCmd) Run(env *Env) error {
	return c.change(env, "dismiss", "Dismissed %d.")
}

// deadOnes are the deliveries that a command is about.
type deadOnes struct {
	ID  []string `arg:"" optional:"" help:"Ids of deliveries that were given up, as deliveries ls --status dead shows them."`
	All bool     `help:"All that were given up."`
}

func (c *deadOnes) change(env *Env, verb, say string) error {
	if c.All == (len(c.ID) > 0) {
		return haltd.Errorf(codeUsage, "which deliveries to %s is not given", verb).WithFix("Name their ids, or use --all, and not both.")
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	ids := c.ID
	if c.All {
		if ids, err = env.deadDeliveries(api); err != nil {
			return err
		}
	}
	changed := make([]json.RawMessage, len(ids))
	for i, id := range ids {
		if err := api.call(env.Context, http.MethodPost, "/v1/deliveries/"+url.PathEscape(id)+"/"+verb, nil, nil, &changed[i]); err != nil {
			return err
		}
	}
	if env.JSON {
		return env.printJSON(map[string]any{"deliveries": changed})
	}
	text := "No delivery was given up."
	if len(ids) > 0 {
		text = fmt.Sprintf(say, len(ids))
	}
	_, err = fmt.Fprintln(env.Stdout, text)
	return err
}

func (e *Env) deadDeliveries(api *client) ([]string, error) {
	raw, err := api.list(e.Context, "/v1/deliveries", "deliveries", url.Values{"status": {string(haltd.DeliveryDead)}})
	if err != nil {
		return nil, err
	}
	dead, err := decoded[haltd.Delivery](raw)
	ids := make([]string, len(dead))
	for i := range dead {
		ids[i] = dead[i].ID
	}
	return ids, err
}
