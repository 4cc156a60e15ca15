package harness

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// Stream is a live stream of events, as a program hears it.
type Stream struct {
	Last string // the id of the last message, after which another stream can go on

	body  io.Closer
	lines *bufio.Scanner
}

// Stream opens a live stream of the events that a query selects, after the
// message with the id last where that is not empty. It breaks after Patience.
func (l Listeners) Stream(t testing.TB, query, last string) *Stream {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), Patience, errPatience)
	t.Cleanup(cancel)
	r, err := l.request(ctx, http.MethodGet, "/v1/events/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := l.do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d", r.URL, res.StatusCode)
	}
	return &Stream{Last: last, body: res.Body, lines: bufio.NewScanner(res.Body)}
}

// Next waits for an event.
func (s *Stream) Next() (e haltd.Event, err error) {
	id := ""
	for s.lines.Scan() {
		if value, ok := strings.CutPrefix(s.lines.Text(), "id: "); ok {
			id = value
		}
		// What has no id tells of the stream itself.
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok && id != "" {
			s.Last = id
			return e, json.Unmarshal([]byte(data), &e)
		}
	}
	return e, fmt.Errorf("the stream ended: %w", cmp.Or(s.lines.Err(), io.EOF))
}

// Close leaves the stream.
func (s *Stream) Close() error { return s.body.Close() }
