package admin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// fakeAlerts keeps channels and rules in memory. Saved settings are kept as
// they are sent: redaction is not the API's.
type fakeAlerts struct {
	channels   []haltd.Channel
	rules      []haltd.AlertRule
	saved      haltd.Channel
	asked      haltd.DeliveryQuery
	deliveries []haltd.Delivery
}

func (f *fakeAlerts) ListChannels(context.Context) ([]haltd.Channel, error) { return f.channels, nil }

func (f *fakeAlerts) SaveChannel(_ context.Context, c haltd.Channel) (haltd.Channel, error) {
	f.saved = c
	if c.Name == "broken" {
		return haltd.Channel{}, haltd.Errorf(haltd.CodeInvalid, "is missing").In("url").WithFix("Give it.")
	}
	if c.ID == "" {
		c.ID, c.Source, c.CreatedAt = "chn_one", "api", noon.In(east)
	}
	c.UpdatedAt = noon.In(east)
	f.channels = append(slices.DeleteFunc(f.channels, func(o haltd.Channel) bool { return o.ID == c.ID }), c)
	return c, nil
}

func (f *fakeAlerts) DeleteChannel(_ context.Context, id string) error {
	if i := slices.IndexFunc(f.channels, func(o haltd.Channel) bool { return o.ID == id }); i >= 0 {
		f.channels = slices.Delete(f.channels, i, i+1)
		return nil
	}
	return haltd.Errorf(haltd.CodeNotFound, "There is no channel %s", id)
}

func (f *fakeAlerts) Test(_ context.Context, id string) (string, bool, error) {
	switch id {
	case "chn_one":
		return "200 OK: ok", true, nil
	case "chn_bad":
		return "404 Not Found: no_service", false, nil
	}
	return "", false, haltd.Errorf(haltd.CodeNotFound, "There is no channel %s", id)
}

func (f *fakeAlerts) AlertRules(context.Context) ([]haltd.AlertRule, error) { return f.rules, nil }

func (f *fakeAlerts) SaveAlertRule(_ context.Context, r haltd.AlertRule) (haltd.AlertRule, error) {
	if r.ID == "" {
		r.ID, r.CreatedAt = "alr_one", noon.In(east)
	}
	r.UpdatedAt = noon
	f.rules = []haltd.AlertRule{r}
	return r, nil
}

func (f *fakeAlerts) DeleteAlertRule(_ context.Context, id string) error {
	if len(f.rules) == 0 || f.rules[0].ID != id {
		return haltd.Errorf(haltd.CodeNotFound, "There is no alert rule %s", id)
	}
	f.rules = nil
	return nil
}

func (f *fakeAlerts) Deliveries(_ context.Context, q haltd.DeliveryQuery) ([]haltd.Delivery, string, error) {
	f.asked = q
	if q.Cursor == "broken" {
		return nil, "", haltd.Errorf(haltd.CodeInvalid, "not from this list").In("cursor")
	}
	return f.deliveries, "more", nil
}

func (f *fakeAlerts) Retry(_ context.Context, id string) (haltd.Delivery, error) {
	if id != "dlv_one" {
		return haltd.Delivery{}, haltd.Errorf(haltd.CodeNotFound, "There is no delivery %s that was given up", id)
	}
	return haltd.Delivery{ID: id, Status: haltd.DeliveryPending, NextAt: noon.In(east)}, nil
}

func (f *fakeAlerts) Dismiss(_ context.Context, id string) (haltd.Delivery, error) {
	if id != "dlv_one" {
		return haltd.Delivery{}, haltd.Errorf(haltd.CodeNotFound, "There is no delivery %s that was given up", id)
	}
	return haltd.Delivery{ID: id, Status: haltd.DeliveryDismissed, NextAt: noon.In(east)}, nil
}

func (f *fakeAlerts) AlertStatus(context.Context) (haltd.AlertStatus, error) {
	return haltd.AlertStatus{Configured: true, Channels: 2, Dead: 1}, nil
}

func newAlertWorld() (*world, *fakeAlerts) {
	f := &fakeAlerts{}
	return newWorld(func(o *Options) { o.Alerts = f }), f
}

