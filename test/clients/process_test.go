// Package clients runs the official SDKs, unchanged but for their base URL,
// against a real haltd process in front of a fake provider, and compares with
// what they do when they call the fake provider directly. It is a module of
// its own, so that no SDK becomes a dependency of haltd.
package clients

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The programs under test: HALTD_BIN and FAKELLM_BIN, or built from the
// checkout.
var haltdBin, fakellmBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "haltd-clients-")
	if err == nil {
		haltdBin, err = program("HALTD_BIN", "./cmd/haltd", dir)
	}
	if err == nil {
		fakellmBin, err = program("FAKELLM_BIN", "./test/fakellm/cmd/fakellm", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// program is the file that the environment names, or a new build of pkg.
func program(variable, pkg, dir string) (string, error) {
	if file := os.Getenv(variable); file != "" {
		return filepath.Abs(file)
	}
	file := filepath.Join(dir, filepath.Base(pkg))
	build := exec.Command("go", "build", "-o", file, pkg)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s (or set %s): %w\n%s", pkg, variable, err, out)
	}
	return file, nil
}

// patience is how long a process may take for what it does at once.
const patience = 20 * time.Second

// process is a program that runs for the length of a test.
type process struct {
	cmd    *exec.Cmd
	output lockedBuffer
	exited chan struct{} // closed after it ended
	err    error         // how, once exited is closed
}

// launch starts cmd. When the test ends it gets SIGTERM and has to exit
// cleanly; its output is shown when the test failed.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &p.output
	if cmd.Stdout == nil {
		cmd.Stdout = &p.output
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() { p.stop(t) })
	return p
}

func (p *process) stop(t *testing.T) {
	name := filepath.Base(p.cmd.Path)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("stopping %s: %v", name, err)
	}
	select {
	case <-p.exited:
		if p.err != nil {
			t.Errorf("%s did not exit cleanly: %v", name, p.err)
		}
	case <-time.After(patience):
		t.Errorf("%s did not exit within %v of SIGTERM", name, patience)
		// It ends either way; there is nothing more to do about an error.
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	if t.Failed() {
		t.Logf("output of %s:\n%s", name, p.output.String())
	}
}

// startFakeLLM runs the fake provider and says where.
func startFakeLLM(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(fakellmBin, "-listen", "127.0.0.1:0", "-exit-with-stdin")
	// The pipe closes with this process, and the provider ends with it.
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.Stdout = write
	launch(t, cmd)
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line of the fake provider is %q: %v", line, err)
	}
	return url
}

const adminToken = "token-of-the-client-tests"

// providerKey is what haltd sends upstream for calls with a gateway key.
const providerKey = "sk-provider-key-from-the-configuration"

// startHaltd runs haltd before the provider at upstream.
func startHaltd(t *testing.T, upstream string) (gateway, admin string) {
	t.Helper()
	dir := t.TempDir()
	addresses := freeAddresses(t, 2)
	config := fmt.Sprintf(`gateway: {listen: %q}
admin: {listen: %q, token: %q}
data_dir: %q
providers:
  openai: {base_url: %[5]q, api_key: %[6]q}
  anthropic: {base_url: %[5]q, api_key: %[6]q}
  gemini: {base_url: %[5]q, api_key: %[6]q}
`, addresses[0], addresses[1], adminToken, filepath.Join(dir, "data"), upstream, providerKey)
	file := filepath.Join(dir, "haltd.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(haltdBin, "serve", "--config", file)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	p := launch(t, cmd)
	gateway, admin = "http://"+addresses[0], "http://"+addresses[1]
	poll(t, "haltd to be ready", func() (bool, error) {
		select {
		case <-p.exited:
			return false, fmt.Errorf("haltd exited: %v", p.err)
		default:
		}
		resp, err := http.Get(admin + "/readyz")
		if err != nil {
			return false, nil // not listening yet
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK, nil
	})
	return gateway, admin
}

// freeAddresses are loopback addresses that nobody listened on a moment ago.
func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

// poll asks until done, at short intervals: processes cannot be waited for
// any other way.
func poll(t *testing.T, what string, done func() (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v for %s", patience, what)
		case <-tick.C:
		}
	}
}

// lockedBuffer collects the output of a process.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
