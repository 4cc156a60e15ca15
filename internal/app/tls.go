package app

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// certificateCheck is how often a handshake looks whether the files have
// changed.
const certificateCheck = time.Second

// certificate is that of a listener. It is read anew when its files change,
// as whoever renews it writes them; one that cannot be used is told in the
// log, and the old one stays.
type certificate struct {
	files config.TLS
	what  string // which listener
	clock haltd.Clock
	log   *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	seen    [2]fileState
	checked time.Time
}

// fileState tells a file from what it was before.
type fileState struct {
	size     int64
	modified time.Time
}

func openCertificate(what string, files config.TLS, clock haltd.Clock, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, what: what, clock: clock, log: log, seen: stateOf(files), checked: clock()}
	var err error
	if c.pair, err = files.Load(); err != nil {
		return nil, haltd.Errorf(haltd.CodeInvalid, "%s.tls cannot be used: %v", what, err).WithFix("Check %s.tls.cert_file and key_file.", what)
	}
	return c, nil
}

func stateOf(files config.TLS) (states [2]fileState) {
	for i, path := range []string{files.CertFile, files.KeyFile} {
		if info, err := os.Stat(path); err == nil {
			states[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return states
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	if now.Sub(c.checked).Abs() < certificateCheck {
		return c.pair, nil
	}
	c.checked = now
	state := stateOf(c.files)
	if state == c.seen {
		return c.pair, nil
	}
	c.seen = state
	pair, err := c.files.Load()
	if err != nil { // perhaps one of the two is still to be written
		c.log.Error("a new certificate cannot be used; the old one stays in force", "field", c.what+".tls", "file", c.files.CertFile, "error", err)
		return c.pair, nil
	}
	c.pair = pair
	c.log.Info("certificate reloaded", "field", c.what+".tls", "file", c.files.CertFile)
	if leaf := pair.Leaf; leaf != nil && now.After(leaf.NotAfter) {
		c.log.Warn("the certificate has expired; clients will refuse it", "field", c.what+".tls", "file", c.files.CertFile, "expired", leaf.NotAfter)
	}
	return c.pair, nil
}

// secure has a server take calls by TLS, where there is a certificate.
func (c *certificate) secure(s *http.Server) server {
	if c == nil {
		return s
	}
	s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
	return secureServer{s}
}

// secureServer serves by TLS with the certificate of its configuration.
type secureServer struct{ *http.Server }

func (s secureServer) Serve(l net.Listener) error { return s.ServeTLS(l, "", "") }

// http2 ends a connection of which nothing is read. The deadlines of its
// streams cannot: what would end them waits to be written behind the rest.
func http2(cfg *config.Config) *http.HTTP2Config {
	return &http.HTTP2Config{WriteByteTimeout: cfg.Gateway.StallTimeout}
}

// secured is an address of a listener as its clients write it.
func secured(url string, c *certificate) string {
	if c == nil {
		return url
	}
	return "https" + url[len("http"):]
}