func TestAChannelFromItsMakingToItsEnd(t *testing.T) {
	w, f := newAlertWorld()
	made := w.do("POST", "/v1/channels", `{"name":"ops","kind":"slack","settings":{"url":"https://hooks.slack.com/x"}}`, "Content-Type", "application/json")
	want := `{"id":"chn_one","name":"ops","kind":"slack","enabled":true,"source":"api","settings":{"url":"https://hooks.slack.com/x"},` +
		`"created_at":"2026-03-01T12:00:00Z","updated_at":"2026-03-01T12:00:00Z"}`
	if got := strings.TrimSpace(made.Body.String()); made.Code != 201 || got != want {
		t.Fatalf("POST = %d %s, want %s", made.Code, got, want)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/channels", "").Body.String()); got != `{"channels":[`+want+`]}` {
		t.Errorf("GET /v1/channels = %s", got)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/channels/chn_one", "").Body.String()); got != want {
		t.Errorf("GET /v1/channels/chn_one = %s", got)
	}
	got := answer[haltd.Channel](t, w, "PATCH", "/v1/channels/chn_one", `{"enabled":false}`, 200)
	if got.Enabled || got.Name != "ops" || f.saved.Settings != nil {
		t.Errorf("PATCH = %+v, saved with settings %s; want it off and no settings sent", got, f.saved.Settings)
	}
	answer[haltd.Channel](t, w, "PATCH", "/v1/channels/chn_one", `{"settings":{"url":"https://new"}}`, 200)
	if string(f.saved.Settings) != `{"url":"https://new"}` || f.saved.Enabled {
		t.Errorf("saved = %+v, want the new settings and nothing else changed", f.saved)
	}
	if rec := w.do("DELETE", "/v1/channels/chn_one", ""); rec.Code != 204 {
		t.Errorf("DELETE = %d %s", rec.Code, rec.Body)
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		answer[problemBody](t, w, method, "/v1/channels/chn_one", `{}`, 404)
	}
}

func TestTestingAChannelTellsTheAnswer(t *testing.T) {
	w, _ := newAlertWorld()
	for id, want := range map[string]string{
		"chn_one": `{"delivered":true,"answer":"200 OK: ok"}`,
		"chn_bad": `{"delivered":false,"answer":"404 Not Found: no_service"}`,
	} {
		if rec := w.do("POST", "/v1/channels/"+id+"/test", ""); rec.Code != 200 || strings.TrimSpace(rec.Body.String()) != want {
			t.Errorf("test of %s = %d %s, want %s", id, rec.Code, rec.Body, want)
		}
	}
	answer[problemBody](t, w, "POST", "/v1/channels/none/test", "", 404)
	answer[problemBody](t, w, "GET", "/v1/channels/chn_one/test", "", 405) // a link must not send
}

func TestChannelsAndAlertRulesThatBreakARuleNameTheField(t *testing.T) {
	w, _ := newAlertWorld()
	for _, c := range []struct{ target, body, field string }{
		{"/v1/channels", `{"kind":"slack","settings":{}}`, "name"},
		{"/v1/channels", `{"name":"","kind":"slack","settings":{}}`, "name: "},
		{"/v1/channels", `{"name":"ops","kind":"pager","settings":{}}`, "kind: "},
		{"/v1/channels", `{"name":"ops","kind":"slack"}`, "settings"},
		{"/v1/channels", `{"name":"broken","kind":"slack","settings":{}}`, "url: "},
		{"/v1/channels", `{"name":"ops","kind":"slack","settings":{},"colour":"red"}`, "colour"},
		{"/v1/alert-rules", `{}`, "name"},
		{"/v1/alert-rules", `{"name":"x","topics":["lunch"]}`, "topics"},
		{"/v1/alert-rules", `{"name":"x","cooldown_seconds":-1}`, "cooldown_seconds"},
		{"/v1/alert-rules", `{"name":"x","cooldown_seconds":604801}`, "cooldown_seconds"},
		{"/v1/alert-rules", `{"name":"x","agents":"bot"}`, "agents"},
	} {
		got := answer[problemBody](t, w, "POST", c.target, c.body, 400)
		if !strings.Contains(got.Error.Message, c.field) {
			t.Errorf("POST %s %s: %q does not name %s", c.target, c.body, got.Error.Message, c.field)
		}
	}
}

