package admin

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestDeactivateAndActivateWithoutABody(t *testing.T) {
	w := newWorld()
	got := answer[haltd.Agent](t, w, "POST", "/v1/agents/Billing-Bot/deactivate", "", 200)
	if got.ID != "billing-bot" || got.Active || got.DeactivatedBy == nil || *got.DeactivatedBy != haltd.ByManual || w.now {
		t.Errorf("deactivated = %+v, now %v", got, w.now)
	}
	got = answer[haltd.Agent](t, w, "POST", "/v1/agents/billing-bot/activate", "", 200)
	if !got.Active || got.DeactivatedBy != nil || w.grace != 0 || !got.Standing.ActivatedAt.Equal(noon) {
		t.Errorf("activated = %+v, grace %v", got, w.grace)
	}
	// curl -d '' says that nothing is a form.
	if rec := w.do("POST", "/v1/agents/billing-bot/activate", "", "Content-Type", "application/x-www-form-urlencoded"); rec.Code != 200 {
		t.Errorf("an empty form = %d %s", rec.Code, rec.Body)
	}
	if diff := cmp.Diff([]string{"deactivate by admin: ", "activate by admin: ", "activate by admin: "}, w.said); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestActivationsSayWhoAndWhyAndForHowLong(t *testing.T) {
	w := newWorld()
	rec := w.do("POST", "/v1/agents/unseen/activate", `{"grace_minutes":30,"reason":"fixed"}`, "X-Haltd-Actor", "ann@laptop")
	if rec.Code != 200 || w.grace != 30*time.Minute || !strings.Contains(rec.Body.String(), `"grace_until":"2026-03-01T12:30:00Z"`) {
		t.Errorf("activate = %d %s, grace %v", rec.Code, rec.Body, w.grace)
	}
	w.do("POST", "/v1/agents/unseen/deactivate", `{"now":true,"reason":"runs wild"}`, "X-Haltd-Actor", " a\tb "+strings.Repeat("x", 200))
	want := []string{"activate by ann@laptop: fixed", "deactivate by ab " + strings.Repeat("x", 96) + ": runs wild"}
	if diff := cmp.Diff(want, w.said); diff != "" || !w.now {
		t.Errorf("now %v, changes (-want +got):\n%s", w.now, diff)
	}
}

func TestStandingsThatBreakARule(t *testing.T) {
	w := newWorld()
	for target, c := range map[string]struct{ body, names string }{
		"/v1/agents/a/activate":           {`{"grace_minutes":-1}`, "grace_minutes: "},
		"/v1/agents/a/deactivate":         {`{"grace":1}`, "grace is not a field"},
		"/v1/agents/-a/activate":          {``, "id: "},
		"/v1/agents/-a/deactivate":        {``, "id: "},
		"/v1/sessions/s/activate?agent=-": {``, "agent: "},
	} {
		if got := answer[problemBody](t, w, "POST", target, c.body, 400); !strings.Contains(got.Error.Message, c.names) {
			t.Errorf("POST %s %s = %+v, want %q", target, c.body, got.Error, c.names)
		}
	}
	if len(w.said) != 0 {
		t.Errorf("changes = %v, want none", w.said)
	}
}

func TestWhoseSessionIsMeant(t *testing.T) {
	known := []haltd.Session{{ID: "s1", Agent: "a"}, {ID: "s1-more", Agent: "b"}, {ID: "s2", Agent: "a"}, {ID: "s2", Agent: "b"}}
	for _, c := range []struct {
		name, target string
		status       int
		want         string // the agent, or what the error says
	}{
		{"the only one in the record", "/v1/sessions/s1/deactivate", 200, "a"},
		{"one of two in the record", "/v1/sessions/s2/deactivate", 400, "a, b"},
		{"named", "/v1/sessions/s2/deactivate?agent=B", 200, "b"},
		{"the only one that is stopped", "/v1/sessions/s3/activate", 200, "c"},
		{"one of two that are stopped", "/v1/sessions/s4/activate", 400, "c, d"},
		{"nobody's", "/v1/sessions/s9/activate", 404, "There is no session s9"},
		{"not in the record yet", "/v1/sessions/unseen/deactivate?agent=a", 200, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.agents.known = known
			for _, stopped := range []haltd.Target{{Agent: "c", Session: "s3"}, {Agent: "c", Session: "s4"}, {Agent: "d", Session: "s4"}} {
				w.standings[stopped] = haltd.Standing{Agent: stopped.Agent, Session: stopped.Session}
			}
			rec := w.do("POST", c.target, "")
			if rec.Code != c.status {
				t.Fatalf("status = %d %s, want %d", rec.Code, rec.Body, c.status)
			}
			want := `"agent":"` + c.want + `"`
			if c.status != 200 {
				want = c.want
			}
			if !strings.Contains(rec.Body.String(), want) {
				t.Errorf("answer = %s, want %s", rec.Body, want)
			}
		})
	}
}

func TestASessionShowsItsStanding(t *testing.T) {
	w := newWorld()
	killed := haltd.ByKillSwitch
	w.standings[haltd.Target{Agent: "a", Session: "unseen"}] = haltd.Standing{Agent: "a", Session: "unseen", DeactivatedBy: &killed, At: noon.In(east)}
	got := answer[haltd.Session](t, w, "GET", "/v1/agents/a/sessions/unseen", "", 200)
	want := haltd.Standing{Agent: "a", Session: "unseen", DeactivatedBy: &killed, At: noon}
	if diff := cmp.Diff(want, got.Standing); diff != "" {
		t.Errorf("a stopped session (-want +got):\n%s", diff)
	}
	if got := answer[haltd.Session](t, w, "GET", "/v1/agents/a/sessions/other", "", 200); !got.Standing.Active {
		t.Errorf("a session nobody touched = %+v, want active", got.Standing)
	}
	answer[problemBody](t, w, "GET", "/v1/agents/b/sessions/unseen", "", 404)
}

