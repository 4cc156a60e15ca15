package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// detail is the part of an event that no query filters by, as it stands in
// events.detail. Durations are in microseconds; what is zero is left out. Its verdict
// is written as it is, and read as what was ever recorded.
type detail[V recorded | *haltd.Verdict] struct {
	Session string `json:"session,omitempty"` // where there is no agent, and so no session row
	Label   string `json:"label,omitempty"`
	Trace   string `json:"trace,omitempty"`
	Format  string `json:"format,omitempty"`
	Path    string `json:"path,omitempty"`
	Status  int    `json:"status,omitempty"`
	Stream  bool   `json:"stream,omitempty"`
	tokens
	Estimated   bool         `json:"estimated,omitempty"`
	Cost        amount       `json:"cost,omitempty"`
	Unpriced    bool         `json:"unpriced,omitempty"`
	Latency     microseconds `json:"latency,omitempty"`
	FirstByte   microseconds `json:"first_byte,omitempty"`
	BlockReason haltd.Reason `json:"block_reason,omitempty"`
	Incident    string       `json:"incident,omitempty"`
	Shadow      bool         `json:"shadow,omitempty"`
	Retry       bool         `json:"retry,omitempty"`
	Score       float64      `json:"score,omitempty"`
	Rule        string       `json:"rule,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	Finish      string       `json:"finish,omitempty"`
	ToolCalls   []string     `json:"tool_calls,omitempty"`
	PromptHash  string       `json:"prompt_hash,omitempty"`
	PromptLen   int          `json:"prompt_bytes,omitempty"`
	ReplyHash   string       `json:"reply_hash,omitempty"`
	ReplyLen    int          `json:"reply_bytes,omitempty"`
	Unread      string       `json:"unread,omitempty"`
	Error       string       `json:"error,omitempty"`
	Verdict     V            `json:"verdict,omitzero"`
	Audit       *haltd.Audit `json:"audit,omitempty"`
}

// tokens are a haltd.Usage, in the detail itself.
type tokens struct {
	Input      int64 `json:"input,omitempty"`
	Output     int64 `json:"output,omitempty"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// amount is a haltd.Money, as the whole number that it is.
type amount int64

// microseconds are a haltd.Duration.
type microseconds int64

// each pairs the fields of a detail with those of its event: the one list for
// writing and reading. What one of the two does in a way of its own is not in it.
func (d *detail[V]) each(e *haltd.Event, pass passing) {
	copyField(pass, &d.Label, &e.Label)
	copyField(pass, &d.Trace, &e.Trace)
	copyField(pass, &d.Format, &e.Format)
	copyField(pass, &d.Path, &e.Path)
	copyField(pass, &d.Status, &e.Status)
	copyField(pass, &d.Stream, &e.Stream)
	copyField(pass, &d.tokens, (*tokens)(&e.Tokens))
	copyField(pass, &d.Estimated, &e.Estimated)
	copyField(pass, &d.Cost, (*amount)(&e.Cost))
	copyField(pass, &d.Unpriced, &e.Unpriced)
	copySpan(pass, &d.Latency, &e.Latency)
	copySpan(pass, &d.FirstByte, &e.FirstByte)
	copyField(pass, &d.BlockReason, &e.BlockReason)
	copyField(pass, &d.Incident, &e.Incident)
	copyField(pass, &d.Shadow, &e.Shadow)
	copyField(pass, &d.Retry, &e.Retry)
	copyField(pass, &d.Score, &e.Score)
	copyField(pass, &d.Rule, &e.Rule)
	copyField(pass, &d.Tags, &e.Tags)
	copyField(pass, &d.Finish, &e.Finish)
	copyField(pass, &d.ToolCalls, &e.ToolCalls)
	copyField(pass, &d.PromptHash, &e.PromptHash)
	copyField(pass, &d.PromptLen, &e.PromptLen)
	copyField(pass, &d.ReplyHash, &e.ReplyHash)
	copyField(pass, &d.ReplyLen, &e.ReplyLen)
	copyField(pass, &d.Unread, &e.Unread)
	copyField(pass, &d.Error, &e.Error)
	copyField(pass, &d.Audit, &e.Audit)
}

// passing is the way that fields are copied.
type passing bool

const (
	toDetail passing = true
	toEvent  passing = false
)

func copyField[T any](pass passing, ofDetail, ofEvent *T) {
	if pass == toDetail {
		*ofDetail = *ofEvent
	} else {
		*ofEvent = *ofDetail
	}
}

func copySpan(pass passing, ofDetail *microseconds, ofEvent *haltd.Duration) {
	if pass == toDetail {
		*ofDetail = microseconds(time.Duration(*ofEvent).Microseconds())
	} else {
		*ofEvent = haltd.Duration(time.Duration(*ofDetail) * time.Microsecond)
	}
}

// DetailOf is the detail of an event, as JSON.
func DetailOf(e *haltd.Event) (string, error) {
	w := detailWriters.Get().(*detailWriter)
	defer detailWriters.Put(w)
	return w.write(e)
}

// detailWriter is memory for the detail that is being written.
type detailWriter struct {
	detail  detail[*haltd.Verdict]
	text    bytes.Buffer
	encoder *json.Encoder
}

var detailWriters = sync.Pool{New: func() any {
	w := &detailWriter{}
	w.encoder = json.NewEncoder(&w.text)
	return w
}}

func (w *detailWriter) write(e *haltd.Event) (string, error) {
	w.text.Reset()
	d := &w.detail
	d.each(e, toDetail)
	d.Verdict, d.Session = e.Verdict, ""
	if e.Agent == "" {
		d.Session = e.Session
	}
	err := w.encoder.Encode(d)
	*d = detail[*haltd.Verdict]{} // what the event refers to must not stay for it
	if err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(w.text.Bytes(), []byte("\n"))), nil
}

// ReadDetail reads what DetailOf wrote into its event.
func ReadDetail(text []byte, e *haltd.Event) error {
	var d detail[recorded]
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	d.each(e, toEvent)
	e.Verdict = d.Verdict.verdict
	e.Session = cmp.Or(e.Session, d.Session)
	e.Audit = cmp.Or(d.Audit, d.Verdict.audit)
	return nil
}
