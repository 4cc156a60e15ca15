package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd/test/fakellm"
)

const token = "admin-token-of-the-tests"

// patience is how long to wait for what another process does.
const patience = 20 * time.Second

// node is a running haltd before a fake provider.
type node struct {
	gateway, admin string
	command        *exec.Cmd
	out            *output
	exited         chan error
}

// output collects what a process prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

const settings = `gateway: {listen: %q}
admin: {listen: %q, token: %q}
data_dir: ./data
providers: {openai: {base_url: %q}}
`

// allowInternal lets alerts go to this machine.
const allowInternal = "alerts: {allow_internal: [127.0.0.1]}\n"

// start runs a haltd with more configuration.
func start(t *testing.T, more string) *node {
	t.Helper()
	return startIn(t, t.TempDir(), more)
}

// startIn runs a haltd in a folder, on the record that may be there.
func startIn(t *testing.T, folder, more string) *node {
	t.Helper()
	upstream := httptest.NewServer(fakellm.New(scripted))
	t.Cleanup(upstream.Close)
	n := &node{gateway: freeAddress(t), admin: freeAddress(t)}
	n.run(t, folder, upstream.URL, more)
	return n
}

func (n *node) run(t *testing.T, folder, upstream, more string) {
	t.Helper()
	needDashboard(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	yaml := fmt.Sprintf(settings, n.gateway, n.admin, token, upstream) + more
	if err := os.WriteFile(filepath.Join(folder, "haltd.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	n.out, n.exited = &output{}, make(chan error, 1)
	n.command = exec.Command(binary, "serve", "--config", "haltd.yaml")
	n.command.Dir, n.command.Stdout, n.command.Stderr = folder, n.out, n.out
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { n.exited <- n.command.Wait() }()
	t.Cleanup(func() { n.stop(t) })
	n.eventually(t, "ready", func() bool {
		res, err := http.Get("http://" + n.admin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

func (n *node) stop(t *testing.T) {
	_ = n.command.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-n.exited:
		if err != nil {
			t.Errorf("haltd ended with %v:\n%s", err, n.out)
		}
	case <-time.After(2 * patience):
		_ = n.command.Process.Kill()
		t.Errorf("haltd did not stop:\n%s", n.out)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (n *node) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		select {
		case err := <-n.exited:
			n.exited <- err
			t.Fatalf("haltd ended (%v) before it was %s:\n%s", err, what, n.out)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("haltd is not %s:\n%s", what, n.out)
		}
	}
}

// link is the one-time link that haltd prints at its start.
func (n *node) link(t *testing.T) string {
	t.Helper()
	var found string
	n.eventually(t, "printing its link", func() bool {
		found = regexp.MustCompile(`http://\S+/sign-in#code=\w+`).FindString(n.out.String())
		return found != ""
	})
	return found
}

// api asks the admin API and decodes a good answer.
func (n *node) api(t *testing.T, method, path string, body, into any) {
	t.Helper()
	if status, raw := n.ask(t, method, path, body); status > 299 {
		t.Fatalf("%s %s: %d %s", method, path, status, raw)
	} else if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s %s: %s: %v", method, path, raw, err)
		}
	}
}

func (n *node) ask(t *testing.T, method, path string, body any) (int, []byte) {
	t.Helper()
	var b io.Reader
	if body != nil {
		j, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.NewReader(j)
	}
	req, err := http.NewRequest(method, "http://"+n.admin+path, b)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, raw
}

// standing is whether an agent may call, as the API says.
type standing struct {
	Active        bool    `json:"active"`
	DeactivatedBy *string `json:"deactivated_by"`
	Standing      struct {
		GraceUntil *time.Time `json:"grace_until"`
		Incident   string     `json:"incident"`
	} `json:"standing"`
	Policy struct {
		KillSwitch struct {
			Enabled    bool    `json:"enabled"`
			WindowSize int     `json:"window_size"`
			Threshold  float64 `json:"threshold"`
			WarnAt     float64 `json:"warn_at"`
			KillAt     float64 `json:"kill_at"`
		} `json:"kill_switch"`
	} `json:"policy"`
}

func (n *node) standing(t *testing.T, agent string) (s standing) {
	t.Helper()
	n.api(t, "GET", "/v1/agents/"+agent, nil, &s)
	return s
}

// incident is one as the API tells of it.
type incident struct {
	ID       string `json:"id"`
	Agent    string `json:"agent"`
	Status   string `json:"status"`
	Sentence string `json:"sentence"`
	Note     string `json:"note"`
	Detector string `json:"detector"`
	Verdict  struct {
		Certainty float64 `json:"certainty"`
	} `json:"verdict"`
}

func (n *node) incident(t *testing.T, id string) (i incident) {
	t.Helper()
	n.api(t, "GET", "/v1/incidents/"+id, nil, &i)
	return i
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }
