package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

const slackURL = "https://hooks.slack.com/services/T0000/B0000/supersecrettoken"

// stored are the settings of a channel as the store has them.
func (w *world) stored(id string) map[string]any {
	w.t.Helper()
	c, err := w.channel(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(c.Settings, &m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func mailSettings(change ...func(map[string]any)) map[string]any {
	m := map[string]any{
		"host": "smtp.example.com", "username": "haltd", "password": "correct horse",
		"from": "haltd@example.com", "to": []string{"oncall@example.com"},
	}
	for _, c := range change {
		c(m)
	}
	return m
}

func TestSecretsAreNeverShown(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.SlackURL = slackURL })
	w.add("slack", haltd.ChannelSlack, map[string]any{"url": slackURL})
	w.add("hook", haltd.ChannelWebhook, map[string]any{"url": "https://example.com/hidden-path?key=hidden-query", "secret": secret})
	w.add("mail", haltd.ChannelEmail, mailSettings())
	channels, err := w.ListChannels(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, c := range channels {
		shown[c.Name] = string(c.Settings)
	}
	want := map[string]string{
		"Slack (SLACK_WEBHOOK_URL)": `{"url":"https://hooks.slack.com/…"}`,
		"slack":                     `{"url":"https://hooks.slack.com/…"}`,
		"hook":                      `{"url":"https://example.com/…","secret":"whsec_…"}`,
		"mail":                      `{"host":"smtp.example.com","port":587,"tls":"starttls","username":"haltd","password":"…","from":"haltd@example.com","to":["oncall@example.com"]}`,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestReceiversThatRepeatSecretsAreNotQuoted(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, func(rw http.ResponseWriter, q *http.Request) {
		rw.WriteHeader(404)
		fmt.Fprintf(rw, "Cannot POST %s, and supersecrettoken is unknown;\r\nsecret %s\x1b[31m", q.URL, secret)
	})
	c := w.add("hook", haltd.ChannelWebhook, map[string]any{"url": r.URL + "/services/T/supersecrettoken?key=anothersecretkey", "secret": secret})
	answer, delivered, err := w.Test(context.Background(), c.ID)
	if want := "404 Not Found: Cannot POST [redacted], and [redacted] is unknown; secret [redacted][31m"; answer != want || delivered || err != nil {
		t.Errorf("answer = %q, %v, %v; want %q", answer, delivered, err, want)
	}
}

func TestErrorsOfTheNetworkHoldNoAddress(t *testing.T) {
	w := newWorld(t)
	c := w.add("slack", haltd.ChannelSlack, map[string]any{"url": harness.Refusing(t) + "/services/supersecrettoken"})
	answer, delivered, _ := w.Test(context.Background(), c.ID)
	if delivered || strings.Contains(answer, "supersecret") || !strings.Contains(answer, "connection refused") {
		t.Errorf("answer = %q, want the reason and no secret", answer)
	}
}

func TestATestMessageReportsTheAnswer(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) { rw.Write([]byte("ok")) })
	c := w.add("slack", haltd.ChannelSlack, map[string]any{"url": r.URL})
	answer, delivered, err := w.Test(context.Background(), c.ID)
	if answer != "200 OK: ok" || !delivered || err != nil {
		t.Errorf("test = %q, %v, %v", answer, delivered, err)
	}
	if body := string(r.got()[0].body); !strings.Contains(body, "test message") {
		t.Errorf("message = %s, want it to say that it is a test", body)
	}
	if _, _, err := w.Test(context.Background(), "none"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("test of an unknown channel: %v", err)
	}
}

func TestAChangeKeepsWhatItLeavesOut(t *testing.T) {
	w := newWorld(t)
	mail := w.add("mail", haltd.ChannelEmail, mailSettings())
	hook := w.add("hook", haltd.ChannelWebhook, map[string]any{"url": "https://example.com/path-that-is-secret", "secret": secret})
	for _, c := range []struct {
		channel haltd.Channel
		change  string
		field   string
		want    any
	}{
		{mail, `{"from":"new@example.com"}`, "password", "correct horse"},
		{mail, `{"from":"new@example.com"}`, "from", "new@example.com"},
		{mail, `{"password":""}`, "password", "correct horse"},
		{mail, `{"password":"…","username":"haltd"}`, "password", "correct horse"},
		{mail, `{"password":null}`, "password", "correct horse"},
		{mail, `{"password":"new"}`, "password", "new"},
		{hook, `{"url":"https://example.com/…","secret":"whsec_…"}`, "url", "https://example.com/path-that-is-secret"},
		{hook, `{"url":"https://example.org/new"}`, "secret", secret},
		{hook, `{"url":"https://example.org/newer"}`, "url", "https://example.org/newer"},
	} {
		c.channel.Settings = json.RawMessage(c.change)
		if _, err := w.SaveChannel(context.Background(), c.channel); err != nil {
			t.Errorf("change %s: %v", c.change, err)
			continue
		}
		if got := w.stored(c.channel.ID)[c.field]; got != c.want {
			t.Errorf("after %s %s = %v, want %v", c.change, c.field, got, c.want)
		}
	}
}

// A store that has lost its key hands channels out without settings.
func TestSettingsThatCannotBeReadAreEnteredAgain(t *testing.T) {
	for _, tc := range []struct {
		name     string
		kind     haltd.ChannelKind
		change   haltd.Channel
		err      string // part of the error
		enabled  bool
		disabled string
		made     bool // a secret is made and shown
	}{
		{name: "a name", kind: haltd.ChannelSlack, err: "settings: are missing", disabled: "no key"},
		{name: "the switch", kind: haltd.ChannelSlack, change: haltd.Channel{Enabled: true}, err: "settings: are missing", disabled: "no key"},
		{name: "some settings", kind: haltd.ChannelEmail, change: haltd.Channel{Settings: json.RawMessage(`{"password":"new"}`)}, err: "host: ", disabled: "no key"},
		{name: "all settings", kind: haltd.ChannelSlack, change: haltd.Channel{Settings: json.RawMessage(`{"url":"` + slackURL + `"}`)}},
		{name: "all settings and the switch", kind: haltd.ChannelSlack, change: haltd.Channel{Enabled: true, Settings: json.RawMessage(`{"url":"` + slackURL + `"}`)}, enabled: true},
		{name: "a webhook without its secret", kind: haltd.ChannelWebhook, change: haltd.Channel{Settings: json.RawMessage(`{"url":"https://example.com","secret":""}`)}, made: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			lost := haltd.Channel{ID: "chn_a", Name: "a", Kind: tc.kind, Disabled: "no key", Source: fromAPI, Settings: json.RawMessage(`{}`)}
			if err := w.store.SaveChannel(context.Background(), lost); err != nil {
				t.Fatal(err)
			}
			if answer, delivered, err := w.Test(context.Background(), lost.ID); answer != "no key" || delivered || err != nil {
				t.Errorf("a test answers %q, delivered %v, %v; want why it is off", answer, delivered, err)
			}
			tc.change.ID, tc.change.Name = lost.ID, "b"
			shown, err := w.SaveChannel(context.Background(), tc.change)
			if tc.err == "" && err != nil || tc.err != "" && (haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			got, err := w.channel(context.Background(), lost.ID)
			if err != nil || got.Enabled != tc.enabled || got.Disabled != tc.disabled {
				t.Errorf("channel %+v, %v; want enabled %v, disabled %q", got, err, tc.enabled, tc.disabled)
			}
			if tc.err != "" && string(got.Settings) != "{}" {
				t.Errorf("settings %s, want them untouched", got.Settings)
			}
			if made := strings.Contains(string(shown.Settings), `"secret":"whsec_`) && !strings.Contains(string(shown.Settings), "whsec_…"); made != tc.made {
				t.Errorf("shown %s; want a new secret: %v", shown.Settings, tc.made)
			}
		})
	}
}

func TestAPasswordGoesToNoOtherServer(t *testing.T) {
	for change, allowed := range map[string]bool{
		`{"host":"smtp.evil.example"}`:                                false,
		`{"port":2525}`:                                               false,
		`{"tls":"implicit"}`:                                          false,
		`{"host":"smtp.evil.example","password":"…"}`:                 false,
		`{"host":"smtp.new.example","password":"new"}`:                true,
		`{"host":"smtp.new.example","username":"","password":""}`:     true,
		`{"username":"","password":"","tls":"none","port":25}`:        true,
		`{"host":"smtp.example.com","port":587,"to":["a@b.example"]}`: true,
	} {
		w := newWorld(t)
		c := w.add("mail", haltd.ChannelEmail, mailSettings())
		c.Settings = json.RawMessage(change)
		if _, err := w.SaveChannel(context.Background(), c); (err == nil) != allowed {
			t.Errorf("change %s: %v, want allowed %v", change, err, allowed)
		}
	}
}

func TestAWebhookSecretIsMadeAndShownOnce(t *testing.T) {
	w := newWorld(t)
	c := w.add("hook", haltd.ChannelWebhook, map[string]any{"url": "https://example.com/x"})
	var shown struct{ URL, Secret string }
	if err := json.Unmarshal(c.Settings, &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Secret != w.stored(c.ID)["secret"] || !strings.HasPrefix(shown.Secret, "whsec_") || len(shown.Secret) < 40 {
		t.Errorf("secret %q was shown, want the new one", shown.Secret)
	}
	list, _ := w.ListChannels(context.Background())
	if strings.Contains(string(list[0].Settings), shown.Secret) {
		t.Errorf("the secret is shown again: %s", list[0].Settings)
	}
}

func TestChannelsThatBreakARuleNameTheField(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name, kind, settings, field string
	}{
		{"", "slack", `{"url":"` + slackURL + `"}`, "name: "},
		{"x", "pager", `{}`, "kind: "},
		{"x", "slack", ``, "settings: "},
		{"x", "slack", `[]`, "settings: "},
		{"x", "slack", `{}`, "url: "},
		{"x", "slack", `{"url":"hooks.slack.com/x"}`, "url: "},
		{"x", "slack", `{"url":"ftp://example.com"}`, "url: "},
		{"x", "slack", `{"url":"file:///etc/passwd"}`, "url: "},
		{"x", "slack", `{"url":"https://user:pass@example.com/"}`, "url: "},
		{"x", "slack", `{"url":7}`, "url: "},
		{"x", "slack", `{"urls":"x"}`, "urls: "},
		{"x", "webhook", `{"url":"https://example.com","secret":"hunter2"}`, "secret: "},
		{"x", "webhook", `{"url":"https://example.com","secret":"whsec_c2hvcnQ="}`, "secret: "},
		{"x", "email", `{}`, "host: "},
		{"x", "email", `{"host":"smtp.example.com/x"}`, "host: "},
		{"x", "email", `{"host":"unix://socket"}`, "host: "},
		{"x", "email", `{"host":"h","tls":"ssl"}`, "tls: "},
		{"x", "email", `{"host":"h","port":70000}`, "port: "},
		{"x", "email", `{"host":"h","tls":"none","username":"u","password":"p"}`, "tls: "},
		{"x", "email", `{"host":"h","username":"u"}`, "username: "},
		{"x", "email", `{"host":"h"}`, "to: "},
		{"x", "email", `{"host":"h","to":["a@b.example"],"from":"nobody"}`, "from: "},
		{"x", "email", `{"host":"h","to":["a@b.example\r\nBcc: c@d.example"],"from":"a@b.example"}`, "to: "},
		{"x", "email", `{"host":"h","to":["a@b.example"],"from":"a@b.example\r\nBcc: c@d.example"}`, "from: "},
	} {
		_, err := w.SaveChannel(context.Background(), haltd.Channel{Name: c.name, Kind: haltd.ChannelKind(c.kind), Settings: json.RawMessage(c.settings)})
		if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.HasPrefix(err.Error(), c.field) {
			t.Errorf("%s %s: %v, want an error about %s", c.kind, c.settings, err, c.field)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error holds the secret: %v", err)
		}
	}
}

func TestTwoChannelsCannotHaveOneName(t *testing.T) {
	w := newWorld(t)
	w.add("taken", haltd.ChannelSlack, map[string]any{"url": slackURL})
	_, err := w.SaveChannel(context.Background(), haltd.Channel{Name: "Taken", Kind: haltd.ChannelSlack, Settings: json.RawMessage(`{"url":"` + slackURL + `"}`)})
	if haltd.ErrorCode(err) != haltd.CodeExists || !strings.HasPrefix(err.Error(), "name: ") {
		t.Errorf("error = %v, want that the name exists", err)
	}
}

func TestOnlyChannelsOfTheAPIAreChangedByIt(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.SlackURL = slackURL })
	if err := w.Configure([]haltd.Channel{{ID: "file-ops", Name: "ops", Kind: haltd.ChannelSlack, Enabled: true, Settings: json.RawMessage(`{"url":"` + slackURL + `"}`)}}, nil); err != nil {
		t.Fatal(err)
	}
	for id, fix := range map[string]string{"file-ops": "alerts.channels", "env-slack": "SLACK_WEBHOOK_URL"} {
		_, err := w.SaveChannel(context.Background(), haltd.Channel{ID: id, Name: "x"})
		if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), fix) {
			t.Errorf("change of %s: %v, want a hint at %s", id, err, fix)
		}
		if err := w.DeleteChannel(context.Background(), id); haltd.ErrorCode(err) != haltd.CodeInvalid {
			t.Errorf("deletion of %s: %v", id, err)
		}
	}
	if err := w.DeleteChannel(context.Background(), "none"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("deletion of an unknown channel: %v", err)
	}
}

