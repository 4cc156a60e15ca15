// Package e2e tests haltd as a user has it: the built binary, real clients,
// real peers. Each test starts its own processes on free ports in temporary
// folders and stops them.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

const token = "admin-token-of-the-tests"

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "haltd-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "haltd")
	// By default a program with the race detector sleeps a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=50 "+os.Getenv("GORACE"))
	build := exec.Command("go", "build", "-race", "-o", binary, "../../cmd/haltd")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// node is one running haltd.
type node struct {
	gateway, admin string
	dataDir        string
	config         string // path of its file
	command        *exec.Cmd
	out            *output
	exited         chan error
}

// output collects what a process prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// freeAddress is a loopback address that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// settings is a configuration with the addresses filled in; more is YAML
// that follows.
func settings(t *testing.T, n *node, more string) string {
	t.Helper()
	n.gateway, n.admin = freeAddress(t), freeAddress(t)
	if n.dataDir == "" {
		n.dataDir = filepath.Join(t.TempDir(), "data")
	}
	return fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: %q, token: %q}\ndata_dir: %q\n%s", n.gateway, n.admin, token, n.dataDir, more)
}

// start runs a haltd and waits until it is ready.
func start(t *testing.T, more string, env ...string) *node {
	t.Helper()
	n := &node{}
	n.config = filepath.Join(t.TempDir(), "haltd.yaml")
	n.write(t, settings(t, n, more))
	n.run(t, env...)
	return n
}

func (n *node) write(t *testing.T, yaml string) {
	t.Helper()
	if err := os.WriteFile(n.config, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (n *node) run(t *testing.T, env ...string) {
	t.Helper()
	n.out = &output{}
	n.command = exec.Command(binary, "serve", "--config", n.config)
	n.command.Stdout, n.command.Stderr = n.out, n.out
	n.command.Env = append(os.Environ(), env...)
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	n.exited = make(chan error, 1)
	go func() { n.exited <- n.command.Wait() }()
	t.Cleanup(func() { n.stop(t) })
	n.eventually(t, "ready", func() bool {
		res, err := http.Get("http://" + n.admin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == 200
	})
}

// stop ends the process as an operator would and fails the test when it does
// not end well.
func (n *node) stop(t *testing.T) {
	if n.command == nil {
		return
	}
	_ = n.command.Process.Signal(syscall.SIGTERM)
	n.waitExit(t, true)
}

// kill pulls the plug.
func (n *node) kill(t *testing.T) {
	_ = n.command.Process.Kill()
	n.waitExit(t, false)
}

func (n *node) waitExit(t *testing.T, clean bool) {
	t.Helper()
	select {
	case err := <-n.exited:
		if clean && err != nil {
			t.Errorf("haltd ended with %v:\n%s", err, n.out)
		}
	case <-time.After(40 * time.Second):
		_ = n.command.Process.Kill()
		t.Errorf("haltd did not stop:\n%s", n.out)
	}
	n.command = nil
}

// eventually waits for something another process does; 20 s are ample on a
// slow machine.
func (n *node) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		select {
		case err := <-n.exited:
			n.exited <- err
			t.Fatalf("haltd ended (%v) before it was %s:\n%s", err, what, n.out)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("haltd is not %s:\n%s", what, n.out)
		}
	}
}

// api asks the admin API and decodes the answer.
func (n *node) api(t *testing.T, method, path string, body, into any) int {
	t.Helper()
	var b io.Reader
	if body != nil {
		j, _ := json.Marshal(body)
		b = bytes.NewReader(j)
	}
	req, err := http.NewRequest(method, "http://"+n.admin+path, b)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s %s: %d %s: %v", method, path, res.StatusCode, raw, err)
		}
	}
	return res.StatusCode
}

type eventPage struct {
	Events []haltd.Event `json:"events"`
	Next   *string       `json:"next"`
}

// events waits until the record has at least want events of this query, and
// answers them, newest first.
func (n *node) events(t *testing.T, query string, want int) []haltd.Event {
	t.Helper()
	var page eventPage
	n.eventually(t, fmt.Sprintf("showing %d events of ?%s", want, query), func() bool {
		page = eventPage{}
		n.api(t, "GET", "/v1/events?"+query, nil, &page)
		return len(page.Events) >= want
	})
	return page.Events
}

// cli runs another haltd command against this node.
func (n *node) cli(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return command(t, nil, append([]string{"--config", n.config}, args...)...)
}

func command(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// provider starts a fake provider and answers it with its address.
func provider(t *testing.T) (*fakellm.Server, string) {
	t.Helper()
	llm := fakellm.New(fakellm.ByModel)
	s := httptest.NewServer(llm)
	t.Cleanup(s.Close)
	return llm, s.URL
}

func providers(url string) string {
	return fmt.Sprintf("providers: {openai: {base_url: %q}, anthropic: {base_url: %[1]q}, gemini: {base_url: %[1]q}}\n", url)
}

const chat = `{"model":"echo","messages":[{"role":"user","content":"hello there"}]}`

func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// need skips a test whose program is not installed, and fails it where
// skipping is not allowed.
func need(t *testing.T, program string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/sbin") {
		if path := filepath.Join(dir, program); exec.Command("test", "-x", path).Run() == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed; test/install.sh installs it", program)
	}
	t.Skipf("%s is not installed; test/install.sh installs it", program)
	return ""
}
