package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

// nginx stands for the edge of a real provider: TLS, HTTP/2, gzip.
func startNginx(t *testing.T, upstream string) (address, certificate, log string) {
	t.Helper()
	dir := t.TempDir()
	address = harness.Address(t)
	certificate = writeCertificate(t, dir)
	log = filepath.Join(dir, "access.log")
	harness.Nginx(t, dir, fmt.Sprintf(`events { worker_connections 200; }
http {
  log_format version "$server_protocol $request_method $uri $status"; access_log %[1]s/access.log version;
  gzip on; gzip_types application/json; gzip_min_length 1; gzip_proxied any;
  server {
    listen %[2]s ssl http2;
    ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
    location / { proxy_pass %[3]s; proxy_buffering off; proxy_http_version 1.1; }
  }
}`, dir, address, upstream), address)
	return address, certificate, log
}

func writeCertificate(t *testing.T, dir string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "edge"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"llm.example.com", "haltd.example.com"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: pkcs8},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert := filepath.Join(dir, "cert.pem")
	if _, err := tls.LoadX509KeyPair(cert, filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestThroughNginxWithTLSAndHTTP2(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	address, certificate, log := startNginx(t, url)
	n := start(t, harness.Providers("https://"+address), "SSL_CERT_FILE="+certificate)
	call := n.Gateway + "/agents/bot/v1/chat/completions"

	if status, body := post(t, call, chat, "Accept-Encoding", "gzip"); status != 200 || !strings.HasPrefix(body, "\x1f\x8b") {
		t.Fatalf("JSON: %d %.40q, want it gzipped as nginx sent it", status, body)
	}
	stream := strings.Replace(chat, `"model":"echo"`, `"model":"echo","stream":true,"stream_options":{"include_usage":true}`, 1)
	if status, body := post(t, call, stream); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Fatalf("stream: %d %q", status, body)
	}
	for _, e := range n.Events(t, "agent=bot", 2) {
		if e.Unread != "" || e.Estimated || e.ReplyLen == 0 {
			t.Errorf("event %+v; want the reply read through gzip and HTTP/2", e)
		}
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(b), "HTTP/2.0 POST /v1/chat/completions 200"); got != 2 {
		t.Errorf("nginx saw %d calls by HTTP/2, want 2:\n%s", got, b)
	}
}
