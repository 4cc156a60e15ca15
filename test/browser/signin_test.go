package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/harness"
)

const usedUp = "This token is not valid, or the link was used before or has expired."

// Who may come in, before and after the first call. None of it needs a haltd of
// its own.
func TestSignIn(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	for _, c := range []struct {
		name string
		test func(*testing.T, *node)
	}{
		{"by link", signInByLink},
		{"by token", signInByToken},
		{"leads nowhere else", signInLeadsNowhereElse},
		{"headers", headers},
		{"inline scripts are refused", inlineScriptsAreRefused},
		{"fields of the filter stand in line", fieldsOfTheFilterStandInLine},
		{"links change nothing", linksChangeNothing},
		{"a foreign page cannot post", foreignPageCannotPost},
		{"by a token of one's own", signInByOwnToken},
		{"by name and password", signInByName},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, n) })
	}
}

func signInByLink(t *testing.T, n *node) {
	link := n.link(t)
	p := newStranger(t, n)
	p.goTo(link)
	p.at("/")
	p.sees("Send the first call through haltd")
	if address := evaluate[string](p, "location.href"); strings.Contains(address, "code") {
		t.Errorf("the address still holds the code: %s", address)
	}
	second := newStranger(t, n)
	second.expect("status of 401")
	second.goTo(link)
	second.in("alert", "").sees(usedUp)
	second.open("/agents")
	second.at("/sign-in?next=%2Fagents")
}

func signInByToken(t *testing.T, n *node) {
	p := newStranger(t, n)
	p.expect("status of 401")
	p.open("/agents?x=1")
	p.sees("Sign in")
	p.fill("Token", "a guess")
	p.button("Sign in")
	p.in("alert", "").sees(usedUp)
	p.fill("Token", harness.Token)
	p.button("Sign in")
	p.sees("No agent yet")
	if readable := evaluate[string](p, "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"); strings.Contains(readable, harness.Token) || strings.Contains(readable, "haltd_session") {
		t.Errorf("scripts can read the cookie or the token: %s", readable)
	}

	p.button("Sign out")
	p.at("/sign-in")
	p.open("/agents")
	p.at("/sign-in?next=%2Fagents")
	if status := evaluate[int](p, "fetch('/v1/agents').then((r) => r.status)", chromedp.EvalAwaitPromise); status != http.StatusUnauthorized {
		t.Errorf("after the sign-out the API answers %d, want 401", status)
	}
}

// Who signs in by a token of his own is named on every page and, with what he
// changes there, in the audit log.
func signInByOwnToken(t *testing.T, n *node) {
	var made struct{ Secret string }
	n.Must(t, "POST", "/v1/tokens", map[string]any{"name": "ann", "role": "operator"}, &made)
	p := newStranger(t, n)
	p.expect("status of 401")
	p.open("/settings")
	p.fill("Token", made.Secret)
	p.button("Sign in")
	p.in("banner", "").sees("ann, operator")
	log := p.in("region", "Audit log")
	log.row("API token created: ann").sees("admin")

	p.button("Switch on bypass…")
	ask := p.dialog("Stop all enforcement?")
	ask.fill("Reason", "a drill")
	ask.button("Switch on bypass")
	log.row("Bypass switched on").sees("ann", "a drill")
	p.in("region", "Bypass").button("Enforce again")
	log.row("Bypass switched off").sees("ann")
}

// An admin adds a person, who follows the link, chooses a password and comes back
// with it; removed, she is out.
func signInByName(t *testing.T, n *node) {
	admin := newTab(t, n)
	admin.open("/settings")
	admin.in("region", "Users").button("Add user")
	ask := admin.dialog("Add a user")
	ask.fill("Name", "anna")
	ask.button("Add user")
	shown := admin.dialog("The link for this person")
	shown.sees("/sign-in#code=")
	link := evaluate[string](admin, "document.querySelector('[role=dialog] code, [role=dialog] pre').textContent")
	shown.button("Done")
	admin.in("region", "Users").row("anna").sees("Not yet chosen")

	anna := newStranger(t, n)
	anna.goTo(link)
	anna.sees("Welcome, anna")
	anna.fill("New password", "correct horse battery")
	anna.button("Choose this password")
	anna.at("/")
	anna.in("banner", "").sees("anna, viewer")
	anna.button("Sign out")
	anna.at("/sign-in")
	anna.expect("status of 401")
	anna.fill("Name", "anna")
	anna.fill("Password", "correct horse batterY")
	anna.button("Sign in")
	anna.in("alert", "").sees("This is not the name of a user with its password")
	anna.fill("Password", "correct horse battery")
	anna.button("Sign in")
	anna.in("banner", "").sees("anna, viewer")
	anna.open("/settings")
	anna.in("region", "Your password").sees("you sign in as anna")

	admin.open("/settings")
	admin.in("region", "Users").row("anna").button("Remove anna")
	admin.dialog("Remove anna?").button("Remove")
	admin.in("region", "Users").sees("No user")
	admin.in("region", "Audit log").row("User removed: anna").sees("admin")
	anna.open("/agents")
	anna.at("/sign-in?next=%2Fagents")
}

