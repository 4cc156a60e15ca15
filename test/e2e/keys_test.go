package e2e

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// operatorKey is the provider's key that haltd puts in.
const operatorKey = "sk-of-the-operator"

// keyed is a haltd with the operator's keys, and a gateway key of billing-bot.
func keyed(t *testing.T) (n *node, llm *fakellm.Server, secret string) {
	t.Helper()
	llm, url := provider(t)
	n = start(t, fmt.Sprintf(`providers:
  openai: {base_url: %[1]q, api_key: %[2]s}
  anthropic: {base_url: %[1]q, api_key: %[2]s}
  gemini: {base_url: %[1]q, api_key: %[2]s}
`, url, operatorKey))
	var made struct{ Secret string }
	n.Must(t, "POST", "/v1/keys", map[string]any{"agent": "billing-bot"}, &made)
	return n, llm, made.Secret
}

func TestGatewayKeys(t *testing.T) {
	t.Parallel()
	n, llm, secret := keyed(t)

	t.Run("A gateway key opens what generates or reads", func(t *testing.T) {
		auth := []string{"Authorization", "Bearer " + secret}
		for _, r := range []struct{ method, path, reason string }{
			{"GET", "/openai/v1/models", ""},
			{"GET", "/openai/v1/responses/resp_1", ""},
			{"DELETE", "/openai/v1/files/file-1", "path_not_allowed"},
			{"DELETE", "/openai/v1/models/ft:m", "path_not_allowed"},
			{"GET", "/openai/v1/organization/users", "path_not_allowed"},
			{"POST", "/openai/v1/organization/admin_api_keys", "path_not_allowed"},
			{"POST", "/openai/v1/realtime/client_secrets", "path_not_allowed"},
			{"POST", "/openai/v1/fine_tuning/jobs", "path_not_allowed"},
			{"GET", "/anthropic/v1/organizations/api_keys", "path_not_allowed"},
			{"PATCH", "/gemini/v1beta/tunedModels/m", "path_not_allowed"},
			{"DELETE", "/gemini/v1beta/files/f", "path_not_allowed"},
			{"GET", "/openai/v1/models/..;/organization/users", "path_not_allowed"},
			{"GET", "/gemini/v1beta/files/f?a=1&%24http%4dethod=DELETE", "method_not_allowed"},
			{"GET", "/gemini/v1beta/files/f?a=1;$httpMethod=DELETE", "method_not_allowed"},
		} {
			before := len(llm.Requests())
			status, header, body := ask(t, r.method, n.Gateway+r.path, auth...)
			reached := len(llm.Requests()) - before
			switch {
			case r.reason == "" && (reached != 1 || header.Get("X-Haltd-Reason") != ""):
				t.Errorf("%s %s: %d %s; want it forwarded", r.method, r.path, status, body)
			case r.reason != "" && (reached != 0 || status != 403 || header.Get("X-Haltd-Reason") != r.reason || !strings.Contains(body, `"message"`)):
				t.Errorf("%s %s: %d %v %s, forwarded %d; want 403 %s in the provider's shape", r.method, r.path, status, header, body, reached, r.reason)
			}
		}
		for _, name := range []string{"X-HTTP-Method-Override", "x_http_method_override"} {
			before := len(llm.Requests())
			if status, header, body := ask(t, "POST", n.Gateway+"/gemini/v1beta/files", append(auth, name, "DELETE")...); status != 403 || len(llm.Requests()) != before {
				t.Errorf("%s: %d %v %s; want 403", name, status, header, body)
			}
		}
		if status, _, body := ask(t, "DELETE", n.Gateway+"/openai/v1/files/file-1", "Authorization", "Bearer sk-own"); status == 403 {
			t.Errorf("DELETE with the client's own key: %d %s; that is its own business", status, body)
		}
	})

	t.Run("TRACE and CONNECT never pass", func(t *testing.T) {
		before := len(llm.Requests())
		for _, key := range []string{secret, "sk-own"} {
			for _, line := range []string{"TRACE /openai/v1/models", "CONNECT api.openai.com:443", "CONNECT /openai/v1/models"} {
				conn, err := net.Dial("tcp", strings.TrimPrefix(n.Gateway, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", line, key)
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if b, _ := io.ReadAll(res.Body); res.StatusCode != 405 && res.StatusCode != 400 || strings.Contains(string(b), operatorKey) {
					t.Errorf("%s: %s %s", line, res.Status, b)
				}
				conn.Close()
			}
		}
		if n := len(llm.Requests()) - before; n != 0 {
			t.Errorf("%d of them reached the provider", n)
		}
	})

	t.Run("The cookie of the dashboard does not pass", func(t *testing.T) {
		llm.Clear()
		post(t, n.Gateway+"/v1/chat/completions", chat, "Cookie", "a=1; haltd_session=of-the-admin; b=2")
		if got := llm.Requests()[0].Header.Get("Cookie"); got != "a=1; b=2" {
			t.Errorf("the provider got the cookies %q, want those that are not haltd's", got)
		}
	})

	t.Run("A key where nobody looks for one does not pass", func(t *testing.T) {
		llm.Clear()
		login := base64.StdEncoding.EncodeToString([]byte("me:" + secret))
		for _, header := range [][]string{
			{"Authorization", "Token " + secret}, {"Authorization", "Basic " + login}, {"X-Other-Key", secret}, {"Cookie", "a=" + secret},
			{"X-Other-Key", haltd.NewTokenSecret()}, {"X-Other-Key", "haltd_session " + secret, "Authorization", "Bearer " + secret},
		} {
			if status, body := post(t, n.Gateway+"/v1/chat/completions", chat, header...); status != 401 || !strings.Contains(body, "Header "+header[0]+" has a key of haltd's") {
				t.Errorf("%.20q: %d %s; want 401 that names the header", header, status, body)
			}
		}
		for _, query := range []string{"KEY=" + secret, "access_token=%68altd_" + strings.TrimPrefix(secret, "haltd_")} {
			if status, body := post(t, n.Gateway+"/v1/chat/completions?"+query, chat); status != 401 || !strings.Contains(body, "The query has a key of haltd's") {
				t.Errorf("%.20q: %d %s; want 401 that names the query", query, status, body)
			}
		}
		for _, path := range []string{"/openai/" + secret + "/v1/chat/completions", "/agents/" + secret + "/openai/v1/chat/completions", "/openai/v1/models/%68altd_" + strings.TrimPrefix(secret, "haltd_")} {
			if status, body := post(t, n.Gateway+path, chat); status != 401 || !strings.Contains(body, "The path has a key of haltd's") {
				t.Errorf("%.20q: %d %s; want 401 that names the path", path, status, body)
			}
		}
		if got := len(llm.Requests()); got != 0 {
			t.Errorf("%d of them reached the provider", got)
		}
		n.Eventually(t, "recording them", func() bool { return len(n.AllEvents(t, "type=error")) >= 11 })
		for _, e := range n.AllEvents(t, "limit=1000") {
			if text := strings.ToLower(fmt.Sprintf("%+v", e)); strings.Contains(text, strings.ToLower(secret)) {
				t.Errorf("the record keeps the key: %s", text)
			}
		}
		if status, body := post(t, n.Gateway+"/v1/chat/completions", chat, "X-Session-Id", "haltd_a-session-of-haltd_itself"); status != 200 {
			t.Errorf("a name that begins like a key: %d %s", status, body)
		}
	})

	t.Run("A name that has a key can be used only with it", func(t *testing.T) {
		llm.Clear()
		for name, call := range map[string]func() (int, string){
			"in the path": func() (int, string) {
				return post(t, n.Gateway+"/agents/billing-bot/openai/v1/chat/completions", chat, "Authorization", "Bearer sk-own")
			},
			"in other letters": func() (int, string) { return post(t, n.Gateway+"/agents/Billing-Bot/v1/chat/completions", chat) },
			"in the header": func() (int, string) {
				return post(t, n.Gateway+"/v1/chat/completions", chat, "X-Agent-Id", "billing-bot")
			},
			"what no model reads": func() (int, string) { return post(t, n.Gateway+"/agents/billing-bot/openai/v1/embeddings", "{}") },
		} {
			if status, body := call(); status != 401 || !strings.Contains(body, "billing-bot has a gateway key") || !strings.Contains(body, `"error"`) {
				t.Errorf("%s: %d %s; want 401 that says what to do", name, status, body)
			}
		}
		if got := len(llm.Requests()); got != 0 {
			t.Errorf("%d of them reached the provider", got)
		}
		if status, body := post(t, n.Gateway+"/agents/billing-bot/openai/v1/chat/completions", chat, "Authorization", "Bearer "+secret); status != 200 {
			t.Errorf("with its key: %d %s", status, body)
		}
		if status, body := post(t, n.Gateway+"/agents/other-bot/openai/v1/chat/completions", chat); status != 200 {
			t.Errorf("another name without a key: %d %s", status, body)
		}
	})
}

// One visitor of a public bot could stop it for all: the check of a file says
// so until the file says what is meant.
func TestConfigCheckAsksWhomAKillStops(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml string
		want int // notices
	}{
		"the switch is off":            {"agents: {shop-bot: {time_zone: UTC}}\n", 0},
		"on by default":                {"defaults: {kill_switch: {enabled: true}}\nagents: {shop-bot: {time_zone: UTC}}\n", 1},
		"on for an agent":              {"agents: {shop-bot: {kill_switch: {enabled: true}}}\n", 1},
		"answered for an agent":        {"agents: {shop-bot: {kill_switch: {enabled: true, kill_scope: session, window_scope: session}}}\n", 0},
		"sessions for calls of others": {"agents: {shop-bot: {kill_switch: {enabled: true, kill_scope: session}}}\n", 1},
		"as it is meant":               {"defaults: {kill_switch: {kill_scope: session, window_scope: agent}}\nagents: {shop-bot: {kill_switch: {enabled: true}}}\n", 0},
		"answered, the agent is meant": {"agents: {worker: {kill_switch: {enabled: true, kill_scope: agent}}}\n", 0},
		"answered for all":             {"defaults: {kill_switch: {enabled: true, kill_scope: agent}}\nagents: {shop-bot: {kill_switch: {enabled: true}}}\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "haltd.yaml")
			if err := os.WriteFile(config, []byte(tt.yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, code := harness.CLI(t, nil, "--config", config, "config", "check")
			if n := strings.Count(errs, "Notice: "); code != 0 || n != tt.want || n > 0 && (!strings.Contains(errs, "window_scope: session") || strings.Contains(errs, "for all who use it") != strings.Contains(errs, "kill_scope: session")) {
				t.Errorf("exit %d\n%s%s\nwant %d notices that name window_scope: session", code, out, errs, tt.want)
			}
		})
	}
}

// The gateway knows the admin token and refuses it, which tells a right guess:
// few are looked at.
func TestTheAdminTokenIsNotGuessedAtTheGateway(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url))
	confirmed := func(key string) bool {
		status, header, _ := ask(t, "GET", n.Gateway+"/openai/v1/models", "Authorization", "Bearer "+key)
		return status == http.StatusUnauthorized && header.Get("X-Haltd-Reason") == haltd.CodeUnauthorized
	}
	if !confirmed(harness.Token) {
		t.Fatal("the admin token passes the gateway")
	}
	for range 3 { // as a client that calls all day
		confirmed("sk-own")
	}
	tells := 0
	for i := range 5 {
		for j := range 15 {
			if confirmed(fmt.Sprint("a wrong guess ", i, j)) {
				t.Fatal("a wrong key was taken for the admin token")
			}
		}
		if confirmed(harness.Token) {
			tells++
		}
	}
	if tells > 1 { // the minute gives one back every six seconds
		t.Errorf("%d of 5 right guesses were told from 75 wrong ones", tells)
	}
}
