package harness

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// SignInLink finds a sign-in link and its code, which is base64 for URLs, in
// what haltd printed.
var SignInLink = regexp.MustCompile(`http://\S+/sign-in#code=([\w-]+)`)

// Node is a haltd that runs as a process of its own.
type Node struct {
	Listeners
	Config  *Config
	Program string // another haltd than the one under test; "" for that one
	process *Process
	running bool // until Stop or Kill
}

// Start runs a haltd in a new folder and waits until it is ready; more is YAML
// that follows the base of its configuration.
func Start(t testing.TB, more string, env ...string) *Node {
	t.Helper()
	n := New(t, t.TempDir())
	n.Config.Write(t, more)
	n.Run(t, env...)
	return n
}

// New is a haltd that does not run yet, on addresses of its own, in a folder
// that may hold the record of another.
func New(t testing.TB, folder string) *Node {
	t.Helper()
	return At(folder, Address(t), Address(t))
}

// At is a haltd that does not run yet, on addresses that the caller chooses.
func At(folder, gateway, admin string) *Node {
	return &Node{
		Listeners: Listeners{Gateway: "http://" + gateway, Admin: "http://" + admin},
		Config:    NewConfig(folder, gateway, admin),
	}
}

// Address reserves a loopback address for the length of a test.
func Address(t testing.TB) string {
	t.Helper()
	address, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Errorf("release %s: %v", address, err)
		}
	})
	return address
}

// Refusing is the URL of an address that refuses every call for the length of a
// test. The address of a server that was closed does not: the next listener of
// anybody may be given it.
func Refusing(t testing.TB) string {
	t.Helper()
	return "http://" + Address(t)
}

// Run starts the process with its configuration as it is on disk, also after
// Stop and Kill, and waits until it is ready. The end of the test stops it.
func (n *Node) Run(t testing.TB, env ...string) {
	t.Helper()
	n.Launch(t, env...)
	n.Eventually(t, "ready", func() bool {
		client := n.Client
		if client == nil {
			client = http.DefaultClient
		}
		res, err := client.Get(n.Admin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// Launch is Run for a process that cannot be ready yet.
func (n *Node) Launch(t testing.TB, env ...string) {
	t.Helper()
	cmd := Command(t, env, "serve", "--config", n.Config.Path)
	cmd.Dir = filepath.Dir(n.Config.Path)
	if n.Program != "" {
		cmd.Path = n.Program
	}
	process, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	n.process, n.running = process, true
	t.Cleanup(func() {
		if n.process == process && n.running {
			n.Stop(t)
		}
		if t.Failed() && n.process == process {
			t.Logf("what haltd printed:\n%s", process.Log())
		}
	})
}

// environment is that of a program under test: what the user of this machine
// has set for a haltd, a provider or a proxy has no say in it.
func environment(t testing.TB) []string {
	env := []string{"HOME=" + t.TempDir()}
	for _, name := range []string{"PATH", "TMPDIR", "TZ", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	// By default a program with the race detector sleeps a second at its end.
	return append(env, "GORACE=atexit_sleep_ms=50 "+os.Getenv("GORACE"))
}

// Stop ends the process as an operator does; a bad end fails the test.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	n.running = false
	if err := n.process.Stop(); err != nil {
		t.Error(err)
	}
}

// Kill pulls the plug.
func (n *Node) Kill(t testing.TB) {
	t.Helper()
	n.running = false
	if err := n.process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// PID is the id of the process.
func (n *Node) PID() int { return n.process.PID() }

// Log is what the process has printed since it was started.
func (n *Node) Log() string { return n.process.Log() }

// Reload has it read its configuration anew and waits until its log says so in
// these words once more.
func (n *Node) Reload(t testing.TB, says string) {
	t.Helper()
	before := strings.Count(n.Log(), says)
	n.HangUp(t)
	n.Eventually(t, "saying "+says, func() bool { return strings.Count(n.Log(), says) > before })
}

// HangUp sends it SIGHUP, which does not end it.
func (n *Node) HangUp(t testing.TB) {
	t.Helper()
	if err := n.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// Eventually waits for something that the process does.
func (n *Node) Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if err := n.process.Await(t.Context(), what, ok); err != nil {
		t.Fatal(err)
	}
}

// CLI runs another haltd command against this node.
func (n *Node) CLI(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return CLI(t, nil, append([]string{"--config", n.Config.Path}, args...)...)
}

// Command is a haltd command that has not been started.
func Command(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Env = append(environment(t), env...)
	return cmd
}

// CLI runs a haltd command to its end.
func CLI(t testing.TB, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := Command(t, env, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	p, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("haltd %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
