package admin

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestTheFormIsToldEverySetting(t *testing.T) {
	got := answer[struct{ Sections json.RawMessage }](t, newWorld(), "GET", "/v1/settings", "", 200)
	want, err := json.Marshal(haltd.SettingsOf[haltd.Policy]())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got.Sections)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// wider is the policy with one setting more.
type wider struct {
	KillSwitch widerKillSwitch `json:"kill_switch" merge:"each"`
	haltd.Policy
}

type widerKillSwitch struct {
	haltd.KillSwitch
	Patience int `json:"patience" preset:"3" minimum:"1" maximum:"9" doc:"How long haltd waits."`
}

func TestANewSettingIsDescribed(t *testing.T) {
	r := apiConfig("test").Components.Schemas
	patch := partial[wider](r, true).Properties["kill_switch"].Properties["patience"]
	if patch == nil || !patch.Nullable || *patch.Minimum != 1 || *patch.Maximum != 9 || patch.Description != "How long haltd waits." || patch.Default != nil {
		t.Errorf("in a patch it is %+v", patch)
	}
	describeDefaults[wider](r)
	if got := r.Map()["WiderKillSwitch"].Properties["patience"].Default; got != 3 {
		t.Errorf("its default is %v", got)
	}
	for text, want := range map[string]int{`{"kill_switch":{"patience":5}}`: 0, `{"kill_switch":{"patience":null}}`: 0, `{"kill_switch":{"patience":10}}`: 1, `{"kill_switch":{"patient":5}}`: 1} {
		var body any
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		res := &huma.ValidateResult{}
		huma.Validate(r, partial[wider](r, true), huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, body, res)
		if len(res.Errors) != want {
			t.Errorf("%s: %v, want %d errors", text, res.Errors, want)
		}
	}
}

// An override is described alike wherever it is shown.
func TestAnOverrideInTheRecordIsDescribed(t *testing.T) {
	r := apiConfig("test").Components.Schemas
	own := r.Schema(reflect.TypeFor[haltd.Audit](), false, "").Properties["override"]
	if s := r.SchemaFromRef(own.Ref); s == nil || s.Properties["kill_switch"].Properties["window_size"] == nil {
		t.Errorf("the override of a change is described as %+v, %+v", own, s)
	}
}

// Names in another letter case pass the validation of the API; they have to be
// taken, too.
func TestNamesInOtherLetterCase(t *testing.T) {
	w := newWorld()
	if k := answer[haltd.KillSwitch](t, w, "PATCH", "/v1/agents/a/kill-switch", `{"Enabled": true}`, 200); !k.Enabled {
		t.Error("Enabled was passed over in silence")
	}
}
