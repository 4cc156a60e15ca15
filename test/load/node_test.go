// Package load holds haltd under load against what it promises: no byte
// changed, no event lost, nothing leaked, whatever clients do and whenever
// the process ends. It drives haltd through its listeners only.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/app"
)

const adminToken = "load-test-admin-token-0123456789"

// nodeVariable makes this program a haltd that serves the configuration it
// names, so that a test can kill a real process.
const nodeVariable = "HALTD_LOAD_TEST_NODE"

func TestMain(m *testing.M) {
	if path := os.Getenv(nodeVariable); path != "" {
		if err := serveNode(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// addresses are where a node listens.
type addresses struct {
	Gateway, Admin string
}

func serveNode(configPath string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	a, err := newApp(ctx, configPath, os.Stderr)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(addresses{a.GatewayURL(), a.AdminURL()}); err != nil {
		return fmt.Errorf("tell the addresses: %w", err)
	}
	return a.Run(ctx)
}

func newApp(ctx context.Context, configPath string, log io.Writer) (*app.App, error) {
	return app.New(ctx, app.Options{
		ConfigPath: configPath,
		Env:        func(string) (string, bool) { return "", false },
		Stderr:     log,
		Version:    "test",
		Clock:      time.Now,
	})
}

// writeConfig makes a configuration whose providers are all at upstream and
// take maxConnections each, 0 for any number.
func writeConfig(t *testing.T, upstream string, maxConnections int) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "haltd.yaml")
	config := fmt.Sprintf(`gateway: {listen: "127.0.0.1:0", shutdown_timeout: 20s}
admin: {listen: "127.0.0.1:0", token: %q}
data_dir: %q
log: {level: warn}
providers:
  openai: {base_url: %[3]q, max_connections: %[4]d}
  anthropic: {base_url: %[3]q, max_connections: %[4]d}
  gemini: {base_url: %[3]q, max_connections: %[4]d}
`, adminToken, filepath.Join(dir, "data"), upstream, maxConnections)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// node is a running haltd.
type node struct {
	addresses
	stop func() error // ends it in an orderly way; safe to call again
	kill func()       // ends it at once; nil inside this process
}

// startNode runs haltd inside this process.
func startNode(t *testing.T, configPath string) *node {
	t.Helper()
	a, err := newApp(t.Context(), configPath, t.Output())
	if err != nil {
		t.Fatalf("start haltd: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var runError error
	go func() {
		defer close(done)
		runError = a.Run(ctx)
	}()
	stop := func() error {
		cancel()
		<-done
		return runError
	}
	t.Cleanup(func() { _ = stop() })
	return &node{addresses: addresses{a.GatewayURL(), a.AdminURL()}, stop: stop}
}

// startProcess runs haltd as a process of its own.
func startProcess(t *testing.T, configPath string) *node {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), nodeVariable+"="+configPath)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start haltd: %v", err)
	}
	n := &node{}
	err = json.NewDecoder(out).Decode(&n.addresses)
	done := make(chan struct{})
	var waitError error
	go func() {
		defer close(done)
		waitError = cmd.Wait()
	}()
	end := func(s os.Signal) error {
		_ = cmd.Process.Signal(s) // it may have ended already
		<-done
		return waitError
	}
	n.stop = func() error { return end(syscall.SIGTERM) }
	n.kill = func() { _ = end(os.Kill) }
	t.Cleanup(n.kill)
	if err != nil {
		t.Fatalf("haltd did not start: %v", err)
	}
	return n
}

// api makes a request of the admin API.
func (n *node) api(ctx context.Context, c *http.Client, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.Admin+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("GET %s: status %d: %s", path, res.StatusCode, b)
	}
	return res, nil
}

// eventPage reads one page of the record and the cursor of the next.
func (n *node) eventPage(ctx context.Context, c *http.Client, cursor string) (events []haltd.Event, next string, err error) {
	path := "/v1/events?type=llm_call&limit=1000"
	if cursor != "" {
		path += "&cursor=" + cursor
	}
	res, err := n.api(ctx, c, path)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	var page struct {
		Events []haltd.Event `json:"events"`
		Next   *string       `json:"next"`
	}
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		return nil, "", err
	}
	if page.Next != nil {
		next = *page.Next
	}
	return page.Events, next, nil
}

// events reads the whole record.
func (n *node) events(t *testing.T, c *http.Client) []haltd.Event {
	t.Helper()
	var all []haltd.Event
	seen := map[haltd.EventID]bool{}
	for cursor := ""; ; {
		events, next, err := n.eventPage(t.Context(), c, cursor)
		if err != nil {
			t.Fatalf("read the record: %v", err)
		}
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

// recordOf starts haltd anew on what an earlier one left behind and reads the
// record.
func recordOf(t *testing.T, configPath string, c *http.Client) []haltd.Event {
	t.Helper()
	n := startNode(t, configPath)
	events := n.events(t, c)
	if err := n.stop(); err != nil {
		t.Errorf("stop haltd: %v", err)
	}
	return events
}

// newClient is an HTTP client with connections of its own.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// limited ends a test's waiting: whoever waits longer reports an error
// instead of hanging.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("the test took too long"))
	t.Cleanup(cancel)
	return ctx
}
