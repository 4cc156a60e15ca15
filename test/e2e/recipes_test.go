package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/haltd/haltd/test/harness"
)

// claudeOnce stands for Claude Code: one call.
const claudeOnce = `#!/bin/sh
exec curl -sS --fail-with-body "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -H 'anthropic-version: 2023-06-01' \
  -H 'Content-Type: application/json' -d '{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'
`

// follower is somebody who does what a page says, in a folder of his own and
// with a made-up provider. Only addresses and paths of files are others.
type follower struct {
	dir, gateway, admin, provider string
	env                           []string
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	harness.Need(t, "curl")
	_, url := harness.Provider(t, harness.Scripted)
	f := &follower{dir: t.TempDir(), gateway: harness.Address(t), admin: harness.Address(t), provider: url}
	f.write(t, "bin/claude", claudeOnce, 0o755)
	if err := os.Symlink(harness.Binary(t), filepath.Join(f.dir, "bin/haltd")); err != nil {
		t.Fatal(err)
	}
	f.write(t, "slack.url", "https://hooks.slack.com/services/T000/B000/XXXX", 0o600)
	f.env = []string{
		"PATH=" + filepath.Join(f.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + f.dir,
		"OPENAI_API_KEY=sk-client", "CI_JOB_ID=4711",
	}
	return f
}

func (f *follower) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

var keyFile = regexp.MustCompile(`/etc/haltd/(\w+)\.key`)

// configure writes the configuration of a page, at this follower's addresses
// and with his provider.
func (f *follower) configure(t *testing.T, text string) {
	t.Helper()
	for _, m := range keyFile.FindAllStringSubmatch(text, -1) {
		f.write(t, m[1]+".key", "sk-provider", 0o600)
	}
	text = keyFile.ReplaceAllString(text, "$1.key")
	c := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	section(c, "gateway")["listen"] = f.gateway
	section(c, "admin")["listen"] = f.admin
	for _, name := range []string{"openai", "anthropic"} {
		section(section(c, "providers"), name)["base_url"] = f.provider
	}
	out, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, "haltd.yaml", string(out), 0o600)
}

// section is what a configuration has under a key, made where it has nothing.
func section(c map[string]any, key string) map[string]any {
	s, _ := c[key].(map[string]any)
	if s == nil {
		s = map[string]any{}
		c[key] = s
	}
	return s
}

// run types what a page says, then more, and ends what was started.
func (f *follower) run(t *testing.T, typed, more string) string {
	t.Helper()
	for _, old := range []string{"127.0.0.1:7070", "haltd.internal:7070"} {
		typed = strings.ReplaceAll(typed, old, f.gateway)
	}
	script := "set -e\ntrap 'kill $! 2>/dev/null; wait $!' EXIT\n" + typed + "\n" + more + "\n"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = f.dir, f.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, typed, out)
	}
	return string(out)
}

// events prints what haltd has recorded, as soon as there is something.
func (f *follower) events() string {
	return fmt.Sprintf(`for i in $(seq 100); do
	sleep 0.1
	events=$(curl -sS -H "Authorization: Bearer $(cat data/admin.token)" http://%s/v1/events)
	case "$events" in *'"events":[]'*) ;; *) break ;; esac
done
echo "$events"`, f.admin)
}

var fences = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// blocks are those of one language in a recipe.
func blocks(t *testing.T, recipe, language string) (all []string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n## "+recipe+"\n")
	if !ok {
		t.Fatalf("there is no recipe %s", recipe)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, m := range fences.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s: no block of %s", recipe, language)
	}
	return all
}

// Each recipe does what it says, word by word.
func TestRecipesWork(t *testing.T) {
	t.Parallel()
	for _, recipe := range []struct {
		section string
		between string // what a reader is told to do besides
		want    []string
	}{
		{"A team on Claude Code", "", []string{`"agent":"ann"`, `"client":"curl"`, `"status":200`}},
		{"Agents in CI", "HALTD_KEY=$(cat ci-fixer.key)", []string{`"agent":"ci-fixer"`, `"session":"4711"`, `"status":200`}},
		{"A public chat bot", "", []string{`"agent":"shop-bot"`, `"session":"visitor-8f14e45f"`, `"status":200`}},
		{"Batch jobs", "", []string{"night-report", "kill_switch.stateless", "22:00"}},
	} {
		t.Run(recipe.section, func(t *testing.T) {
			t.Parallel()
			f := newFollower(t)
			f.configure(t, blocks(t, recipe.section, "yaml")[0])
			typed := blocks(t, recipe.section, "sh")
			const check = "haltd config check --config haltd.yaml\n" // as the page begins
			out := f.run(t, check+strings.Join(append([]string{typed[0], recipe.between}, typed[1:]...), "\n"), f.events())
			if strings.Contains(out, "Notice:") || strings.Contains(out, "Warning:") {
				t.Errorf("haltd finds fault with the recipe:\n%s", out)
			}
			for _, want := range recipe.want {
				if !strings.Contains(out, want) {
					t.Errorf("nothing says %s:\n%s", want, out)
				}
			}
		})
	}
}

// Behind nginx, as the recipe has it, a stream arrives, and the dashboard opens by
// its name.
func TestRecipeForNginxWorks(t *testing.T) {
	t.Parallel()
	const recipe = "nginx or Envoy in front"
	f := newFollower(t)
	f.configure(t, blocks(t, recipe, "yaml")[0])
	front := harness.Address(t)
	certificate := writeCertificate(t, f.dir)
	typed := blocks(t, recipe, "sh")
	file := regexp.MustCompile(`^cp deploy/(\S+) /etc/nginx/`).FindStringSubmatch(typed[0])
	if file == nil {
		t.Fatalf("the recipe copies no file for nginx: %s", typed[0])
	}
	key := filepath.Join(f.dir, "key.pem")
	server := deployed(t, file[1], "listen 443 ssl", "listen "+front+" ssl", "127.0.0.1:7070", f.gateway, "127.0.0.1:7071", f.admin,
		"/etc/nginx/llm.example.com.crt", certificate, "/etc/nginx/llm.example.com.key", key,
		"/etc/nginx/haltd.example.com.crt", certificate, "/etc/nginx/haltd.example.com.key", key)
	harness.Nginx(t, f.dir, frontOf(server), front)
	f.env = append(f.env, "CURL_CA_BUNDLE="+certificate)
	_, port, err := net.SplitHostPort(front)
	if err != nil {
		t.Fatal(err)
	}
	// No name is resolved here: both are nginx.
	f.write(t, ".curlrc", fmt.Sprintf("connect-to = llm.example.com:443:127.0.0.1:%[1]s\nconnect-to = haltd.example.com:443:127.0.0.1:%[1]s\n", port), 0o600)
	out := f.run(t, "export HALTD_CONFIG=haltd.yaml\nhaltd serve &\nhaltd agents ls\n"+typed[len(typed)-1], "curl -sS https://haltd.example.com/readyz\n"+f.events())
	for _, want := range []string{"data: [DONE]", `"agent":"try"`, `"ready"`} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %s:\n%s", want, out)
		}
	}
}
