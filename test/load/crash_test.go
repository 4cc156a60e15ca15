package load

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// TestWhatWasShownSurvivesAKill ends a haltd in the middle of its work as no
// program can prepare for. Whatever its API has shown must be there again.
func TestWhatWasShownSurvivesAKill(t *testing.T) {
	const callers, wanted = 8, 300
	ctx := limited(t, 0)
	up := newUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeChat(w) }))
	client := newClient(t)
	n := startProcess(t, up.URL, "", client)

	listed, streamed := newShown(wanted), newShown(wanted)
	var readers sync.WaitGroup
	following := make(chan struct{})
	readers.Go(func() { follow(ctx, n, streamed, following) })
	select {
	case <-following:
	case <-ctx.Done():
		t.Fatalf("the live stream did not open: %v", context.Cause(ctx))
	}
	readers.Go(func() { list(ctx, n, listed) })
	others := callUntilRefused(ctx, t, n.Gateway, client, 0, callers, wanted)
	for _, s := range []*shown{listed, streamed} {
		select {
		case <-s.enough:
		case <-ctx.Done():
			t.Fatalf("%d events listed, %d streamed: %v", listed.count(), streamed.count(), context.Cause(ctx))
		}
	}
	n.Kill(t)
	others.wait()
	readers.Wait()

	n.Run(t)
	found := map[haltd.EventID]bool{}
	for _, e := range n.AllEvents(t, ofCalls) {
		found[e.ID] = true
	}
	listed.check(t, "GET /v1/events", found)
	streamed.check(t, "GET /v1/events/stream", found)
	n.Stop(t)
}

// shown is what one way of reading events has shown.
type shown struct {
	wanted int
	enough chan struct{} // closed when that many have been shown

	mu  sync.Mutex
	ids map[haltd.EventID]bool
}

func newShown(wanted int) *shown {
	return &shown{wanted: wanted, enough: make(chan struct{}), ids: map[haltd.EventID]bool{}}
}

func (s *shown) add(id haltd.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		return
	}
	s.ids[id] = true
	if len(s.ids) == s.wanted {
		close(s.enough)
	}
}

func (s *shown) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids)
}

func (s *shown) check(t *testing.T, where string, found map[haltd.EventID]bool) {
	t.Helper()
	lost := 0
	for id := range s.ids {
		if !found[id] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d events that %s had shown are gone", lost, len(s.ids), where)
	}
}

// list reads the newest events until the node is gone.
func list(ctx context.Context, n *harness.Node, s *shown) {
	for {
		events, _, err := n.EventPage(ctx, ofCalls, "")
		if err != nil {
			return
		}
		for i := range events {
			s.add(events[i].ID)
		}
	}
}

// follow reads the live stream until the node is gone. It closes following
// when the stream has begun.
func follow(ctx context.Context, n *harness.Node, s *shown, following chan<- struct{}) {
	res, err := n.Open(ctx, http.MethodGet, "/v1/events/stream?type=llm_call", nil)
	if err != nil {
		return
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if first {
			close(following)
		}
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			if id, err := haltd.ParseEventID(text); err == nil {
				s.add(id)
			}
		}
	}
}
