package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

type eventsBody struct {
	Events []haltd.Event
	Next   *string
}

func fill(w *world, n int) {
	var events []haltd.Event
	for i := 1; i <= n; i++ {
		events = append(events, call(i, []string{"billing-bot", "other"}[i%2]))
	}
	w.events.AppendEvents(context.Background(), events)
}

func TestEventsPageByPage(t *testing.T) {
	w := newWorld()
	fill(w, 5)
	var seen []haltd.EventID
	target, pages := "/v1/events?limit=2", 0
	for {
		got := answer[eventsBody](t, w, "GET", target, "", 200)
		pages++
		for _, e := range got.Events {
			seen = append(seen, e.ID)
		}
		if got.Next == nil {
			break
		}
		target = "/v1/events?limit=2&cursor=" + *got.Next
	}
	if diff := cmp.Diff([]haltd.EventID{5, 4, 3, 2, 1}, seen); diff != "" || pages != 3 {
		t.Errorf("%d pages, want 3; ids (-want +got):\n%s", pages, diff)
	}
}

func TestAFullLastPageHasNoNext(t *testing.T) {
	w := newWorld()
	fill(w, 4)
	if body := w.do("GET", "/v1/events?limit=4", "").Body.String(); !strings.Contains(body, `"next":null`) {
		t.Errorf("body = %s, want next null", body)
	}
}

func TestEmptyListsAreNotNull(t *testing.T) {
	w := newWorld()
	for target, want := range map[string]string{
		"/v1/events":               `{"events":[],"next":null}`,
		"/v1/agents?cursor=second": `{"agents":[],"next":null,"counts":{"active":1,"stopped":0,"inactive":0}}`,
		"/v1/sessions":             `{"sessions":[],"next":null}`,
		"/v1/keys":                 `{"keys":[]}`,
		"/v1/rules":                `{"rules":[]}`,
		"/v1/incidents":            `{"incidents":[],"next":null}`,
	} {
		if got := strings.TrimSpace(w.do("GET", target, "").Body.String()); got != want {
			t.Errorf("GET %s = %s, want %s", target, got, want)
		}
	}
}

