package outbound

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, n *Network, address string) (Response, error) {
	t.Helper()
	u, err := ParseURL("url", address)
	if err != nil {
		t.Fatal(err)
	}
	return n.Post(context.Background(), u, nil, []byte(`{}`), time.Now())
}

func network(t *testing.T, allow ...string) *Network {
	t.Helper()
	n, err := NewNetwork(allow, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheGuardLooksAtTheAddressBehindTheName(t *testing.T) {
	called := false
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer r.Close()
	port := r.URL[strings.LastIndexByte(r.URL, ':'):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		if _, err := post(t, network(t), "http://"+host+port+"/"); !Forbidden(err) {
			t.Errorf("%s: %v, want it refused", host, err)
		}
	}
	if called {
		t.Error("a refused receiver was called")
	}
	for _, n := range []*Network{network(t, "localhost"), network(t, "127.0.0.0/8", "::1"), network(t).Trusting("LocalHost")} {
		if resp, err := post(t, n, "http://localhost"+port+"/"); err != nil || !resp.OK() {
			t.Errorf("allowed: %+v, %v", resp, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var calls []string
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.Path)
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusTemporaryRedirect)
	}))
	defer r.Close()
	resp, err := post(t, network(t, "127.0.0.1"), r.URL+"/hook")
	if err != nil || resp.Status != 307 || len(calls) != 1 {
		t.Errorf("response = %+v, %v after %v; want the redirect itself", resp, err, calls)
	}
}

func TestNoProxyStandsBetween(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	if p := network(t).client().Transport.(*http.Transport).Proxy; p != nil {
		t.Error("the environment's proxy is used")
	}
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat("a", 1000) + "\n")); err != nil {
				return
			}
		}
	}))
	defer r.Close()
	resp, err := post(t, network(t, "127.0.0.1"), r.URL)
	if err != nil || len(resp.Text) > 300 || !strings.HasSuffix(resp.Text, "…") {
		t.Errorf("response = %+v, %v; want the beginning of it", resp, err)
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                "plain",
		"  a \r\n\tb\u00a0c ":  "a b c",
		"esc\x1b[0m\a nul\x00": "esc[0m nul",
		"turn\u202eit\u200b":   "turnit",
		"bad\xffutf8":          "badutf8",
		"0123456789abcdefghij": "0123456789ab…",
		"0123456789ab \n":      "0123456789ab",
		"a b c d e f g h":      "a b c d e f …",
	} {
		if got := Line(text, 12); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestShortURLsShowTheHostOnly(t *testing.T) {
	u, _ := url.Parse("https://hooks.slack.com:8443/services/T/B/secret?key=secret")
	if got := ShortURL(u); got != "https://hooks.slack.com:8443/…" {
		t.Errorf("short = %s", got)
	}
}
