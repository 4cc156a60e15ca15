package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// A load balancer asks the gateway, too; a service that has the path keeps it.
func TestTheGatewayTellsThatItIsHealthy(t *testing.T) {
	t.Parallel()
	llm, url := provider(t)
	n := start(t, harness.Providers(url))
	get := func(path string, header ...string) (int, string) {
		t.Helper()
		status, _, b := ask(t, "GET", n.Gateway+path, header...)
		return status, b
	}
	if status, b := get("/healthz"); status != 200 || !strings.Contains(b, `"ok"`) || len(llm.Requests()) != 0 {
		t.Errorf("GET /healthz: %d %s, and the provider got %d requests", status, b, len(llm.Requests()))
	}
	get("/openai/healthz")
	get("/healthz", "Anthropic-Version", "2023-06-01")
	if got := len(llm.Requests()); got != 2 {
		t.Errorf("paths of providers: %d of 2 came through", got)
	}
	n.Config.Write(t, harness.Providers(url)+fmt.Sprintf("policies: [{id: all, spec: {selector: {pathPrefix: /healthz}, upstream: %q}}]\n", url))
	n.Reload(t, "configuration reloaded")
	get("/healthz")
	if got := len(llm.Requests()); got != 3 {
		t.Errorf("a service that has the path was asked %d times, want once", got-2)
	}
	if events := n.AllEvents(t, "limit=100"); len(events) != 3 {
		t.Errorf("%d events, want none of the health check", len(events))
	}
}

// Every error of the admin API says what to do now: each route is asked what
// it must refuse.
func TestEveryAdminErrorHasItsFix(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody *struct{} `json:"requestBody"`
			Parameters  []struct {
				Name, In string
			}
		}
	}
	n.Must(t, "GET", "/v1/openapi.json", nil, &doc)
	asked := map[string]int{}
	refuses := func(what, method, path, body string, header ...string) {
		t.Helper()
		r, err := http.NewRequest(method, n.Admin+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+harness.Token)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode < 400 {
			return // a route may have nothing against it
		}
		var problem refused
		if b, err := io.ReadAll(res.Body); err != nil || json.Unmarshal(b, &problem) != nil || problem.Error.Code == "" || problem.Error.Message == "" || problem.Error.Fix == "" {
			t.Errorf("%s: %s %s: %d %s, %v; want code, message and fix", what, method, path, res.StatusCode, b, err)
		}
		asked[what]++
	}
	for path, methods := range doc.Paths {
		named := strings.NewReplacer("{id}", "nothing-of-this-name", "{agent}", "nobody", "{session}", "none").Replace(path)
		for method := range methods {
			method = strings.ToUpper(method)
			if strings.HasSuffix(path, "/stream") || strings.HasSuffix(path, "/sign-out") {
				continue
			}
			refuses("nothing there", method, named, "{}")
			refuses("no token", method, named, "{}", "Authorization", "")
			refuses("an unknown field", method, named, `{"nonsense": 1}`)
			refuses("a list for a body", method, named, `[1]`)
			refuses("broken JSON", method, named, `{"a":`)
			refuses("a form", method, named, "a=b", "Content-Type", "text/plain")
			refuses("an unknown parameter", method, named+"?nonsense=1", "{}")
			refuses("a wrong limit", method, named+"?limit=0", "{}")
			refuses("a wrong cursor", method, named+"?cursor=made-up", "{}")
			refuses("an id that is none", method, strings.ReplaceAll(named, "nothing-of-this-name", "%00%20"), "{}")
			refuses("another method", "OPTIONS", named, "")
		}
	}
	refuses("no such path", "GET", "/v1/nonsense", "")
	refuses("no such file", "GET", "/assets/nonsense.js", "")
	refuses("another host", "GET", "/v1/me", "", "Host", "evil.example")
	refuses("a large body", "POST", "/v1/rules", `{"name":"`+strings.Repeat("x", 2<<20)+`"}`)
	refuses("fields out of bounds", "POST", "/v1/rules", `{"name":"","priority":"x","condition":{"hour_min":99},"action":"nope"}`)
	refuses("a channel without settings", "POST", "/v1/channels", `{"name":"a","kind":"slack","settings":{}}`)
	refuses("a channel of no kind", "POST", "/v1/channels", `{"name":"a","kind":"pigeon","settings":{}}`)
	refuses("a rule for no channel", "POST", "/v1/alert-rules", `{"name":"a","channels":["chn_none"]}`)
	refuses("a setting out of bounds", "PATCH", "/v1/agents/a", `{"kill_switch":{"threshold":-1}}`)
	refuses("a name that is none", "PATCH", "/v1/agents/%20", `{}`)
	for range 12 {
		refuses("a wrong token", "GET", "/v1/me", "", "Authorization", "Bearer guess", "X-Forwarded-For", "203.0.113.1")
	}
	for _, what := range []string{"nothing there", "no token", "an unknown field", "broken JSON", "an unknown parameter", "another method", "no such path", "no such file", "another host", "a large body", "a wrong token"} {
		if asked[what] == 0 {
			t.Errorf("%s: nothing was refused", what)
		}
	}
}

