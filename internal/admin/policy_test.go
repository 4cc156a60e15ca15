package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestAnAgentShowsItsPolicyAndSpending(t *testing.T) {
	w := newWorld()
	w.overrides["billing-bot"] = haltd.MustOverride(`{"kill_switch": {"enabled": true}}`)
	rec := w.do("GET", "/v1/agents/billing-bot", "")
	for _, want := range []string{
		`"active":true`, `"deactivated_by":null`, `"standing":{"agent":"billing-bot","active":true,"deactivated_by":null}`,
		`"policy":{"kill_switch":{"enabled":true,"window_size":20,`, `"override":{"kill_switch":{"enabled":true}}`,
		`"spending":[{"period":"month","start":"2026-02-28T12:00:00Z","resets":"2026-03-01T12:00:00Z","spent":{"cost_usd":1.00,"tokens":9}`,
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("GET /v1/agents/billing-bot = %s, want %s in it", rec.Body, want)
		}
	}
}

func TestAgentsThatNeverCalled(t *testing.T) {
	w := newWorld()
	killed := haltd.ByKillSwitch
	w.overrides["only-policy"] = haltd.MustOverride(`{"kill_switch": {"enabled": true}}`)
	w.standings[haltd.Target{Agent: "only-standing"}] = haltd.Standing{Agent: "only-standing", DeactivatedBy: &killed}
	if got := answer[haltd.Agent](t, w, "GET", "/v1/agents/only-policy", "", 200); !got.Active {
		t.Error("an agent known by its policy is not active")
	}
	if got := answer[haltd.Agent](t, w, "GET", "/v1/agents/Only-Standing", "", 200); got.Active || got.DeactivatedBy == nil || *got.DeactivatedBy != killed {
		t.Errorf("a killed agent without a record = %+v", got)
	}
	w.standings[haltd.Target{Agent: "resumed"}] = haltd.Standing{Agent: "resumed", Active: true, At: noon}
	for _, id := range []string{"nobody", "resumed"} {
		answer[problemBody](t, w, "GET", "/v1/agents/"+id, "", 404)
	}
}

