package servers

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed clock.c.txt
var clockSource []byte

// SetClock starts it again with a clock that is ahead of this machine's: a
// library tells the program so that is asked before the system's.
func (s *Server) SetClock(t testing.TB, ahead time.Duration) {
	t.Helper()
	library, err := s.clockLibrary()
	if err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	s.environment = []string{"LD_PRELOAD=" + library, fmt.Sprintf("CLOCK_AHEAD=%d", int(ahead.Seconds()))}
	s.Start(t)
}

func (s *Server) clockLibrary() (path string, err error) {
	cc, err := find("cc")
	if err != nil {
		return "", err
	}
	source, path := filepath.Join(s.folder, "clock.c"), filepath.Join(s.folder, "clock.so")
	if err := os.WriteFile(source, clockSource, 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the clock: %w\n%s", err, out)
	}
	return path, nil
}
