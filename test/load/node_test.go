// Package load holds haltd under load against what it promises: no byte
// changed, no event lost, nothing leaked, whatever clients do and whenever
// the process ends. It drives haltd through its listeners only.
package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/harness/inprocess"
)

func TestMain(m *testing.M) { harness.Main(m) }

// quietly is a configuration whose providers are all at upstream and take
// maxConnections each, 0 for any number.
func quietly(upstream string, maxConnections int) string {
	return fmt.Sprintf(`log: {level: warn}
providers:
  openai: {base_url: %[1]q, max_connections: %[2]d}
  anthropic: {base_url: %[1]q, max_connections: %[2]d}
  gemini: {base_url: %[1]q, max_connections: %[2]d}
`, upstream, maxConnections)
}

// writeConfig makes a configuration for haltds inside this process.
func writeConfig(t *testing.T, upstream string, maxConnections int) *harness.Config {
	t.Helper()
	config := inprocess.NewConfig(t)
	config.Write(t, quietly(upstream, maxConnections))
	return config
}

// startNode runs haltd inside this process.
func startNode(t *testing.T, config *harness.Config, client *http.Client) *inprocess.Node {
	t.Helper()
	n := inprocess.Start(t, config, time.Now)
	n.Client = client
	return n
}

// startProcess runs haltd as a process of its own.
func startProcess(t *testing.T, upstream, more string, client *http.Client) *harness.Node {
	t.Helper()
	n := harness.Start(t, quietly(upstream, 0)+more)
	n.Client = client
	return n
}

// ofCalls is the query of the events of calls.
const ofCalls = "type=llm_call&limit=1000"

// recordOf starts haltd anew on what an earlier one left behind and reads the
// record.
func recordOf(t *testing.T, config *harness.Config, client *http.Client) []haltd.Event {
	t.Helper()
	n := startNode(t, config, client)
	events := n.AllEvents(t, ofCalls)
	n.Stop(t)
	return events
}

// newClient is an HTTP client with connections of its own.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// limited ends a test's waiting after two minutes and more: whoever waits
// longer reports an error instead of hanging.
func limited(t *testing.T, more time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute+more, errors.New("the test took too long"))
	t.Cleanup(cancel)
	return ctx
}

// times is how often to do something: as the environment says, or as usual, or
// in a short run.
func times(t *testing.T, variable string, usual, short int) int {
	t.Helper()
	text, ok := os.LookupEnv(variable)
	switch {
	case ok:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, want a number above zero", variable, text)
		}
		return n
	case testing.Short():
		return short
	}
	return usual
}
