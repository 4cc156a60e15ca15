package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// makeCertificate makes a certificate of a name and writes it and its key. It
// answers what a client has to trust.
func makeCertificate(t *testing.T, folder, name string) *x509.CertPool {
	t.Helper()
	return makeCertificateUntil(t, folder, name, time.Now().Add(time.Hour))
}

func makeCertificateUntil(t *testing.T, folder, name string, end time.Time) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: end.Add(-2 * time.Hour), NotAfter: end, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(
		os.WriteFile(filepath.Join(folder, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(filepath.Join(folder, "cert.pem"), certificate, 0o600)); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// clientOf trusts one certificate, calls by that name, and holds no connection.
func clientOf(t *testing.T, pool *x509.CertPool, name string, h2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: name}, DisableKeepAlives: true, ForceAttemptHTTP2: h2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestTLSOnBothListeners(t *testing.T) {
	t.Parallel()
	_, up := harness.Provider(t, func(fakellm.Request) fakellm.Script { return fakellm.Script{Text: "hello over TLS"} })
	folder := t.TempDir()
	pool := makeCertificate(t, folder, "first.example")
	n := &node{harness.New(t, t.TempDir())}
	n.Gateway, n.Admin = "https://"+n.Config.Gateway, "https://"+n.Config.Admin
	n.Client = clientOf(t, pool, "first.example", false)
	files := fmt.Sprintf("tls: {cert_file: %q, key_file: %q}", filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"))
	n.Config.Replace(t, fmt.Sprintf("gateway: {listen: %q, %s}\nadmin: {listen: %q, token: %q, %[2]s}\ndata_dir: %[5]q\n",
		n.Config.Gateway, files, n.Config.Admin, harness.Token, n.Config.DataDir)+harness.Providers(up))
	n.Run(t)
	call := func(client *http.Client, stream bool) (string, error) {
		body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"hi"}]}`, stream)
		res, err := client.Post(n.Gateway+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return fmt.Sprint(res.ProtoMajor, " ", res.StatusCode, " ", string(b)), err
	}
	for _, h2 := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			got, err := call(clientOf(t, pool, "first.example", h2), stream)
			if want := map[bool]string{false: "1 200 ", true: "2 200 "}[h2]; err != nil || !strings.HasPrefix(got, want) || !strings.Contains(got, map[bool]string{false: "hello over TLS", true: "data: [DONE]"}[stream]) {
				t.Errorf("HTTP/2 %v, stream %v: %s, %v", h2, stream, got, err)
			}
		}
	}
	// The commands know the certificate from the file, whatever it names.
	n.Eventually(t, "showing its agent", func() bool { return strings.Contains(n.run(t, "agents", "ls"), "AGENT") })
	if out := n.run(t, "sign-in"); !strings.HasPrefix(out, n.Admin+"/sign-in#code=") {
		t.Errorf("haltd sign-in: %s", out)
	}
	if out, _, _ := n.CLI(t, "doctor"); !strings.Contains(out, "✓ The gateway answers at "+n.Gateway) {
		t.Errorf("haltd doctor: %s", out)
	}
	var status struct{ Gateway string }
	n.Must(t, "GET", "/v1/status", nil, &status)
	if status.Gateway != n.Gateway {
		t.Errorf("the status says that agents call %s, want %s", status.Gateway, n.Gateway)
	}

	// Broken files change nothing, new ones are taken over.
	if err := os.WriteFile(filepath.Join(folder, "cert.pem"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Eventually(t, "saying that it keeps the old certificate", func() bool {
		if got, err := call(clientOf(t, pool, "first.example", false), false); err != nil {
			t.Fatalf("with a broken certificate on disk: %s, %v", got, err)
		}
		return strings.Contains(n.Log(), "the old one stays in force")
	})
	second := makeCertificate(t, folder, "second.example")
	n.Eventually(t, "using the new certificate", func() bool {
		_, err := call(clientOf(t, second, "second.example", false), false)
		return err == nil
	})
	n.Client = clientOf(t, second, "second.example", false)
	n.Must(t, "GET", "/v1/status", nil, &status)

	// One that has expired is what the files hold; the log says why clients leave.
	expired := makeCertificateUntil(t, folder, "third.example", time.Now().Add(-time.Minute))
	n.Eventually(t, "saying that the certificate has expired", func() bool {
		if _, err := call(clientOf(t, expired, "third.example", false), false); err == nil {
			t.Fatal("a client takes an expired certificate")
		}
		return strings.Contains(n.Log(), "the certificate has expired; clients will refuse it")
	})
}

// A provider behind a private authority and a proxy is reached; one that is
// late is answered for, and one that falls silent is cut.
func TestHowProvidersAreReached(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.Contains(r.URL.Path, "late") {
			<-silent
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"so far\"}}]}\n\n")
		w.(http.Flusher).Flush()
		if strings.Contains(r.URL.Path, "silent") {
			select {
			case <-silent:
			case <-r.Context().Done():
			}
		}
	})
	private := httptest.NewUnstartedServer(handler)
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	defer private.Close()
	defer close(silent)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: private.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var proxied atomic.Int64
	plain := httptest.NewServer(handler)
	defer plain.Close()
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if r.In.RequestURI == "http://llm.invalid/v1/chat/completions" { // what a proxy has to go by
			proxied.Add(1)
		}
		to, err := url.Parse(plain.URL)
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
	}})
	defer proxy.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	n := start(t, fmt.Sprintf(`providers:
  trusted: {base_url: %q, ca_file: %q}
  hurried: {base_url: %[1]q, ca_file: %[2]q, first_byte_timeout: 200ms}
  watched: {base_url: %[1]q, ca_file: %[2]q, idle_timeout: 200ms}
  strange: {base_url: %[1]q}
  beyond: {base_url: "http://llm.invalid", proxy: %[3]q}
  stranded: {base_url: %[1]q, proxy: "http://127.0.0.1:1"}
  mute: {base_url: "https://%[4]s", connect_timeout: 200ms}
`, private.URL, ca, proxy.URL, mute.Addr()))
	ask := func(path string) (int, string, error) {
		res, err := http.Post(n.Gateway+path+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.StatusCode, string(b), err
	}
	if status, body, err := ask("/trusted"); status != 200 || !strings.Contains(body, "so far") || err != nil {
		t.Errorf("a private authority: %d %s %v", status, body, err)
	}
	if status, body, _ := ask("/strange"); status != 502 || !strings.Contains(body, "providers.strange.ca_file") {
		t.Errorf("the same without ca_file: %d %s", status, body)
	}
	if status, body, _ := ask("/stranded"); status != 502 || !strings.Contains(body, "providers.stranded.proxy") {
		t.Errorf("by a proxy that is not there: %d %s", status, body)
	}
	if status, body, _ := ask("/mute"); status != 502 || !strings.Contains(body, "timed out") || !strings.Contains(body, "providers.mute.connect_timeout") {
		t.Errorf("a handshake that nobody answers: %d %s", status, body)
	}
	if status, body, err := ask("/beyond"); status != 200 || proxied.Load() != 1 || err != nil {
		t.Errorf("by a proxy: %d %s %v, %d calls through it", status, body, err, proxied.Load())
	}
	if status, body, _ := ask("/hurried/late"); status != 504 || !strings.Contains(body, "providers.hurried.first_byte_timeout") {
		t.Errorf("a late reply: %d %s", status, body)
	}
	if status, body, err := ask("/watched/silent"); status != 200 || !strings.Contains(body, "so far") || err == nil {
		t.Errorf("a reply that falls silent: %d %s, %v; want what came, and a cut", status, body, err)
	}
	n.Eventually(t, "recording the silence", func() bool {
		for _, e := range n.AllEvents(t, "limit=100") {
			if e.Error == "upstream_idle" {
				return true
			}
		}
		return false
	})
}

// A limit by address counts clients and not the proxy before them, and nobody
// gets around it by naming another address.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	_, up := provider(t)
	n := start(t, "trusted_proxies: [127.0.0.1]\n"+harness.Providers(up)+fmt.Sprintf(`policies:
  - id: tools
    spec:
      selector: {pathPrefix: /tools}
      upstream: %q
      rules: [{name: by-address, limit_keys: ["ip:address"], algorithm: token_bucket, algorithm_config: {rps: 0.001, burst: 1}}]
`, up))
	for _, step := range []struct {
		forwarded string
		want      int
	}{
		{"198.51.100.1", 200}, {"198.51.100.1", 429}, {"203.0.113.9, 198.51.100.1", 429}, {"198.51.100.2", 200},
	} {
		status, _ := post(t, n.Gateway+"/tools/v1/chat/completions", chat, "X-Forwarded-For", step.forwarded)
		if (status == 429) != (step.want == 429) {
			t.Errorf("a call of %s is answered %d, want %d", step.forwarded, status, step.want)
		}
	}
}
