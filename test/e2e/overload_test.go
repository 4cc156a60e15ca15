package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// Beyond what it may serve at once haltd sheds calls in the provider's shape.
// The streams that are open, the admin listener and kills go on, and whoever
// comes back when there is room is served.
func TestCallsBeyondCapacityAreShed(t *testing.T) {
	t.Parallel()
	const most = 3
	goOn := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-goOn:
			fmt.Fprint(w, "data: [DONE]\n\n")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(up.Close)
	n := startGateway(t, fmt.Sprintf("max_calls: %d", most), harness.Providers(up.URL))
	send := func(agent, path, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", n.Gateway+"/agents/"+agent+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	// Headers take memory before anybody counts: they are short.
	for _, url := range []string{n.Gateway + "/v1/models", n.Admin + "/healthz"} {
		if status, _, _ := ask(t, "GET", url, "X-Long", strings.Repeat("a", 200<<10)); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s with a header of 200 KB: %d, want 431", url, status)
		}
	}
	chat := `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	streams := make([]*http.Response, most)
	for i := range streams {
		if streams[i] = send(fmt.Sprint("stream-", i), "/openai/v1/chat/completions", chat); streams[i].StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %s", i, streams[i].Status)
		}
	}

	// Many at once: what is refused takes nobody's place.
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			path, body, shape := "/openai/v1/chat/completions", chat, `{"error":{"message":"haltd: The limit of calls`
			if i%2 == 1 {
				path, body, shape = "/anthropic/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, `{"type":"error","error":{`
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", n.Gateway+"/agents/flood"+path, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || res.Header.Get("X-Haltd-Reason") != haltd.CodeBusy ||
				!strings.HasPrefix(string(text), shape) || !strings.Contains(string(text), "gateway.max_calls") {
				t.Errorf("%s %v %s, %v; want 503 in the provider's shape, with the setting", res.Status, res.Header, text, err)
			}
		})
	}
	wg.Wait()

	// A kill reaches one of the streams that are open.
	if status := n.API(t, "POST", "/v1/agents/stream-0/deactivate", map[string]any{"now": true}, nil); status != http.StatusOK {
		t.Fatalf("deactivate: %d", status)
	}
	if text, _ := io.ReadAll(streams[0].Body); strings.Contains(string(text), "[DONE]") {
		t.Errorf("the stream of a killed agent went on: %s", text)
	}
	n.Eventually(t, "room for a call", func() bool {
		streams[0] = send("late", "/openai/v1/chat/completions", chat)
		return streams[0].StatusCode == http.StatusOK
	})
	close(goOn)
	for i, res := range streams {
		if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "begun") || !strings.HasSuffix(string(text), "[DONE]\n\n") {
			t.Errorf("stream %d: %q, %v; want all of it", i, text, err)
		}
	}
	n.Eventually(t, "free of calls", func() bool { return n.metric(t, "haltd_in_flight") == 0 })
}
