package harness

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The address of a node stays its own while nobody listens on it, and is free
// for whoever names it, again and again.
func TestAReservedAddressIsForWhoeverNamesIt(t *testing.T) {
	address := Address(t)
	if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("a call is answered with %v, %v; want it refused", conn, err)
	}
	for range 2 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Addr().String() == address {
			t.Fatalf("%s was given to somebody else", address)
		}
	}
}

func launch(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Launch(exec.Command("sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAwaitTellsOfAProcessThatEndsBefore(t *testing.T) {
	p := launch(t, "echo why it ended; exit 3")
	err := p.Await(t.Context(), "ready", func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "why it ended") {
		t.Errorf("Await = %v, want its status and what it printed", err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Stop = %v, want its status", err)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	p := launch(t, "exec sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("the test is over")
	err := p.Await(ctx, "ready", func() bool { cancel(over); return false })
	if !errors.Is(err, over) {
		t.Errorf("Await = %v, want %v", err, over)
	}
}

func TestChildrenAreThoseThatRun(t *testing.T) {
	p := launch(t, "sleep 60 & echo begun; wait")
	if err := p.Await(t.Context(), "begun", func() bool { return strings.Contains(p.Log(), "begun") }); err != nil {
		t.Fatal(err)
	}
	children, err := p.Children()
	if err != nil || len(children) != 1 {
		t.Fatalf("children %v, %v; want one", children, err)
	}
	if err := syscall.Kill(children[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := p.Children(); err == nil {
		t.Error("a process that has ended has children")
	}
}

func TestStopIsOrderlyAndKillIsNot(t *testing.T) {
	const script = `trap 'echo stopped; exit 0' TERM; echo ready; while :; do sleep 0.01; done`
	ready := func(p *Process) {
		t.Helper()
		if err := p.Await(t.Context(), "ready", func() bool { return strings.Contains(p.Log(), "ready") }); err != nil {
			t.Fatal(err)
		}
	}
	p := launch(t, script)
	ready(p)
	if err := p.Stop(); err != nil || !strings.Contains(p.Log(), "stopped") {
		t.Errorf("Stop = %v, it printed %q", err, p.Log())
	}
	p = launch(t, script)
	ready(p)
	var exit *exec.ExitError
	if err := p.Kill(); err != nil || !errors.As(p.Wait(), &exit) || strings.Contains(p.Log(), "stopped") {
		t.Errorf("Kill = %v, it ended with %v and printed %q", err, p.Wait(), p.Log())
	}
}

// In CI a test that lacks something fails.
func TestLacking(t *testing.T) {
	for ci, want := range map[string]string{"true": "failed", "": "skipped"} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		if Lacking(r, "something"); r.ended != want {
			t.Errorf("with CI=%q the test %s, want %s", ci, r.ended, want)
		}
	}
}

type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Fatal(...any) { r.ended = "failed" }

func (r *recorder) Skip(...any) {
	if r.ended == "" {
		r.ended = "skipped"
	}
}
