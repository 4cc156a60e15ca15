package detect

import (
	"encoding/json"
	"strings"
)

// envelope is what an MCP server wraps a result in. Some clients hand it on as
// it is.
type envelope struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	IsError bool `json:"isError"`
}

// unwrapped is the text inside an MCP server's envelope, and whether the
// envelope says that the call failed. What has none is returned as it is.
func unwrapped(text string) (inner string, failed bool) {
	const head = 64 // within which the envelope says what it is
	t := unlabelled(text)
	if t == "" || t[0] != '{' || len(t) > maxRead || !strings.Contains(t[:min(len(t), head)], `"content"`) || !strings.Contains(t, `"text"`) {
		return text, false
	}
	var e envelope
	if json.Unmarshal([]byte(t), &e) != nil || len(e.Content) == 0 {
		return text, false
	}
	var b strings.Builder
	for i := range e.Content {
		if e.Content[i].Type != "text" {
			return text, false
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Content[i].Text)
	}
	return b.String(), e.IsError
}
