package email

import (
	"bytes"
	"fmt"
	netmail "net/mail"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
	"github.com/wneessen/go-mail"
)

// compose writes an email with a text and an HTML part. Every text in it is
// one line of visible characters before it goes anywhere, so that none can
// add a header.
func (s *Settings) compose(m outbound.Message) (*mail.Msg, error) {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent()) // which names the library and its version
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
	Title, Sentence, Next string
	Tone                  tone
	Rows                  []row
	URL, Link, Command    string // two ways to the incident
	agent                 string
}

type row struct {
	Name, Value string
	Code        bool // Value is not prose
}

// tone is how serious a message is. Its colours stand beside the title, which
// says the same in words.
type tone struct{ Name, Text, Ground string }

var (
	stopped = tone{"stopped", "#c22626", "#fdecec"}
	look    = tone{"look", "#8a5000", "#fff4e0"}
	healthy = tone{"healthy", "#1f6b33", "#e9f7ec"}
	neutral = tone{"neutral", "#3b5bdb", "#edf1fe"}
)

func toneOf(m outbound.Message) tone {
	switch {
	case m.Test:
		return neutral
	case m.Recovery:
		return healthy
	case m.Topic == haltd.IncidentGrowth, m.Topic == haltd.IncidentBudgetSoft:
		return look
	}
	return stopped
}

func newContent(m outbound.Message) content {
	c := content{
		Title: outbound.Line(m.Title, 150), Sentence: outbound.Line(m.Sentence, 2000), Next: outbound.Line(m.Next, 500),
		Tone: toneOf(m), URL: m.URL, Link: m.Link(), agent: outbound.Line(m.Agent, 128),
	}
	add := func(name, value string, code bool) {
		if value != "" {
			c.Rows = append(c.Rows, row{name, value, code})
		}
	}
	add("Agent", c.agent, true)
	add("Session", outbound.Line(m.Session, 200), true)
	if len(m.Tokens) > 0 {
		texts := make([]string, len(m.Tokens))
		for i, n := range m.Tokens {
			texts[i] = strconv.FormatInt(n, 10)
		}
		add("Prompt tokens", strings.Join(texts, ", "), true)
	}
	add("Cost so far", m.Spent(), false)
	add("Time", m.Time.UTC().Format("2 January 2006, 15:04:05 UTC"), false)
	if id := outbound.Line(m.Incident, 100); id != "" {
		add("Incident", id, true)
		c.Command = "haltd incidents show " + id
	} else if c.URL != "" {
		c.Command = "haltd incidents ls"
	}
	return c
}

func (c content) subject() string {
	if c.agent == "" {
		return "[haltd] " + c.Title
	}
	return fmt.Sprintf("[haltd] %s: %s", c.Title, c.agent)
}

// Footer says why the reader gets this.
func (content) Footer() string {
	return "haltd sends this because one of its alert channels names this address."
}

func (c content) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("%s\r\n\r\n%s", strings.ToUpper(c.Title), c.Sentence)
	if c.Next != "" {
		line("\r\n%s", c.Next)
	}
	if c.URL != "" {
		line("\r\n%-15s %s", c.Link+":", c.URL)
	}
	if c.Command != "" {
		line("In a terminal:  %s", c.Command)
	}
	line("")
	for _, r := range c.Rows {
		line("%-15s %s", r.Name+":", r.Value)
	}
	line("\r\n-- \r\n%s", c.Footer())
	return b.String()
}
