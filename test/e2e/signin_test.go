package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// The link is a password: what a service manager or a log file collects must
// not hold one.
func TestTheSignInLinkIsForTerminalsOnly(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	n.Eventually(t, "naming haltd sign-in in its greeting and in its log", func() bool { return strings.Count(n.Log(), "haltd sign-in") == 2 })
	if found := harness.SignInLink.FindString(n.Log()); found != "" {
		t.Errorf("without a terminal it prints %s", found)
	}
	out, errs, code := n.CLI(t, "sign-in")
	link := harness.SignInLink.FindStringSubmatch(out)
	if code != 0 || link == nil || !strings.HasPrefix(link[0], n.Admin) {
		t.Fatalf("haltd sign-in: exit %d, %s%s", code, out, errs)
	}
	for i, want := range []int{204, 401} {
		if status, b := post(t, n.Admin+"/v1/sign-in", fmt.Sprintf(`{"code":%q}`, link[1])); status != want {
			t.Errorf("use %d of the link: %d %s, want %d", i+1, status, b, want)
		}
	}
}

func TestSignOutHoldsAfterARestart(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	res, err := browser.Post(n.Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"token":"`+harness.Token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) != 1 {
		t.Fatalf("status %d, cookies %v", res.StatusCode, res.Cookies())
	}
	stolen := res.Cookies()[0]
	me := func() int {
		t.Helper()
		r, err := http.NewRequest("GET", n.Admin+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(stolen)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := me(); got != 200 {
		t.Fatalf("signed in: %d", got)
	}
	if res, err = browser.Post(n.Admin+"/v1/sign-out", "", nil); err != nil || res.StatusCode != 204 {
		t.Fatalf("sign-out: %v, %v", res, err)
	}
	n.Kill(t)
	n.Run(t)
	if got := me(); got != 401 {
		t.Errorf("the signed-out cookie after a restart: %d, want 401", got)
	}
}

// What is used up or signed out stays so, however else its bytes are written.
func TestProofsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	var link struct{ URL string }
	n.Must(t, "POST", "/v1/sign-in-links", map[string]any{}, &link)
	_, code, _ := strings.Cut(link.URL, "#code=")
	for i, text := range []string{code, code, code + "\n", code[:9] + "\r\n" + code[9:]} {
		want := 401
		if i == 0 {
			want = 204
		}
		if status, b := post(t, n.Admin+"/v1/sign-in", fmt.Sprintf(`{"code":%q}`, text)); status != want {
			t.Errorf("use %d of a code, as %q: %d %s, want %d", i+1, text, status, b, want)
		}
	}

	var ann struct{ Secret string }
	n.Must(t, "POST", "/v1/tokens", map[string]any{"name": "ann", "role": "operator"}, &ann)
	res, err := http.Post(n.Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"token":"`+ann.Secret+`"}`))
	if err != nil || len(res.Cookies()) != 1 {
		t.Fatalf("%v, %v; want a cookie", res, err)
	}
	res.Body.Close()
	cookie := res.Cookies()[0].Value
	me := func(value string) int {
		status, _, _ := ask(t, "GET", n.Admin+"/v1/me", "Cookie", haltd.AdminCookie+"="+value)
		return status
	}
	if got := me(cookie); got != 200 {
		t.Fatalf("signed in: %d", got)
	}
	if status, _, b := ask(t, "POST", n.Admin+"/v1/sign-out", "Cookie", haltd.AdminCookie+"="+cookie); status != 204 {
		t.Fatalf("sign-out: %d %s", status, b)
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, last := range digits {
		if got := me(cookie[:len(cookie)-1] + string(last)); got != 401 {
			t.Errorf("the signed-out cookie with %c as its last sign: %d, want 401", last, got)
		}
	}
}

// Guesses are not even compared after the first few; who is at the machine
// still gets in with the right token.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	n := start(t, "")
	guess := func(header ...string) (int, string) {
		return post(t, n.Admin+"/v1/sign-in", `{"token":"a-guess-of-the-token"}`, header...)
	}
	refused := 0
	for range 12 { // as if through a proxy on this machine
		status, b := guess("X-Forwarded-For", "203.0.113.9")
		if status == 429 && strings.Contains(b, "too_many_attempts") {
			refused++
		}
	}
	if refused < 2 {
		t.Errorf("%d of 12 wrong tokens of one address were refused unseen, want 2", refused)
	}
	if status, _ := post(t, n.Admin+"/v1/sign-in", `{"token":"`+harness.Token+`"}`, "X-Forwarded-For", "203.0.113.9"); status != 429 {
		t.Errorf("the right token from there: %d, want it refused, or guesses would go on", status)
	}
	for range 11 {
		guess()
	}
	began := time.Now()
	if out, errs, code := n.CLI(t, "agents", "ls"); code != 0 || time.Since(began) > 20*time.Second {
		t.Errorf("a command on this machine after 11 wrong tokens: exit %d after %v, %s%s", code, time.Since(began), out, errs)
	}
}

func TestShortAdminTokensAreRefused(t *testing.T) {
	t.Parallel()
	n := harness.New(t, t.TempDir())
	n.Config.Replace(t, strings.Replace(n.Config.Base(), harness.Token, "fifteen-letters", 1))
	for _, command := range [][]string{{"serve"}, {"config", "check"}} {
		_, errs, code := n.CLI(t, command...)
		if code != 1 || !strings.Contains(errs, "admin.token: 15 characters can be guessed; use 16 or more") || strings.Contains(errs, "fifteen-letters") {
			t.Errorf("haltd %s: exit %d, %s", strings.Join(command, " "), code, errs)
		}
	}
}

// In an emergency the file may be half edited, and the agent may be in the
// call that should end.
func TestEmergencyCommandsNeedNoValidFile(t *testing.T) {
	t.Parallel()
	_, url := harness.Provider(t, harness.Scripted)
	n := start(t, harness.Providers(url))
	done := make(chan string, 1)
	go func() {
		r, err := http.NewRequest("POST", n.Gateway+"/agents/newborn/openai/v1/chat/completions", strings.NewReader(chat))
		if err != nil {
			done <- err.Error()
			return
		}
		r.Header.Set(harness.ScriptHeader, `{"delay":"60s"}`)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			done <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		done <- fmt.Sprint(res.StatusCode, " ", string(b))
	}()
	n.Eventually(t, "calling", func() bool {
		status, _, err := n.Ask(t.Context(), "GET", "/v1/agents/newborn", nil)
		return err == nil && status == 200
	})

	for name, broken := range map[string]string{
		"a key that is none":    n.Config.Base() + "providers: {openai: {bse_url: x}}\n",
		"no YAML at its end":    n.Config.Base() + "agents:\n  bot: {kill_switch: [\n",
		"no YAML in its middle": fmt.Sprintf("data_dir: %q\ngateway: {listen\nadmin:\n  listen: %q\n  token: %q\n  hosts: [a\nlog: {}\n", n.Config.DataDir, n.Config.Admin, harness.Token),
	} {
		n.Config.Replace(t, broken)
		out, errs, code := n.CLI(t, "bypass", "on", "--reason", name)
		if code != 0 || !strings.Contains(out, "Bypass is ON") || !strings.Contains(errs, "using admin.listen "+n.Config.Admin+" and data_dir "+n.Config.DataDir) {
			t.Errorf("bypass on with %s: exit %d, %s%s", name, code, out, errs)
		}
	}
	out, errs, code := n.CLI(t, "agents", "kill", "newborn", "--now")
	if code != 0 || !strings.Contains(out, "newborn is stopped") {
		t.Errorf("agents kill: exit %d, %s%s", code, out, errs)
	}
	if got := <-done; !strings.HasPrefix(got, "400 ") {
		t.Errorf("the first call of the agent ended with %s, want it cut", got)
	}
	if _, errs, code := n.CLI(t, "agents", "kill", "newborm"); code == 0 {
		t.Errorf("an agent that nobody knows is killed: %s", errs)
	}
}
