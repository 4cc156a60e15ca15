package fakellm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd/test/fakellm"
)

func TestRulesOverHTTP(t *testing.T) {
	_, base := start(t, nil)
	const rules = `[
		{"model": "echo", "times": 2, "script": {"status": 503, "error": "busy", "header": {"Retry-After-Ms": "1"}}},
		{"header": {"X-Who": "me"}, "script": {"text": "you", "delay": "1ms", "cut": {"bytes": 100000}}},
		{"path": "/v1/models", "script": {"body": "[]"}}
	]`
	if resp, body := mustSend(t, "PUT", base+"/_fakellm/script", rules); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	ask := func(header ...string) (int, string) {
		resp, body := mustSend(t, "POST", base+"/v1/responses", `{"model":"echo","input":"moin"}`, header...)
		if resp.StatusCode != http.StatusOK {
			return resp.StatusCode, ""
		}
		return resp.StatusCode, wholeResponse(t, body).Text
	}
	type reply struct {
		Status int
		Text   string
	}
	var got []reply
	for _, header := range [][]string{nil, {"X-Who", "me"}, {"X-Who", "me"}, nil} {
		status, text := ask(header...)
		got = append(got, reply{status, text})
	}
	want := []reply{{503, ""}, {503, ""}, {200, "you"}, {200, "moin"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replies in order (-want +got):\n%s", diff)
	}
	if _, body := mustSend(t, "GET", base+"/v1/models", ""); string(body) != "[]" {
		t.Errorf("scripted path answers %s", body)
	}
}

func TestBadRulesAreRefused(t *testing.T) {
	_, base := start(t, nil)
	for rules, want := range map[string]string{
		`{}`:                               "array of rules",
		`[{"modell":"x"}]`:                 `unknown field "modell"`,
		`[{"script":{"status":99}}]`:       "status 99",
		`[{"script":{"encoding":"lzw"}}]`:  `encoding "lzw"`,
		`[{"script":{"delay":"soon"}}]`:    `delay "soon"`,
		`[{"script":{"cut":{"how":"x"}}}]`: `cut.how "x"`,
	} {
		resp, body := mustSend(t, "PUT", base+"/_fakellm/script", rules)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%s: status %d, message %q does not say %q", rules, resp.StatusCode, body, want)
		}
	}
}

func TestLogOverHTTP(t *testing.T) {
	_, base := start(t, nil)
	const sent = "{\"model\":\"m\",\n\"messages\":[]}"
	mustSend(t, "POST", base+"/v1/messages", sent)
	_, body := mustSend(t, "GET", base+"/_fakellm/requests?await=1", "")
	got := decode[[]fakellm.Request](t, body)
	if len(got) != 1 || string(got[0].Body) != sent || got[0].Outcome != fakellm.OutcomeComplete {
		t.Errorf("log over HTTP: %+v", got)
	}
	mustSend(t, "DELETE", base+"/_fakellm/requests", "")
	if _, body := mustSend(t, "GET", base+"/_fakellm/requests", ""); strings.TrimSpace(string(body)) != "[]" {
		t.Errorf("log after DELETE: %s", body)
	}
	for path, status := range map[string]int{"/_fakellm/requests?await=x": 400, "/_fakellm/other": 404} {
		if resp, _ := mustSend(t, "GET", base+path, ""); resp.StatusCode != status {
			t.Errorf("GET %s: status %d, want %d", path, resp.StatusCode, status)
		}
	}
}
