package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Security    *[]map[string][]string
	}
	Components struct {
		Schemas map[string]struct {
			Type       any
			Properties map[string]struct {
				Type any
				Ref  string `json:"$ref"`
			}
		}
	}
}

func openAPI(t *testing.T, w *world) document {
	t.Helper()
	return answer[document](t, w, "GET", "/v1/openapi.json", "", 200)
}

func TestEveryRouteOfTheDocumentNeedsTheToken(t *testing.T) {
	now := noon
	w := newWorld(func(o *Options) {
		o.Clock = func() time.Time { now = now.Add(time.Minute); return now } // nobody is slowed down
	})
	open := map[string]int{"/healthz": 200, "/readyz": 200, "/v1/sign-in": 401, "/v1/sign-out": 204}
	replacer := strings.NewReplacer("{id}", "x", "{agent}", "x", "{session}", "x")
	routes := 0
	for path, methods := range openAPI(t, w).Paths {
		for method := range methods {
			routes++
			for name, authorization := range map[string]string{
				"no token": "", "a wrong token": "Bearer wrong", "an empty token": "Bearer ", "a password": "Basic " + token, "a longer token": "Bearer " + token + "x",
			} {
				body := ""
				if path == "/v1/sign-in" {
					body = `{}`
				}
				rec := w.do(strings.ToUpper(method), replacer.Replace(path), body, "Authorization", authorization)
				if want := open[path]; want != 0 {
					if rec.Code != want {
						t.Errorf("%s %s with %s = %d, want %d", method, path, name, rec.Code, want)
					}
					continue
				}
				if rec.Code != 401 || rec.Header().Get("WWW-Authenticate") == "" || !strings.Contains(rec.Body.String(), "admin.token") {
					t.Errorf("%s %s with %s = %d %s, want 401 that says where the token is", method, path, name, rec.Code, rec.Body)
				}
			}
		}
	}
	if routes < 39 {
		t.Errorf("the document has %d routes only", routes)
	}
}

func TestTheDocsNameEveryRoute(t *testing.T) {
	docs, err := os.ReadFile("../../docs/api-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := openAPI(t, newWorld()).Paths
	if len(paths) < 10 {
		t.Fatalf("the API has %d paths, which says nothing", len(paths))
	}
	for path, methods := range paths {
		for method := range methods {
			if route := strings.ToUpper(method) + " " + path; !strings.Contains(string(docs), "\n### "+route+"\n") {
				t.Errorf("docs/api-reference.md does not name %s", route)
			}
		}
	}
}

func TestWithoutAConfiguredTokenNobodyIsLetIn(t *testing.T) {
	w := newWorld(func(o *Options) { o.Access.Token = "" })
	for _, authorization := range []string{"", "Bearer", "Bearer "} {
		if rec := w.do("GET", "/v1/agents", "", "Authorization", authorization); rec.Code != 401 {
			t.Errorf("Authorization %q = %d, want 401", authorization, rec.Code)
		}
	}
}

func TestTheSchemeOfTheTokenIsCaseInsensitive(t *testing.T) {
	if rec := newWorld().do("GET", "/v1/agents", "", "Authorization", "bearer "+token); rec.Code != 200 {
		t.Errorf("status = %d, want 200", rec.Code)
	}
}

func TestTheDocumentDescribesWhatIsSent(t *testing.T) {
	doc := openAPI(t, newWorld())
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("openapi = %q, want 3.1", doc.OpenAPI)
	}
	event := doc.Components.Schemas["Event"].Properties
	for field, want := range map[string]string{"cost_usd": "number", "latency_ms": "number", "id": "string", "time": "string"} {
		if got := event[field].Type; got != want {
			t.Errorf("Event.%s has type %v, want %s", field, got, want)
		}
	}
	for part, want := range map[string]string{"Event.verdict": "Verdict", "ListedIncident.verdict": "Verdict", "IncidentView.verdict": "Verdict", "Event.audit": "Audit", "Verdict.basis": "Basis", "Verdict.parts": "ScoreParts"} {
		of, field, _ := strings.Cut(part, ".")
		if got := path.Base(doc.Components.Schemas[of].Properties[field].Ref); got != want {
			t.Errorf("%s has the schema %s, want %s", part, got, want)
		}
	}
	for of, field := range map[string]string{"IncidentMoney": "saved_usd", "WhatIf": "first", "EventsOutputBody": "next", "AgentView": "deactivated_by", "Key": "revoked_at"} {
		p := doc.Components.Schemas[of].Properties[field]
		kinds, _ := p.Type.([]any)
		if p.Ref != "" {
			kinds, _ = doc.Components.Schemas[path.Base(p.Ref)].Type.([]any)
		}
		if !slices.Contains(kinds, any("null")) {
			t.Errorf("%s.%s, which can be null, has the types %v", of, field, kinds)
		}
	}
	if security := doc.Paths["/healthz"]["get"].Security; security == nil || len(*security) != 0 {
		t.Errorf("/healthz security = %v, want none", security)
	}
}

