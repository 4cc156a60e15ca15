package webhook

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func message() outbound.Message {
	return outbound.Message{
		Notice: haltd.Notice{
			ID: "ntc_x", Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("east", 7200)), Topic: haltd.IncidentGrowth,
			Agent: "billing-bot", Session: "ses_x", Incident: "inc_x", Sentence: "Prompt tokens grow.", Tokens: []int64{100, 150},
		},
		Title: "Runaway Agent Detected", Next: "Nothing is blocked.", URL: "https://haltd.example/incidents/inc_x", SentAt: time.Now(),
	}
}

func TestAReceiverCanVerifyTheMessage(t *testing.T) {
	secret := NewSecret()
	checker, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := checker.Verify(body, r.Header); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	}))
	defer r.Close()
	raw, _ := json.Marshal(Settings{URL: r.URL, Secret: secret})
	s, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	network, err := outbound.NewNetwork([]string{"127.0.0.1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, _, err := s.Sender(network).Send(context.Background(), message()); err != nil {
		t.Errorf("answer = %q, %v", answer, err)
	}
	old := message()
	old.SentAt = old.SentAt.Add(-time.Hour)
	if answer, retry, err := s.Sender(network).Send(context.Background(), old); err == nil || !retry {
		t.Errorf("a message of an hour ago: %q, %v, %v; want it refused by the receiver", answer, retry, err)
	}
}

func TestTheBody(t *testing.T) {
	b, err := json.Marshal(event(message()))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"alert.growth","timestamp":"2026-03-01T10:00:00Z","data":{"id":"ntc_x","time":"2026-03-01T10:00:00Z",` +
		`"topic":"growth","recovery":false,"agent":"billing-bot","session":"ses_x","incident":"inc_x","action":"allow","sentence":"Prompt tokens grow.",` +
		`"tokens":[100,150],"title":"Runaway Agent Detected","next":"Nothing is blocked.","url":"https://haltd.example/incidents/inc_x"}}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	recovery, test := message(), message()
	recovery.Recovery, test.Test = true, true
	for want, m := range map[string]outbound.Message{"alert.growth.recovered": recovery, "alert.test": test} {
		if got := event(m).Type; got != want {
			t.Errorf("type = %s, want %s", got, want)
		}
	}
}
