package haltd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/internal/config"
	"go.yaml.in/yaml/v3"
)

// wider is the policy with one setting more, declared where a maintainer would
// declare it.
type wider struct {
	KillSwitch struct {
		haltd.KillSwitch
		Patience int `json:"patience" preset:"3" minimum:"1" maximum:"9" label:"Patience" unit:"min" doc:"How long haltd waits."`
	} `json:"kill_switch" merge:"each" label:"Kill Switch"`
	Budgets struct {
		haltd.Budgets
		Steps int64 `json:"steps" minimum:"0" label:"Steps" doc:"How many steps a day."`
	} `json:"budgets" label:"Budgets"`
	haltd.Policy
}

func TestANewSettingIsDeclaredInOnePlace(t *testing.T) {
	p := haltd.DefaultSettings[wider]()
	if p.KillSwitch.Patience != 3 || p.KillSwitch.WindowSize != 20 || p.TimeZone != "UTC" {
		t.Errorf("defaults %+v", p)
	}
	if err := haltd.CheckSettings(&p); err != nil {
		t.Errorf("the defaults break a rule: %v", err)
	}
	p.KillSwitch.Patience = 10
	if err := haltd.CheckSettings(&p); err == nil || err.Error() != "kill_switch.patience: expected 1 to 9, got 10" {
		t.Errorf("beyond its limit: %v", err)
	}

	var file, api haltd.Override[wider]
	for text, o := range map[string]*haltd.Override[wider]{
		`{"kill_switch":{"patience":5},"budgets":{"steps":7}}`: &file,
		`{"kill_switch":{"window_size":30}}`:                   &api,
	} {
		if err := json.Unmarshal([]byte(text), o); err != nil {
			t.Fatal(err)
		}
	}
	got := api.Over(file.Over(haltd.DefaultSettings[wider]()))
	if k := got.KillSwitch; k.Patience != 5 || k.WindowSize != 30 || k.Threshold != 10 || got.Budgets.Steps != 7 || got.Budgets.ReserveTokens != 32768 {
		t.Errorf("layers give %+v", got)
	}
	if err := api.Patch([]byte(`{"kill_switch":{"patience":6},"budgets":{"steps":null}}`), got); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(api)
	if err != nil || !strings.HasPrefix(string(text), `{"kill_switch":{"window_size":30,"patience":6},"budgets":{"day":`) || !strings.Contains(string(text), `"steps":0}}`) {
		t.Errorf("the override is %s, %v", text, err)
	}
	var found haltd.Setting
	for _, section := range haltd.SettingsOf[wider]() {
		for _, s := range section.Settings {
			if s.Path == "kill_switch.patience" {
				found = s
			}
		}
	}
	if found.Label != "Patience" || found.Unit != "min" || found.Help == "" || *found.Minimum != 1 || *found.Maximum != 9 || found.Default != 3 {
		t.Errorf("the form is told %+v", found)
	}
}

func TestEveryBrokenDeclarationIsFound(t *testing.T) {
	for name, read := range map[string]func(){
		"a type that no form knows": func() {
			haltd.SettingsOf[struct {
				A map[string]int `json:"a"`
			}]()
		},
		"a default that cannot be": func() {
			haltd.SettingsOf[struct {
				A int `json:"a" preset:"many"`
			}]()
		},
		"a limit that is no number": func() {
			haltd.SettingsOf[struct {
				A int `json:"a" minimum:"few"`
			}]()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			read()
		}()
	}
}

// Each setting that is declared is in the file, in the layers, in the API, in
// the sample and in the reference.
func TestEverySettingIsEverywhere(t *testing.T) {
	document, err := app.OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	var api map[string]any
	if err := json.Unmarshal(document, &api); err != nil {
		t.Fatal(err)
	}
	var sample map[string]any
	text, err := os.ReadFile("haltd.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &sample); err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile(filepath.Join("docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		if section.Label == "" || section.Help == "" {
			t.Errorf("section %s has no words", section.Name)
		}
		for i := range section.Settings {
			s := &section.Settings[i]
			t.Run(s.Path, func(t *testing.T) {
				if s.Label == "" || s.Help == "" {
					t.Error("it has no label or no help")
				}
				inFile(t, s)
				inAPI(t, s, api)
				if lookup(sample, strings.Split("defaults."+s.Path, ".")...) == nil {
					t.Error("haltd.example.yaml does not have it")
				}
				row := fmt.Sprintf("| `%s` | `%s` | %s", strings.TrimPrefix(s.Path, section.Name+"."), s.Text(s.Default), s.Help)
				if !strings.Contains(string(reference), row) {
					t.Errorf("docs/configuration.md has no line %s", row)
				}
			})
		}
	}
}

