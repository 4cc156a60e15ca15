package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// RulesLsCmd lists rules.
type RulesLsCmd struct{}

// Run prints a table in the order in which rules are asked, or one JSON
// object.
func (c *RulesLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	if env.JSON {
		return env.pass(api, http.MethodGet, "/v1/rules", nil)
	}
	rules, err := env.rules(api)
	if err != nil {
		return err
	}
	if len(rules) == 0 {
		_, err := fmt.Fprintln(env.Stdout, "There are no rules. Make one with `haltd rules add`.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATE", "PRIORITY", "ACTION", "WHEN"}}
	for i := range rules {
		r := &rules[i]
		rows = append(rows, []string{clean(r.ID), clean(r.Name), onOff(r.Enabled), strconv.Itoa(r.Priority), ruleAction(r), ruleWhen(r)})
	}
	return table(env.Stdout, rows)
}

func ruleAction(r *haltd.Rule) string {
	switch {
	case r.Config.Tag != "":
		return clean(string(r.Action) + " " + r.Config.Tag)
	case r.Config.DelayMS > 0:
		return fmt.Sprintf("%s %d ms", r.Action, r.Config.DelayMS)
	case r.Config.RetryAfter > 0:
		return fmt.Sprintf("%s for %d s", r.Action, r.Config.RetryAfter)
	}
	return clean(string(r.Action))
}

// ruleWhen is a condition as rules add takes it.
func ruleWhen(r *haltd.Rule) string {
	b, err := json.Marshal(r.Condition)
	var demands map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &demands)
	}
	if err != nil {
		return "?"
	}
	var conditions []string
	for _, name := range conditionNames() {
		raw, ok := demands[name]
		if !ok {
			continue
		}
		var list []string
		text := strings.Trim(string(raw), `"`)
		if json.Unmarshal(raw, &list) == nil {
			text = strings.Join(list, ",")
		}
		conditions = append(conditions, clean(name+"="+text))
	}
	if conditions == nil {
		return "always"
	}
	return strings.Join(conditions, " ")
}

// conditionNames are what a condition can ask, in the order of its type.
func conditionNames() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[haltd.RuleCondition]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// RulesAddCmd makes a rule.
type RulesAddCmd struct {
	Name       string   `required:"" help:"What you call the rule."`
	Action     string   `required:"" enum:"block,reject,throttle,warn,tag,allow" help:"What it does: block, reject, throttle, warn, tag, or allow, which ends the matching of rules."`
	When       []string `placeholder:"NAME=VALUE" sep:"none" help:"What must hold, all of it: model, model_pattern, provider, path, agent, session, prompt_tokens_min, prompt_tokens_max, hour_min, hour_max or day_of_week=mon,tue. Left out, it always does."`
	Priority   int      `help:"The highest is evaluated first."`
	RetryAfter int      `placeholder:"SECONDS" help:"Of reject: when the agent may try again."`
	Delay      int      `placeholder:"MS" help:"Of throttle: how long a call waits, in milliseconds."`
	Tag        string   `help:"Of tag: what the event is marked with."`
	Off        bool     `help:"Make the rule, but do not apply it yet."`
}

// Run makes the rule.
func (c *RulesAddCmd) Run(env *Env) error {
	condition := map[string]any{}
	for _, demand := range c.When {
		name, value, err := demandOf(demand)
		if err != nil {
			return err
		}
		if _, twice := condition[name]; twice {
			return haltd.Errorf(codeUsage, "--when %s is given twice", name).WithFix("Give it once: all demands must hold at the same time.")
		}
		condition[name] = value
	}
	config := map[string]any{}
	if c.RetryAfter != 0 {
		config["retry_after_seconds"] = c.RetryAfter
	}
	if c.Delay != 0 {
		config["delay_ms"] = c.Delay
	}
	if c.Tag != "" {
		config["tag"] = c.Tag
	}
	body := map[string]any{"name": c.Name, "enabled": !c.Off, "priority": c.Priority, "condition": condition, "action": c.Action, "action_config": config}
	api, err := env.connect()
	if err != nil {
		return err
	}
	return env.saveRule(api, http.MethodPost, "/v1/rules", body)
}

