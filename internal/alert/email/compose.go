package email

import (
	"bytes"
	"fmt"
	"html/template"
	netmail "net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd/internal/alert/outbound"
	"github.com/wneessen/go-mail"
)

// compose writes an email with a text and an HTML part. Every text in it is
// one line of visible characters before it goes anywhere, so that none can
// add a header.
func (s *Settings) compose(m outbound.Message) (*mail.Msg, error) {
	message := mail.NewMsg()
	if err := message.From(s.From); err != nil {
		return nil, err
	}
	if err := message.To(s.To...); err != nil {
		return nil, err
	}
	c := newContent(m)
	message.Subject(c.subject())
	message.SetDateWithValue(m.SentAt)
	message.SetMessageIDWithValue(s.messageID(m.ID))
	// Without these, mailboxes answer with their holiday notes.
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetGenHeader("X-Auto-Response-Suppress", "All")

	var html bytes.Buffer
	if err := page.Execute(&html, c); err != nil {
		return nil, err
	}
	message.SetBodyString(mail.TypeTextPlain, c.text())
	message.AddAlternativeString(mail.TypeTextHTML, html.String())
	return message, nil
}

// messageID is the same at every try, so that a mailbox can tell a second
// try from a second message.
func (s *Settings) messageID(notice string) string {
	domain := "haltd"
	if from, err := netmail.ParseAddress(s.From); err == nil {
		domain = from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	}
	return outbound.Line(notice, 100) + "@" + domain
}

// content is a message in the words of an email.
type content struct {
	Title, Sentence string
	Rows            []row
	URL             string
	agent           string
}

type row struct{ Name, Value string }

func newContent(m outbound.Message) content {
	c := content{Title: outbound.Line(m.Title, 150), Sentence: outbound.Line(m.Sentence, 2000), URL: m.URL, agent: outbound.Line(m.Agent, 128)}
	add := func(name, value string) {
		if value != "" {
			c.Rows = append(c.Rows, row{name, value})
		}
	}
	add("Agent", c.agent)
	add("Session", outbound.Line(m.Session, 200))
	add("Time", m.Time.UTC().Format(time.RFC1123))
	if len(m.Tokens) > 0 {
		texts := make([]string, len(m.Tokens))
		for i, n := range m.Tokens {
			texts[i] = strconv.FormatInt(n, 10)
		}
		add("Recent prompt tokens", strings.Join(texts, ", "))
	}
	return c
}

func (c content) subject() string {
	if c.agent == "" {
		return "[haltd] " + c.Title
	}
	return fmt.Sprintf("[haltd] %s: %s", c.Title, c.agent)
}

func (c content) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\r\n\r\n%s\r\n\r\n", c.Title, c.Sentence)
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "%s: %s\r\n", r.Name, r.Value)
	}
	if c.URL != "" {
		fmt.Fprintf(&b, "\r\nOpen incident: %s\r\n", c.URL)
	}
	return b.String()
}

var page = template.Must(template.New("email").Parse(`<!DOCTYPE html>
<html><body style="font-family:sans-serif;color:#1a1a1a;max-width:40em">
<h2>{{.Title}}</h2>
<p>{{.Sentence}}</p>
<table cellpadding="4">{{range .Rows}}<tr><td style="color:#666">{{.Name}}</td><td><code>{{.Value}}</code></td></tr>{{end}}</table>
{{if .URL}}<p><a href="{{.URL}}">Open incident</a></p>{{end}}
</body></html>
`))
