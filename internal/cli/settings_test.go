package cli

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/haltd/haltd"
)

// wider is the policy with one setting more.
type wider struct {
	KillSwitch struct {
		haltd.KillSwitch
		Patience int `json:"patience" preset:"3" unit:"min"`
	} `json:"kill_switch" merge:"each"`
	haltd.Policy
}

func TestANewSettingIsShown(t *testing.T) {
	var own haltd.Override[wider]
	p := haltd.DefaultSettings[wider]()
	if rows := policyRows(&p, &own, false); !slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, []string{"kill_switch.patience", "3 min"}) }) {
		t.Errorf("rows = %v", rows)
	}
	if err := json.Unmarshal([]byte(`{"kill_switch":{"patience":5}}`), &own); err != nil {
		t.Fatal(err)
	}
	p = own.Over(p)
	if rows := policyRows(&p, &own, false); !slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, []string{"kill_switch.patience", "5 min (own)"}) }) {
		t.Errorf("rows = %v", rows)
	}
}