func TestAChannelThatARuleNamesStays(t *testing.T) {
	w := newWorld(t)
	c := w.add("slack", haltd.ChannelSlack, map[string]any{"url": slackURL})
	r := w.rule(haltd.AlertRule{Name: "kills", Channels: []string{c.ID}})
	if err := w.DeleteChannel(context.Background(), c.ID); haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), "kills") {
		t.Errorf("deletion: %v, want an error that names the rule", err)
	}
	if err := w.DeleteAlertRule(context.Background(), r.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteChannel(context.Background(), c.ID); err != nil {
		t.Errorf("deletion without the rule: %v", err)
	}
}

func TestTheEnvironmentAloneMakesASlackChannel(t *testing.T) {
	r := newReceiver(t)
	w := newWorld(t, func(o *Options) { o.SlackURL = r.URL + "/services/x" })
	w.allow() // the operator's own words need no further permission
	w.store.raise(notice(1, func(n *haltd.Notice) {
		n.Topic, n.Tokens = haltd.IncidentGrowth, []int64{100, 150, 220, 330, 495}
	}))
	w.settle()
	var got struct{ Text string }
	if err := json.Unmarshal(r.got()[0].body, &got); err != nil {
		t.Fatal(err)
	}
	want := "🚨 *Runaway Agent Detected* 🚨\nSession `ses_8f2k9x3m` showed quadratic growth signature.\nRecent prompt tokens: [100, 150, 220, 330, 495]"
	if got.Text != want {
		t.Errorf("text = %q, want %q", got.Text, want)
	}
	if status, err := w.AlertStatus(context.Background()); err != nil || status != (haltd.AlertStatus{Configured: true, Channels: 1}) {
		t.Errorf("status = %+v, %v", status, err)
	}
	if d := w.only(); d.Channel != "env-slack" {
		t.Errorf("delivery went to %s", d.Channel)
	}
}

