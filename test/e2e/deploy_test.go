package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"go.yaml.in/yaml/v3"
)

// deployed is a file of deploy/, with what a user puts in put in.
func deployed(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("deploy/%s does not say %q", name, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

// frontOf is the configuration of an nginx that has these servers alone.
func frontOf(servers string) string { return "events {}\nhttp {\naccess_log off;\n" + servers + "}\n" }

// Behind nginx and Caddy, as deploy/ has them, streams and the dashboard arrive,
// and haltd knows who calls.
func TestProxiesInFrontWork(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url)+"trusted_proxies: [127.0.0.1]\n")
	for name, launch := range map[string]func(t *testing.T, dir, certificate, agents, people string) *harness.Process{
		"nginx": func(t *testing.T, dir, certificate, agents, people string) *harness.Process {
			key := filepath.Join(dir, "key.pem")
			servers := deployed(t, "proxy/nginx.conf", "127.0.0.1:7070", strings.TrimPrefix(n.Gateway, "http://"), "127.0.0.1:7071", strings.TrimPrefix(n.Admin, "http://"),
				"/etc/nginx/llm.example.com.crt", certificate, "/etc/nginx/llm.example.com.key", key,
				"/etc/nginx/haltd.example.com.crt", certificate, "/etc/nginx/haltd.example.com.key", key)
			servers = strings.Replace(servers, "listen 443 ssl", "listen "+agents+" ssl", 1)
			servers = strings.Replace(servers, "listen 443 ssl", "listen "+people+" ssl", 1)
			return harness.Nginx(t, dir, frontOf(servers), agents, people)
		},
		"caddy": func(t *testing.T, dir, certificate, agents, people string) *harness.Process {
			// No name, and no authority to ask for certificates, is to be had here.
			own := "{\n\ttls " + certificate + " " + filepath.Join(dir, "key.pem")
			sites := deployed(t, "proxy/Caddyfile", "127.0.0.1:7070", strings.TrimPrefix(n.Gateway, "http://"), "127.0.0.1:7071", strings.TrimPrefix(n.Admin, "http://"),
				"\nllm.example.com {", "\nhttps://"+agents+" "+own, "\nhaltd.example.com {", "\nhttps://"+people+" "+own)
			config := filepath.Join(dir, "Caddyfile")
			writeFile(t, config, "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+sites)
			cmd := exec.Command(harness.Need(t, "caddy"), "run", "--config", config, "--adapter", "caddyfile")
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			p, err := harness.Launch(cmd)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Stop() }) // it says that it was told to
			if err := p.AwaitListening(t.Context(), agents, people); err != nil {
				t.Fatal(err)
			}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			agents, people := harness.Address(t), harness.Address(t)
			p := launch(t, dir, writeCertificate(t, dir), agents, people)
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			status, body := through(t, client, "POST", "https://"+agents+"/agents/behind-"+name+"/v1/chat/completions", strings.Replace(chat, "{", `{"stream":true,`, 1))
			if status != 200 || !strings.Contains(body, "data: [DONE]") {
				t.Errorf("a stream: %d %s\n%s says: %s", status, body, name, p.Log())
			}
			if status, body = through(t, client, "GET", "https://"+people+"/readyz", ""); status != 200 {
				t.Errorf("the admin listener: %d %s", status, body)
			}
			n.Events(t, "agent=behind-"+name, 1)
		})
	}
}

func through(t *testing.T, client *http.Client, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// systemd knows every line of the unit, and finds little that it leaves open.
func TestTheUnitIsHardened(t *testing.T) {
	t.Parallel()
	systemd := harness.Need(t, "systemd-analyze")
	unit := filepath.Join(t.TempDir(), "haltd.service")
	writeFile(t, unit, deployed(t, "systemd/haltd.service", "/usr/local/bin/haltd", harness.Binary(t)))
	if out, err := exec.Command(systemd, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command(systemd, "security", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("exposed to more than 2.0 of 10: %v\n%s", err, out)
	}

	// The file that the page puts beside it leaves the record where the unit
	// may write.
	page, err := os.ReadFile("../../docs/deployment.md")
	if err != nil {
		t.Fatal(err)
	}
	installed := regexp.MustCompile(`install -m 0644 (\S+) /etc/haltd/haltd.yaml`).FindSubmatch(page)
	if installed == nil {
		t.Fatal("docs/deployment.md installs no configuration")
	}
	from := string(installed[1])
	if !filepath.IsAbs(from) {
		from = filepath.Join("../..", from)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "haltd.yaml")
	writeFile(t, config, string(text))
	if out, errs, code := harness.CLI(t, []string{"HALTD_DATA_DIR=/var/lib/haltd"}, "config", "print", "--config", config); code != 0 || !strings.Contains(out, "data_dir: /var/lib/haltd\n") {
		t.Errorf("as docs/deployment.md has it, the record is elsewhere: exit %d\n%s%s", code, out, errs)
	}
}

// What compose starts is a configuration that haltd takes, in a container that
// may do nothing else.
func TestComposeStartsWhatHaltdTakes(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"compose.yaml": "single", "compose-nodes.yaml": "nodes"} {
		var file struct {
			Services map[string]struct {
				Image       string
				Build       struct{ Dockerfile string }
				Command     []string
				Environment map[string]string
				ReadOnly    bool     `yaml:"read_only"`
				CapDrop     []string `yaml:"cap_drop"`
				SecurityOpt []string `yaml:"security_opt"`
				User        string
			}
		}
		if err := yaml.Unmarshal([]byte(deployed(t, name)), &file); err != nil {
			t.Fatal(err)
		}
		nodes := 0
		for service, s := range file.Services {
			if s.Image != "haltd" {
				continue
			}
			nodes++
			if !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || s.User != "65532:65532" || len(s.SecurityOpt) == 0 {
				t.Errorf("%s: %s may do more than it needs: %+v", name, service, s)
			}
			if _, err := os.Stat(filepath.Join("..", "..", s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			env := []string{"HALTD_DATA_DIR=" + t.TempDir()}
			for key, value := range s.Environment {
				if key != "HALTD_DATA_DIR" {
					env = append(env, key+"="+regexp.MustCompile(`\$\{\w+:\?[^}]*\}`).ReplaceAllString(regexp.MustCompile(`\$\{\w+:-\}`).ReplaceAllString(value, ""), strings.Repeat("0123456789abcdef", 4)))
				}
			}
			if out, errs, code := harness.CLI(t, env, "config", "check", "--config", filepath.Join("..", "..", "deploy", config, "haltd.yaml")); code != 0 {
				t.Errorf("%s: %s: haltd does not take its configuration: %s%s", name, service, out, errs)
			}
		}
		if nodes == 0 {
			t.Errorf("%s starts no haltd", name)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