func TestDeletingAnAgent(t *testing.T) {
	w := newWorld()
	if rec := w.do("DELETE", "/v1/agents/Billing-Bot", ""); rec.Code != 204 || rec.Body.Len() != 0 {
		t.Errorf("DELETE = %d %s, want 204", rec.Code, rec.Body)
	}
	answer[problemBody](t, w, "DELETE", "/v1/agents/nobody", "", 404)
	if diff := cmp.Diff([]string{"billing-bot"}, w.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestTheWindowOfAnAgent(t *testing.T) {
	want := `{"size":20,"threshold":10,"entries":[{"time":"2026-03-01T12:00:00Z","prompt_hash":"S","response_hash":"","tools":"billing-bot"}]}`
	if got := strings.TrimSpace(newWorld().do("GET", "/v1/agents/Billing-Bot/window?session=S", "").Body.String()); got != want {
		t.Errorf("window = %s, want %s", got, want)
	}
}

func TestBypass(t *testing.T) {
	w := newWorld()
	rec := w.do("PUT", "/v1/bypass", `{"on":true,"reason":"haltd is the problem"}`, "X-Haltd-Actor", "ann@laptop")
	want := `{"on":true,"by":"ann@laptop","why":"haltd is the problem","at":"2026-03-01T12:00:00Z"}`
	if got := strings.TrimSpace(rec.Body.String()); rec.Code != 200 || got != want {
		t.Errorf("PUT = %d %s, want %s", rec.Code, got, want)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/bypass", "").Body.String()); got != want {
		t.Errorf("GET = %s, want %s", got, want)
	}
	if status := w.do("GET", "/v1/status", "").Body.String(); !strings.Contains(status, `"bypass":`+want) {
		t.Errorf("status = %s, want the bypass", status)
	}
	if got := answer[problemBody](t, w, "PUT", "/v1/bypass", `{}`, 400); !strings.Contains(got.Error.Message, "on") {
		t.Errorf("a body that does not say on or off = %+v", got.Error)
	}
}

// Changes that control does not record are recorded here: who and what.
func TestKeysAreAudited(t *testing.T) {
	w := newWorld()
	if rec := w.do("POST", "/v1/keys", `{"agent":"billing-bot","models":["gpt-5*"],"budget_day_usd":5,"expires_at":"2999-01-31T08:00:00Z"}`,
		"Content-Type", "application/json", "X-Haltd-Actor", "ada@desk"); rec.Code != 201 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if rec := w.do("POST", "/v1/keys", `{"agent":""}`, "Content-Type", "application/json"); rec.Code != 400 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if len(w.events.noted) != 1 {
		t.Fatalf("%d changes noted, want the one that was made", len(w.events.noted))
	}
	e := w.events.noted[0]
	if e.Type != haltd.EventPolicy || e.Agent != "billing-bot" || e.Audit == nil || e.Audit.Change != "key_created" || e.Audit.By != "ada@desk" {
		t.Errorf("noted %s of %q: %+v", e.Type, e.Agent, e.Audit)
	}
	if want := "key_one (gpt-5*, $5.00 a day, until 2999-01-31T08:00:00Z)"; e.Audit.Subject != want {
		t.Errorf("the key is noted as %q, want %q", e.Audit.Subject, want)
	}
}

func TestDeletionsAreNotedByName(t *testing.T) {
	for _, tc := range []struct {
		path, made, id string
		want           haltd.Audit
	}{
		{"/v1/channels/", `{"name":"on-call","kind":"slack","settings":{}}`, "chn_one", haltd.Audit{Change: "channel_deleted", By: "ada@desk", Subject: "on-call"}},
		{"/v1/alert-rules/", `{"name":"Kills at night"}`, "alr_one", haltd.Audit{Change: "alert_rule_deleted", By: "ada@desk", Subject: "Kills at night"}},
	} {
		w, _ := newAlertWorld()
		if rec := w.do("POST", strings.TrimSuffix(tc.path, "/"), tc.made, "Content-Type", "application/json"); rec.Code != 201 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		for _, want := range []int{204, 404} { // the second time it is gone
			if rec := w.do("DELETE", tc.path+tc.id, "", "X-Haltd-Actor", "ada@desk"); rec.Code != want {
				t.Fatalf("DELETE %s: %d %s, want %d", tc.path+tc.id, rec.Code, rec.Body, want)
			}
		}
		if noted := w.events.noted; len(noted) != 2 || noted[1].Audit == nil || *noted[1].Audit != tc.want {
			t.Errorf("noted %+v, want that it was made, and %+v", noted, tc.want)
		}
	}
}

// Calls that wait to be written would bring back what was just forgotten.
func TestDeletingWritesFirstWhatIsQueued(t *testing.T) {
	var done []string
	w := newWorld(func(o *Options) {
		o.Recorder = ordered{o.Recorder, o.Control, &done}
		o.Control = ordered{o.Recorder, o.Control, &done}
	})
	if rec := w.do("DELETE", "/v1/agents/billing-bot", ""); rec.Code != 204 || !slices.Equal(done, []string{"write", "delete"}) {
		t.Errorf("answered %d after %v, want write and delete", rec.Code, done)
	}
}

// ordered notes in which order a deletion and the queue are written.
type ordered struct {
	Recorder
	Control
	done *[]string
}

func (o ordered) Flush(context.Context) error {
	*o.done = append(*o.done, "write")
	return nil
}

func (o ordered) Delete(context.Context, string, string) error {
	*o.done = append(*o.done, "delete")
	return nil
}
