package nodes

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// documented is the command that docs/scaling.md has, by its first word.
func documented(t *testing.T, program string) string {
	t.Helper()
	commands := regexp.MustCompile("`(" + program + " [^`]+)`").FindStringSubmatch(read(t, "../../docs/scaling.md"))
	if commands == nil {
		t.Fatalf("docs/scaling.md has no command %s", program)
	}
	return commands[1]
}

// TestBackupOfADatabase does what docs/scaling.md says, word by word: a backup
// while nodes run, and a restore while none does.
func TestBackupOfADatabase(t *testing.T) {
	t.Parallel()
	c := start(t, 2, "excerpts: on\n")
	folder := t.TempDir()
	run := func(command string) {
		t.Helper()
		tools, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
		cmd := exec.Command("sh", "-e", "-c", command)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "HALTD_STORE_URL="+c.database.URL, "PATH="+os.Getenv("PATH")+":"+strings.Join(tools, ":"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	calls := func(agent string) {
		t.Helper()
		for i := range 10 {
			ask(t, c.nodes[i%2], request{agent: agent, model: dear, reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 10, Output: 10}}})
		}
		c.nodes[0].Events(t, "agent="+agent+"&type=llm_call", 10)
	}
	shown := func() map[string]any {
		t.Helper()
		all := map[string]any{}
		for _, path := range []string{"/v1/agents", "/v1/events?limit=500", "/v1/sessions", "/v1/rules", "/v1/keys", sums, "/v1/audit"} {
			var got any
			c.nodes[0].Must(t, "GET", path, nil, &got)
			all[path] = got
		}
		return all
	}
	calls("before")
	c.nodes[0].Must(t, "POST", "/v1/agents/before/deactivate", map[string]any{"reason": "enough"}, nil)
	c.nodes[0].Must(t, "POST", "/v1/rules", map[string]any{"name": "r", "enabled": true, "condition": map[string]any{"model": "x"}, "action": "block"}, nil)
	c.nodes[0].Must(t, "POST", "/v1/keys", map[string]any{"agent": "keyed"}, nil)
	before := shown()
	run(documented(t, "pg_dump"))

	calls("after")
	c.nodes[1].Must(t, "POST", "/v1/agents/before/activate", nil, nil)
	for _, n := range c.nodes {
		n.Stop(t)
	}
	run(documented(t, "pg_restore"))
	c.run(t)
	if diff := cmp.Diff(before, shown()); diff != "" {
		t.Errorf("after the restore (-before +after):\n%s", diff)
	}
	if status, _ := ask(t, c.nodes[1], request{agent: "before", model: "echo"}); status != http.StatusBadRequest {
		t.Errorf("an agent that was stopped when the backup was made: %d", status)
	}
	// New rows are numbered after the old ones, and nodes follow each other.
	c.nodes[0].Must(t, "POST", "/v1/keys", map[string]any{"agent": "keyed"}, nil)
	calls("again")
	c.nodes[0].Must(t, "POST", "/v1/agents/again/deactivate", nil, nil)
	c.everywhere(t, "refusing who was stopped after the restore", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "again", model: "echo"})
		return status == http.StatusBadRequest
	})
	if events := c.nodes[1].AllEvents(t, fmt.Sprintf("agent=%s&limit=100", "after")); len(events) > 0 {
		t.Errorf("%d events of after the backup are there", len(events))
	}
}
