package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"golang.org/x/sys/unix"
)

func TestATerminalIsShownASignInLink(t *testing.T) {
	t.Parallel()
	terminal, screen := openTerminal(t)
	other := harness.New(t, t.TempDir())
	other.Config.Write(t, "")
	cmd := harness.Command(t, nil, "serve", "--config", other.Config.Path)
	cmd.Dir, cmd.Stdout = filepath.Dir(other.Config.Path), terminal
	p, err := harness.Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown := ""
	for buf := make([]byte, 4096); !strings.Contains(shown, "haltd events tail"); {
		k, err := screen.Read(buf)
		if shown += string(buf[:k]); err != nil {
			t.Fatalf("%v; the terminal shows:\n%s\nand the log:\n%s", err, shown, p.Log())
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if !harness.SignInLink.MatchString(shown) || strings.Contains(p.Log(), "#code=") {
		t.Errorf("the terminal shows:\n%s\nand the log:\n%s", shown, p.Log())
	}
}

// openTerminal makes a pair: what is written to the first end appears on the
// screen.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	no, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", no), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, screen
}
