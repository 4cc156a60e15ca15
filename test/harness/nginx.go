package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NginxCommand is how to run nginx with a configuration, which has one http
// block. All its files are in dir: those of the system are not for everybody.
func NginxCommand(program, dir, config string) (*exec.Cmd, error) {
	files := fmt.Sprintf("http {\nclient_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;\n", dir)
	head, servers, ok := strings.Cut(config, "http {")
	if !ok {
		return nil, fmt.Errorf("the configuration of nginx has no http block: %s", config)
	}
	text := fmt.Sprintf("daemon off; pid %[1]s/nginx.pid; error_log %[1]s/error.log;\n", dir) + head + files + servers
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of nginx: %w", err)
	}
	return exec.Command(program, "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log")), nil
}

// Nginx runs nginx as one process until the end of a test, and returns when it
// listens on all addresses.
func Nginx(t testing.TB, dir, config string, addresses ...string) *Process {
	t.Helper()
	cmd, err := NginxCommand(Need(t, "nginx"), dir, "master_process off;\n"+config)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := p.AwaitListening(t.Context(), addresses...); err != nil {
		t.Fatal(err)
	}
	return p
}
