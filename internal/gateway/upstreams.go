package gateway

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/haltd/haltd"
)

// Upstreams are all providers and the services of policies, by name, and how
// each answered last.
func (g *Gateway) Upstreams() []haltd.Upstream {
	s := g.settings.Load()
	list := make([]haltd.Upstream, 0, len(s.upstreams)+len(s.services))
	for _, u := range s.upstreams {
		list = append(list, u.view(haltd.UpstreamProvider))
	}
	for _, u := range s.services {
		list = append(list, u.view(haltd.UpstreamService))
	}
	slices.SortFunc(list, func(a, b haltd.Upstream) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

func (u *upstream) view(kind haltd.UpstreamKind) haltd.Upstream {
	v := u.health.known()
	v.Name, v.Kind, v.BaseURL = u.Name, kind, u.BaseURL.String()
	return v
}

// health is how calls to an upstream ended. What the client or haltd itself
// ended does not count.
type health struct {
	mu   sync.Mutex
	last haltd.Upstream // without what the configuration says of it
}

func (h *health) known() haltd.Upstream {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.last
	v.State = cmp.Or(v.State, haltd.UpstreamUnused)
	return v
}

// answered notes that a reply has begun.
func (h *health) answered(status int, sent, now time.Time) {
	if status >= http.StatusInternalServerError {
		h.failed(strings.TrimSpace(fmt.Sprintf("answered %d %s", status, http.StatusText(status))), now)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last.State, h.last.Failures = haltd.UpstreamOK, 0
	h.last.LastSuccess, h.last.Status, h.last.FirstByte = now.UTC(), status, haltd.Duration(now.Sub(sent))
}

// failed notes that no reply began, or none that helps the client.
func (h *health) failed(words string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last.State = haltd.UpstreamFailing
	h.last.Failures++
	h.last.LastFailure, h.last.Error = now.UTC(), words
}

// unreachable says why no reply began to who called, and which setting to look
// at.
func unreachable(up *upstream, err error) *haltd.Error {
	var (
		op          *net.OpError
		certificate *tls.CertificateVerificationError
	)
	e := haltd.Errorf(haltd.CodeUpstream, "%s at %s cannot be reached: %s", up.Name, up.BaseURL.Host, plainCause(err))
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return haltd.Errorf(haltd.CodeUpstream, "the proxy on the way to %s cannot be reached: %s", up.Name, plainCause(err)).
			WithFix("Check providers.%s.proxy or, where it is not set, HTTPS_PROXY and HTTP_PROXY of haltd's environment.", up.Name)
	case errors.As(err, &certificate):
		return e.WithFix("Name the certificate of its authority in providers.%s.ca_file, or check providers.%s.base_url.", up.Name, up.Name)
	}
	switch failureText(err) {
	case timedOut:
		return haltd.Errorf(haltd.CodeUpstream, "%s at %s cannot be reached: %s", up.Name, up.BaseURL.Host, timedOut).
			WithFix("Check providers.%s.base_url and the network between haltd and it, or raise providers.%s.connect_timeout.", up.Name, up.Name)
	case noValidAnswer:
		return noHTTP(up)
	case closedEarly:
		// Most often it ended a connection that was idle, just as the call came.
		return haltd.Errorf(haltd.CodeUpstream, "%s at %s %s", up.Name, up.BaseURL.Host, closedEarly).
			WithFix("Send it again; if it goes on, check providers.%s.base_url and the network between haltd and it.", up.Name)
	}
	return e.WithFix("Check providers.%s.base_url and the network between haltd and it.", up.Name)
}

// noHTTP says that what an upstream answered is no reply, and nothing of what it
// was: that may repeat the key that it was sent.
func noHTTP(up *upstream) *haltd.Error {
	return haltd.Errorf(haltd.CodeUpstream, "%s at %s does not answer in HTTP", up.Name, up.BaseURL.Host).
		WithFix("Check providers.%s.base_url.", up.Name)
}

const (
	// noValidAnswer is all that is said of an answer that cannot be read.
	noValidAnswer = "gave no valid answer"
	closedEarly   = "closed the connection without an answer"
	timedOut      = "timed out"
)

// closedIdle is what net/http says, with an error that it does not export, of a
// connection that the upstream ended before anything of a reply came.
const closedIdle = "http: server closed idle connection"

// failureText says why no reply began, in fixed words: the text of an
// error may repeat what the upstream sent, and that may repeat a key.
func failureText(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return "proxy: " + failureText(op.Err)
	}
	var (
		network     net.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.As(err, &network) && network.Timeout():
		return timedOut
	case errors.As(err, &name):
		return "host name not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host"
	case errors.As(err, &certificate):
		return "TLS certificate not accepted"
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return "TLS handshake failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), plainCause(err) == closedIdle:
		return closedEarly
	}
	return noValidAnswer
}