// A configuration is mended in one go.
func TestConfigCheckTellsAllProblems(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "haltd.yaml")
	if err := os.WriteFile(path, []byte("gateway: {listen: nonsense, max_body: 1}\nlog: {level: loud}\n"+
		"defaults: {kill_switch: {threshold: -1}}\nagents: [\npolicies:\n  - id: a\n    spec: {selector: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := harness.CLI(t, []string{"SLACK_WEBHOOK_URL=nowhere", "HALTD_ADMIN_TOKEN=short"}, "config", "check", "--config", path)
	for _, want := range []string{
		"haltd.yaml:1: gateway.listen", "haltd.yaml:1: gateway.max_body", "haltd.yaml:2: log.level", "haltd.yaml:3: defaults.kill_switch.threshold",
		"not valid YAML", "haltd.yaml:7: policies[0].spec.selector", "SLACK_WEBHOOK_URL: not the address", "HALTD_ADMIN_TOKEN: admin.token: 5 characters",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("exit %d, and it does not tell of %s:\n%s", code, want, errs)
		}
	}
}

// What happened before somebody resumed an agent is not held against what it
// does afterwards.
func TestWhatIfAndReplayBeginAnewAfterAResume(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t).with(`"require_corroboration": false`) // else no lower threshold fires before the second signal does
	first := a.getKilled()
	a.activate()
	second := a.getKilled()
	incidents := a.incidents(2)
	if incidents[0].ID != second || incidents[1].ID != first {
		t.Fatalf("incidents %s and %s", incidents[0].ID, incidents[1].ID)
	}
	var resumed haltd.Event
	for _, e := range s.AllEvents(t, "type=policy_change&agent="+a.id) {
		if e.Audit != nil && e.Audit.Change == haltd.ChangeActivated {
			resumed = e
		}
	}
	var at [2]struct {
		FiresHere bool              `json:"fires_here"`
		First     *haltd.ScorePoint `json:"first"`
		Earlier   int               `json:"calls_earlier"`
	}
	for i, id := range []string{first, second} {
		s.Must(t, "GET", "/v1/incidents/"+id+"/what-if?threshold=3", nil, &at[i])
		if !at[i].FiresHere || at[i].First == nil || at[i].Earlier < 1 {
			t.Fatalf("what-if of incident %d: %+v", i+1, at[i])
		}
		if before := at[i].First.Time.Before(resumed.Time); before != (i == 0) {
			t.Errorf("what-if of incident %d fires at %v, and the agent was resumed at %v", i+1, at[i].First.Time, resumed.Time)
		}
	}
	if at[0].Earlier != at[1].Earlier {
		t.Errorf("the same loop twice: %d and %d calls earlier", at[0].Earlier, at[1].Earlier)
	}

	status, export, err := s.Ask(t.Context(), "GET", "/v1/events/export?format=jsonl&agent="+a.id, nil)
	if err != nil || status != 200 {
		t.Fatalf("export: %d, %v", status, err)
	}
	saved := func(lines func(haltd.Event) bool) int64 {
		t.Helper()
		path := filepath.Join(t.TempDir(), "export.jsonl")
		var kept []byte
		for line := range bytes.Lines(export) {
			var e haltd.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if lines(e) {
				kept = append(kept, line...)
			}
		}
		config := filepath.Join(t.TempDir(), "haltd.yaml")
		if err := errors.Join(os.WriteFile(path, kept, 0o600), os.WriteFile(config, []byte("defaults: {kill_switch: {enabled: true, threshold: 3, require_corroboration: false}}\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		out, errs, code := harness.CLI(t, nil, "--json", "--config", config, "replay", path)
		var report struct {
			Saved int64 `json:"tokens_saved"`
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
			t.Fatalf("replay: exit %d, %v, %s%s", code, err, out, errs)
		}
		return report.Saved
	}
	all := func(haltd.Event) bool { return true }
	before := func(e haltd.Event) bool { return e.Time.Before(resumed.Time) }
	if once, twice := saved(before), saved(all); once == 0 || twice != 2*once {
		t.Errorf("the first loop saves %d tokens and both %d, want twice as many: what came between resume and second kill was not saved", once, twice)
	}
}

// A live stream that breaks goes on with the event after the last that came:
// none is missing and none comes twice.
func TestALiveStreamGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t)
	b := s.agent(t, "killed").with(literal + `,"threshold":3`)
	var heard []haltd.Event
	// listen goes on after an event and, once it listens, has something happen;
	// it leaves when it has heard enough.
	listen := func(query, last string, happens func(), enough func() bool) string {
		stream := s.Stream(t, query, last)
		defer stream.Close()
		go happens()
		for !enough() {
			e, err := stream.Next()
			if err != nil {
				t.Fatalf("after %d events: %v", len(heard), err)
			}
			heard = append(heard, e)
		}
		return stream.Last
	}
	calls := func(from, to int) func() {
		return func() {
			for i := from; i < to; i++ {
				a.send(request{model: fmt.Sprint("m", i), messages: []message{user("hi")}})
			}
		}
	}
	of := func(n int) func() bool { return func() bool { return len(heard) >= n } }
	last := listen("type=llm_call&agent="+a.id, "", calls(0, 3), of(2))
	a.has(haltd.EventCall, 3)
	calls(3, 5)()
	listen("type=llm_call&agent="+a.id, last, func() {}, of(5))
	var models []string
	for _, e := range heard {
		models = append(models, e.Model)
	}
	if want := []string{"m0", "m1", "m2", "m3", "m4"}; !slices.Equal(models, want) {
		t.Errorf("heard %v, want %v", models, want)
	}

	// A kill is on disk before the calls that came before it: whoever leaves in
	// between has missed nothing when he comes back.
	heard = nil
	last = listen("agent="+b.id, "", func() { b.loop(15) }, of(1))
	kind := func(k haltd.EventType) func() bool {
		return func() bool { return slices.ContainsFunc(heard, func(e haltd.Event) bool { return e.Type == k }) }
	}
	last = listen("agent="+b.id, last, func() {}, kind(haltd.EventKillSwitch))
	listen("agent="+b.id, last, func() { b.loop(1) }, kind(haltd.EventBlocked))
	b.has(haltd.EventBlocked, 1)
	var got, want []haltd.EventID
	for _, e := range heard {
		got = append(got, e.ID)
	}
	for _, e := range b.AllEvents(t, "agent="+b.id) {
		if e.ID >= got[0] {
			want = append(want, e.ID)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("heard %v, recorded %v; want each once, in order", got, want)
	}
}
