package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// visitor is a browser, signed in or not.
type visitor struct {
	admin  string
	client *http.Client
}

func (n *node) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{n.Admin, &http.Client{Jar: jar}}
}

// ask answers the status and the body.
func (v *visitor) ask(t *testing.T, method, path string, body any) (int, string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(method, v.admin+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Haltd-Csrf", "1")
	req.Header.Set("X-Haltd-Actor", "somebody else")
	res, err := v.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func (v *visitor) wants(t *testing.T, what string, want int, method, path string, body any) string {
	t.Helper()
	status, answer := v.ask(t, method, path, body)
	if status != want {
		t.Errorf("%s: %d %s; want %d", what, status, answer, want)
	}
	return answer
}

type fields = map[string]string

func codeOf(link string) string {
	_, code, _ := strings.Cut(strings.TrimSpace(link), "#code=")
	return code
}

// A person is added, follows the link, chooses a password, comes back with it
// and is named in the audit log; removed, nothing of hers opens anything.
func TestAPersonSignsInAsHerself(t *testing.T) {
	t.Parallel()
	_, up := provider(t)
	n := start(t, harness.Providers(up))
	link := n.run(t, "users", "add", "anna", "--role", "operator")
	if !strings.HasPrefix(link, n.Admin+"/sign-in#code=") {
		t.Fatalf("the link is %s", link)
	}
	if _, errs, code := harness.CLI(t, nil, "--config", n.Config.Path, "users", "add", "Anna", "--role", "viewer"); code == 0 || !strings.Contains(errs, "already") {
		t.Errorf("the same name again: exit %d, %s", code, errs)
	}

	if _, errs, code := harness.CLI(t, nil, "--config", n.Config.Path, "users", "add", "Admin", "--role", "viewer"); code == 0 || !strings.Contains(errs, "stand in the audit log for the admin token") {
		t.Errorf("the name of the admin token: exit %d, %s", code, errs)
	}

	anna := n.visitor(t)
	anna.wants(t, "the link", 204, "POST", "/v1/sign-in", fields{"code": codeOf(link)})
	n.visitor(t).wants(t, "the link a second time", 401, "POST", "/v1/sign-in", fields{"code": codeOf(link)})
	if me := anna.wants(t, "me", 200, "GET", "/v1/me", nil); !strings.Contains(me, `"actor":"anna","role":"operator"`) || !strings.Contains(me, `"password":"missing"`) {
		t.Errorf("she is %s", me)
	}
	anna.wants(t, "a short password", 400, "PUT", "/v1/me/password", fields{"password": "short"})
	const first, second = "correct horse battery", "staple of the battery"
	anna.wants(t, "a password", 204, "PUT", "/v1/me/password", fields{"password": first})
	if out := n.run(t, "users", "ls"); !strings.Contains(out, "anna") || !strings.Contains(out, "operator") || !strings.Contains(out, "chosen") {
		t.Errorf("users ls:\n%s", out)
	}

	back := n.visitor(t)
	back.wants(t, "a wrong password", 401, "POST", "/v1/sign-in", fields{"name": "anna", "password": first + "r"})
	back.wants(t, "an unknown name", 401, "POST", "/v1/sign-in", fields{"name": "nobody", "password": first})
	back.wants(t, "name and password", 204, "POST", "/v1/sign-in", fields{"name": " Anna ", "password": first})
	back.wants(t, "to stop an agent", 200, "POST", "/v1/agents/bot/deactivate", fields{"reason": "loops"})
	back.wants(t, "to add a user", 403, "POST", "/v1/users", fields{"name": "eve", "role": "admin"})
	back.wants(t, "to raise herself", 403, "PATCH", "/v1/users/anna", fields{"role": "admin"})
	if out := n.run(t, "audit", "--by", "anna", "--export", "csv"); !strings.Contains(out, ",anna,deactivated,bot,") || !strings.Contains(out, "password_chosen") {
		t.Errorf("the audit log of anna:\n%s", out)
	}
	back.wants(t, "a new password without the old one", 400, "PUT", "/v1/me/password", fields{"password": second})
	back.wants(t, "a new password", 204, "PUT", "/v1/me/password", fields{"password": second, "current": first})
	back.wants(t, "the browser that changed it", 200, "GET", "/v1/me", nil)
	n.visitor(t).wants(t, "the old password", 401, "POST", "/v1/sign-in", fields{"name": "anna", "password": first})

	n.run(t, "users", "set", "anna", "--role", "viewer")
	back.wants(t, "to stop an agent as a viewer", 403, "POST", "/v1/agents/bot/deactivate", fields{})

	// Forgotten, and sent a link.
	link = n.run(t, "users", "link", "anna")
	n.visitor(t).wants(t, "the password of before the link", 401, "POST", "/v1/sign-in", fields{"name": "anna", "password": second})
	anna = n.visitor(t)
	anna.wants(t, "the new link", 204, "POST", "/v1/sign-in", fields{"code": codeOf(link)})
	anna.wants(t, "a password after it", 204, "PUT", "/v1/me/password", fields{"password": first})

	// Removed.
	own := strings.TrimSpace(n.run(t, "tokens", "create", "--name", "anna", "--role", "viewer"))
	other := strings.TrimSpace(n.run(t, "tokens", "create", "--name", "ci", "--role", "viewer"))
	unused := n.run(t, "users", "add", "bert", "--role", "admin")
	for _, name := range []string{"anna", "bert"} {
		n.run(t, "users", "rm", name)
	}
	anna.wants(t, "her sign-in after she was removed", 401, "GET", "/v1/me", nil)
	anna.wants(t, "her password after she was removed", 401, "POST", "/v1/sign-in", fields{"name": "anna", "password": first})
	n.visitor(t).wants(t, "a link of somebody who was removed", 401, "POST", "/v1/sign-in", fields{"code": codeOf(unused)})
	for token, want := range map[string]int{own: 401, other: 200} {
		if status, _ := n.as(t, token, "GET", "/v1/agents", ""); status != want {
			t.Errorf("a token is answered %d after anna was removed, want %d", status, want)
		}
	}
	var log struct{ Entries []haltd.AuditEntry }
	n.Must(t, "GET", "/v1/audit?change=user_deleted", nil, &log)
	if len(log.Entries) != 2 || log.Entries[1].Subject != "anna" {
		t.Errorf("the audit log says %+v of who was removed", log.Entries)
	}
}

// Sign-ins of people hold across a restart, and a password is nowhere to be
// read.
func TestUsersSurviveARestart(t *testing.T) {
	t.Parallel()
	_, up := provider(t)
	n := start(t, harness.Providers(up))
	anna := n.visitor(t)
	anna.wants(t, "the link", 204, "POST", "/v1/sign-in", fields{"code": codeOf(n.run(t, "users", "add", "anna", "--role", "admin"))})
	const password = "correct horse battery"
	anna.wants(t, "a password", 204, "PUT", "/v1/me/password", fields{"password": password})
	if list := anna.wants(t, "users", 200, "GET", "/v1/users", nil); strings.Contains(list, "pbkdf2") || strings.Contains(list, password) {
		t.Errorf("the list shows the password: %s", list)
	}
	n.Stop(t)
	n.Run(t)
	anna.admin = n.Admin
	anna.wants(t, "her sign-in", 200, "GET", "/v1/me", nil)
	n.visitor(t).wants(t, "her password", 204, "POST", "/v1/sign-in", fields{"name": "anna", "password": password})
	if strings.Contains(n.Log(), password) {
		t.Error("the log has the password")
	}
}
