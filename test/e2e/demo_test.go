package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

// shown is what `haltd demo --json` prints.
type shown struct {
	Gateway     string  `json:"gateway"`
	Admin       string  `json:"admin"`
	Link        string  `json:"link"`
	Incident    string  `json:"incident"`
	Agent       string  `json:"agent"`
	Sentence    string  `json:"sentence"`
	KilledAfter float64 `json:"killed_after_ms"`
	Steered     []struct {
		Agent, Incident string
		Recovered       bool
	} `json:"steered"`
}

// temporary is a folder for what a demo writes, and the variable that tells
// it. The folder must be empty when the test ends.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("the demo left on disk: %v, %v", left, err)
		}
	})
	return "TMPDIR=" + dir
}

func TestDemoEndsAfterTheKill(t *testing.T) {
	began := time.Now()
	// None of these may have a say in a demo.
	env := []string{temporary(t), "SLACK_WEBHOOK_URL=not even an address", "OPENAI_API_KEY=no key for a demo", "HALTD_DATA_DIR=/nowhere", "HALTD_LOG_LEVEL=debug"}
	out, errs, code := harness.CLI(t, env, "demo", "--exit", "--json")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v, want 10s at most", took)
	}
	var s shown
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 || errs != "" {
		t.Fatalf("exit %d, %v:\n%s%s", code, err, out, errs)
	}
	if s.Agent != "billing-bot" || !strings.HasPrefix(s.Incident, "inc_") || !strings.Contains(s.Sentence, "read_file") ||
		s.KilledAfter <= 0 || s.KilledAfter > 10_000 {
		t.Errorf("it shows %+v", s)
	}
	if len(s.Steered) != 2 || !s.Steered[0].Recovered || s.Steered[1].Recovered {
		t.Errorf("it shows as steered %+v, want one that recovered and one that did not", s.Steered)
	}
}

func TestDemoTellsAPersonAndListensWhereTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	gateway, admin := harness.Address(t), harness.Address(t)
	env := []string{temporary(t), "HALTD_GATEWAY_LISTEN=" + gateway, "HALTD_ADMIN_LISTEN=" + admin, "HALTD_ADMIN_TOKEN=" + harness.Token}
	out, errs, code := harness.CLI(t, env, "demo", "--exit")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d:\n%s%s", code, out, errs)
	}
	rest := out
	for _, words := range []string{
		"haltd is running: gateway http://" + gateway + ", dashboard http://" + admin, "research-agent  read_file", "haltd notices the loop: billing-bot called read_file",
		"haltd kills billing-bot", "is answered HTTP 400: haltd stopped this call.", "incident inc_",
	} {
		_, after, ok := strings.Cut(rest, words)
		if !ok {
			t.Fatalf("no %q, or too early:\n%s", words, out)
		}
		rest = after
	}
}

// Two viewers on one machine do not disturb each other, and each link opens
// its own incident while the healthy agent goes on.
func TestTwoDemosAtOnce(t *testing.T) {
	t.Parallel()
	first, second := startDemo(t), startDemo(t)
	one, two := first.shown(t), second.shown(t)
	if one.Gateway == two.Gateway || one.Admin == two.Admin || one.Incident == two.Incident {
		t.Errorf("the demos share something:\n%+v\n%+v", one, two)
	}
	for _, s := range []shown{one, two} {
		checkDemo(t, s)
	}
	first.end(t)
	second.end(t)
}

// checkDemo follows the link as the dashboard does.
func checkDemo(t *testing.T, s shown) {
	t.Helper()
	code, ok := strings.CutPrefix(s.Link, s.Admin+"/sign-in?next=/incidents/"+s.Incident+"#code=")
	if !ok || code == "" {
		t.Fatalf("the link is %s", s.Link)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	res, err := browser.Post(s.Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	read := func(path string, into any) {
		t.Helper()
		res, err := browser.Get(s.Admin + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != 200 {
			t.Fatalf("GET %s: %d, %v", path, res.StatusCode, err)
		}
	}
	var incident struct {
		Sentence string `json:"sentence"`
		Money    struct {
			Burned float64 `json:"burned_usd"`
		} `json:"money"`
	}
	if read("/v1/incidents/"+s.Incident, &incident); incident.Sentence != s.Sentence || incident.Money.Burned <= 0 {
		t.Errorf("the incident is %+v, want %q and what it cost", incident, s.Sentence)
	}
	for agent, active := range map[string]bool{"billing-bot": false, "research-agent": true} {
		var standing struct {
			Active bool `json:"active"`
		}
		if read("/v1/agents/"+agent, &standing); standing.Active != active {
			t.Errorf("%s: active is %v", agent, standing.Active)
		}
	}
}

// demo is a running `haltd demo --json`.
type demo struct {
	*harness.Process
	out io.ReadCloser
}

func startDemo(t *testing.T) *demo {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := harness.Command(t, []string{temporary(t)}, "demo", "--json")
	cmd.Stdout = write
	p, err := harness.Launch(cmd)
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		read.Close()
	})
	return &demo{p, read}
}

func (d *demo) shown(t *testing.T) (s shown) {
	t.Helper()
	if err := json.NewDecoder(d.out).Decode(&s); err != nil {
		t.Fatalf("read what the demo shows: %v\n%s", err, d.Log())
	}
	return s
}

// end presses Ctrl-C.
func (d *demo) end(t *testing.T) {
	t.Helper()
	if err := d.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil || d.Log() != "" {
		t.Errorf("the demo ended with %v:\n%s", err, d.Log())
	}
}

// A reader that leaves must not keep the demo from clearing up.
func TestDemoClearsUpWhenItsReaderLeaves(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	d.out.Close()
	var exit *exec.ExitError
	if err := d.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the demo ended with %v, want exit code 1:\n%s", err, d.Log())
	}
}
