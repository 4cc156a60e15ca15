package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// as asks the admin API with a token and answers the status.
func (n *node) as(t *testing.T, token, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, n.Admin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	status, _, answer := roundTrip(t, req, []string{"Authorization", "Bearer " + token, "X-Haltd-Actor", "somebody else"})
	return status, answer
}

func TestPeopleHaveRoles(t *testing.T) {
	t.Parallel()
	_, up := provider(t)
	n := start(t, harness.Providers(up))
	n.Config.Replace(t, strings.Replace(n.Config.Base(), "admin: {", "admin: {metrics_token: scrape-scrape-scrape, open_metrics: true, ", 1)+harness.Providers(up))
	n.Reload(t, "configuration reloaded")
	token := func(name, role string) string {
		return strings.TrimSpace(n.run(t, "tokens", "create", "--name", name, "--role", role, "--expires", "1h"))
	}
	viewer, operator, admin := token("vera", "viewer"), token("otto", "operator"), token("ada", "admin")

	for _, c := range []struct {
		method, path, body        string
		viewer, operator, asAdmin int
	}{
		{"GET", "/v1/agents", "", 200, 200, 200},
		{"GET", "/v1/audit", "", 200, 200, 200},
		{"PATCH", "/v1/agents/bot", `{"kill_switch":{"enabled":true}}`, 403, 200, 200},
		{"POST", "/v1/agents/bot/deactivate", `{}`, 403, 200, 200},
		{"PUT", "/v1/bypass", `{"on":false}`, 403, 200, 200},
		{"POST", "/v1/rules", `{"name":"r","condition":{},"action":"warn"}`, 403, 201, 201},
		{"POST", "/v1/keys", `{"agent":"bot"}`, 403, 403, 201},
		{"POST", "/v1/tokens", `{"name":"x","role":"admin"}`, 403, 403, 201},
		{"GET", "/v1/tokens", "", 403, 403, 200},
		{"POST", "/v1/channels", `{"name":"c","kind":"slack","settings":{"url":"https://hooks.slack.com/services/x"}}`, 403, 403, 201},
		{"DELETE", "/v1/agents/nobody", "", 403, 403, 404},
	} {
		for _, who := range []struct {
			token string
			want  int
		}{{viewer, c.viewer}, {operator, c.operator}, {admin, c.asAdmin}} {
			if status, body := n.as(t, who.token, c.method, c.path, c.body); status != who.want {
				t.Errorf("%s %s: %d %s; want %d", c.method, c.path, status, body, who.want)
			}
		}
	}

	t.Run("the record names the person", func(t *testing.T) {
		var log struct{ Entries []haltd.AuditEntry }
		n.Must(t, "GET", "/v1/audit?by=otto&change=deactivated", nil, &log)
		if len(log.Entries) != 1 || log.Entries[0].Agent != "bot" {
			t.Errorf("the audit log says %+v of otto", log.Entries)
		}
		if out := n.run(t, "audit", "--export", "csv"); !strings.Contains(out, ",otto,deactivated,bot,") || strings.Contains(out, "somebody else") {
			t.Errorf("the export:\n%s", out)
		}
		lines := strings.Split(strings.TrimSpace(n.run(t, "audit", "--export", "jsonl", "--by", "ada")), "\n")
		var e haltd.AuditEntry
		if err := json.Unmarshal([]byte(lines[0]), &e); err != nil || e.By != "ada" {
			t.Errorf("the export of ada: %s, %v", lines[0], err)
		}
		n.run(t, "agents", "set", "watched-bot", "--kill-switch", "on")
		if out := n.run(t, "audit", "--agent", "watched-bot"); !strings.Contains(out, `{"kill_switch":{"enabled":true}}`) {
			t.Errorf("haltd audit does not say which policy was set:\n%s", out)
		}
		n.run(t, "agents", "show", "bot")
		n.Must(t, "DELETE", "/v1/agents/bot", nil, nil)
		n.Must(t, "GET", "/v1/audit?agent=bot&by=otto", nil, &log)
		if len(log.Entries) == 0 {
			t.Error("with the agent, who stopped it is forgotten")
		}
	})

	t.Run("a token signs in, and revoking it ends that", func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := &http.Client{Jar: jar}
		res, err := browser.Post(n.Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"token":"`+viewer+`"}`))
		if err != nil || res.StatusCode > 299 {
			t.Fatalf("sign-in: %v %v", res, err)
		}
		res.Body.Close()
		me := func() (int, string) {
			res, err := browser.Get(n.Admin + "/v1/me")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var who struct{ Actor, Role string }
			_ = json.NewDecoder(res.Body).Decode(&who) // an answer that says no has neither
			return res.StatusCode, who.Actor + " " + who.Role
		}
		if status, who := me(); status != 200 || who != "vera viewer" {
			t.Errorf("signed in as %q (%d), want vera viewer", who, status)
		}
		var list struct{ Tokens []haltd.Token }
		n.Must(t, "GET", "/v1/tokens", nil, &list)
		n.run(t, "tokens", "revoke", list.Tokens[0].ID)
		if status, _ := me(); status != 401 {
			t.Errorf("after the token was revoked the cookie is answered %d", status)
		}
		if _, errs, code := harness.CLI(t, []string{"HALTD_ADMIN_TOKEN=" + viewer}, "--admin", n.Admin, "agents", "ls"); code == 0 || !strings.Contains(errs, "revoked") {
			t.Errorf("a command with a revoked token: exit %d, %s", code, errs)
		}
		if status, _ := n.as(t, viewer, "GET", "/v1/agents", ""); status != 401 {
			t.Errorf("a revoked token is answered %d", status)
		}
	})

	t.Run("metrics", func(t *testing.T) {
		if status, _ := n.as(t, "scrape-scrape-scrape", "GET", "/metrics", ""); status != 200 {
			t.Errorf("/metrics with its own token: %d", status)
		}
		if status, _ := n.as(t, "scrape-scrape-scrape", "GET", "/v1/agents", ""); status != 401 {
			t.Errorf("/v1/agents with the token of metrics: %d", status)
		}
		if status, _, _ := ask(t, "GET", n.Admin+"/metrics"); status != 200 {
			t.Errorf("/metrics on this machine without a token: %d", status)
		}
		if status, _, _ := ask(t, "GET", n.Admin+"/metrics", "X-Forwarded-For", "198.51.100.7"); status != 401 {
			t.Errorf("/metrics for somebody behind a proxy: %d", status)
		}
	})

	t.Run("an API token never goes to a provider", func(t *testing.T) {
		if status, body := post(t, n.Gateway+"/v1/chat/completions", chat, "Authorization", "Bearer "+operator); status != 401 {
			t.Errorf("a call with an API token: %d %s", status, body)
		}
	})
}