func TestABrokenSlackURLInTheEnvironmentIsRefusedWithoutItsText(t *testing.T) {
	_, err := New(Options{SlackURL: "hunter2"})
	if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.Contains(err.Error(), "SLACK_WEBHOOK_URL") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("err = %v", err)
	}
}

func TestABrokenConfigurationChangesNothing(t *testing.T) {
	w := newWorld(t)
	good := []haltd.Channel{{ID: "file-ops", Name: "ops", Kind: haltd.ChannelSlack, Enabled: true, Settings: json.RawMessage(`{"url":"` + slackURL + `"}`)}}
	if err := w.Configure(good, nil); err != nil {
		t.Fatal(err)
	}
	bad := []haltd.Channel{{ID: "file-bad", Name: "bad", Kind: haltd.ChannelWebhook, Settings: json.RawMessage(`{"url":"https://example.com"}`)}}
	for _, err := range []error{w.Configure(bad, nil), w.Configure(nil, []string{"10.0.0.0/99"}), w.Configure(nil, []string{"*.internal"})} {
		if haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.HasPrefix(err.Error(), "alerts.") {
			t.Errorf("err = %v, want one that names the setting", err)
		}
	}
	channels, _ := w.ListChannels(context.Background())
	if len(channels) != 1 || channels[0].ID != "file-ops" || channels[0].Source != "file" {
		t.Errorf("channels = %+v, want those of before", channels)
	}
}