// demandOf reads one demand of a condition.
func demandOf(text string) (name string, value any, err error) {
	name, given, ok := strings.Cut(text, "=")
	if !ok || given == "" {
		return "", nil, haltd.Errorf(codeUsage, "--when %s is not of the form NAME=VALUE", clean(text)).WithFix("Use for example --when model_pattern='gpt-5*'.")
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[haltd.RuleCondition]()) {
		if known, _, _ := strings.Cut(f.Tag.Get("json"), ","); known != name {
			continue
		}
		switch f.Type.Kind() {
		case reflect.String:
			return name, given, nil
		case reflect.Slice:
			return name, strings.Split(given, ","), nil
		}
		if n, err := strconv.ParseInt(given, 10, 64); err == nil {
			return name, n, nil
		}
		return "", nil, haltd.Errorf(codeUsage, "--when %s cannot be %q", name, clean(given)).WithFix("Use a whole number.")
	}
	return "", nil, haltd.Errorf(codeUsage, "%s is nothing that a rule can ask", clean(name)).
		WithFix("%s", suggested(name, conditionNames(), "Use "+haltd.Alternatives(conditionNames())+"."))
}

func (e *Env) saveRule(api *client, method, path string, body any) error {
	if e.JSON {
		return e.pass(api, method, path, body)
	}
	var saved haltd.Rule
	if err := api.call(e.Context, method, path, nil, body, &saved); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "Rule %s (%s) is %s: %s when %s.\n",
		clean(saved.ID), clean(saved.Name), onOff(saved.Enabled), ruleAction(&saved), ruleWhen(&saved))
	return err
}

// RulesOnCmd applies a rule.
type RulesOnCmd struct{ oneRule }

// Run switches the rule on.
func (c *RulesOnCmd) Run(env *Env) error { return c.enable(env, true) }

// RulesOffCmd keeps a rule without applying it.
type RulesOffCmd struct{ oneRule }

// Run switches the rule off.
func (c *RulesOffCmd) Run(env *Env) error { return c.enable(env, false) }

// RulesRmCmd deletes a rule.
type RulesRmCmd struct{ oneRule }

// Run deletes the rule.
func (c *RulesRmCmd) Run(env *Env) error {
	api, rule, err := c.find(env)
	if err != nil {
		return err
	}
	return env.remove(api, "/v1/rules/"+url.PathEscape(rule.ID), rule, "Rule "+clean(rule.ID)+" is deleted.")
}

// oneRule is the rule that a command is about.
type oneRule struct {
	Rule string `arg:"" help:"Id of the rule, or its name where no other rule has it."`
}

func (c *oneRule) enable(env *Env, on bool) error {
	api, rule, err := c.find(env)
	if err != nil {
		return err
	}
	return env.saveRule(api, http.MethodPatch, "/v1/rules/"+url.PathEscape(rule.ID), map[string]any{"enabled": on})
}

func (c *oneRule) find(env *Env) (*client, haltd.Rule, error) {
	api, err := env.connect()
	if err != nil {
		return nil, haltd.Rule{}, err
	}
	rules, err := env.rules(api)
	if err != nil {
		return nil, haltd.Rule{}, err
	}
	var found []haltd.Rule
	for _, r := range rules {
		if r.ID == c.Rule {
			return api, r, nil
		}
		if r.Name == c.Rule {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, haltd.Rule{}, haltd.Errorf(haltd.CodeNotFound, "There is no rule %s", clean(c.Rule)).WithFix("haltd rules ls shows them.")
	case 1:
		return api, found[0], nil
	}
	return nil, haltd.Rule{}, haltd.Errorf(codeUsage, "%d rules are called %s", len(found), clean(c.Rule)).WithFix("Name one by its id; haltd rules ls shows it.")
}

func (e *Env) rules(api *client) ([]haltd.Rule, error) {
	var list struct {
		Rules []haltd.Rule `json:"rules"`
	}
	err := api.call(e.Context, http.MethodGet, "/v1/rules", nil, nil, &list)
	return list.Rules, err
}