// readLimits notes the read deadlines that are set on a connection.
type readLimits struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *readLimits) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// A refused caller's body is read to its end before the answer leaves.
func TestNobodyMaySendABodyForEver(t *testing.T) {
	w := newWorld()
	for _, c := range []struct {
		method, target string
		length         int64
		limited        bool
	}{
		{"POST", "/v1/rules", 10_000, true},
		{"POST", "/v1/rules", -1, true},
		{"GET", "/healthz", 5, true},
		{"GET", "/no/such/page", 5, true},
		{"GET", "/v1/events/stream", 0, false},
	} {
		r := httptest.NewRequest(c.method, c.target, http.NoBody)
		r.Host, r.ContentLength = "localhost", c.length
		d := &readLimits{ResponseRecorder: httptest.NewRecorder()}
		w.ServeHTTP(d, r)
		if limited := len(d.set) > 0; limited != c.limited {
			t.Errorf("%s %s with a body of %d bytes: a deadline is set: %v, want %v", c.method, c.target, c.length, limited, c.limited)
		}
	}
}

func TestUnknownPathsAndMethodsAnswerInTheSameShape(t *testing.T) {
	w := newWorld()
	for _, c := range []struct {
		method, target string
		status         int
		code, allow    string
		see            string
	}{
		{"GET", "/v1/nothing", 404, "not_found", "", "/v1/openapi.json"},
		{"GET", "/docs", 404, "not_found", "", "/v1/openapi.json"},
		{"GET", "/v1/events/", 404, "not_found", "", "/v1/openapi.json"},
		{"POST", "/v1/events", 405, "method_not_allowed", "GET, HEAD", ""},
		{"PUT", "/v1/keys", 405, "method_not_allowed", "GET, HEAD, POST", ""},
		{"OPTIONS", "/v1/keys", 405, "method_not_allowed", "GET, HEAD, POST", ""},
	} {
		rec := w.do(c.method, c.target, "")
		var got problemBody
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			t.Errorf("%s %s answered %q: %v", c.method, c.target, rec.Body, err)
		}
		if rec.Code != c.status || got.Error.Code != c.code || got.Error.Message == "" || !strings.Contains(got.Error.Fix, c.see) || got.Error.Fix == "" || got.Error.See != c.see {
			t.Errorf("%s %s = %d %+v, want %d %s with message and fix, and to see %q", c.method, c.target, rec.Code, got.Error, c.status, c.code, c.see)
		}
		if rec.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s Allow = %q, want %q", c.method, c.target, rec.Header().Get("Allow"), c.allow)
		}
	}
}

func TestEveryAnswerCarriesSecurityHeaders(t *testing.T) {
	w := newWorld()
	for _, target := range []string{"/", "/healthz", "/v1/agents", "/v1/keys", "/nowhere", "/v1/events?bad=1"} {
		rec := w.do("GET", target, "", "Origin", "http://evil.example")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Access-Control-Allow-Origin": "",
		} {
			if got := rec.Header().Get(name); got != want {
				t.Errorf("%s %s = %q, want %q", target, name, got, want)
			}
		}
	}
}

