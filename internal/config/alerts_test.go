package config

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/email"
	"github.com/haltd/haltd/internal/alert/slack"
	"github.com/haltd/haltd/internal/alert/webhook"
)

const (
	webhookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	alertChannels = `
alerts:
  public_url: https://haltd.example.com/
  allow_internal: [mail.internal, 10.1.2.3, "fd00::/8"]
  channels:
    - {name: on-call, kind: slack, url: "https://hooks.slack.com/services/T/B/hunter2"}
    - {name: tickets, kind: webhook, enabled: false, url: "https://x.example.com/hunter2", secret: ` + webhookSecret + `}
    - {name: open, kind: email, host: localhost, tls: none, port: 2525, from: haltd@example.com, to: [a@example.com]}
    - name: team
      kind: email
      host: smtp.example.com
      username: haltd
      password: hunter2 with spaces
      from: haltd <haltd@example.com>
      to: [a@example.com, b@example.com]
`
)

func TestAlertChannels(t *testing.T) {
	c := mustLoad(t, alertChannels, nil)
	if got := c.Alerts.PublicURL.String(); got != "https://haltd.example.com" {
		t.Errorf("public_url %s", got)
	}
	if d := cmp.Diff([]string{"mail.internal", "10.1.2.3", "fd00::/8"}, c.Alerts.AllowInternal); d != "" {
		t.Error(d)
	}
	channel := func(name string, kind haltd.ChannelKind, enabled bool, settings string) haltd.Channel {
		return haltd.Channel{ID: "file-" + name, Name: name, Kind: kind, Enabled: enabled, Source: "file", Settings: json.RawMessage(settings)}
	}
	want := []haltd.Channel{
		channel("on-call", haltd.ChannelSlack, true, `{"url":"https://hooks.slack.com/services/T/B/hunter2"}`),
		channel("tickets", haltd.ChannelWebhook, false, `{"url":"https://x.example.com/hunter2","secret":"`+webhookSecret+`"}`),
		channel("open", haltd.ChannelEmail, true, `{"host":"localhost","port":2525,"tls":"none","username":"","password":"","from":"haltd@example.com","to":["a@example.com"]}`),
		channel("team", haltd.ChannelEmail, true, `{"host":"smtp.example.com","port":587,"tls":"starttls","username":"haltd","password":"hunter2 with spaces","from":"haltd \u003chaltd@example.com\u003e","to":["a@example.com","b@example.com"]}`),
	}
	var got []haltd.Channel
	for _, a := range c.Alerts.Channels {
		got = append(got, a.Channel())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(c.Warnings()) > 0 {
		t.Errorf("warned: %v", c.Warnings())
	}
}

// What loads must be what the adapters take: there is nobody to tell later.
func TestAdaptersTakeTheChannels(t *testing.T) {
	kinds := map[haltd.ChannelKind]bool{}
	for _, a := range mustLoad(t, alertChannels, nil).Alerts.Channels {
		kinds[a.Channel().Kind] = true
		var err error
		switch c := a.Channel(); c.Kind {
		case haltd.ChannelSlack:
			_, err = slack.Parse(c.Settings)
		case haltd.ChannelWebhook:
			_, err = webhook.Parse(c.Settings)
		case haltd.ChannelEmail:
			_, err = email.Parse(c.Settings)
		default:
			t.Errorf("%s: no adapter takes a channel of kind %q", a.Name, c.Kind)
		}
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("channels of the kinds %v, want one of each", kinds)
	}
}

func TestUsualMailPorts(t *testing.T) {
	for tls, want := range map[string]int{"starttls": 587, "implicit": 465, "none": 25} {
		c := mustLoad(t, fmt.Sprintf("alerts: {channels: [{name: a, kind: email, host: h, tls: %s, from: a@b.c, to: [a@b.c]}]}\n", tls), nil)
		if got := c.Alerts.Channels[0].Port; got != want {
			t.Errorf("%s: port %d, want %d", tls, got, want)
		}
	}
}

func TestChannelSecretsFromFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "url", "https://hooks.slack.com/services/T/B/x\n", 0o600)
	writeFile(t, "secret", webhookSecret+"\n", 0o600)
	writeFile(t, "password", "p w\n", 0o600)
	writeFile(t, "haltd.yaml", `
alerts:
  channels:
    - {name: a, kind: slack, url_file: url}
    - {name: b, kind: webhook, url_file: url, secret_file: secret}
    - {name: c, kind: email, host: h, username: u, password_file: password, from: a@b.c, to: [a@b.c]}
`, 0o600)
	c, err := Load("haltd.yaml", envOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	type secrets struct{ url, secret, password string }
	var got []secrets
	for _, a := range c.Alerts.Channels {
		got = append(got, secrets{a.URL.Reveal(), a.Secret.Reveal(), a.Password.Reveal()})
	}
	const url = "https://hooks.slack.com/services/T/B/x"
	want := []secrets{{url: url}, {url: url, secret: webhookSecret}, {password: "p w"}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(secrets{})); d != "" {
		t.Error(d)
	}
}