func TestAnInternalReceiverNeedsPermission(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	c := w.hook("inside", r)
	w.allow()
	w.store.raise(notice(1))
	w.settle()
	d := w.only()
	if d.Status != haltd.DeliveryDead || !strings.Contains(d.LastAnswer(), "alerts.allow_internal") || len(r.got()) != 0 {
		t.Errorf("delivery = %+v after %d requests, want it refused with the way out", d, len(r.got()))
	}
	w.allow("127.0.0.1")
	if _, delivered, err := w.Test(context.Background(), c.ID); !delivered || err != nil {
		t.Errorf("with permission: %v, %v", delivered, err)
	}
}

func TestAlertRulesThatBreakARuleNameTheField(t *testing.T) {
	w := newWorld(t)
	for field, r := range map[string]haltd.AlertRule{
		"name: ":             {},
		"topics: ":           {Name: "x", Topics: []haltd.IncidentKind{"lunch"}},
		"agents: ":           {Name: "x", Agents: []string{"not an id"}},
		"channels: ":         {Name: "x", Channels: []string{"none"}},
		"cooldown_seconds: ": {Name: "x", Cooldown: 604801},
	} {
		if _, err := w.SaveAlertRule(context.Background(), r); haltd.ErrorCode(err) != haltd.CodeInvalid || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("rule %+v: %v, want an error about %s", r, err, field)
		}
	}
	if _, err := w.SaveAlertRule(context.Background(), haltd.AlertRule{ID: "alr_none", Name: "x"}); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("change of an unknown rule: %v", err)
	}
	if r := w.rule(haltd.AlertRule{Agents: []string{"Billing-Bot"}}); r.Agents[0] != "billing-bot" {
		t.Errorf("agents = %v, want them as ids are", r.Agents)
	}
}

func TestStatusKnowsWhenNobodyWouldHear(t *testing.T) {
	w := newWorld(t)
	check := func(when string, want haltd.AlertStatus) {
		t.Helper()
		if got, err := w.AlertStatus(context.Background()); err != nil || got != want {
			t.Errorf("%s: status = %+v, %v; want %+v", when, got, err, want)
		}
	}
	check("nothing", haltd.AlertStatus{})
	c := w.add("slack", haltd.ChannelSlack, map[string]any{"url": slackURL})
	check("a channel", haltd.AlertStatus{Configured: true, Channels: 1})
	r := w.rule(haltd.AlertRule{Channels: []string{c.ID}})
	check("a rule", haltd.AlertStatus{Configured: true, Channels: 1})
	r.Enabled = false
	if _, err := w.SaveAlertRule(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	check("the rule off", haltd.AlertStatus{Channels: 1})
	w.store.deliveries = []haltd.Delivery{{Status: haltd.DeliveryDead}, {Status: haltd.DeliveryPending}}
	check("a dead delivery", haltd.AlertStatus{Channels: 1, Dead: 1})
}