func TestAnAlertRuleFromItsMakingToItsEnd(t *testing.T) {
	w, _ := newAlertWorld()
	made := w.do("POST", "/v1/alert-rules", `{"name":"kills","topics":["kill_switch"],"cooldown_seconds":60}`)
	want := `{"id":"alr_one","name":"kills","enabled":true,"topics":["kill_switch"],"agents":[],"channels":[],"cooldown_seconds":60,` +
		`"created_at":"2026-03-01T12:00:00Z","updated_at":"2026-03-01T12:00:00Z"}`
	if got := strings.TrimSpace(made.Body.String()); made.Code != 201 || got != want {
		t.Fatalf("POST = %d %s, want %s", made.Code, got, want)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/alert-rules", "").Body.String()); got != `{"alert_rules":[`+want+`]}` {
		t.Errorf("GET /v1/alert-rules = %s", got)
	}
	got := answer[haltd.AlertRule](t, w, "PATCH", "/v1/alert-rules/alr_one", `{"enabled":false,"topics":[],"agents":["bot"]}`, 200)
	changed := haltd.AlertRule{
		ID: "alr_one", Name: "kills", Topics: []haltd.IncidentKind{}, Agents: []string{"bot"}, Channels: []string{},
		Cooldown: 60, CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(changed, got); diff != "" {
		t.Errorf("PATCH (-want +got):\n%s", diff)
	}
	if rec := w.do("DELETE", "/v1/alert-rules/alr_one", ""); rec.Code != 204 {
		t.Errorf("DELETE = %d %s", rec.Code, rec.Body)
	}
	for _, method := range []string{"PATCH", "DELETE"} {
		answer[problemBody](t, w, method, "/v1/alert-rules/alr_one", `{}`, 404)
	}
}

func TestDeliveriesAreFilteredAndPaged(t *testing.T) {
	w, f := newAlertWorld()
	f.deliveries = []haltd.Delivery{{ID: "dlv_one", Status: haltd.DeliveryDead, Channel: "chn_one", Attempts: 8, NextAt: noon.In(east), UpdatedAt: noon.In(east), Notice: haltd.Notice{Time: noon.In(east)}}}
	got := w.do("GET", "/v1/deliveries?status=dead&channel=chn_one&incident=inc_x&limit=5&cursor=c", "").Body.String()
	if diff := cmp.Diff(haltd.DeliveryQuery{Status: haltd.DeliveryDead, Channel: "chn_one", Incident: "inc_x", Page: haltd.Page{Limit: 5, Cursor: "c"}}, f.asked); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if !strings.Contains(got, `"next":"more"`) || strings.Contains(got, "+02:00") {
		t.Errorf("answer = %s, want a cursor and times in UTC", got)
	}
	for target, field := range map[string]string{
		"/v1/deliveries?status=lost": "status: ", "/v1/deliveries?cursor=broken": "cursor: ", "/v1/deliveries?agent=x": "agent is not a query parameter",
	} {
		if got := answer[problemBody](t, w, "GET", target, "", 400); !strings.Contains(got.Error.Message, field) {
			t.Errorf("GET %s: %q does not name %s", target, got.Error.Message, field)
		}
	}
}

func TestADeadDeliveryIsTriedAgain(t *testing.T) {
	w, _ := newAlertWorld()
	if got := answer[haltd.Delivery](t, w, "POST", "/v1/deliveries/dlv_one/retry", "", 200); got.Status != haltd.DeliveryPending {
		t.Errorf("retried = %+v, want pending", got)
	}
	answer[problemBody](t, w, "POST", "/v1/deliveries/dlv_two/retry", "", 404)
}

func TestAlertStatus(t *testing.T) {
	w, _ := newAlertWorld()
	if got := strings.TrimSpace(w.do("GET", "/v1/alerts/status", "").Body.String()); got != `{"configured":true,"channels":2,"dead":1}` {
		t.Errorf("status = %s", got)
	}
}

func TestEmptyAlertListsAreNotNull(t *testing.T) {
	w, _ := newAlertWorld()
	for target, want := range map[string]string{
		"/v1/channels": `{"channels":[]}`, "/v1/alert-rules": `{"alert_rules":[]}`, "/v1/deliveries": `{"deliveries":[],"next":"more"}`,
	} {
		if got := strings.TrimSpace(w.do("GET", target, "").Body.String()); got != want {
			t.Errorf("GET %s = %s, want %s", target, got, want)
		}
	}
}