func TestUnencryptedAlertsWarn(t *testing.T) {
	c := mustLoad(t, `
alerts:
  channels:
    - {name: near, kind: slack, url: "http://127.0.0.1:1/x"}
    - {name: far, kind: slack, url: "http://hooks.example.com/x"}
`, nil)
	want := []string{"haltd.yaml:5: alerts.channels[1].url: alerts travel unencrypted; use https"}
	if d := cmp.Diff(want, c.Warnings()); d != "" {
		t.Error(d)
	}
}

func TestProblemsOfAlerts(t *testing.T) {
	const secret = "expected whsec_ and 24 to 64 random bytes in base64, as Standard Webhooks has it"
	const url = "expected a URL such as https://hooks.example.com/…, without user name and fragment"
	runProblems(t, []problemTest{
		{"public_url", "alerts: {public_url: haltd.example.com}\n", []string{
			`haltd.yaml:1: alerts.public_url: expected a URL such as https://api.example.com, got "haltd.example.com"`}},
		{"allow_internal", "alerts:\n  allow_internal:\n    - 10.0.0.0/8\n    - \"http://x\"\n", []string{
			`haltd.yaml:4: alerts.allow_internal[1]: expected a host name, an address or a network such as 10.0.0.0/8, got "http://x"`}},
		{"names", "alerts:\n  channels:\n    - {name: a, kind: slack, url: \"http://localhost\"}\n    - {name: a, kind: slack, url: \"http://localhost\"}\n    - {name: a/b, kind: slack, url: \"http://localhost\"}\n    - {kind: slack, url: \"http://localhost\"}\n", []string{
			"haltd.yaml:4: alerts.channels[1].name: the name of another channel in line 3",
			`haltd.yaml:5: alerts.channels[2].name: expected letters, digits and . _ -, 64 at most, got "a/b"`,
			`haltd.yaml:6: alerts.channels[3].name: expected letters, digits and . _ -, 64 at most, got ""`}},
		{"kind", "alerts: {channels: [{name: a, kind: pager}]}\n", []string{
			`haltd.yaml:1: alerts.channels[0].kind: expected slack, webhook or email, got "pager"`}},
		{"misspelt setting", "alerts: {channels: [{name: a, kind: slack, urll: x}]}\n", []string{
			"haltd.yaml:1: alerts.channels[0].urll: unknown key; did you mean url?",
			"haltd.yaml:1: alerts.channels[0].url: missing; give the URL to post to"}},
		{"setting of another kind", "alerts: {channels: [{name: a, kind: slack, url: \"http://localhost\", to: [x]}]}\n", []string{
			"haltd.yaml:1: alerts.channels[0].to: no setting of slack, which has url, url_file"}},
		{"url of a channel", "alerts:\n  channels:\n    - {name: a, kind: slack, url: \"https://u:p@x\"}\n    - {name: b, kind: slack, url: x}\n    - {name: c, kind: slack, url: x, url_file: y}\n", []string{
			"haltd.yaml:3: alerts.channels[0].url: " + url,
			"haltd.yaml:4: alerts.channels[1].url: " + url,
			"haltd.yaml:5: alerts.channels[2].url_file: set together with alerts.channels[2].url; keep one of them"}},
		{"webhook", "alerts:\n  channels:\n    - {name: a, kind: webhook, url: \"http://localhost\"}\n    - {name: b, kind: webhook, url: \"http://localhost\", secret: whsec_c2hvcnQ=}\n", []string{
			"haltd.yaml:3: alerts.channels[0].secret: " + secret,
			"haltd.yaml:4: alerts.channels[1].secret: " + secret}},
		{"email", "alerts:\n  channels:\n    - {name: a, kind: email, tls: ssl, port: 70000, from: me}\n", []string{
			`haltd.yaml:3: alerts.channels[0].host: expected the name of a mail server, got ""`,
			`haltd.yaml:3: alerts.channels[0].tls: expected starttls, implicit or none, got "ssl"`,
			"haltd.yaml:3: alerts.channels[0].port: expected 1 to 65535, got 70000",
			`haltd.yaml:3: alerts.channels[0].from: expected an address such as haltd@example.com, got "me"`,
			"haltd.yaml:3: alerts.channels[0].to: expected 1 to 50 addresses, got 0"}},
		{"signing in", "alerts:\n  channels:\n" +
			"    - {name: a, kind: email, host: h, username: u, from: a@b.c, to: [a@b.c]}\n" +
			"    - {name: b, kind: email, host: h, password: p, from: a@b.c, to: [a@b.c]}\n" +
			"    - {name: c, kind: email, host: h, username: u, password: p, tls: none, from: a@b.c, to: [x]}\n", []string{
			"haltd.yaml:3: alerts.channels[0].password: missing; a name needs a password to go with it",
			"haltd.yaml:4: alerts.channels[1].username: missing; a password needs a name to go with it",
			"haltd.yaml:5: alerts.channels[2].tls: none would send the password for everybody to read; use starttls or implicit",
			`haltd.yaml:5: alerts.channels[2].to[0]: expected an address such as haltd@example.com, got "x"`}},
	})
}
