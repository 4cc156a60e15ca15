package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/haltd/haltd"
)

// Listeners are the two of a haltd, as URLs, and what a test asks the admin
// API.
type Listeners struct {
	Gateway, Admin string
	Client         *http.Client // of the admin API; nil for the default
}

// Open makes a request of the admin API and leaves its answer to be read.
func (l Listeners) Open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	r, err := l.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return l.do(r)
}

func (l Listeners) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	sent := io.Reader(http.NoBody)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the body of %s %s: %w", method, path, err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, l.Admin+path, sent)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func (l Listeners) do(r *http.Request) (*http.Response, error) {
	client := l.Client
	if client == nil {
		client = http.DefaultClient
	}
	return client.Do(r)
}

// Ask makes a request of the admin API and reads its answer.
func (l Listeners) Ask(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errPatience)
	defer cancel()
	res, err := l.Open(ctx, method, path, body)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return res.StatusCode, answer, nil
}

// errUnavailable is what a haltd says whose store does not answer now.
var errUnavailable = errors.New("status 503")

// Read decodes a good answer of the admin API; any other is an error.
func (l Listeners) Read(ctx context.Context, method, path string, body, into any) error {
	status, answer, err := l.Ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	if status == http.StatusServiceUnavailable {
		return fmt.Errorf("%s %s: %w: %s", method, path, errUnavailable, answer)
	}
	if status > 299 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, status, answer)
	}
	return decode(method, path, answer, into)
}

func decode(method, path string, answer []byte, into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("%s %s: %w: %s", method, path, err, answer)
	}
	return nil
}

// API asks the admin API, decodes the answer, whatever its status, and says
// which that is.
func (l Listeners) API(t testing.TB, method, path string, body, into any) (status int) {
	t.Helper()
	status, answer, err := l.Ask(t.Context(), method, path, body)
	if err == nil {
		err = decode(method, path, answer, into)
	}
	if err != nil {
		t.Fatalf("status %d: %v", status, err)
	}
	return status
}

// Must asks the admin API and fails the test when the answer is not good.
func (l Listeners) Must(t testing.TB, method, path string, body, into any) {
	t.Helper()
	if err := l.Read(t.Context(), method, path, body, into); err != nil {
		t.Fatal(err)
	}
}

// EventPage reads one page of the record, newest first, and the cursor of the
// next; an empty cursor begins, and ends.
func (l Listeners) EventPage(ctx context.Context, query, cursor string) (events []haltd.Event, next string, err error) {
	var page struct {
		Events []haltd.Event `json:"events"`
		Next   *string       `json:"next"`
	}
	if cursor != "" {
		query += "&cursor=" + url.QueryEscape(cursor)
	}
	if err := l.Read(ctx, http.MethodGet, "/v1/events?"+query, nil, &page); err != nil {
		return nil, "", err
	}
	if page.Next != nil {
		next = *page.Next
	}
	return page.Events, next, nil
}

// page is EventPage that asks again while the store does not answer, which it may
// not just after it started, or on a machine that is busy.
func (l Listeners) page(t testing.TB, query, cursor string) (events []haltd.Event, next string) {
	t.Helper()
	var err error
	waited := Until(t.Context(), func() bool {
		events, next, err = l.EventPage(t.Context(), query, cursor)
		return !errors.Is(err, errUnavailable)
	})
	if err := errors.Join(waited, err); err != nil {
		t.Fatalf("read the record: %v", err)
	}
	return events, next
}

// AllEvents reads the whole record of a query, newest first, and fails the test
// when an event is listed twice.
func (l Listeners) AllEvents(t testing.TB, query string) []haltd.Event {
	t.Helper()
	var all []haltd.Event
	seen := map[haltd.EventID]bool{}
	for cursor := ""; ; {
		events, next := l.page(t, query, cursor)
		for _, e := range events {
			if seen[e.ID] {
				t.Fatalf("event %s is listed twice", e.ID)
			}
			seen[e.ID] = true
		}
		all = append(all, events...)
		if next == "" {
			return all
		}
		cursor = next
	}
}

// Events waits until the record has at least want events of a query, and
// answers them, newest first.
func (n *Node) Events(t testing.TB, query string, want int) (events []haltd.Event) {
	t.Helper()
	n.Eventually(t, fmt.Sprintf("showing %d events of ?%s", want, query), func() bool {
		events, _ = n.page(t, query, "")
		return len(events) >= want
	})
	return events
}