func TestPatchingAnAgent(t *testing.T) {
	// What is in force before: defaults with a monthly budget of $100.
	for _, c := range []struct {
		name, body, want string // the override after it
	}{
		{"nothing", `{}`, `{"growth":{"min_prompt_tokens":5}}`},
		{"a part of a budget keeps the rest", `{"budgets":{"day":{"hard_usd":2.5}}}`,
			`{"budgets":{"day":{"soft_usd":0.00,"hard_usd":2.50,"soft_tokens":0,"hard_tokens":0},` +
				`"month":{"soft_usd":0.00,"hard_usd":100.00,"soft_tokens":0,"hard_tokens":0},"reserve_tokens":32768},"growth":{"min_prompt_tokens":5}}`},
		{"null inside a budget is no limit", `{"budgets":{"month":{"hard_usd":null}}}`,
			`{"budgets":{"day":{"soft_usd":0.00,"hard_usd":0.00,"soft_tokens":0,"hard_tokens":0},` +
				`"month":{"soft_usd":0.00,"hard_usd":0.00,"soft_tokens":0,"hard_tokens":0},"reserve_tokens":32768},"growth":{"min_prompt_tokens":5}}`},
		{"null of a period is no limit", `{"budgets":{"month":null}}`,
			`{"budgets":{"day":{"soft_usd":0.00,"hard_usd":0.00,"soft_tokens":0,"hard_tokens":0},` +
				`"month":{"soft_usd":0.00,"hard_usd":0.00,"soft_tokens":0,"hard_tokens":0},"reserve_tokens":32768},"growth":{"min_prompt_tokens":5}}`},
		{"null goes back", `{"growth":null}`, `{}`},
		{"hours without days", `{"allowed_hours":[{"from":"22:00","to":"06:00"}],"time_zone":"Europe/Berlin"}`,
			`{"allowed_hours":[{"days":[],"from":"22:00","to":"06:00"}],"growth":{"min_prompt_tokens":5},"time_zone":"Europe/Berlin"}`},
		{"rates", `{"rate_limits":{"requests_per_minute":60}}`,
			`{"rate_limits":{"requests_per_minute":60,"tokens_per_minute":0},"growth":{"min_prompt_tokens":5}}`},
		{"lines of stall", `{"kill_switch":{"warn_at":1,"kill_at":99.9}}`,
			`{"kill_switch":{"warn_at":1,"kill_at":99.9},"growth":{"min_prompt_tokens":5}}`},
		{"kill switch", `{"kill_switch":{"enabled":true,"similarity":"reject"}}`,
			`{"kill_switch":{"enabled":true,"similarity":"reject"},"growth":{"min_prompt_tokens":5}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.overrides["new-bot"] = haltd.MustOverride(`{"growth": {"min_prompt_tokens": 5}}`)
			got := answer[struct {
				ID       string
				Override json.RawMessage
			}](t, w, "PATCH", "/v1/agents/New-Bot", c.body, 200)
			if diff := cmp.Diff(c.want, string(got.Override)); diff != "" || got.ID != "new-bot" {
				t.Errorf("agent %s, override (-want +got):\n%s", got.ID, diff)
			}
		})
	}
}

func TestTheKillSwitchOfANewAgent(t *testing.T) {
	w := newWorld()
	if rec := w.do("PATCH", "/v1/agents/fresh/kill-switch", `{"enabled": true, "window_size": 30, "kill_scope": "session"}`); rec.Code != 200 ||
		!strings.Contains(rec.Body.String(), `{"enabled":true,"window_size":30,"threshold":10,`) {
		t.Fatalf("PATCH = %d %s", rec.Code, rec.Body)
	}
	answer[haltd.Agent](t, w, "GET", "/v1/agents/fresh", "", 200)
	if k := answer[haltd.KillSwitch](t, w, "PATCH", "/v1/agents/fresh/kill-switch", `{"warn_at": 33.3, "kill_at": 66.6}`, 200); k.WarnAt != 33.3 || k.KillAt != 66.6 {
		t.Errorf("lines of stall at %v and %v", k.WarnAt, k.KillAt)
	}
	answer[haltd.KillSwitch](t, w, "PATCH", "/v1/agents/fresh/kill-switch", `{"window_size": null, "warn_at": null, "kill_at": null}`, 200)
	want := haltd.DefaultPolicy().KillSwitch
	want.Enabled, want.KillScope = true, haltd.ScopeSession
	if diff := cmp.Diff(want, answer[haltd.KillSwitch](t, w, "GET", "/v1/agents/fresh/kill-switch", "", 200)); diff != "" {
		t.Errorf("kill switch (-want +got):\n%s", diff)
	}
	answer[haltd.KillSwitch](t, w, "PATCH", "/v1/agents/fresh/kill-switch", `{"enabled":null,"kill_scope":null}`, 200)
	if own := w.overrides["fresh"]; !own.IsZero() {
		t.Errorf("override = %+v, want none after every field was reset", own)
	}
}

func TestAPatchDoesNotWriteIntoWhatOthersRead(t *testing.T) {
	w := newWorld()
	before := haltd.MustOverride(`{"kill_switch": {"enabled": false}, "allowed_hours": [{"days": ["mon"], "from": "08:00", "to": "18:00"}]}`)
	want := before.Over(haltd.Policy{})
	w.overrides["a"] = before
	answer[haltd.KillSwitch](t, w, "PATCH", "/v1/agents/a/kill-switch", `{"enabled":true,"threshold":3}`, 200)
	answer[haltd.Agent](t, w, "PATCH", "/v1/agents/a", `{"allowed_hours":[{"days":["sun"],"from":"09:00","to":"10:00"}]}`, 200)
	if diff := cmp.Diff(want, before.Over(haltd.Policy{})); diff != "" {
		t.Errorf("the old override (-want +got):\n%s", diff)
	}
}

func TestPoliciesThatBreakARule(t *testing.T) {
	w := newWorld()
	for _, c := range []struct{ path, body, message, fix string }{
		{"", `{"budget":{}}`, "budget is not a field of this body", "Did you mean budgets?"},
		{"", `{"budgets":{"day":{"hard_us":1}}}`, "budgets.day.hard_us is not a field", "Did you mean hard_usd?"},
		{"", `{"allowed_hours":[{"from":"08:00","til":"9"}]}`, "allowed_hours[0].til is not a field", "Known are days, from, to."},
		{"", `{"budgets":{"day":{"hard_usd":-1}}}`, "budgets.day.hard_usd: ", ""},
		{"", `{"budgets":{"day":{"hard_usd":1e12}}}`, "budgets.day.hard_usd: expected number <= ", ""},
		{"", `{"time_zone":"Mars"}`, "time_zone: ", ""},
		{"", `{"time_zone":"Mars","allowed_hours":[{"from":"25:00","to":"06:00"}]}`, "allowed_hours[0].from: expected a time from 00:00 to 23:59, got \"25:00\"; time_zone: ", ""},
		{"", `{"kill_switch":7}`, "kill_switch: ", ""},
		{"/kill-switch", `{"enable":true}`, "enable is not a field of this body", "Did you mean enabled?"},
		{"/kill-switch", `{"window_size":1}`, "window_size: ", ""},
		{"/kill-switch", `{"threshold":0}`, "threshold: ", ""},
		{"/kill-switch", `{"threshold":"high"}`, "threshold: ", ""},
		{"/kill-switch", `{"warn_at":0.9}`, "warn_at: ", ""},
		{"/kill-switch", `{"kill_at":100}`, "kill_at: ", ""},
		{"/kill-switch", `{"warn_at":96}`, "warn_at: above kill_at (95)", ""},
		{"/kill-switch", `{"kill_at":49}`, "warn_at: above kill_at (49)", ""},
		{"/kill-switch", `{"warn_at":70,"kill_at":60}`, "warn_at: above kill_at (60)", ""},
		{"/kill-switch", `{"similarity":"block"}`, "similarity: ", ""},
		{"/kill-switch", ``, "body", ""},
	} {
		got := answer[problemBody](t, w, "PATCH", "/v1/agents/a"+c.path, c.body, 400)
		if !strings.Contains(got.Error.Message, c.message) || c.fix != "" && got.Error.Fix != c.fix {
			t.Errorf("PATCH %s %s = %+v, want %q and %q", c.path, c.body, got.Error, c.message, c.fix)
		}
	}
	for _, path := range []string{"", "/kill-switch"} {
		if got := answer[problemBody](t, w, "PATCH", "/v1/agents/not%20valid"+path, `{}`, 400); !strings.HasPrefix(got.Error.Message, "id: ") {
			t.Errorf("an invalid id = %+v", got.Error)
		}
	}
	if len(w.overrides) != 0 {
		t.Errorf("overrides = %v, want none", w.overrides)
	}
}

func TestThePatchIsDescribed(t *testing.T) {
	body := newWorld().do("GET", "/v1/openapi.json", "").Body.String()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type    any
					Minimum float64
					Maximum float64
				}
				Required []string
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	patch := doc.Components.Schemas["KillSwitchPatch"]
	if diff := cmp.Diff([]any{"integer", "null"}, patch.Properties["window_size"].Type); diff != "" || patch.Properties["window_size"].Maximum != 1000 {
		t.Errorf("window_size = %+v", patch.Properties["window_size"])
	}
	for _, line := range []string{"warn_at", "kill_at"} {
		if p := patch.Properties[line]; cmp.Diff([]any{"number", "null"}, p.Type) != "" || p.Minimum != 1 || p.Maximum != 99.9 {
			t.Errorf("%s = %+v", line, p)
		}
	}
	if len(patch.Required) != 0 {
		t.Errorf("required = %v, want none", patch.Required)
	}
	if diff := cmp.Diff([]any{"object", "null"}, doc.Components.Schemas["PolicyPatch"].Properties["budgets"].Type); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}
