package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// AgentsSetCmd changes the policy of one agent. What is changed most often has
// a flag; every other setting goes by its path in the configuration.
type AgentsSetCmd struct {
	Agent       string   `arg:"" help:"Id of the agent; it need not have called yet."`
	Setting     []string `arg:"" optional:"" placeholder:"SETTING=VALUE" help:"Any setting of a policy, such as kill_switch.threshold=8 or rate_limits.requests_per_minute=60; haltd agents show lists them."`
	KillSwitch  string   `enum:"on,off," default:"" placeholder:"on|off" help:"Stop the agent when it repeats itself, or only record what would have been stopped."`
	BudgetDay   string   `placeholder:"USD" help:"Block the agent for the rest of the day when it has spent this much; 0 is no limit."`
	BudgetMonth string   `placeholder:"USD" help:"The same for the month."`
	Default     []string `placeholder:"SECTION" help:"Go back to what the file or the defaults say, for example budgets or kill_switch."`
}

// Run changes the policy and prints the settings that it named.
func (c *AgentsSetCmd) Run(env *Env) error {
	patch := policyChange{body: map[string]any{}}
	if err := c.fill(&patch); err != nil {
		return err
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.call(env.Context, http.MethodPatch, agentPath(c.Agent), nil, patch.body, &raw); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(raw)
	}
	var changed struct {
		listedAgent
		Override haltd.PolicyOverride `json:"override"`
	}
	if err := json.Unmarshal(raw, &changed); err != nil {
		return fmt.Errorf("read the answer of haltd: %w", err)
	}
	rows := [][]string{{"Agent", clean(changed.ID)}}
	for _, row := range policyRows(&changed.Policy, &changed.Override, changed.Shared) {
		if patch.names(row[0]) {
			rows = append(rows, row)
		}
	}
	if err := table(env.Stdout, rows); err != nil {
		return err
	}
	if changed.Totals.Calls == 0 {
		fmt.Fprintf(env.Stdout, "%s has not called yet; this holds from its first call on.\n", clean(changed.ID))
	}
	return env.tellWithoutChannel(api, changed.Policy.KillSwitch.Enabled && patch.names("kill_switch.enabled"))
}

func (c *AgentsSetCmd) fill(patch *policyChange) error {
	pairs := slices.Clone(c.Setting)
	for _, flag := range []struct{ path, value string }{
		{"kill_switch.enabled", c.KillSwitch}, {"budgets.day.hard_usd", c.BudgetDay}, {"budgets.month.hard_usd", c.BudgetMonth},
	} {
		if flag.value != "" {
			pairs = append(pairs, flag.path+"="+flag.value)
		}
	}
	if len(pairs)+len(c.Default) == 0 {
		return haltd.Errorf(codeUsage, "nothing to set was given").WithFix("Use for example --kill-switch on, or kill_switch.threshold=8.")
	}
	for _, pair := range pairs {
		if err := patch.set(pair); err != nil {
			return err
		}
	}
	for _, section := range c.Default {
		if err := patch.reset(section); err != nil {
			return err
		}
	}
	return nil
}

// tellWithoutChannel says so where a switch was turned on and nobody would
// hear of a kill.
func (e *Env) tellWithoutChannel(api *client, on bool) error {
	if !on {
		return nil
	}
	list, err := e.channels(api)
	if err != nil || slices.ContainsFunc(list, func(c haltd.Channel) bool { return c.Enabled }) {
		return err
	}
	_, err = fmt.Fprintln(e.Stdout, "No alert channel: nobody would hear about a kill. Make one with `haltd channels add`.")
	return err
}

// policyChange is the body of a change of a policy, and what it names.
type policyChange struct {
	body  map[string]any
	paths []string // of settings, and names of sections
}

func (p *policyChange) names(path string) bool {
	return slices.ContainsFunc(p.paths, func(named string) bool { return path == named || strings.HasPrefix(path, named+".") })
}

// set takes a pair such as kill_switch.threshold=8.
func (p *policyChange) set(pair string) error {
	path, text, ok := strings.Cut(pair, "=")
	if !ok {
		return haltd.Errorf(codeUsage, "%s is not of the form SETTING=VALUE", clean(pair)).WithFix("Use for example kill_switch.threshold=8.")
	}
	var known []string
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			if known = append(known, s.Path); s.Path != path {
				continue
			}
			if p.names(path) {
				return haltd.Errorf(codeUsage, "%s is set twice", path).WithFix("Set it once.")
			}
			value, err := settingValue(s, text)
			if err != nil {
				return err
			}
			p.paths = append(p.paths, path)
			put(p.body, strings.Split(path, "."), value)
			return nil
		}
	}
	return haltd.Errorf(codeUsage, "%s is no setting of a policy", clean(path)).WithFix("%s", suggested(path, known, "haltd agents show lists them."))
}

// reset takes a section back to what lies below.
func (p *policyChange) reset(name string) error {
	var known []string
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		if known = append(known, section.Name); section.Name == name {
			if _, set := p.body[name]; set {
				return haltd.Errorf(codeUsage, "%s is set and taken back at once", name).WithFix("Do one, then the other.")
			}
			p.paths, p.body[name] = append(p.paths, name), nil
			return nil
		}
	}
	return haltd.Errorf(codeUsage, "%s is no section of a policy", clean(name)).WithFix("Use %s.", haltd.Alternatives(known))
}

// put writes a value into nested objects.
func put(object map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}

// settingValue reads a value as a person writes it. Its limits are for haltd
// to check.
func settingValue(s *haltd.Setting, text string) (any, error) {
	bad := func(want string) error {
		return haltd.Errorf(codeUsage, "%s cannot be %q", s.Path, clean(text)).WithFix("Use %s.", want)
	}
	switch s.Type {
	case haltd.SettingBoolean:
		switch strings.ToLower(text) {
		case "on", "true", "yes":
			return true, nil
		case "off", "false", "no":
			return false, nil
		}
		return nil, bad("on or off")
	case haltd.SettingInteger, haltd.SettingNumber, haltd.SettingMoney:
		number := strings.TrimPrefix(text, "$")
		if _, err := strconv.ParseFloat(number, 64); err != nil || !json.Valid([]byte(number)) {
			return nil, bad("a number, such as 10 or 0.5")
		}
		return json.Number(number), nil
	case haltd.SettingHours:
		if !json.Valid([]byte(text)) {
			return nil, bad(`a list, such as '[{"days":["mon"],"from":"08:00","to":"18:00"}]'`)
		}
		return json.RawMessage(text), nil
	case haltd.SettingLadder:
		// As haltd agents show writes it, or without the brackets.
		rungs := strings.FieldsFunc(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), func(r rune) bool { return r == ',' || r == ' ' })
		if err := new(haltd.Ladder).Set(rungs); err != nil {
			return nil, bad("warn, steer, reject, halt or kill, or several of them with commas, the mildest first, such as warn,steer,kill")
		}
		return rungs, nil
	}
	return text, nil
}

// suggested is the known word that is nearest, or what else to do.
func suggested(word string, known []string, otherwise string) string {
	if near := haltd.Nearest(word, known); near != "" {
		return "Did you mean " + near + "?"
	}
	return otherwise
}
