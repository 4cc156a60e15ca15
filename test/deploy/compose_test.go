package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
)

// Compose's own reader knows every line of both files. As they come they refuse to
// start, for want of secrets; with those filled in, what they mount is there,
// nobody outside of the machine reaches a port, and haltd has time to stop.
func TestCompose(t *testing.T) {
	for name, folder := range map[string]string{"compose.yaml": "single", "compose-nodes.yaml": "nodes"} {
		t.Run(name, func(t *testing.T) {
			load := func(env string) *cli.ProjectOptions {
				t.Helper()
				path := filepath.Join(t.TempDir(), ".env")
				if err := os.WriteFile(path, []byte(env), 0o600); err != nil {
					t.Fatal(err)
				}
				options, err := cli.NewProjectOptions([]string{filepath.Join("..", "..", "deploy", name)}, cli.WithEnvFiles(path), cli.WithDotEnv)
				if err != nil {
					t.Fatal(err)
				}
				return options
			}
			example := string(file(t, folder+"/env.example"))
			if _, err := load(example).LoadProject(t.Context()); err == nil || !strings.Contains(err.Error(), "set it in .env") {
				t.Errorf("without secrets: %v, want to be told where they go", err)
			}
			project, err := load(strings.ReplaceAll(example, "=\n", "=0123456789abcdef\n")).LoadProject(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range project.Services {
				for _, v := range s.Volumes {
					if _, err := os.Stat(v.Source); v.Type == "bind" && err != nil {
						t.Errorf("%s: %v", s.Name, err)
					}
				}
				for _, p := range s.Ports {
					if p.HostIP != "127.0.0.1" {
						t.Errorf("%s: the port %s is open to %q", s.Name, p.Published, p.HostIP)
					}
				}
				if s.Build != nil && (s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= 30*time.Second) {
					t.Errorf("%s: %v to stop, which is less than gateway.shutdown_timeout", s.Name, s.StopGracePeriod)
				}
			}
		})
	}
}
