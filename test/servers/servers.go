// Package servers runs the real servers that haltd's adapters talk to, each on
// a loopback address and in a temporary folder of its own, and stops, kills,
// freezes and restarts them as tests ask.
package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

// Server is a server program beside the tests.
type Server struct {
	Address string // host and port
	URL     string // as haltd's configuration takes it

	folder      string
	release     func() error
	command     func() *exec.Cmd
	environment []string // added to that of the tests
	ready       func() error
	end         os.Signal // with which it closes its connections and ends
	process     *harness.Process
}

// Main runs the tests of a package, which share one server, and ends it with
// them.
func Main(m *testing.M, start func() (*Server, error), server **Server) {
	s, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	*server = s
	code := m.Run()
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// start runs the program, again after Stop and Kill, with what is in its
// folder, and waits until it answers.
func (s *Server) start(ctx context.Context) error {
	cmd := s.command()
	cmd.Env = append(os.Environ(), s.environment...)
	process, err := harness.Launch(cmd)
	if err != nil {
		return err
	}
	s.process = process
	var last error
	err = process.Await(ctx, "ready", func() bool {
		last = s.ready()
		return last == nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// Start runs it again after Stop or Kill.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Stop ends it as an operator does: at once, and in order.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) stop() error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Signal(s.end); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, s.process.Kill())
	}
	err := s.process.Wait()
	s.process = nil
	return err
}

// Kill pulls the plug: the program and all that it has started end where they
// are.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	for _, pid := range s.children(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may end by itself
	}
	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.process = nil
}

// Freeze halts the program and all that it has started, so that connections
// stay and nothing answers, until Thaw or the end of the test.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	process := s.process
	t.Cleanup(func() {
		if s.process == process {
			s.Thaw(t)
		}
	})
}

// Thaw lets it go on after Freeze.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	for _, pid := range s.children(t) {
		_ = syscall.Kill(pid, sig) // it may have ended meanwhile
	}
}

func (s *Server) children(t testing.TB) []int {
	t.Helper()
	pids, err := s.process.Children()
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// Close ends it and removes its folder.
func (s *Server) Close() error {
	return errors.Join(s.stop(), s.release(), os.RemoveAll(s.folder))
}

// open makes a folder and an address for a server.
func open(name string) (*Server, error) {
	address, release, err := harness.Reserve()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "haltd-"+name+"-")
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return &Server{Address: address, folder: folder, release: release}, nil
}

// begin starts a server for the first time; what fails is cleaned away.
func (s *Server) begin() (*Server, error) {
	if err := s.start(context.Background()); err != nil {
		if s.process != nil {
			err = errors.Join(err, s.process.Kill())
			s.process = nil
		}
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func find(program string, folders ...string) (string, error) {
	for _, pattern := range folders {
		paths, err := filepath.Glob(filepath.Join(pattern, program))
		if err != nil {
			return "", err
		}
		if len(paths) > 0 {
			return paths[len(paths)-1], nil
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s is not installed; test/install.sh installs it: %w", program, err)
	}
	return path, nil
}
