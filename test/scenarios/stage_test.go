package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/test/fakellm"
)

const adminToken = "scenario-admin-token-0123456789"

// replyHeader tells the upstream which reply to give.
const replyHeader = "X-Scenario-Reply"

// stage is one haltd, its clock and its provider. The clock only moves when
// nothing is on its way, so that every call and reply has its exact time.
type stage struct {
	t      *testing.T
	config string
	client *http.Client
	now    atomic.Int64 // Unix nanoseconds

	gateway, admin string
	stop           func() error

	mu      sync.Mutex
	replies map[string]fakellm.Script
}

// curtain is when the clock of the stage starts.
var curtain = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func newStage(t *testing.T) *stage {
	transport := &http.Transport{MaxIdleConnsPerHost: actors, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	s := &stage{t: t, client: &http.Client{Transport: transport}, replies: map[string]fakellm.Script{}}
	s.now.Store(curtain.UnixNano())
	upstream := httptest.NewServer(fakellm.New(s.reply))
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	s.config = filepath.Join(dir, "haltd.yaml")
	config := fmt.Sprintf(`gateway: {listen: "127.0.0.1:0"}
admin: {listen: "127.0.0.1:0", token: %q}
data_dir: %q
log: {level: error}
providers:
  openai: {base_url: %[3]q}
  anthropic: {base_url: %[3]q}
  gemini: {base_url: %[3]q}
`, adminToken, filepath.Join(dir, "data"), upstream.URL)
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(func() { _ = s.stop() })
	return s
}

func (s *stage) clock() time.Time { return time.Unix(0, s.now.Load()) }

func (s *stage) start() {
	s.t.Helper()
	a, err := app.New(s.t.Context(), app.Options{
		ConfigPath: s.config,
		Env:        func(string) (string, bool) { return "", false },
		Stderr:     s.t.Output(),
		Version:    "test",
		Clock:      s.clock,
	})
	if err != nil {
		s.t.Fatalf("start haltd: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.gateway, s.admin = a.GatewayURL(), a.AdminURL()
}

// restart ends haltd, which writes its record, and starts it on what it left.
func (s *stage) restart() {
	s.t.Helper()
	if err := s.stop(); err != nil {
		s.t.Fatalf("stop haltd: %v", err)
	}
	s.start()
}

// reply is what the provider answers: the next turn of the scenario.
func (s *stage) reply(r fakellm.Request) fakellm.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies[r.Header.Get(replyHeader)]
}

func (s *stage) rehearse(key string, script fakellm.Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[key] = script
}

// moveTo sets the clock once every call so far is recorded: a client has its
// reply before haltd has taken note of it.
func (s *stage) moveTo(at time.Time) {
	s.t.Helper()
	for !strings.Contains(s.get("/metrics"), "\nhaltd_in_flight 0\n") {
		runtime.Gosched()
	}
	s.now.Store(at.UnixNano())
}

// get asks the admin API.
func (s *stage) get(path string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.admin+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: status %d: %s (%v)", path, res.StatusCode, b, err)
	}
	return string(b)
}

// events are what the record has of an agent, oldest first.
func (s *stage) events(t *testing.T, agent string) []haltd.Event {
	t.Helper()
	var page struct {
		Events []haltd.Event `json:"events"`
		Next   *string       `json:"next"`
	}
	if err := json.Unmarshal([]byte(s.get("/v1/events?limit=1000&type=llm_call,warning,growth&agent="+agent)), &page); err != nil {
		t.Fatalf("read the events of %s: %v", agent, err)
	}
	if page.Next != nil {
		t.Fatalf("%s has more events than a page holds", agent)
	}
	oldestFirst := make([]haltd.Event, len(page.Events))
	for i := range page.Events {
		oldestFirst[len(page.Events)-1-i] = page.Events[i]
	}
	return oldestFirst
}
