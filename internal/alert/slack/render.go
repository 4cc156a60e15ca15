package slack

import (
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

// payload is what an incoming webhook takes: text for notifications and for
// clients without blocks, and blocks. Nothing in it becomes a link or a
// mention by itself.
type payload struct {
	Text        string  `json:"text"`
	Blocks      []block `json:"blocks"`
	Parse       string  `json:"parse"`
	LinkNames   bool    `json:"link_names"`
	UnfurlLinks bool    `json:"unfurl_links"`
	UnfurlMedia bool    `json:"unfurl_media"`
}

type block struct {
	Type     string    `json:"type"`
	Text     *text     `json:"text,omitempty"`
	Elements []element `json:"elements,omitempty"`
}

type text struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim *bool  `json:"verbatim,omitempty"` // of mrkdwn: makes no links of what looks like one
}

// element is a button, or text in a context block.
type element struct {
	Type     string `json:"type"`
	Text     any    `json:"text"`
	Verbatim *bool  `json:"verbatim,omitempty"`
	URL      string `json:"url,omitempty"`
	ActionID string `json:"action_id,omitempty"`
}

func render(m outbound.Message) payload {
	yes := true
	message := words(m)
	p := payload{
		Text: plain(m), Parse: "none",
		Blocks: []block{{Type: "section", Text: &text{Type: "mrkdwn", Text: message, Verbatim: &yes}}},
	}
	if about := about(m); about != "" {
		p.Blocks = append(p.Blocks, block{Type: "context", Elements: []element{{Type: "mrkdwn", Text: about, Verbatim: &yes}}})
	}
	if m.URL != "" {
		p.Blocks = append(p.Blocks, block{Type: "actions", Elements: []element{{
			Type: "button", Text: text{Type: "plain_text", Text: m.Link()}, URL: m.URL, ActionID: "open_incident",
		}}})
	}
	return p
}

// plain is what a receiver shows that knows no blocks: all of the message. Growth
// has the three lines that its document gives it.
func plain(m outbound.Message) string {
	lines := []string{words(m)}
	if !isGrowth(m) {
		lines = append(lines, about(m), escapes.Replace(m.URL))
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// Together these leave a block within the 3000 characters that Slack takes,
// even when every one has to be escaped.
const (
	longestTitle    = 50
	longestSentence = 400
	longestNext     = 140
)

// words are the message itself.
func words(m outbound.Message) string {
	if isGrowth(m) {
		message := "🚨 *Runaway Agent Detected* 🚨\nSession " + code(m.Session) + " showed quadratic growth signature."
		if len(m.Tokens) > 0 {
			message += "\nRecent prompt tokens: " + list(m.Tokens)
		}
		return message
	}
	message := sign(m) + " *" + escape(m.Title, longestTitle) + "*\n" + escape(m.Sentence, longestSentence)
	if m.Next != "" {
		message += "\n" + escape(m.Next, longestNext)
	}
	return message
}

func isGrowth(m outbound.Message) bool {
	return m.Topic == haltd.IncidentGrowth && !m.Recovery && !m.Test
}

func sign(m outbound.Message) string {
	switch {
	case m.Test:
		return "🔔"
	case m.Recovery:
		return "✅"
	case m.Topic == haltd.IncidentBudgetSoft:
		return "⚠️"
	}
	return "🚨"
}

// about says whom it is about, and when it happened: a message can be late.
func about(m outbound.Message) string {
	var parts []string
	if m.Agent != "" {
		parts = append(parts, "Agent "+code(m.Agent))
	}
	if m.Session != "" && !isGrowth(m) { // whose words name it
		parts = append(parts, "Session "+code(m.Session))
	}
	if spent := m.Spent(); spent != "" {
		parts = append(parts, "Cost so far: "+spent)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(append(parts, m.Time.UTC().Format("2 Jan 2006, 15:04 UTC")), " · ")
}

func list(tokens []int64) string {
	texts := make([]string, len(tokens))
	for i, n := range tokens {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape keeps Slack from reading a text as markup: links and mentions start
// with <.
func escape(s string, max int) string { return escapes.Replace(outbound.Line(s, max)) }

// code shows a name that a client chose, within a code span that it cannot
// leave: nothing in a code span is formatted or linked.
func code(name string) string {
	name = strings.ReplaceAll(escape(name, 200), "`", "'")
	if name == "" {
		name = "unknown"
	}
	return "`" + name + "`"
}
