//go:build pictures

package e2e

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestDrawAlerts makes the pictures of docs/alerts.md from messages that a
// running haltd has sent, in the folder that HALTD_PICTURES names.
func TestDrawAlerts(t *testing.T) {
	folder := os.Getenv("HALTD_PICTURES")
	if folder == "" {
		t.Fatal("HALTD_PICTURES names no folder for the pictures; make screenshots sets it")
	}
	chromium := harness.Need(t, "chromium")
	slack, post := newReceiver(t), newMailbox(t)
	s := newStage(t, "alerts:\n  public_url: https://haltd.example.com\n  channels:\n"+
		fmt.Sprintf("    - {name: slack, kind: slack, url: %q}\n", slack.URL)+
		fmt.Sprintf("    - {name: mail, kind: email, host: 127.0.0.1, port: %d, from: haltd <haltd@example.com>, to: [on-call@example.com]}\n", post.port()),
		"SSL_CERT_FILE="+post.cert)
	s.play(t, slack)
	s.Eventually(t, "sending every email", func() bool { messages, _ := post.got(); return len(messages) == len(slack.got()) })
	messages, _ := post.got()

	draw := func(name string, page template.HTML, width, height int, more ...string) {
		source := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(source, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		picture := filepath.Join(folder, name)
		out, err := exec.Command(chromium, append(more, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2",
			fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+picture, "file://"+source)...).CombinedOutput()
		if err != nil {
			t.Fatalf("draw %s: %v\n%s", name, err, out)
		}
	}
	draw("alert-slack.png", slackPage(t, slack.got()), 720, 800)
	email := emailPage(t, messages[0])
	draw("alert-email.png", email, 720, 664, "--blink-settings=preferredColorScheme=1")
	draw("alert-email-dark.png", email, 720, 664, "--blink-settings=preferredColorScheme=0")
}

// play lets agents do what people are told of.
func (s *stage) play(t *testing.T, slack *receiver) {
	t.Helper()
	told := func(n int) {
		t.Helper()
		s.Eventually(t, "telling Slack", func() bool { return len(slack.got()) == n })
	}
	billing := s.agent(t)
	billing.id = "billing-bot"
	billing.with("")
	history := []message{user("Reconcile the invoices of November.")}
	for i := range 8 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, calls(id, "find_payment", `{"invoice":"INV-20931"}`), result(id, `{"error":"payment_not_found"}`))
	}
	if got := billing.send(request{messages: history, session: "recon-2026-11-12"}); got.denied.Incident == "" {
		t.Fatalf("the loop was not killed: %d %s", got.status, got.body)
	}
	told(1)
	research := s.agent(t)
	research.id = "research-bot"
	for _, tokens := range []int64{1000, 1400, 1960, 2744} {
		research.send(request{messages: []message{user(fmt.Sprint("read on ", tokens))}, session: "ses_8f2k9x3m",
			reply: fakellm.Script{Text: fmt.Sprint("page ", tokens), Usage: &haltd.Usage{Input: tokens, Output: 50}}})
	}
	told(2)
	support := s.agent(t)
	support.id = "support-bot"
	support.policy(`{"budgets": {"day": {"soft_usd": 40, "hard_usd": 50}}}`)
	support.send(request{messages: []message{user("Answer the ticket.")}, session: "ticket-4711",
		reply: fakellm.Script{Text: "Done.", Usage: &haltd.Usage{Input: 100_000_000, Output: 500_000}}})
	told(3)
	s.API(t, "POST", "/v1/agents/billing-bot/activate", map[string]string{"reason": "The payment was booked."}, nil)
	told(4)
}

//go:embed testdata/slack.html
var slackTemplate string

// slackPage shows messages as Slack lays out their blocks.
func slackPage(t *testing.T, messages []arrival) template.HTML {
	t.Helper()
	type text struct{ Type, Text string }
	type block struct {
		Type     string
		Text     text
		Elements []struct {
			Type string
			Text json.RawMessage
		}
	}
	funcs := template.FuncMap{
		"mrkdwn": mrkdwn,
		"words": func(raw json.RawMessage) (template.HTML, error) { // of an element: text, or an object with text
			var plain string
			if json.Unmarshal(raw, &plain) == nil {
				return mrkdwn(plain), nil
			}
			var object text
			err := json.Unmarshal(raw, &object)
			return template.HTML(template.HTMLEscapeString(object.Text)), err
		},
	}
	var shown []map[string]any
	for _, m := range messages {
		var body struct{ Blocks []block }
		if err := json.Unmarshal(m.body, &body); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, map[string]any{"Blocks": body.Blocks, "Time": time.Now().Format("15:04")})
	}
	return page(t, slackTemplate, funcs, shown)
}

var marks = []struct {
	mark *regexp.Regexp
	html string
}{
	{regexp.MustCompile("`([^`\n]+)`"), "<code>$1</code>"},
	{regexp.MustCompile(`\*([^*\n]+)\*`), "<b>$1</b>"},
	{regexp.MustCompile("\n"), "<br>"},
}

// mrkdwn reads Slack's markup, in which &, < and > are escaped already.
func mrkdwn(text string) template.HTML {
	for _, m := range marks {
		text = m.mark.ReplaceAllString(text, m.html)
	}
	return template.HTML(text)
}

//go:embed testdata/email.html
var emailTemplate string

// emailPage shows a message as a mail program does: its headers, and its HTML
// part.
func emailPage(t *testing.T, raw string) template.HTML {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	html := ""
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			html = string(content)
		} else {
			t.Logf("the text part:\n%s", content)
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return page(t, emailTemplate, nil, map[string]string{"Subject": subject, "From": m.Header.Get("From"), "To": m.Header.Get("To"), "Page": html})
}

func page(t *testing.T, source string, funcs template.FuncMap, data any) template.HTML {
	t.Helper()
	parsed, err := template.New("page").Funcs(funcs).Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, data); err != nil {
		t.Fatal(err)
	}
	return template.HTML(b.String())
}
