package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver takes alerts over HTTP. Its answers are given in their order, the
// last one for good; without any it answers 200.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	arrivals []arrival
	answers  []http.HandlerFunc
}

// arrival is one message, as a webhook or as Slack gets it.
type arrival struct {
	header http.Header
	body   []byte
	Type   string `json:"type"`
	Data   struct {
		haltd.Notice
		Next string `json:"next"`
		URL  string `json:"url"`
	} `json:"data"`
	Text string `json:"text"`
}

func newReceiver(t *testing.T, answers ...http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	got := arrival{header: req.Header}
	var err error
	if got.body, err = io.ReadAll(req.Body); err != nil {
		return // half a message is none
	}
	_ = json.Unmarshal(got.body, &got) // what is no message stays empty, and the test says so
	r.mu.Lock()
	r.arrivals = append(r.arrivals, got)
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	if n := len(r.answers); n > 0 {
		answer = r.answers[0]
		r.answers = r.answers[min(1, n-1):]
	}
	r.mu.Unlock()
	answer(w, req)
}

// got are the messages that arrived, in their order.
func (r *receiver) got() []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.arrivals)
}

// about are the messages about an agent.
func (r *receiver) about(agent string) []arrival {
	return slices.DeleteFunc(r.got(), func(a arrival) bool { return a.Data.Agent != agent })
}

// waits until a number of messages about an agent arrived, and answers them.
func (r *receiver) waits(t *testing.T, n *node, agent string, want int) []arrival {
	t.Helper()
	n.Eventually(t, "telling of "+agent, func() bool { return len(r.about(agent)) >= want })
	return r.about(agent)
}

// verify checks a signature as the receivers' own library does.
func (a arrival) verify(t *testing.T, secret string) {
	t.Helper()
	checker, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := checker.Verify(a.body, a.header); err != nil {
		t.Errorf("signature of %s: %v", a.body, err)
	}
}

func (a arrival) id() string { return a.header.Get("Webhook-Id") }

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// hang answers nothing until the caller gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// breakOff promises more than it says.
func breakOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte("half of the ans"))
}

func redirectTo(url string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url, http.StatusTemporaryRedirect) }
}

// repeat fails and says again what it was called with.
func repeat(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = io.WriteString(w, "cannot handle "+r.URL.String())
}

// mailbox is a mail server that wants STARTTLS and a password.
type mailbox struct {
	net.Listener
	tls  *tls.Config
	cert string // file with the certificate to trust

	mu       sync.Mutex
	messages []string
	commands []string // with "[tls] " before those that were encrypted
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate only
	certified.Close()
	m := &mailbox{tls: &tls.Config{Certificates: certified.TLS.Certificates}, cert: filepath.Join(t.TempDir(), "mail.pem")}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})
	if err := os.WriteFile(m.cert, block, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	go func() {
		for {
			conn, err := m.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m
}

func (m *mailbox) port() int { return m.Addr().(*net.TCPAddr).Port }

func (m *mailbox) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	mark, lines := "", bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	for say("220 mail.test ESMTP"); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		m.mu.Lock()
		m.commands = append(m.commands, mark+strings.TrimSpace(line))
		m.mu.Unlock()
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "EHLO":
			say("250-mail.test\r\n250-STARTTLS\r\n250 AUTH PLAIN")
		case "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, m.tls)
			mark, lines = "[tls] ", bufio.NewReader(conn)
		case "AUTH":
			say("235 welcome")
		case "DATA":
			say("354 go on")
			m.take(lines)
			say("250 2.0.0 queued")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (m *mailbox) take(lines *bufio.Reader) {
	var message strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		message.WriteString(strings.TrimPrefix(line, "."))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, message.String())
}

// got are the messages that arrived, and what was said on the way.
func (m *mailbox) got() (messages, commands []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages), slices.Clone(m.commands)
}