func TestHostsAgainstRebinding(t *testing.T) {
	for _, c := range []struct {
		host     string
		loopback bool
		hosts    []string
		status   int
	}{
		{"localhost:7071", true, nil, 200},
		{"LOCALHOST", true, nil, 200},
		{"127.0.0.1", true, nil, 200},
		{"127.8.9.1:80", true, nil, 200},
		{"[::1]:7071", true, nil, 200},
		{"[::1]", true, nil, 200},
		{"evil.example:7071", true, nil, 421},
		{"localhost.evil.example", true, nil, 421},
		{"127.0.0.1.nip.io", true, nil, 421},
		{"", true, nil, 421},
		{"haltd.internal:7071", true, []string{"haltd.internal"}, 200},
		{"Haltd.Internal.", true, []string{"haltd.internal"}, 200},
		{"10.0.0.5:7071", false, nil, 200},
		{"anything.example", false, nil, 200},
		{"haltd.internal", false, []string{"haltd.internal"}, 200},
		{"localhost", false, []string{"haltd.internal"}, 200},
		{"127.0.0.1:7071", false, []string{"haltd.internal"}, 200},
		{"10.0.0.5:7071", false, []string{"haltd.internal"}, 200},
		{"[fd00::5]:7071", false, []string{"haltd.internal"}, 200},
		{"10.0.0.5:7071", true, []string{"haltd.internal"}, 421},
		{"evil.example", false, []string{"haltd.internal"}, 421},
		{"10.0.0.5.nip.io", false, []string{"haltd.internal"}, 421},
	} {
		w := newWorld(func(o *Options) { o.Access.Loopback, o.Access.Hosts = c.loopback, c.hosts })
		rec := w.do("GET", "/v1/agents", "", "Host", c.host)
		if rec.Code != c.status {
			t.Errorf("host %q (loopback %v, hosts %v) = %d, want %d", c.host, c.loopback, c.hosts, rec.Code, c.status)
		}
		if probe := w.do("GET", "/readyz", "", "Host", c.host); probe.Code != 200 {
			t.Errorf("probe as host %q = %d, want 200", c.host, probe.Code)
		}
	}
}

func TestQueryParametersThatAreNotKnownAreRefusedByName(t *testing.T) {
	w := newWorld()
	for target, want := range map[string]string{
		"/v1/events?agnet=x":           "Did you mean agent?",
		"/v1/events?event_type=x":      "Did you mean type?",
		"/v1/agents?zzz=1":             "Known are limit, cursor, search, active, state, id, sort.",
		"/v1/keys?limit=1":             "This path takes no parameters.",
		"/v1/events?agent=a&agent=b":   "Give it once.",
		"/v1/events?agent=%zz":         "Percent-encode it.",
		"/v1/events/evt_x?pretty=true": "This path takes no parameters.",
	} {
		got := answer[problemBody](t, w, "GET", target, "", 400)
		if got.Error.Code != haltd.CodeInvalid || got.Error.Fix != want {
			t.Errorf("GET %s = %+v, want the fix %q", target, got.Error, want)
		}
	}
}

func TestValuesThatBreakARuleAreNamed(t *testing.T) {
	w := newWorld()
	for target, names := range map[string]string{
		"/v1/events?limit=0":                     "limit: ",
		"/v1/events?limit=1001":                  "limit: ",
		"/v1/events?limit=ten":                   "limit: ",
		"/v1/events?cursor=evt_1":                "cursor: ",
		"/v1/events?since=yesterday":             "since: ",
		"/v1/events?until=5y":                    "until: ",
		"/v1/events?blocked=maybe":               "blocked: ",
		"/v1/events?type=llm_cal":                `type: "llm_cal"`,
		"/v1/events/export?format=xls":           "format: ",
		"/v1/events/evt_1":                       "is not an event id",
		"/v1/stats?step=90m":                     "step: ",
		"/v1/stats?step=0h":                      "step: ",
		"/v1/stats?by=session":                   "by: ",
		"/v1/stats?since=1h&until=2h":            "since: ",
		"/v1/stats?since=1990-01-01T00:00:00Z":   "step: ",
		"/v1/agents?cursor=broken":               "cursor: ",
		"/v1/events?since=99999999999999999999h": "since: ",
	} {
		got := answer[problemBody](t, w, "GET", target, "", 400)
		if got.Error.Code != haltd.CodeInvalid || !strings.Contains(got.Error.Message, names) {
			t.Errorf("GET %s = %+v, want a message with %q", target, got.Error, names)
		}
	}
}

func TestAnErrorOfTheStoreIsLoggedAndNotShown(t *testing.T) {
	w := newWorld()
	w.events.fail(errStore)
	got := answer[problemBody](t, w, "GET", "/v1/events", "", 500)
	want := problemBody{}
	want.Error.Code, want.Error.Message, want.Error.Fix = "internal", "haltd could not answer this request", "haltd's log says why."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestHeadAnswersWithoutABody(t *testing.T) {
	srv := httptest.NewServer(newWorld())
	defer srv.Close()
	for _, path := range []string{"/v1/agents", "/v1/events/export", "/v1/events/stream", "/metrics"} {
		req, _ := http.NewRequest(http.MethodHead, srv.URL+path, nil)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatalf("HEAD %s: %v", path, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("HEAD %s = %d, want 200", path, resp.StatusCode)
		}
	}
}
