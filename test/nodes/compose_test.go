package nodes

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"go.yaml.in/yaml/v3"
)

const deploy = "../../deploy"

type service struct {
	Image       string
	Build       struct{ Context, Dockerfile string }
	Command     []string
	Environment map[string]string
	Volumes     []string
	Ports       []string
	DependsOn   yaml.Node `yaml:"depends_on"`
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)[^}]*\}`)

// TestComposeFile: what the file of three nodes names is there: services,
// volumes, ports, settings and variables of haltd.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	text := read(t, deploy+"/compose-nodes.yaml")
	var file struct {
		Services map[string]service
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	example := read(t, deploy+"/nodes/env.example")
	for _, name := range variable.FindAllStringSubmatch(text, -1) {
		if !strings.Contains("\n"+example, "\n"+name[1]+"=") {
			t.Errorf("env.example does not name %s", name[1])
		}
	}
	documented := read(t, "../../docs/configuration.md")
	data := map[string]bool{}
	var nodes []string
	for name, s := range file.Services {
		depends := map[string]any{}
		if s.DependsOn.Kind == yaml.SequenceNode {
			var list []string
			_ = s.DependsOn.Decode(&list)
			for _, d := range list {
				depends[d] = nil
			}
		} else if err := s.DependsOn.Decode(&depends); err != nil && s.DependsOn.Kind != 0 {
			t.Errorf("%s: depends_on: %v", name, err)
		}
		for d := range depends {
			if _, ok := file.Services[d]; !ok {
				t.Errorf("%s depends on %s, which is no service", name, d)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(source, ".") {
				read(t, filepath.Join(deploy, source))
			} else if _, ok := file.Volumes[source]; !ok || data[source] {
				t.Errorf("%s: volume %s is not declared, or another service has it", name, source)
			}
			data[source] = data[source] || !strings.HasPrefix(source, ".")
		}
		if s.Image != "haltd" {
			continue
		}
		nodes = append(nodes, name)
		if s.Build.Context != ".." || s.Build.Dockerfile != "deploy/Dockerfile" {
			t.Errorf("%s is built from %+v", name, s.Build)
		}
		checkNode(t, name, s, documented)
		for _, key := range []string{"HALTD_STORE_URL", "HALTD_STATE_URL"} {
			u, err := url.Parse(variable.ReplaceAllString(s.Environment[key], "secret"))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := file.Services[u.Hostname()]; !ok {
				t.Errorf("%s: %s leads to %q, which is no service", name, key, u.Hostname())
			}
		}
	}
	slices.Sort(nodes)
	if len(nodes) != 3 {
		t.Fatalf("nodes %v, want three", nodes)
	}
	checkProxy(t, nodes, file.Services)
}

// checkNode asks the binary whether it starts with what a service has.
func checkNode(t *testing.T, name string, s service, documented string) {
	t.Helper()
	env := []string{}
	for key, value := range s.Environment {
		if !strings.Contains(documented, "`"+key+"`") {
			t.Errorf("%s: haltd knows no variable %s", name, key)
		}
		if key != "SLACK_WEBHOOK_URL" {
			env = append(env, key+"="+variable.ReplaceAllString(value, "0123456789abcdef0123456789abcdef"))
		}
	}
	if len(s.Command) != 3 || s.Command[0] != "serve" || s.Command[1] != "--config" {
		t.Fatalf("%s runs %q", name, s.Command)
	}
	i := slices.IndexFunc(s.Volumes, func(v string) bool { return strings.HasSuffix(v, ":"+s.Command[2]+":ro") })
	if i < 0 || !slices.ContainsFunc(s.Volumes, func(v string) bool { return strings.HasSuffix(v, ":"+s.Environment["HALTD_DATA_DIR"]) }) {
		t.Fatalf("%s: its volumes %q lack its configuration or its data", name, s.Volumes)
	}
	config, _, _ := strings.Cut(s.Volumes[i], ":")
	out, errs, code := harness.CLI(t, env, "config", "check", "--config", filepath.Join(deploy, config))
	if code != 0 {
		t.Errorf("%s: haltd config check ends with %d:\n%s%s", name, code, out, errs)
	}
}

// checkProxy wants nginx to know every node, at the ports on which they listen,
// and to publish what it listens on.
func checkProxy(t *testing.T, nodes []string, services map[string]service) {
	t.Helper()
	config := read(t, deploy+"/nodes/nginx.conf")
	for _, name := range nodes {
		for _, key := range []string{"HALTD_GATEWAY_LISTEN", "HALTD_ADMIN_LISTEN"} {
			_, port, _ := net.SplitHostPort(services[name].Environment[key])
			if !strings.Contains(config, "server "+name+":"+port+";") {
				t.Errorf("nginx does not know %s:%s", name, port)
			}
		}
	}
	listens := regexp.MustCompile(`listen (\d+);`).FindAllStringSubmatch(config, -1)
	var want []string
	for _, l := range listens {
		want = append(want, "127.0.0.1:"+l[1]+":"+l[1])
	}
	if !slices.Equal(services["nginx"].Ports, want) {
		t.Errorf("nginx publishes %q and listens on %q", services["nginx"].Ports, want)
	}
}

// behindNginx runs nginx as deploy/ configures it before the nodes of a test.
func behindNginx(t *testing.T, c *cluster) {
	gateway, admin := harness.Address(t), harness.Address(t)
	changes := []string{"listen 7070;", "listen " + gateway + ";", "listen 7071;", "listen " + admin + ";"}
	for i, n := range c.nodes {
		name := "haltd-" + string(rune('1'+i))
		changes = append(changes, name+":7070", strings.TrimPrefix(n.Gateway, "http://"), name+":7071", strings.TrimPrefix(n.Admin, "http://"))
	}
	harness.Nginx(t, t.TempDir(), strings.NewReplacer(changes...).Replace(read(t, deploy+"/nodes/nginx.conf")), gateway, admin)
	front := harness.At(t.TempDir(), gateway, admin)
	for i := range 6 {
		r := request{agent: "fronted", model: "echo", stream: i%2 == 0, reply: fakellm.Script{Text: "one two three", Chunks: 3}}
		if status, reason := ask(t, front, r); status != http.StatusOK {
			t.Errorf("a call through nginx: %d %s", status, reason)
		}
	}
	seen := map[string]bool{}
	for range 6 {
		var s status
		front.Must(t, "GET", "/v1/status", nil, &s)
		seen[s.Node] = true
	}
	if len(seen) != len(c.nodes) {
		t.Errorf("nginx leads to %d nodes of %d", len(seen), len(c.nodes))
	}
	front.Must(t, "POST", "/v1/agents/fronted/deactivate", nil, nil)
	c.everywhere(t, "stopping what was stopped through nginx", func(*harness.Node) bool {
		status, _ := ask(t, front, request{agent: "fronted", model: "echo"})
		return status == http.StatusBadRequest
	})
}
