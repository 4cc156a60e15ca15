package email

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func message(change ...func(*outbound.Message)) outbound.Message {
	m := outbound.Message{
		Notice: haltd.Notice{
			ID: "ntc_x", Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Topic: haltd.IncidentGrowth,
			Agent: "billing-bot", Session: "ses_x", Incident: "inc_x", Sentence: "Prompt tokens grow.", Tokens: []int64{100, 150},
		},
		Title: "Runaway Agent Detected", Next: "Nothing is blocked.", URL: "https://haltd.example/incidents/inc_x", SentAt: time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC),
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func send(t *testing.T, s *mailServer, encryption Encryption, m outbound.Message) (string, bool, error) {
	t.Helper()
	settings, err := Parse(json.RawMessage(s.settings(encryption)))
	if err != nil {
		t.Fatal(err)
	}
	network, err := outbound.NewNetwork([]string{"127.0.0.1"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	limit := 30 * time.Second
	if slices.Contains(slices.Collect(maps.Values(s.answers)), "hang") {
		limit = 2 * time.Second // which a busy machine needs for the rest
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return settings.Sender(network).Send(ctx, m)
}

func TestAMessageArrives(t *testing.T) {
	for _, encryption := range []Encryption{StartTLS, Implicit, None} {
		s := newMailServer(t, encryption == Implicit, nil)
		answer, _, err := send(t, s, encryption, message())
		if err != nil || answer != "250 2.0.0 queued as Q1" {
			t.Errorf("%s: %q, %v", encryption, answer, err)
			continue
		}
		if n := len(s.got()); n != 1 {
			t.Errorf("%s: %d messages arrived", encryption, n)
		}
		said := s.said()
		if secured := strings.Contains(said, "\n[tls] MAIL FROM:<haltd@example.com>"); secured != (encryption != None) {
			t.Errorf("%s: the message was encrypted: %v; commands:\n%s", encryption, secured, said)
		}
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "AUTH") {
				t.Errorf("%s: the password was sent for everybody to read", encryption)
			}
		}
	}
}

func TestTheMessage(t *testing.T) {
	s := newMailServer(t, false, nil)
	if _, _, err := send(t, s, StartTLS, message()); err != nil {
		t.Fatal(err)
	}
	got, err := mail.ReadMessage(strings.NewReader(s.got()[0]))
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for _, name := range []string{"From", "To", "Subject", "Message-Id", "Date", "Auto-Submitted", "User-Agent", "X-Mailer"} {
		headers[name] = got.Header.Get(name)
	}
	want := map[string]string{
		"From": `"haltd" <haltd@example.com>`, "To": `<oncall@example.com>, "Boss" <boss@example.com>`,
		"Subject": "[haltd] Runaway Agent Detected: billing-bot", "Message-Id": "<ntc_x@example.com>",
		"Date": "Sun, 01 Mar 2026 12:00:05 +0000", "Auto-Submitted": "auto-generated",
		"User-Agent": "", "X-Mailer": "",
	}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	parts := parts(t, got)
	text := "RUNAWAY AGENT DETECTED\r\n\r\nPrompt tokens grow.\r\n\r\nNothing is blocked.\r\n\r\n" +
		"Open incident:  https://haltd.example/incidents/inc_x\r\nIn a terminal:  haltd incidents show inc_x\r\n\r\n" +
		"Agent:          billing-bot\r\nSession:        ses_x\r\nPrompt tokens:  100, 150\r\n" +
		"Time:           1 March 2026, 12:00:00 UTC\r\nIncident:       inc_x\r\n\r\n" +
		"-- \r\nhaltd sends this because one of its alert channels names this address.\r\n"
	if diff := cmp.Diff(text, parts["text/plain"]); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	for _, want := range []string{`<a href="https://haltd.example/incidents/inc_x"`, ">Open incident</a>", `class="look"`, ">Prompt tokens grow.</h1>", ">Nothing is blocked.</p>", ">100, 150</td>"} {
		if html := parts["text/html"]; !strings.Contains(html, want) {
			t.Errorf("HTML without %s:\n%s", want, html)
		}
	}
}

// A message about many incidents leads to their list.
func TestAMessageAboutMany(t *testing.T) {
	c := newContent(outbound.Message{Notice: haltd.Notice{Topic: haltd.IncidentKillSwitch, Together: 30}, URL: "https://haltd.example/incidents"})
	if want := "\r\nOpen incidents: https://haltd.example/incidents\r\nIn a terminal:  haltd incidents ls\r\n"; !strings.Contains(c.text(), want) {
		t.Errorf("text %q, want %q in it", c.text(), want)
	}
}

func TestTheToneOfAMessage(t *testing.T) {
	for want, change := range map[string]func(*outbound.Message){
		"stopped": func(m *outbound.Message) { m.Topic = haltd.IncidentKillSwitch },
		"look":    func(m *outbound.Message) { m.Topic = haltd.IncidentBudgetSoft },
		"healthy": func(m *outbound.Message) { m.Recovery = true },
		"neutral": func(m *outbound.Message) { m.Test = true },
	} {
		if got := toneOf(message(change)).Name; got != want {
			t.Errorf("tone = %s, want %s", got, want)
		}
	}
}

// parts are the decoded parts of a message by their type.
func parts(t *testing.T, m *mail.Message) map[string]string {
	t.Helper()
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		found[kind] = string(content)
	}
}

func TestNoNameAddsAHeaderOrMarkup(t *testing.T) {
	s := newMailServer(t, false, nil)
	hostile := "x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script>\r\n.\r\nMAIL FROM:<evil@example.com>"
	_, _, err := send(t, s, StartTLS, message(func(m *outbound.Message) {
		m.Agent, m.Session, m.Sentence, m.Title, m.Next, m.Incident = hostile, hostile, hostile, hostile, hostile, hostile
	}))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.got()); n != 1 {
		t.Fatalf("%d messages arrived, want 1", n)
	}
	got, err := mail.ReadMessage(strings.NewReader(s.got()[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got.Header.Get("Bcc") != "" {
		t.Error("a name became a header")
	}
	if html := parts(t, got)["text/html"]; strings.Contains(html, "<script>") {
		t.Errorf("a name became markup:\n%s", html)
	}
	if strings.Contains(s.said(), "evil@example.com") {
		t.Error("a name became a command")
	}
}

func TestWhatTheMailServerRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		answers map[string]string
		retry   bool
		says    string
		arrived int
	}{
		"busy":                     {map[string]string{"MAIL": "451 4.3.0 later"}, true, `451 "4.3.0 later"`, 0},
		"never":                    {map[string]string{"MAIL": "550 5.7.1 no"}, false, `550 "5.7.1 no"`, 0},
		"no such recipients":       {map[string]string{"RCPT": "550 5.1.1 who"}, false, `550 "5.1.1 who"`, 0},
		"one recipient only later": {map[string]string{"RCPT TO:<oncall": "550 5.1.1 who", "RCPT TO:<boss": "450 4.2.0 later"}, true, `450 "4.2.0 later"`, 0},
		"wrong password":           {map[string]string{"AUTH": "535 5.7.8 correct horse AGhhbHRkAGNvcnJlY3QgaG9yc2U= is wrong"}, false, `535 "5.7.8 [redacted] [redacted] is wrong"`, 0},
		"data refused":             {map[string]string{"DATA": "452 full"}, true, `452 "full"`, 0},
		"hangs":                    {map[string]string{"MAIL": "hang"}, true, "did not answer in time", 0},
		"hangs at once":            {map[string]string{"EHLO": "hang"}, true, "did not answer in time", 0},
		"hangs up":                 {map[string]string{"RCPT": "close"}, true, "closed the connection", 0},
		"hangs up before it says":  {map[string]string{".": "close"}, true, "closed the connection", 1},
		"no encryption":            {map[string]string{"EHLO": "250 mail.test"}, true, "offers no encryption by STARTTLS; use tls implicit", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMailServer(t, false, c.answers)
			_, retry, err := send(t, s, StartTLS, message())
			if err == nil || retry != c.retry || !strings.Contains(err.Error(), c.says) {
				t.Errorf("retry %v, %v; want %v and %q", retry, err, c.retry, c.says)
			}
			if n := len(s.got()); n != c.arrived {
				t.Errorf("%d messages arrived, want %d", n, c.arrived)
			}
		})
	}
}