func TestEventFiltersReachTheStore(t *testing.T) {
	yes, no := true, false
	for query, want := range map[string]haltd.EventQuery{
		"":                                    {Limit: 101},
		"agent=Billing-Bot":                   {Agent: "billing-bot", Limit: 101},
		"session=S1&client=c":                 {Session: "S1", Client: "c", Limit: 101},
		"provider=p&model=m":                  {Provider: "p", Model: "m", Limit: 101},
		"type=llm_call":                       {Types: []haltd.EventType{"llm_call"}, Limit: 101},
		"type=blocked,warning":                {Types: []haltd.EventType{"blocked", "warning"}, Limit: 101},
		"type=error&type=kill_switch,growth":  {Types: []haltd.EventType{"error", "kill_switch", "growth"}, Limit: 101},
		"type=policy_change&agent=":           {Types: []haltd.EventType{"policy_change"}, Limit: 101},
		"blocked=true":                        {Blocked: &yes, Limit: 101},
		"blocked=false":                       {Blocked: &no, Limit: 101},
		"since=1h":                            {Since: noon.Add(-time.Hour), Limit: 101},
		"since=7d&until=30m":                  {Since: noon.AddDate(0, 0, -7), Until: noon.Add(-30 * time.Minute), Limit: 101},
		"until=2026-02-01T00:00:00Z":          {Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Limit: 101},
		"limit=1000":                          {Limit: 1001},
		"cursor=" + haltd.EventID(9).String(): {Before: 9, Limit: 101},
	} {
		w := newWorld()
		answer[eventsBody](t, w, "GET", "/v1/events?"+query, "", 200)
		if diff := cmp.Diff(want, w.events.lastQuery()); diff != "" {
			t.Errorf("GET /v1/events?%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestOneEventByID(t *testing.T) {
	w := newWorld()
	fill(w, 3)
	if got := answer[haltd.Event](t, w, "GET", "/v1/events/"+haltd.EventID(2).String(), "", 200); got.ID != 2 {
		t.Errorf("event = %v, want 2", got.ID)
	}
	for _, id := range []haltd.EventID{0, 99, math.MaxInt64} {
		answer[problemBody](t, w, "GET", "/v1/events/"+id.String(), "", 404)
	}
}

// What was said is shown with the one event that is asked for, and nowhere
// else.
func TestExcerptsAreShownWithTheirEventAlone(t *testing.T) {
	w := newWorld()
	said, quiet := call(2, "billing-bot"), call(1, "billing-bot")
	said.Excerpt = &haltd.Excerpt{Prompt: "Reconcile the invoices.", Reply: "I will.", ToolCalls: `find {"invoice":"<7>"}`}
	w.events.AppendEvents(t.Context(), []haltd.Event{said, quiet})
	type body struct {
		ID      haltd.EventID
		Agent   string
		Excerpt *haltd.Excerpt
	}
	for _, want := range []body{{2, "billing-bot", said.Excerpt}, {1, "billing-bot", nil}} {
		got := answer[body](t, w, "GET", "/v1/events/"+want.ID.String(), "", 200)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event %s (-want +got):\n%s", want.ID, diff)
		}
	}
	for _, target := range []string{"/v1/events", "/v1/events/export", "/v1/events/export?format=csv"} {
		if got := w.do("GET", target, ""); got.Code != 200 || strings.Contains(got.Body.String(), "Reconcile") || !strings.Contains(got.Body.String(), said.ID.String()) {
			t.Errorf("GET %s = %d %s, want the event without what was said", target, got.Code, got.Body)
		}
	}
	w.events.unread = errStore
	if rec := w.do("GET", "/v1/events/"+said.ID.String(), ""); rec.Code != 500 {
		t.Errorf("an excerpt that cannot be read: %d, want 500", rec.Code)
	}
}

func TestExportJSONLinesGoesThroughEveryPage(t *testing.T) {
	w := newWorld()
	fill(w, 2*exportPage+7)
	rec := w.do("GET", "/v1/events/export?agent=other", "")
	if got := rec.Header().Get("Content-Disposition"); got != `attachment; filename="haltd-events-20260301T120000Z.jsonl"` {
		t.Errorf("Content-Disposition = %s", got)
	}
	lines := strings.Split(strings.TrimSpace(rec.Body.String()), "\n")
	if want := exportPage + 4; len(lines) != want {
		t.Fatalf("export has %d lines, want %d", len(lines), want)
	}
	for _, line := range lines {
		var e haltd.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Agent != "other" {
			t.Fatalf("line %s: agent %q, error %v", line, e.Agent, err)
		}
	}
}

func TestExportCSVKeepsFormulasFromRunning(t *testing.T) {
	w := newWorld()
	e := call(1, "billing-bot")
	e.Label, e.Session, e.Model, e.Client, e.Finish = "=cmd|'/c calc'!A1", "+1", "-x", "@y", "\tz"
	e.ToolCalls = []string{"read", "write"}
	e.Latency, e.Cost = haltd.Duration(1500*time.Microsecond), haltd.Dollar/4
	e.Verdict = &haltd.Verdict{Version: 1, Action: haltd.Warn, Sentence: "=b,c"}
	e.Audit = &haltd.Audit{Change: "policy", By: "ann"}
	w.events.AppendEvents(t.Context(), []haltd.Event{e})
	rec := w.do("GET", "/v1/events/export?format=csv", "")
	rows, err := csv.NewReader(rec.Body).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("csv = %v rows, error %v", len(rows), err)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"id": haltd.EventID(1).String(), "time": "2026-03-01T12:00:01Z", "label": "'=cmd|'/c calc'!A1", "session": "'+1", "model": "'-x",
		"client": "'@y", "finish": "'\tz", "tool_calls": "read write", "latency_ms": "1.5", "cost_usd": "0.25", "status": "200",
		"verdict": `{"version":1,"action":"warn","sentence":"=b,c","level":"pass","score":0,"parts":{"similar_prompts":0,"similar_responses":0,"repeated_tool_calls":0},"certainty":0}`,
		"audit":   `{"change":"policy","by":"ann"}`, "agent": "billing-bot",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
}

func TestExportHasAColumnForEveryField(t *testing.T) {
	b, err := json.Marshal(haltd.Event{
		Label: "x", Format: "x", BlockReason: "x", Incident: "x", Rule: "x", Tags: []string{"x"}, Finish: "x", ToolCalls: []string{"x"}, PromptHash: "x", ReplyHash: "x",
		Unread: "x", Error: "x", Verdict: &haltd.Verdict{}, Audit: &haltd.Audit{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	columns := map[string]bool{"tokens": true} // its parts have columns of their own
	for _, name := range csvHeader {
		columns[name] = true
	}
	for field := range fields {
		if !columns[field] {
			t.Errorf("the CSV export has no column for %s", field)
		}
	}
}

func TestAnExportThatFailsMidwayBreaksTheConnection(t *testing.T) {
	w := newWorld()
	fill(w, exportPage+1)
	pages := 0
	failing := &pagedEvents{fakeEvents: w.events, before: func() error {
		if pages++; pages > 1 {
			return errStore
		}
		return nil
	}}
	srv := httptest.NewServer(newWorld(func(o *Options) { o.Events = failing }))
	defer srv.Close()
	req, _ := http.NewRequest("GET", srv.URL+"/v1/events/export", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := readAll(resp); err == nil {
		t.Error("a half export ended as if it were whole")
	}
}

// deadlines notes the last write deadline of a connection.
type deadlines struct {
	*httptest.ResponseRecorder
	set  int
	last time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set, d.last = d.set+1, t
	return nil
}

func TestAnExportLeavesNoDeadlineOnTheConnection(t *testing.T) {
	w := newWorld()
	fill(w, 1)
	r := httptest.NewRequest("GET", "http://localhost/v1/events/export", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w.ServeHTTP(d, r)
	if d.set < 2 || !d.last.IsZero() {
		t.Errorf("%d deadlines were set, the last %v; want one per page and none at the end", d.set, d.last)
	}
}

func TestAnExportThatCannotBeginIsAnError(t *testing.T) {
	w := newWorld()
	w.events.fail(errStore)
	answer[problemBody](t, w, "GET", "/v1/events/export", "", 500)
}

func TestAgents(t *testing.T) {
	w := newWorld()
	got := answer[struct {
		Agents []map[string]any
		Next   *string
	}](t, w, "GET", "/v1/agents?search=Bill&limit=7&active=false", "", 200)
	no := false
	if diff := cmp.Diff(haltd.AgentQuery{Search: "bill", Active: &no, Page: haltd.Page{Limit: 7}}, w.agents.agents); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if got.Next == nil || *got.Next != "second" {
		t.Errorf("next = %v, want second", got.Next)
	}
	for _, a := range got.Agents {
		policy, _ := a["policy"].(map[string]any)
		if kill, _ := policy["kill_switch"].(map[string]any); kill["window_size"] != 20.0 {
			t.Errorf("policy = %v, want the one in force", a["policy"])
		}
		spending, _ := a["spending"].([]any)
		if len(spending) != 1 || spending[0].(map[string]any)["resets"] != "2026-03-01T12:00:00Z" {
			t.Errorf("spending = %v, want that of the month", a["spending"])
		}
		delete(a, "policy")
		delete(a, "spending")
	}
	want := map[string]any{
		"id": "billing-bot", "active": true, "deactivated_by": nil, "shared": false,
		"standing":   map[string]any{"agent": "", "active": false, "deactivated_by": nil},
		"first_seen": "2026-03-01T12:00:00Z", "last_seen": "2026-03-01T12:00:00Z",
		"totals": map[string]any{
			"calls": 0.0, "blocked": 0.0, "errors": 0.0, "cost_usd": 0.0,
			"tokens": map[string]any{"input": 0.0, "output": 0.0, "cache_read": 0.0, "cache_write": 0.0},
		},
	}
	if diff := cmp.Diff([]map[string]any{want}, got.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}

func TestOneAgentWhateverTheCase(t *testing.T) {
	w := newWorld()
	if got := answer[haltd.Agent](t, w, "GET", "/v1/agents/Billing-Bot", "", 200); got.ID != "billing-bot" {
		t.Errorf("agent = %q", got.ID)
	}
	got := answer[problemBody](t, w, "GET", "/v1/agents/nobody", "", 404)
	if got.Error.Code != haltd.CodeNotFound || got.Error.Fix != "Agents appear with their first call." {
		t.Errorf("error = %+v", got.Error)
	}
}

func TestSessions(t *testing.T) {
	w := newWorld()
	w.do("GET", "/v1/sessions?agent=A&search=S&limit=3&cursor=c", "")
	want := haltd.SessionQuery{Agent: "a", Search: "S", Page: haltd.Page{Limit: 3, Cursor: "c"}}
	if diff := cmp.Diff(want, w.agents.sessions); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	got := answer[haltd.Session](t, w, "GET", "/v1/agents/a/sessions/one%2Ftwo%20three", "", 200)
	if got.ID != "one/two three" {
		t.Errorf("session id = %q, want it decoded", got.ID)
	}
}

func TestStatsCoverTheRunningHour(t *testing.T) {
	now := noon.Add(20 * time.Minute)
	for query, want := range map[string]haltd.StatsQuery{
		"":                          {Since: noon.AddDate(0, 0, -1), Until: noon.Add(time.Hour), Step: time.Hour},
		"since=7d&step=1d&by=model": {Since: noon.AddDate(0, 0, -7), Until: noon.Add(time.Hour), Step: 24 * time.Hour, By: "model"},
		"agent=A&until=2026-02-01T00:00:00Z": {
			Agent: "a", Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Step: time.Hour,
		},
	} {
		w := newWorld(func(o *Options) { o.Clock = func() time.Time { return now } })
		body := w.do("GET", "/v1/stats?"+query, "").Body.String()
		if diff := cmp.Diff(want, w.events.stats); diff != "" {
			t.Errorf("GET /v1/stats?%s (-want +got):\n%s", query, diff)
		}
		if !strings.Contains(body, `"buckets":[]`) || !strings.Contains(body, `"cost_usd":1.00`) {
			t.Errorf("GET /v1/stats?%s = %s", query, body)
		}
	}
}

func TestKeysAreShownOnceAndRevoked(t *testing.T) {
	w := newWorld()
	made := w.do("POST", "/v1/keys", `{"agent":"billing-bot","name":"ci"}`, "Content-Type", "application/json")
	if made.Code != 201 || made.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("create = %d, Cache-Control %q", made.Code, made.Header().Get("Cache-Control"))
	}
	want := `{"id":"key_one","agent":"billing-bot","name":"ci","created_at":"2026-03-01T12:00:00Z","revoked_at":null,"last_used_at":null,"secret":"haltd_secret"}`
	if got := strings.TrimSpace(made.Body.String()); got != want {
		t.Errorf("create = %s, want %s", got, want)
	}
	if list := w.do("GET", "/v1/keys", "").Body.String(); strings.Contains(list, "secret") || !strings.Contains(list, "key_one") {
		t.Errorf("list = %s", list)
	}
	answer[haltd.Key](t, w, "PATCH", "/v1/keys/key_one", `{"expires_at":"2027-01-01T00:00:00Z","models":["gpt-*"],"budget_day_usd":5}`, 200)
	if got := answer[haltd.Key](t, w, "PATCH", "/v1/keys/key_one", `{"name":"desk"}`, 200); got.Name != "desk" || got.ExpiresAt == nil || len(got.Models) != 1 || got.BudgetDay != 5*haltd.Dollar {
		t.Errorf("what was left out has changed: %+v", got)
	}
	if got := answer[haltd.Key](t, w, "PATCH", "/v1/keys/key_one", `{"expires_at":null,"models":[],"budget_day_usd":0}`, 200); got.Name != "desk" || got.ExpiresAt != nil || len(got.Models) != 0 || got.BudgetDay != 0 {
		t.Errorf("what was taken back is there: %+v", got)
	}
	answer[problemBody](t, w, "PATCH", "/v1/keys/key_two", `{"name":"x"}`, 404)
	if got := answer[haltd.Key](t, w, "DELETE", "/v1/keys/key_one", "", 200); got.RevokedAt == nil {
		t.Error("the revoked key does not say when")
	}
	if got := answer[problemBody](t, w, "DELETE", "/v1/keys/key_two", "", 404).Error; got.Fix != "GET /v1/keys lists what there is." || got.See != "/v1/keys" {
		t.Errorf("no such key: %+v", got)
	}
}

func TestBodiesThatBreakARuleAreNamed(t *testing.T) {
	w := newWorld()
	for body, c := range map[string]struct {
		status int
		names  string
	}{
		`{"agent":"a","nmae":"x"}`: {400, "nmae is not a field of this body"},
		`{"name":"x"}`:             {400, "agent"},
		`{"agent":""}`:             {400, "agent: "},
		`{"agent":7}`:              {400, "agent: "},
		`{"agent":"not valid"}`:    {400, "agent: "},
		`{`:                        {400, "body: "},
		``:                         {400, "body"},
		`{"agent":"a","name":"` + strings.Repeat("x", 1<<20) + `"}`: {413, "larger than 1 MiB"},
	} {
		rec := w.do("POST", "/v1/keys", body)
		var got problemBody
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			t.Errorf("body %.40s: answer %.200s: %v", body, rec.Body, err)
		}
		if rec.Code != c.status || !strings.Contains(got.Error.Message, c.names) || got.Error.Fix == "" && c.status != 400 {
			t.Errorf("body %.40s = %d %+v, want %d with %q", body, rec.Code, got.Error, c.status, c.names)
		}
		if len(rec.Body.Bytes()) > 500 {
			t.Errorf("body %.40s: the error repeats the body", body)
		}
	}
	if rec := w.do("POST", "/v1/keys", `agent=a`, "Content-Type", "application/x-www-form-urlencoded"); rec.Code != 415 {
		t.Errorf("a form = %d, want 415", rec.Code)
	}
	if rec := w.do("POST", "/v1/keys", ` {"agent":"a"}`, "Content-Type", "application/x-www-form-urlencoded", "Accept", "*/*"); rec.Code != 201 ||
		!strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") {
		t.Errorf("JSON that curl calls a form = %d %s of type %s, want 201", rec.Code, rec.Body, rec.Header().Get("Content-Type"))
	}
}

func TestService(t *testing.T) {
	w := newWorld()
	for target, want := range map[string]string{
		"/healthz":   `{"status":"ok"}`,
		"/readyz":    `{"status":"ready"}`,
		"/v1/config": "data_dir: ./data",
		"/metrics":   "haltd_in_flight 0",
		"/v1/status": `{"version":"1.2.3","uptime_seconds":3600,"gateway":"http://127.0.0.1:7070","admin":"http://127.0.0.1:7071",` +
			`"started":"2026-03-01T11:00:00Z","store_bytes":4096,"degraded":[],"pricing":"table of 2026-02-01","excerpts":"on","excerpts_kept_seconds":7200,"block_status":400,"upstreams":[` +
			`{"name":"ollama","kind":"provider","base_url":"http://127.0.0.1:11434","state":"unused"},` +
			`{"name":"openai","kind":"provider","base_url":"https://api.openai.com","state":"failing",` +
			`"last_success":"2026-03-01T11:59:00Z","status":200,"first_byte_ms":420,"last_failure":"2026-03-01T12:00:00Z","error":"connection refused"}],` +
			`"node":"","nodes":[],"bypass":{"on":false},"actor":"admin","role":"admin"}`,
	} {
		rec := w.do("GET", target, "")
		if got := strings.TrimSpace(rec.Body.String()); rec.Code != 200 || got != want {
			t.Errorf("GET %s = %d %s, want %s", target, rec.Code, got, want)
		}
	}
	if got := w.do("GET", "/v1/config", "").Header().Get("Content-Type"); got != "application/yaml" {
		t.Errorf("config has type %q", got)
	}
}

func TestReadyzSaysWhyNotWithoutDetailsForStrangers(t *testing.T) {
	w := newWorld()
	w.notYet = haltd.Errorf(haltd.CodeUnavailable, "haltd is shutting down")
	if got := answer[problemBody](t, w, "GET", "/readyz", "", 503); got.Error.Message != "haltd is shutting down" {
		t.Errorf("error = %+v", got.Error)
	}
	w.notYet = fmt.Errorf("open /var/lib/haltd.db: %w", errors.New("permission denied"))
	if got := answer[problemBody](t, w, "GET", "/readyz", "", 503); strings.Contains(got.Error.Message, "haltd.db") {
		t.Errorf("error = %+v, want no path", got.Error)
	}
}
