//go:build coding

package clients

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// coder is a coding client: a program that a person talks to, one message a
// run.
type coder struct {
	name    string // of its default agent
	program string // in coding/node_modules/.bin
	// files are written into its home before it starts, env is added to its
	// environment; %s is the address of the gateway.
	files map[string]string
	env   []string
	first []string // arguments before the first message
	next  []string // arguments before a later one of the same session
	// failing is a tool call whose answer is the same error each time.
	failing []fakellm.ToolCall
}

var coders = []*coder{
	{
		name: "claude-code", program: "claude",
		env: []string{
			"ANTHROPIC_BASE_URL=%s", "ANTHROPIC_API_KEY=sk-ant-client-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		},
		first:   []string{"--print"},
		next:    []string{"--continue", "--print"},
		failing: []fakellm.ToolCall{{Name: "Read", Arguments: `{"file_path":"/srv/settings-that-nobody-wrote.json"}`}},
	},
	{
		name: "codex", program: "codex",
		files: map[string]string{".codex/config.toml": "openai_base_url = \"%s/v1\"\nmodel = \"gpt-5.1-codex\"\n"},
		env:   []string{"CODEX_API_KEY=sk-client-key"},
		first: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
		next:  []string{"exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
		failing: []fakellm.ToolCall{
			{Name: "shell_command", Arguments: `{"command":"cat /srv/settings-that-nobody-wrote.json"}`},
			{Name: "exec_command", Arguments: `{"cmd":"cat /srv/settings-that-nobody-wrote.json"}`},
			{Name: "shell", Arguments: `{"command":["cat","/srv/settings-that-nobody-wrote.json"]}`},
		},
	},
	{
		// It counts equal tool calls itself and gives up at the fifth, about
		// when haltd would: that is off here.
		name: "gemini-cli", program: "gemini",
		files:   map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true,"disableUpdateNag":true},"model":{"disableLoopDetection":true}}`},
		env:     []string{"GOOGLE_GEMINI_BASE_URL=%s", "GEMINI_API_KEY=client-key"},
		first:   []string{"--skip-trust", "--yolo", "--model", "gemini-2.5-flash", "--prompt"},
		next:    []string{"--skip-trust", "--yolo", "--model", "gemini-2.5-flash", "--resume", "latest", "--prompt"},
		failing: []fakellm.ToolCall{{Name: "read_file", Arguments: `{"file_path":"settings-that-nobody-wrote.json"}`}},
	},
	{
		name: "opencode", program: "opencode",
		files: map[string]string{"work/opencode.json": `{"model":"lab/lab-model","small_model":"lab/lab-model","autoupdate":false,"share":"disabled","provider":{"lab":{"npm":"@ai-sdk/openai-compatible",
"options":{"baseURL":"%s/v1","apiKey":"sk-client-key"},"models":{"lab-model":{"name":"Lab","tool_call":true,"limit":{"context":200000,"output":8192}}}}}}`},
		env:     []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		first:   []string{"run", "--pure", "--auto"},
		next:    []string{"run", "--pure", "--auto", "--continue"},
		failing: []fakellm.ToolCall{{Name: "read", Arguments: `{"filePath":"/srv/settings-that-nobody-wrote.json"}`}},
	},
}

// TestCodingClients has each coding client loop in its first turn: haltd ends
// the turn, and the next message of its person goes on in the same session,
// without anybody's help.
func TestCodingClients(t *testing.T) {
	for _, c := range coders {
		t.Run(c.name, func(t *testing.T) {
			var stuck atomic.Bool
			stuck.Store(true)
			llm, fake := harness.Provider(t, func(r fakellm.Request) fakellm.Script { return c.answer(&r, stuck.Load()) })
			n := harness.Start(t, harness.Providers(fake)+"defaults: {kill_switch: {enabled: true}}\n")
			home := c.home(t, n.Gateway)

			said := c.run(t, home, n.Gateway, c.first, "Please tell me the port that the settings name.")
			if !strings.Contains(said, "Send a message to continue") {
				t.Fatalf("the client does not show how to go on:\n%s", said)
			}
			halt := n.Events(t, "agent="+c.name+"&type=halt", 1)[0]
			if i := incident(t, n, halt.Incident); i.Action != haltd.Halt || i.Status != haltd.IncidentOpen {
				t.Fatalf("incident %s %s, want an open halt", i.Action, i.Status)
			}
			if state := stateOf(t, n, c.name, halt.Session); state != haltd.SessionHalted {
				t.Errorf("the session is %s after the first turn, want halted", state)
			}
			rounds := len(llm.Requests())

			stuck.Store(false)
			said = c.run(t, home, n.Gateway, c.next, "There is no such file. Use the default port, and tell me which that is.")
			if !strings.Contains(said, atLast) {
				t.Errorf("the client does not show the answer of the second turn:\n%s", said)
			}
			if i := incident(t, n, halt.Incident); i.Status != haltd.IncidentContinued || i.Note != "continued by a person" || i.ClosedAt == nil {
				t.Errorf("incident %s %q, want it continued by a person and closed", i.Status, i.Note)
			}
			if state := stateOf(t, n, c.name, halt.Session); state != haltd.SessionActive {
				t.Errorf("the session is %s after the second turn, want active", state)
			}
			t.Logf("%d requests reached the provider before the halt, %d in all", rounds, len(llm.Requests()))
		})
	}
}

const atLast = "The default port is 8080."

// answer is what the model says: as long as it is stuck, the call that fails.
// Side calls, which declare no such tool, get a text.
func (c *coder) answer(r *fakellm.Request, stuck bool) fakellm.Script {
	for _, tool := range r.Ask.Tools {
		for _, call := range c.failing {
			if stuck && tool.Name == call.Name {
				return fakellm.Script{ToolCalls: []fakellm.ToolCall{call}}
			}
		}
	}
	return fakellm.Script{Text: atLast}
}

// home is a new home folder, with a folder to work in.
func (c *coder) home(t *testing.T, gateway string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range c.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "%s", gateway)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// run sends one message with the client and answers all that it printed. It
// reaches nothing but this machine.
func (c *coder) run(t *testing.T, home, gateway string, args []string, message string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	program, err := filepath.Abs(filepath.Join("coding", "node_modules", ".bin", c.program))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append(args[:len(args):len(args)], message)...)
	cmd.Dir = filepath.Join(home, "work")
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1",
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}
	for _, e := range c.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(e, "%s", gateway))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run() // a turn that was halted may end with a failure
	if ctx.Err() != nil {
		t.Fatalf("%s does not end: %v\n%s", c.name, err, &out)
	}
	return out.String()
}

func incident(t *testing.T, n *harness.Node, id string) (i haltd.Incident) {
	t.Helper()
	n.Must(t, http.MethodGet, "/v1/incidents/"+id, nil, &i)
	return i
}

func stateOf(t *testing.T, n *harness.Node, agent, session string) haltd.SessionState {
	t.Helper()
	var page struct{ Sessions []haltd.Session }
	n.Must(t, http.MethodGet, fmt.Sprintf("/v1/sessions?agent=%s&search=%s", agent, url.QueryEscape(session)), nil, &page)
	if len(page.Sessions) != 1 {
		t.Fatalf("%d sessions %s of %s", len(page.Sessions), session, agent)
	}
	return page.Sessions[0].State
}
