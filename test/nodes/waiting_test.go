package nodes

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

// get asks an address and answers with the status and the body; 0 where nobody
// answers.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestANodeWaitsForItsDatabase: nodes are replaced while PostgreSQL fails over.
// One that starts meanwhile says what it waits for and that it is not ready,
// takes no connection for calls, because it does not know who is stopped, and
// goes on by itself. The other node serves.
func TestANodeWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	here, waits := c.nodes[0], c.nodes[1]
	here.Must(t, "POST", "/v1/agents/dead/deactivate", nil, nil)
	for _, fault := range []struct {
		name       string
		begin, end func(testing.TB)
		says       string
	}{
		{"stopped", c.database.Stop, c.database.Start, "cannot be reached"},
		{"frozen", c.database.Freeze, c.database.Thaw, "does not answer"},
		{"a replica yet", func(t testing.TB) { c.database.SetReadOnly(t, true) }, func(t testing.TB) { c.database.SetReadOnly(t, false) }, "is read only"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			waits.Stop(t)
			fault.begin(t)
			waits.Launch(t)
			waits.Eventually(t, "saying that it is not ready", func() bool {
				status, body := get(t, waits.Admin+"/readyz")
				return status == http.StatusServiceUnavailable && strings.Contains(body, "waits for the database of store.url")
			})
			waits.Eventually(t, "saying what it waits for", func() bool {
				return strings.Contains(waits.Log(), "haltd waits for the database") && strings.Contains(waits.Log(), c.database.Address) && strings.Contains(waits.Log(), fault.says)
			})
			if status, body := get(t, waits.Admin+"/healthz"); status != http.StatusOK {
				t.Errorf("the process is well, and /healthz answers %d %s", status, body)
			}
			if status, _ := get(t, waits.Gateway+"/healthz"); status != 0 {
				t.Errorf("a load balancer that tries it is answered %d, want no connection", status)
			}
			if status, _ := ask(t, here, request{agent: "plain", model: "echo"}); status != http.StatusOK {
				t.Errorf("a call at the other node: %d", status)
			}
			waits.HangUp(t)
			if said, healthy := doctor(t, waits); healthy || !strings.Contains(said, "waits for the database") {
				t.Errorf("doctor is content:\n%s", said)
			}
			waits.Stop(t) // a node that waits can be stopped as well
			waits.Launch(t)
			fault.end(t)
			waits.Eventually(t, "ready", func() bool {
				status, _ := get(t, waits.Admin+"/readyz")
				return status == http.StatusOK
			})
			if status, _ := ask(t, waits, request{agent: "dead", model: "echo"}); status != http.StatusBadRequest {
				t.Errorf("a stopped agent at the node that waited: %d", status)
			}
			if status, _ := ask(t, waits, request{agent: "plain", model: "echo"}); status != http.StatusOK {
				t.Errorf("a call at the node that waited: %d", status)
			}
		})
	}
	// What only a person can change is not waited for.
	n := harness.New(t, t.TempDir())
	n.Config.Write(t, c.yaml+"store: {url: \""+strings.Replace(c.database.URL, "/postgres?", "/nowhere?", 1)+"\"}\n")
	if out, errs, code := harness.CLI(t, nil, "serve", "--config", n.Config.Path); code == 0 || !strings.Contains(out+errs, "does not exist. Create it") {
		t.Errorf("with a database that nobody made haltd ends with %d and says:\n%s%s", code, out, errs)
	}
}
