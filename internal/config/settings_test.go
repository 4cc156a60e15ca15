package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"go.yaml.in/yaml/v3"
)

// wider is the policy with one setting more.
type wider struct {
	KillSwitch struct {
		haltd.KillSwitch
		Patience int `json:"patience" preset:"3" minimum:"1" maximum:"9"`
	} `json:"kill_switch" merge:"each"`
	haltd.Policy
}

type widerFile struct {
	Defaults wider                            `yaml:"defaults"`
	Agents   map[string]haltd.Override[wider] `yaml:"agents"`
}

func TestANewSettingIsInTheFile(t *testing.T) {
	load := func(text string) (widerFile, []problem) {
		d := &decoder{file: "haltd.yaml", env: envOf(nil), lines: map[string]int{}, origins: map[string]string{}}
		c := widerFile{Defaults: haltd.DefaultSettings[wider]()}
		d.value("", d.parse([]byte(text)), reflect.ValueOf(&c).Elem())
		return c, d.problems
	}
	c, problems := load("defaults: {kill_switch: {patience: 4}}\nagents: {a: {kill_switch: {patience: 5}}, b: {kill_switch: {threshold: 2, patience: ~}}}\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	printed, err := yaml.Marshal(node(reflect.ValueOf(c)))
	if err != nil {
		t.Fatal(err)
	}
	again, problems := load(string(printed))
	if len(problems) > 0 {
		t.Fatalf("%v in\n%s", problems, printed)
	}
	for name, c := range map[string]widerFile{"written": c, "printed": again} {
		for agent, want := range map[string]int{"a": 5, "b": 4} {
			own := c.Agents[agent]
			if got := own.Over(c.Defaults).KillSwitch.Patience; got != want {
				t.Errorf("%s: patience of %s is %d, want %d", name, agent, got, want)
			}
		}
	}
	_, problems = load("agents: {a: {kill_switch: {patence: 5}}}\n")
	if len(problems) != 1 || !strings.HasSuffix(problems[0].text, "agents.a.kill_switch.patence: unknown key; did you mean patience?") {
		t.Errorf("a misspelt key: %v", problems)
	}
}
