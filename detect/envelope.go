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
	text = withoutHeaders(text)
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

// withoutHeaders is the body of an HTTP answer that a tool hands on with its
// headers: they have a clock, ids and counters of their own. The status stays.
func withoutHeaders(text string) string {
	const fewest, longest = 2, 4 << 10
	rest, status := text, ""
	if strings.HasPrefix(rest, "HTTP/") {
		status, rest, _ = strings.Cut(rest, "\n")
		status += "\n"
	}
	for n := 0; len(text)-len(rest) <= longest; n++ {
		line, after, more := strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			if n < fewest || strings.TrimSpace(after) == "" {
				break
			}
			return status + after
		}
		name, _, ok := strings.Cut(line, ": ")
		if !ok || !more || !isHeader(name) {
			break
		}
		rest = after
	}
	return text
}

// isHeader reports the name of an HTTP header: parts of letters and digits, joined
// by dashes, or one of those that every server sends.
func isHeader(name string) bool {
	switch strings.ToLower(name) {
	case "date", "server", "connection", "vary", "etag", "expires", "age", "via", "pragma":
		return true
	}
	return strings.Contains(name, "-") && runOf(name, 0, func(b byte) bool { return b == '-' || plainWord[b] != 0 }) == len(name)
}
