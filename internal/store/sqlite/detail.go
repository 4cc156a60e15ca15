package sqlite

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/haltd/haltd"
)

// detail is the part of an event that no query filters by, as it stands in
// events.detail. Durations are in microseconds; what is zero is left out.
// appendDetail writes it by hand, because it runs once per event.
type detail struct {
	Session     string       `json:"session"` // where there is no agent, and so no session row
	Label       string       `json:"label"`
	Format      string       `json:"format"`
	Path        string       `json:"path"`
	Status      int          `json:"status"`
	Stream      bool         `json:"stream"`
	Input       int64        `json:"input"`
	Output      int64        `json:"output"`
	CacheRead   int64        `json:"cache_read"`
	CacheWrite  int64        `json:"cache_write"`
	Estimated   bool         `json:"estimated"`
	Cost        int64        `json:"cost"`
	Unpriced    bool         `json:"unpriced"`
	Latency     int64        `json:"latency"`
	FirstByte   int64        `json:"first_byte"`
	BlockReason string       `json:"block_reason"`
	Incident    string       `json:"incident"`
	Shadow      bool         `json:"shadow"`
	Retry       bool         `json:"retry"`
	Score       float64      `json:"score"`
	Rule        string       `json:"rule"`
	Tags        []string     `json:"tags"`
	Finish      string       `json:"finish"`
	ToolCalls   []string     `json:"tool_calls"`
	PromptHash  string       `json:"prompt_hash"`
	PromptLen   int64        `json:"prompt_bytes"`
	ReplyHash   string       `json:"reply_hash"`
	ReplyLen    int64        `json:"reply_bytes"`
	Unread      string       `json:"unread"`
	Error       string       `json:"error"`
	Verdict     recorded     `json:"verdict"`
	Audit       *haltd.Audit `json:"audit"`
}

func appendDetail(b []byte, e *haltd.Event) ([]byte, error) {
	o := object{append(b, '{')}
	if e.Agent == "" {
		o.text("session", e.Session)
	}
	o.text("label", e.Label)
	o.text("format", e.Format)
	o.text("path", e.Path)
	o.number("status", int64(e.Status))
	o.flag("stream", e.Stream)
	o.number("input", e.Tokens.Input)
	o.number("output", e.Tokens.Output)
	o.number("cache_read", e.Tokens.CacheRead)
	o.number("cache_write", e.Tokens.CacheWrite)
	o.flag("estimated", e.Estimated)
	o.number("cost", int64(e.Cost))
	o.flag("unpriced", e.Unpriced)
	o.number("latency", time.Duration(e.Latency).Microseconds())
	o.number("first_byte", time.Duration(e.FirstByte).Microseconds())
	o.text("block_reason", string(e.BlockReason))
	o.text("incident", e.Incident)
	o.flag("shadow", e.Shadow)
	o.flag("retry", e.Retry)
	o.float("score", e.Score)
	o.text("rule", e.Rule)
	o.texts("tags", e.Tags)
	o.text("finish", e.Finish)
	o.texts("tool_calls", e.ToolCalls)
	o.text("prompt_hash", e.PromptHash)
	o.number("prompt_bytes", int64(e.PromptLen))
	o.text("reply_hash", e.ReplyHash)
	o.number("reply_bytes", int64(e.ReplyLen))
	o.text("unread", e.Unread)
	o.text("error", e.Error)
	err := errors.Join(document(&o, "verdict", e.Verdict), document(&o, "audit", e.Audit))
	return append(o.b, '}'), err
}

func readDetail(text []byte, e *haltd.Event) error {
	var d detail
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if e.Session == "" {
		e.Session = d.Session
	}
	e.Label, e.Format, e.Path = d.Label, d.Format, d.Path
	e.Status, e.Stream = d.Status, d.Stream
	e.Tokens = haltd.Usage{Input: d.Input, Output: d.Output, CacheRead: d.CacheRead, CacheWrite: d.CacheWrite}
	e.Estimated, e.Cost, e.Unpriced = d.Estimated, haltd.Money(d.Cost), d.Unpriced
	e.Latency = haltd.Duration(time.Duration(d.Latency) * time.Microsecond)
	e.FirstByte = haltd.Duration(time.Duration(d.FirstByte) * time.Microsecond)
	e.BlockReason, e.Incident, e.Shadow, e.Retry = haltd.Reason(d.BlockReason), d.Incident, d.Shadow, d.Retry
	e.Score, e.Rule, e.Tags = d.Score, d.Rule, d.Tags
	e.Finish, e.ToolCalls = d.Finish, d.ToolCalls
	e.PromptHash, e.PromptLen = d.PromptHash, int(d.PromptLen)
	e.ReplyHash, e.ReplyLen = d.ReplyHash, int(d.ReplyLen)
	e.Unread, e.Error = d.Unread, d.Error
	e.Verdict, e.Audit = d.Verdict.verdict, cmp.Or(d.Audit, d.Verdict.audit)
	return nil
}

// object writes the members of a JSON object whose value is not zero.
type object struct{ b []byte }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) number(name string, n int64) {
	if n != 0 {
		o.key(name)
		o.b = strconv.AppendInt(o.b, n, 10)
	}
}

func (o *object) float(name string, f float64) {
	if f != 0 {
		o.key(name)
		o.b = strconv.AppendFloat(o.b, f, 'g', -1, 64)
	}
}

func (o *object) flag(name string, v bool) {
	if v {
		o.key(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) text(name, s string) {
	if s != "" {
		o.key(name)
		o.b = appendText(o.b, s)
	}
}

func (o *object) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendText(o.b, s)
	}
	o.b = append(o.b, ']')
}

func document[T any](o *object, name string, part *T) error {
	if part == nil {
		return nil
	}
	text, err := json.Marshal(part)
	if err == nil {
		o.key(name)
		o.b = append(o.b, text...)
	}
	return err
}

// appendText writes s as a JSON string. Nearly all are plain; the rest is
// left to encoding/json, which also mends what is not UTF-8.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
