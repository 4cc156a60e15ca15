package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// stand is a fake provider with haltd before it.
type stand struct {
	fake, gateway, admin string
	seen                 haltd.EventID // the newest event that a test has looked at
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{fake: startFakeLLM(t)}
	s.gateway, s.admin = startHaltd(t, s.fake)
	return s
}

// script clears the provider's log and sets its rules.
func (s *stand) script(t *testing.T, rules []fakellm.Rule) {
	t.Helper()
	request[any](t, http.MethodDelete, s.fake+"/_fakellm/requests", nil)
	request[any](t, http.MethodPut, s.fake+"/_fakellm/script", rules)
}

// upstream is what the provider got, once n requests are done.
func (s *stand) upstream(t *testing.T, n int) []fakellm.Request {
	t.Helper()
	return request[[]fakellm.Request](t, http.MethodGet, fmt.Sprintf("%s/_fakellm/requests?await=%d", s.fake, n), nil)
}

// events are the n events of requests since the last look, oldest first; what
// haltd notices about them besides does not count. More than n is an error of
// its own.
func (s *stand) events(t *testing.T, n int) []haltd.Event {
	t.Helper()
	var fresh []haltd.Event
	poll(t, fmt.Sprintf("%d events", n), func() (bool, error) {
		page := request[struct {
			Events []haltd.Event `json:"events"`
			Next   *string       `json:"next"`
		}](t, http.MethodGet, s.admin+"/v1/events?limit=100&type=llm_call,pass_through,blocked,error", nil)
		fresh = nil
		for _, e := range page.Events {
			if e.ID > s.seen {
				fresh = append(fresh, e)
			}
		}
		if len(fresh) > n {
			return false, fmt.Errorf("there are %d: %+v", len(fresh), fresh)
		}
		return len(fresh) == n, nil
	})
	slices.Reverse(fresh)
	if n > 0 {
		s.seen = fresh[n-1].ID
	}
	return fresh
}

// gatewayKey makes a gateway key for agent.
func (s *stand) gatewayKey(t *testing.T, agent string) string {
	t.Helper()
	return request[struct {
		Secret string `json:"secret"`
	}](t, http.MethodPost, s.admin+"/v1/keys", map[string]string{"agent": agent}).Secret
}

// request drives the fake provider and the admin API; anything but a 2xx
// fails the test.
func request[T any](t *testing.T, method, url string, body any) (answer T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var sent io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode > 299 {
		t.Fatalf("%s %s: status %d, %v: %s", method, url, resp.StatusCode, err, got)
	}
	if len(got) > 0 {
		if err := json.Unmarshal(got, &answer); err != nil {
			t.Fatalf("%s %s: %v: %s", method, url, err, got)
		}
	}
	return answer
}
