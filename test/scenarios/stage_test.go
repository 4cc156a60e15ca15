package scenarios

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/harness/inprocess"
)

// replyHeader tells the upstream which reply to give.
const replyHeader = "X-Scenario-Reply"

// stage is one haltd, its clock and its provider. The clock only moves when
// nothing is on its way, so that every call and reply has its exact time.
type stage struct {
	t      *testing.T
	config *harness.Config
	client *http.Client
	now    atomic.Int64 // Unix nanoseconds

	*inprocess.Node

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
	_, upstream := harness.Provider(t, s.reply)
	s.config = inprocess.NewConfig(t)
	s.config.Write(t, "log: {level: error}\n"+harness.Providers(upstream))
	s.start()
	return s
}

func (s *stage) clock() time.Time { return time.Unix(0, s.now.Load()) }

func (s *stage) start() {
	s.t.Helper()
	s.Node = inprocess.Start(s.t, s.config, s.clock)
	s.Client = s.client
}

// restart ends haltd, which writes its record, and starts it on what it left.
func (s *stage) restart() {
	s.t.Helper()
	s.Stop(s.t)
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
	status, b, err := s.Ask(s.t.Context(), http.MethodGet, path, nil)
	if err != nil || status != http.StatusOK {
		s.t.Fatalf("GET %s: status %d: %s (%v)", path, status, b, err)
	}
	return string(b)
}

// events are what the record has of an agent, oldest first.
func (s *stage) events(t *testing.T, agent string) []haltd.Event {
	t.Helper()
	events := s.AllEvents(t, "limit=1000&type=llm_call,warning,growth&agent="+agent)
	slices.Reverse(events)
	return events
}
