package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// on are the messages of a topic; with recovered, those that it is over.
func (r *receiver) on(topic haltd.IncidentKind, recovered bool) (found []arrival) {
	for _, a := range r.got() {
		if a.Data.Topic == topic && a.Data.Recovery == recovered {
			found = append(found, a)
		}
	}
	return found
}

// Alerts that are about no agent's doing, and those that somebody asks for.
func TestAlertsAboutTheService(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	s := newStage(t, "alerts:\n  channels:\n"+inFile("hook", hook))
	comes := func(t *testing.T, topic haltd.IncidentKind, recovered bool) arrival {
		t.Helper()
		s.Eventually(t, "telling of "+string(topic), func() bool { return len(hook.on(topic, recovered)) > 0 })
		a := hook.on(topic, recovered)[0]
		a.verify(t, webhookSecret)
		if !strings.Contains(string(a.body), `"cost_of"`) && topic != haltd.TopicStore {
			t.Errorf("%s does not say what it cost so far", a.body)
		}
		return a
	}

	t.Run("The bypass", func(t *testing.T) {
		s.Must(t, "PUT", "/v1/bypass", map[string]any{"on": true, "reason": "it is in the way"}, nil)
		if a := comes(t, haltd.TopicBypass, false); !strings.Contains(a.Data.Sentence, "except stops by hand. Reason: it is in the way") {
			t.Errorf("%s", a.body)
		}
		s.Must(t, "PUT", "/v1/bypass", map[string]any{"on": false}, nil)
		comes(t, haltd.TopicBypass, true)
	})

	t.Run("An upstream that fails again and again", func(t *testing.T) {
		a := s.agent(t)
		for range 5 {
			a.send(request{messages: []message{user("hi")}, reply: fakellm.Script{Status: 503}})
		}
		if got := comes(t, haltd.TopicUpstream, false); !strings.Contains(got.Data.Sentence, "calls to openai failed: answered 503") || !strings.Contains(got.Data.Next, "haltd doctor") {
			t.Errorf("%s", got.body)
		}
		if a.ask("hi", "hello").status != http.StatusOK {
			t.Fatal("the provider does not answer again")
		}
		comes(t, haltd.TopicUpstream, true)
		if n := len(hook.on(haltd.TopicUpstream, false)); n != 1 {
			t.Errorf("told %d times", n)
		}
	})

	t.Run("A shadow kill, for those who ask", func(t *testing.T) {
		loop := func(a *agent) {
			for range 12 {
				a.ask("What is the state of the order?", "It is on its way.")
			}
			a.incidents(1, "shadow=true")
		}
		loop(s.agent(t, "unheard"))
		s.Must(t, "POST", "/v1/alert-rules", map[string]any{"name": "all"}, nil)
		s.Must(t, "POST", "/v1/alert-rules", map[string]any{"name": "shadow", "topics": []string{"shadow"}}, nil)
		heard := s.agent(t, "heard")
		loop(heard)
		if a := comes(t, haltd.TopicShadow, false); a.Data.Agent != heard.id || a.Data.Incident == "" {
			t.Errorf("%s", a.body)
		}
	})

	t.Run("A record that cannot be written", func(t *testing.T) {
		free := fill(t, s.PID())
		s.agent(t).ask("hi", "hello")
		a := comes(t, haltd.TopicStore, false)
		free()
		if !strings.Contains(a.Data.Sentence, "cannot be written") {
			t.Errorf("%s", a.body)
		}
		comes(t, haltd.TopicStore, true)
	})
}

// Agents report calls to the listener that they call anyway.
func TestIngestOnTheGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	var made struct{ Secret string }
	s.Must(t, "POST", "/v1/keys", map[string]any{"agent": "reporter"}, &made)
	const report = `{"session_id":"run","model":"gpt-4.1-mini","provider":"openai","prompt_tokens":1000,"completion_tokens":20}`
	status, body := post(t, s.Gateway+"/v1/ingest", report, "Authorization", "Bearer "+made.Secret)
	if status != http.StatusOK || !strings.Contains(body, `"active":true`) {
		t.Fatalf("%d %s", status, body)
	}
	if e := s.Events(t, "agent=reporter", 1)[0]; e.Tokens.Input != 1000 || e.Client != "ingest" {
		t.Errorf("event %+v", e)
	}
	for name, tt := range map[string]struct {
		key, body string
		want      int
	}{
		"another's name":  {made.Secret, strings.Replace(report, "{", `{"agent":"other",`, 1), http.StatusForbidden},
		"no key":          {"", report, http.StatusUnauthorized},
		"the admin token": {harness.Token, report, http.StatusUnauthorized},
		"an unknown key":  {haltd.NewKeySecret(), report, http.StatusUnauthorized},
		"no session":      {made.Secret, `{"model":"m","prompt_tokens":1}`, http.StatusBadRequest},
	} {
		if status, body := post(t, s.Gateway+"/v1/ingest", tt.body, "Authorization", "Bearer "+tt.key); status != tt.want || !strings.Contains(body, `"fix"`) {
			t.Errorf("%s: %d %s; want %d", name, status, body, tt.want)
		}
	}
	if n := len(s.llm.Requests()); n != 0 {
		t.Errorf("%d reports reached the provider", n)
	}
}
