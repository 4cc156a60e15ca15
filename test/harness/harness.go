// Package harness runs haltd and its fake provider for tests of the whole: it
// finds or builds the binary, starts it on addresses of its own in temporary
// folders, waits until it is ready, talks to its admin API, and stops, kills
// and restarts it. Tests that need haltd inside their own process, with a
// clock of theirs, take harness/inprocess.
package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Patience is how long to wait for what another process does. It is only spent
// by tests that fail, so it is long enough for a slow machine that runs all
// packages at once.
const Patience = time.Minute

// errPatience is why a wait ended that had no other end.
var errPatience = fmt.Errorf("it was not so within %v", Patience)

// Until asks until the answer is true, at short intervals: what another
// process does cannot be waited for any other way. It fails after Patience and
// when ctx ends.
func Until(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// Lacking skips a test that needs more than there is. Where CI is true it fails
// instead, because a skipped test proves nothing.
func Lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// Need is where a program is that a test runs; what test/install.sh installs
// may be outside of the PATH of a user.
func Need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if !errors.Is(err, exec.ErrNotFound) {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, program))
		if errors.Is(err, os.ErrNotExist) {
			err = exec.ErrNotFound
		}
	}
	if err != nil {
		Lacking(t, program+" is not installed; test/install.sh installs it")
	}
	return path
}

// Listens reports whether somebody takes calls at an address.
func Listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
