package table

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/haltd/haltd"
)

// detail is the part of an event that no query filters by, as it stands in
// events.detail. Durations are in microseconds; what is zero is left out.
type detail struct {
	Session     string       `json:"session,omitempty"` // where there is no agent, and so no session row
	Label       string       `json:"label,omitempty"`
	Trace       string       `json:"trace,omitempty"`
	Format      string       `json:"format,omitempty"`
	Path        string       `json:"path,omitempty"`
	Status      int          `json:"status,omitempty"`
	Stream      bool         `json:"stream,omitempty"`
	Input       int64        `json:"input,omitempty"`
	Output      int64        `json:"output,omitempty"`
	CacheRead   int64        `json:"cache_read,omitempty"`
	CacheWrite  int64        `json:"cache_write,omitempty"`
	Estimated   bool         `json:"estimated,omitempty"`
	Cost        int64        `json:"cost,omitempty"`
	Unpriced    bool         `json:"unpriced,omitempty"`
	Latency     int64        `json:"latency,omitempty"`
	FirstByte   int64        `json:"first_byte,omitempty"`
	BlockReason string       `json:"block_reason,omitempty"`
	Incident    string       `json:"incident,omitempty"`
	Shadow      bool         `json:"shadow,omitempty"`
	Retry       bool         `json:"retry,omitempty"`
	Score       float64      `json:"score,omitempty"`
	Rule        string       `json:"rule,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	Finish      string       `json:"finish,omitempty"`
	ToolCalls   []string     `json:"tool_calls,omitempty"`
	PromptHash  string       `json:"prompt_hash,omitempty"`
	PromptLen   int64        `json:"prompt_bytes,omitempty"`
	ReplyHash   string       `json:"reply_hash,omitempty"`
	ReplyLen    int64        `json:"reply_bytes,omitempty"`
	Unread      string       `json:"unread,omitempty"`
	Error       string       `json:"error,omitempty"`
	Verdict     recorded     `json:"verdict,omitzero"`
	Audit       *haltd.Audit `json:"audit,omitempty"`
}

// DetailOf is the detail of an event, as JSON.
func DetailOf(e *haltd.Event) ([]byte, error) {
	d := detail{
		Label: e.Label, Trace: e.Trace, Format: e.Format, Path: e.Path,
		Status: e.Status, Stream: e.Stream,
		Input: e.Tokens.Input, Output: e.Tokens.Output, CacheRead: e.Tokens.CacheRead, CacheWrite: e.Tokens.CacheWrite,
		Estimated: e.Estimated, Cost: int64(e.Cost), Unpriced: e.Unpriced,
		Latency: time.Duration(e.Latency).Microseconds(), FirstByte: time.Duration(e.FirstByte).Microseconds(),
		BlockReason: string(e.BlockReason), Incident: e.Incident, Shadow: e.Shadow, Retry: e.Retry,
		Score: e.Score, Rule: e.Rule, Tags: e.Tags,
		Finish: e.Finish, ToolCalls: e.ToolCalls,
		PromptHash: e.PromptHash, PromptLen: int64(e.PromptLen), ReplyHash: e.ReplyHash, ReplyLen: int64(e.ReplyLen),
		Unread: e.Unread, Error: e.Error, Verdict: recorded{verdict: e.Verdict}, Audit: e.Audit,
	}
	if e.Agent == "" {
		d.Session = e.Session
	}
	return json.Marshal(d)
}

// ReadDetail reads what DetailOf wrote into its event.
func ReadDetail(text []byte, e *haltd.Event) error {
	var d detail
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if e.Session == "" {
		e.Session = d.Session
	}
	e.Label, e.Trace, e.Format, e.Path = d.Label, d.Trace, d.Format, d.Path
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
