package email

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// mailServer speaks enough SMTP on loopback to take messages.
type mailServer struct {
	listener net.Listener
	tls      *tls.Config
	roots    *x509.CertPool
	implicit bool
	wg       sync.WaitGroup

	// answers replaces the answer to a command, by its first words; "hang"
	// does not answer and "close" hangs up.
	answers map[string]string

	mu       sync.Mutex
	messages []string
	commands []string // with "[tls] " before those that were encrypted
	conns    []net.Conn
}

func newMailServer(t *testing.T, implicit bool, answers map[string]string) *mailServer {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate only
	defer certified.Close()
	s := &mailServer{
		tls:   &tls.Config{Certificates: certified.TLS.Certificates},
		roots: x509.NewCertPool(), implicit: implicit, answers: answers,
	}
	s.roots.AddCert(certified.Certificate())
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		s.listener.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func (s *mailServer) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *mailServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.wg.Go(func() { defer conn.Close(); s.serve(conn) })
	}
}

func (s *mailServer) serve(conn net.Conn) {
	encrypted := s.implicit
	if encrypted {
		conn = tls.Server(conn, s.tls)
	}
	lines := bufio.NewReader(conn)
	say := func(text string) { conn.Write([]byte(text + "\r\n")) }
	say("220 mail.test ESMTP")
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.note(encrypted, line)
		if answer, ok := s.answer(line); ok {
			switch answer {
			case "hang":
				continue
			case "close":
				return
			}
			say(answer)
			continue
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(line), " "); verb {
		case "EHLO":
			say("250-mail.test")
			if !encrypted {
				say("250-STARTTLS")
			}
			say("250 AUTH PLAIN LOGIN")
		case "STARTTLS":
			say("220 go on")
			conn, encrypted = tls.Server(conn, s.tls), true
			lines = bufio.NewReader(conn)
		case "AUTH":
			if strings.HasSuffix(line, base64.StdEncoding.EncodeToString([]byte("\x00haltd\x00correct horse"))) {
				say("235 welcome")
			} else {
				say("535 5.7.8 who are you")
			}
		case "DATA":
			say("354 go on")
			if !s.take(lines) {
				return
			}
			if s.answers["."] == "close" {
				return
			}
			say("250 2.0.0 queued as Q1")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 fine")
		}
	}
}

func (s *mailServer) answer(line string) (string, bool) {
	for start, answer := range s.answers {
		if strings.HasPrefix(strings.ToUpper(line), strings.ToUpper(start)) && start != "." {
			return answer, true
		}
	}
	return "", false
}

func (s *mailServer) take(lines *bufio.Reader) bool {
	var b strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, b.String())
	return true
}

func (s *mailServer) note(encrypted bool, line string) {
	if encrypted {
		line = "[tls] " + line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, line)
}

func (s *mailServer) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.messages...)
}

func (s *mailServer) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

// settings of a channel that calls the server.
func (s *mailServer) settings(encryption Encryption) string {
	login := `"username":"haltd","password":"correct horse",`
	if encryption == None {
		login = ""
	}
	return `{"host":"127.0.0.1","port":` + strconv.Itoa(s.port()) + `,"tls":"` + string(encryption) + `",` + login +
		`"from":"haltd <haltd@example.com>","to":["oncall@example.com","Boss <boss@example.com>"]}`
}