// The sign-in leads to pages of this dashboard only.
func signInLeadsNowhereElse(t *testing.T, n *node) {
	for _, next := range []string{"//example.com", "/\\example.com", "javascript:window.__xss=1"} {
		p := newStranger(t, n)
		p.expect("status of 401")
		p.open("/sign-in?next=" + strings.ReplaceAll(next, "\\", "%5C"))
		p.fill("Token", harness.Token)
		p.button("Sign in")
		p.at("/")
		if evaluate[bool](p, "'__xss' in window") {
			t.Errorf("next=%s ran as a script", next)
		}
	}
}

func linksChangeNothing(t *testing.T, n *node) {
	id := n.runAway(t, "billing-bot", "recon")
	n.send(t, call{agent: "mail-bot"})
	p := newTab(t, n)
	p.expect("status of 40") // not found, or not for GET
	for _, path := range []string{
		"/v1/agents/billing-bot/activate", "/v1/agents/mail-bot/deactivate", "/v1/sessions/recon/activate?agent=billing-bot",
		"/v1/incidents/" + id + "/feedback?status=resumed", "/v1/bypass?on=true", "/v1/sign-out",
		"/agents/mail-bot/deactivate", "/incidents/" + id + "?status=resumed", "/incidents/" + id + "/resume",
	} {
		p.open(path)
	}
	p.open("/agents")
	p.row("billing-bot").sees("Deactivated by Kill Switch")
	p.row("mail-bot").sees("Shadow")
	n.expectStatus(t, id, "open")
}

// foreignPage tries to use the reader's cookie with a form, with a request
// that needs no leave, and with one that does.
const foreignPage = `<!doctype html><title>Kittens</title>
<iframe name="sink"></iframe>
<form method="post" action="%[1]s" target="sink" enctype="text/plain"><input name='{"reason":"' value='"}'></form>
<form method="post" action="%[1]s" target="sink"><input name="reason" value="x"></form>
<script>
for (const form of document.forms) form.submit()
const tries = [{}, {headers: {'X-Haltd-Csrf': '1', 'Content-Type': 'application/json'}}].map((more) =>
	fetch('%[1]s', {method: 'POST', credentials: 'include', mode: more.headers ? 'cors' : 'no-cors', body: '{}', ...more}).catch(() => {}))
Promise.all(tries).then(() => { document.title = 'Done' })
</script>`

func foreignPageCannotPost(t *testing.T, n *node) {
	n.send(t, call{agent: "mail-bot"})
	target := n.Admin + "/v1/agents/mail-bot/deactivate"
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, foreignPage, target)
	}))
	t.Cleanup(foreign.Close)
	// Ports do not tell sites apart, so that the browser sends the cookie.
	p := newTab(t, n)
	p.expect("") // the browser's complaints about the foreign page
	p.known = append(p.known, strings.TrimPrefix(foreign.URL, "http://"))
	p.goTo(foreign.URL)
	p.eventually(func() bool { return evaluate[string](p, "document.title") == "Done" }, func() string { return "the foreign page is not done" })
	p.eventually(func() bool { return strings.Count(strings.Join(p.noted(&p.asked), " "), target) >= 4 }, func() string {
		return fmt.Sprintf("the foreign page asked for %v only", p.noted(&p.asked))
	})
	p.open("/agents")
	p.row("mail-bot").sees("Shadow") // neither inactive nor signed out
}

func headers(t *testing.T, n *node) {
	for _, path := range []string{"/", "/incidents/inc_unknown", "/sign-in"} {
		res, err := http.Get(n.Admin + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		policy := res.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, want+";") && !strings.HasSuffix(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}
