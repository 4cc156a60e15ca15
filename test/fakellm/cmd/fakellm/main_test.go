package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve runs the command until the test closes its standard input, and says
// where it listens.
func serve(t *testing.T, o options) (url string) {
	t.Helper()
	o.listen, o.exitWithStdin = "127.0.0.1:0", true
	stdin, closeStdin := io.Pipe()
	stdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(t.Context(), o, stdin, out)
		out.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("first line: %v", err)
	}
	t.Cleanup(func() {
		closeStdin.Close()
		if err := <-ended; err != nil {
			t.Errorf("after its standard input closed: %v", err)
		}
	})
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line is %q", line)
	}
	return url
}

func TestServesPlainHTTP(t *testing.T) {
	resp, err := http.Get(serve(t, options{}) + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestServesHTTP2WithItsCertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cert.pem")
	url := serve(t, options{tls: true, certOut: file})
	pem, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("%s holds no certificate", pem)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Proto != "HTTP/2.0" {
		t.Errorf("protocol %s, want HTTP/2.0", resp.Proto)
	}
}