func TestARefusedRecipientDoesNotSilenceTheOthers(t *testing.T) {
	s := newMailServer(t, false, map[string]string{"RCPT TO:<boss": "550 5.1.1 retired"})
	answer, _, err := send(t, s, StartTLS, message())
	if want := "250 2.0.0 queued as Q1 (refused: <boss@example.com>)"; err != nil || answer != want || len(s.got()) != 1 {
		t.Errorf("%q, %v with %d messages; want %q", answer, err, len(s.got()), want)
	}
}

func TestADeliveredMessageIsDeliveredHoweverTheServerParts(t *testing.T) {
	s := newMailServer(t, false, map[string]string{"QUIT": "hang", "RSET": "hang"})
	if answer, _, err := send(t, s, StartTLS, message()); err != nil || len(s.got()) != 1 {
		t.Errorf("%q, %v with %d messages", answer, err, len(s.got()))
	}
}

func TestACertificateOfSomebodyElseIsRefused(t *testing.T) {
	for _, encryption := range []Encryption{StartTLS, Implicit} {
		s := newMailServer(t, encryption == Implicit, nil)
		s.roots = nil // the system's do not know it
		_, retry, err := send(t, s, encryption, message())
		if err == nil || !retry || !strings.Contains(err.Error(), "certificate") || strings.Contains(s.said(), "AUTH") {
			t.Errorf("%s: retry %v, %v; want it refused before the password is sent", encryption, retry, err)
		}
	}
}

func TestTheGuardHoldsForMailServers(t *testing.T) {
	s := newMailServer(t, false, nil)
	settings, err := Parse(json.RawMessage(s.settings(None)))
	if err != nil {
		t.Fatal(err)
	}
	network, err := outbound.NewNetwork(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, retry, err := settings.Sender(network).Send(context.Background(), message()); !outbound.Forbidden(err) || retry {
		t.Errorf("retry %v, %v; want it forbidden", retry, err)
	}
	if s.said() != "" {
		t.Errorf("the server was called: %s", s.said())
	}
}

func TestLoginIsEnoughForServersWithoutPlain(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	s := newMailServer(t, true, map[string]string{
		"EHLO": "250-mail.test\r\n250 AUTH LOGIN XOAUTH2", "AUTH LOGIN": "334 " + encode([]byte("Username:")),
		encode([]byte("haltd")): "334 " + encode([]byte("Password:")), encode([]byte("correct horse")): "235 welcome",
	})
	if answer, _, err := send(t, s, Implicit, message()); err != nil {
		t.Errorf("%q, %v; commands:\n%s", answer, err, s.said())
	}
}
