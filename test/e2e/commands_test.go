package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// run runs a command that must succeed and answers what it printed.
func (n *node) run(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := n.CLI(t, args...)
	if code != 0 {
		t.Fatalf("haltd %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// fails runs a command that must end with this code and say these words.
func (n *node) fails(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	if out, errs, got := n.CLI(t, args...); got != code || !strings.Contains(errs, says) {
		t.Errorf("haltd %s: exit %d\n%s%s\nwant exit %d and %q", strings.Join(args, " "), got, out, errs, code, says)
	}
}

func TestPoliciesAndRulesByCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")

	t.Run("agents set", func(t *testing.T) {
		out := s.run(t, "agents", "set", "billing-bot", "--kill-switch", "on", "--budget-day", "10", "kill_switch.threshold=8", "rate_limits.requests_per_minute=60")
		for _, want := range []string{"kill_switch.enabled", "kill_switch.threshold", "budgets.day.hard_usd", "has not called yet", "haltd channels add"} {
			if !strings.Contains(out, want) {
				t.Errorf("it says nothing of %s:\n%s", want, out)
			}
		}
		var got struct{ Policy haltd.Policy }
		s.Must(t, "GET", "/v1/agents/billing-bot", nil, &got)
		p := got.Policy
		if !p.KillSwitch.Enabled || p.KillSwitch.Threshold != 8 || p.Budgets.Day.HardUSD != 10*haltd.Dollar || p.Rates.Requests != 60 {
			t.Errorf("the policy is %+v", p)
		}
		if out := s.run(t, "agents", "show", "billing-bot"); !strings.HasSuffix(out, " -\n") {
			t.Errorf("agents show of an agent that never called:\n%s", out)
		}
		s.run(t, "agents", "set", "billing-bot", "--budget-month", "100.50")
		s.run(t, "agents", "set", "billing-bot", "--kill-switch", "off")
		s.run(t, "agents", "set", "billing-bot", "--default", "rate_limits")
		s.Must(t, "GET", "/v1/agents/billing-bot", nil, &got)
		p = got.Policy
		if p.KillSwitch.Enabled || p.Budgets.Day.HardUSD != 10*haltd.Dollar || p.Budgets.Month.HardUSD != 1005*haltd.Dollar/10 || p.Rates.Requests != 0 {
			t.Errorf("afterwards the policy is %+v; want the day's budget kept, the month's set, the switch off, the rates as by default", p)
		}
		for _, bad := range []struct {
			says string
			args []string
		}{
			{"nothing to set", nil},
			{"Did you mean kill_switch.threshold?", []string{"kill_switch.treshold=8"}},
			{"a number", []string{"--budget-day", "ten"}},
			{"Use kill_switch", []string{"--default", "everything"}},
			{"set twice", []string{"--kill-switch", "on", "kill_switch.enabled=off"}},
		} {
			s.fails(t, 2, bad.says, append([]string{"agents", "set", "billing-bot"}, bad.args...)...)
		}
		s.fails(t, 1, "kill_switch.threshold", "agents", "set", "billing-bot", "kill_switch.threshold=-1")
	})

	t.Run("what the API refuses is said in commands", func(t *testing.T) {
		s.fails(t, 1, "expected number <= 99.9. Run haltd agents set --help", "agents", "set", "billing-bot", "kill_switch.kill_at=900")
		s.fails(t, 1, "expected 1 to 30000, got 0. Run haltd rules add --help", "rules", "add", "--name", "x", "--action", "throttle")
		s.fails(t, 1, "haltd tokens ls lists what there is", "tokens", "revoke", "tok_none")
		s.fails(t, 1, "haltd keys ls lists what there is", "keys", "set", "key_none", "--budget-day", "5")
	})

	t.Run("rules", func(t *testing.T) {
		a := s.agent(t)
		s.run(t, "rules", "add", "--name", "no echo", "--action", "block", "--when", "agent="+a.id, "--when", "model_pattern=ec*", "--when", "day_of_week=mon,tue,wed,thu,fri,sat,sun")
		call := func() int { return a.send(request{model: "echo", messages: []message{user("hello")}}).status }
		if status := call(); status != 400 {
			t.Errorf("a call that the rule blocks is answered %d", status)
		}
		if out := s.run(t, "rules", "ls"); !strings.Contains(out, "model_pattern=ec* agent="+a.id+" day_of_week=mon,tue") {
			t.Errorf("rules ls does not say when:\n%s", out)
		}
		s.run(t, "rules", "off", "no echo")
		if status := call(); status != 200 {
			t.Errorf("with the rule off the call is answered %d", status)
		}
		s.run(t, "rules", "on", "no echo")
		if status := call(); status != 400 {
			t.Errorf("with the rule on again the call is answered %d", status)
		}
		s.run(t, "rules", "rm", "no echo")
		if status := call(); status != 200 {
			t.Errorf("without the rule the call is answered %d", status)
		}
		s.fails(t, 2, "Did you mean model?", "rules", "add", "--name", "x", "--action", "warn", "--when", "modle=a")
		s.fails(t, 1, "There is no rule", "rules", "rm", "no echo")
		s.fails(t, 2, "Run haltd rules add --help", "rules", "add", "--condition", "model=a")
	})
}

// A backup is made while haltd runs; restored on another machine, a killed
// agent is killed, a key works and a channel can be used.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	file := filepath.Join(t.TempDir(), "haltd.tar.gz")
	s.run(t, "agents", "set", "billing-bot", "--budget-day", "10")
	s.run(t, "agents", "kill", "billing-bot", "--reason", "before the backup")
	s.run(t, "channels", "add", "slack", "--name", "ops", "--url", "https://hooks.slack.com/services/T0/B0/x")
	s.run(t, "backup", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v; want mode 0600", info, err)
	}
	s.fails(t, 1, "there already", "backup", file)
	s.fails(t, 1, "Another haltd uses", "restore", file, "--replace")
	s.run(t, "agents", "kill", "billing-bot", "--reason", "after the backup")

	other := &node{harness.New(t, t.TempDir())}
	other.Config.Write(t, harness.Providers(s.url))
	if err := os.MkdirAll(other.Config.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // as a service's own user has it
		if err := os.Chown(other.Config.DataDir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	other.fails(t, 1, "not a whole backup", "restore", other.Config.Path)
	other.run(t, "restore", file)
	other.fails(t, 1, "--replace", "restore", file)
	if out := other.run(t, "restore", file, "--replace"); !strings.Contains(out, "The old record is in "+filepath.Join(other.Config.DataDir, "before-restore-")) {
		t.Errorf("it does not say where the old record is:\n%s", out)
	}
	restored, err := filepath.Glob(filepath.Join(other.Config.DataDir, "*"))
	if err != nil || len(restored) < 4 {
		t.Errorf("the data directory holds %v (%v)", restored, err)
	}
	for _, path := range restored {
		if who, want := ownerOf(t, path), ownerOf(t, other.Config.DataDir); who != want {
			t.Errorf("%s belongs to %d, the data directory to %d", path, who, want)
		}
	}
	other.Run(t)
	var agent struct {
		Active   bool
		Standing haltd.Standing
		Policy   haltd.Policy
	}
	other.Must(t, "GET", "/v1/agents/billing-bot", nil, &agent)
	if agent.Active || agent.Standing.Why != "before the backup" || agent.Policy.Budgets.Day.HardUSD != 10*haltd.Dollar {
		t.Errorf("after the restore the agent is %+v", agent)
	}
	var list struct{ Channels []haltd.Channel }
	other.Must(t, "GET", "/v1/channels", nil, &list)
	if len(list.Channels) != 1 || list.Channels[0].Disabled != "" {
		t.Errorf("after the restore the channels are %+v; want one that can be used", list.Channels)
	}
	left, err := filepath.Glob(filepath.Join(other.Config.DataDir, "restore-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("the restore left %v behind", left)
	}
}

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

// The first screen of the README leads from a clone to the first kill of one's
// own agent in five commands. Building is left out here, and the agent is one
// that loops in a shell.
func TestReadmeFirstScreen(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(text), "\n", 41) // a screen
	screen := strings.Join(lines[:40], "\n")
	_, block, _ := strings.Cut(screen, "```sh\n")
	block, _, whole := strings.Cut(block, "```")
	commands := strings.Split(strings.TrimSpace(block), "\n")
	if !whole || len(commands) != 5 || !strings.HasPrefix(commands[0], "git clone ") || strings.TrimSpace(commands[1]) != "make build" {
		t.Fatalf("the first screen has the commands %q; want five, of which the first clone and build", commands)
	}
	_, url := harness.Provider(t, func(fakellm.Request) fakellm.Script {
		return fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: "get_order", Arguments: `{"id":1}`}}}
	})
	n := &node{harness.New(t, t.TempDir())}
	dir := filepath.Dir(n.Config.Path)
	env := append(os.Environ(), "HALTD_GATEWAY_LISTEN="+n.Config.Gateway, "HALTD_ADMIN_LISTEN="+n.Config.Admin,
		"HALTD_ADMIN_TOKEN="+harness.Token, "HALTD_CONFIG="+n.Config.Path)
	n.Config.Replace(t, harness.Providers(url))
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o700), os.Symlink(harness.Binary(t), filepath.Join(dir, "bin/haltd")),
		os.WriteFile(filepath.Join(dir, "my_agent.py"), []byte(looping), 0o600)); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n" + strings.Join(commands[2:3], "\n") + "\nserver=$!\ntrap 'kill $server; wait $server' EXIT\n" +
		strings.Join(commands[3:], "\n") +
		"\necho\nbin/haltd --json agents show my-agent\n"
	script = strings.ReplaceAll(strings.ReplaceAll(script, "127.0.0.1:7070", n.Config.Gateway), "python my_agent.py", "sh my_agent.py")
	shell := exec.Command("sh", "-c", script)
	shell.Dir, shell.Env = dir, env
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, shown, _ := strings.Cut(string(out), "\n{\"id\"")
	var agent struct {
		By *string `json:"deactivated_by"`
	}
	if err := json.NewDecoder(strings.NewReader(`{"id"` + shown)).Decode(&agent); err != nil || agent.By == nil || *agent.By != "kill_switch" {
		t.Errorf("the looping agent was not killed (%v):\n%s", err, out)
	}
}

// looping is an agent that gets the same answer to the same question for ever,
// until it gets another.
const looping = `history='{"role":"user","content":"Where is order 1?"}'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  status=$(curl -s -o answer.json -w '%{http_code}' -H 'Content-Type: application/json' "$OPENAI_BASE_URL/chat/completions" -d '{"model":"m","messages":['"$history"']}')
  if [ "$status" != 200 ]; then cat answer.json; exit 0; fi
  history="$history"',{"role":"assistant","content":null,"tool_calls":[{"id":"c'$i'","type":"function","function":{"name":"get_order","arguments":"{\"id\":1}"}}]},{"role":"tool","tool_call_id":"c'$i'","content":"the order service does not answer"}'
done
`