// inFile sets a setting in the file, of the defaults and of an agent, and
// reads it back, also from what `haltd config print` shows.
func inFile(t *testing.T, s *haltd.Setting) {
	t.Helper()
	raw := other(s)
	nested := raw
	for _, step := range slices.Backward(strings.Split(s.Path, ".")) {
		nested = fmt.Sprintf("{%q: %s}", step, nested)
	}
	load := func(text string) *config.Config {
		file := filepath.Join(t.TempDir(), "haltd.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(file, func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	shown := func(p *haltd.Policy) string {
		b, err := json.Marshal(s.In(p))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	c := load("defaults: " + nested + "\n")
	want := shown(&c.Defaults.Policy)
	if preset := haltd.DefaultPolicy(); want == shown(&preset) {
		t.Fatalf("%s in the file changes nothing", raw)
	}
	c = load("agents: {bot: " + nested + "}\n")
	printed, err := c.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*config.Config{"an agent": c, "what config print shows": load(string(printed))} {
		own := c.Agents["bot"]
		if effective := own.Over(c.Defaults.Policy); shown(&effective) != want || !own.Has(s) {
			t.Errorf("of %s it is %s, want %s", name, shown(&effective), want)
		}
	}
	own, stored := haltd.MustOverride(nested), haltd.PolicyOverride{}
	b, err := json.Marshal(own)
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if diff := cmp.Diff(own, stored); err != nil || diff != "" || !own.Has(s) {
		t.Errorf("stored and read back, %v (-want +got):\n%s", err, diff)
	}
}

// inAPI finds a setting in what the API says of policies and their changes.
func inAPI(t *testing.T, s *haltd.Setting, api map[string]any) {
	t.Helper()
	for _, schema := range []string{"Policy", "PolicyPatch"} {
		at := lookup(api, "components", "schemas", schema)
		for step := range strings.SplitSeq(s.Path, ".") {
			at = lookup(at, "properties", step)
			if ref, ok := lookup(at, "$ref").(string); ok {
				at = lookup(api, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			}
		}
		found, _ := at.(map[string]any)
		preset, _ := json.Marshal(s.Default)
		got, _ := json.Marshal(found["default"])
		switch {
		case found == nil:
			t.Fatalf("%s does not have it", schema)
		case schema == "Policy" && string(got) != strings.TrimSuffix(string(preset), ".00"):
			t.Errorf("its default in %s is %s, want %s", schema, got, preset)
		case found["description"] != s.Help:
			t.Errorf("%s says %q, want %q", schema, found["description"], s.Help)
		}
		for name, limit := range map[string]*float64{"minimum": s.Minimum, "maximum": s.Maximum, "exclusiveMinimum": s.Above} {
			if limit != nil && found[name] != *limit {
				t.Errorf("its %s in %s is %v, want %v", name, schema, found[name], *limit)
			}
		}
		if either, _ := found["oneOf"].([]any); s.Type == haltd.SettingLadder && len(either) == 2 {
			found, _ = either[0].(map[string]any) // one rung; the other is a list of them
		}
		if choices, _ := found["enum"].([]any); len(choices) != len(s.Choices) {
			t.Errorf("its choices in %s are %v, want %v", schema, choices, s.Choices)
		}
	}
}

// other is a value, as JSON, that is not the default.
func other(s *haltd.Setting) string {
	switch s.Type {
	case haltd.SettingBoolean:
		return fmt.Sprint(s.Default == false)
	case haltd.SettingChoice:
		return fmt.Sprintf("%q", s.Choices[len(s.Choices)-1])
	case haltd.SettingText:
		return `"Europe/Berlin"`
	case haltd.SettingHours:
		return `[{"days": ["mon"], "from": "08:00", "to": "18:00"}]`
	case haltd.SettingLadder:
		return `["warn","steer","kill"]`
	}
	n, err := strconv.ParseFloat(s.Text(s.Default), 64)
	if err != nil {
		panic(err) // a type that this test does not know
	}
	if n++; s.Maximum != nil && n > *s.Maximum {
		n -= 2
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// lookup follows names into a tree of maps; nil where they lead nowhere.
func lookup(tree any, steps ...string) any {
	for _, step := range steps {
		m, _ := tree.(map[string]any)
		tree = m[step]
	}
	return tree
}
