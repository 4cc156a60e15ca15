package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// exportPage is how many events of an export are in memory at once.
const exportPage = 500

type exportInput struct {
	EventFilter
	Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"One JSON object a line, or a table."`
}

// eventWriter writes one form of export.
type eventWriter interface {
	begin() error
	write(*haltd.Event) error
	flush() error
}

func (s *server) registerExport() {
	op := operation(http.MethodGet, "/v1/events/export", "export-events", "Every event that is selected, the newest first")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The events, as a file.",
		Content: map[string]*huma.MediaType{
			"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}},
			"text/csv":             {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
	register(s, op, s.export)
}

func (s *server) export(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	now := s.deps.Clock().UTC()
	q, err := in.query(now)
	if err != nil {
		return nil, err
	}
	// The first page is read before the answer begins, so that a store that
	// fails is an error and not an empty file.
	events, next, err := s.eventPage(ctx, q, exportPage)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		contentType := "application/x-ndjson"
		if in.Format == "csv" {
			contentType = "text/csv; charset=utf-8"
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Disposition", `attachment; filename="haltd-events-`+now.Format("20060102T150405Z")+"."+in.Format+`"`)
		if r.Method == http.MethodHead {
			return
		}
		if err := s.exportPages(ctx, w, in.Format, q, events, next); err != nil {
			if ctx.Err() == nil {
				s.deps.Logger.ErrorContext(ctx, "export ended early", "error", err)
			}
			// A broken connection is the only way left to say that the file
			// is not whole.
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

func (s *server) exportPages(ctx context.Context, w http.ResponseWriter, format string, q haltd.EventQuery, events []haltd.Event, next haltd.EventID) error {
	var out eventWriter = &jsonLines{json.NewEncoder(w)}
	if format == "csv" {
		out = &csvTable{csv.NewWriter(w)}
	}
	control := http.NewResponseController(w)
	defer endDeadline(control)
	if err := out.begin(); err != nil {
		return err
	}
	for {
		extendWrite(control)
		for i := range events {
			if err := out.write(&events[i]); err != nil {
				return err
			}
		}
		if err := out.flush(); err != nil {
			return err
		}
		if next == 0 {
			return nil
		}
		q.Before = next
		var err error
		if events, next, err = s.eventPage(ctx, q, exportPage); err != nil {
			return err
		}
	}
}

// extendWrite gives a long answer time for its next part. The deadline is
// the connection's own and follows the real clock.
func extendWrite(control *http.ResponseController) {
	const patience = 30 * time.Second
	_ = control.SetWriteDeadline(time.Now().Add(patience)) // not every writer has deadlines
}

// endDeadline takes the deadline off a connection that may carry more
// requests.
func endDeadline(control *http.ResponseController) { _ = control.SetWriteDeadline(time.Time{}) }

type jsonLines struct{ *json.Encoder }

func (j *jsonLines) begin() error               { return nil }
func (j *jsonLines) write(e *haltd.Event) error { return j.Encode(e) }
func (j *jsonLines) flush() error               { return nil }

type csvTable struct{ *csv.Writer }

func (c *csvTable) begin() error { return c.Write(csvHeader) }

func (c *csvTable) write(e *haltd.Event) error { return c.Write(csvRow(e)) }

func (c *csvTable) flush() error {
	c.Flush()
	return c.Error()
}

var _, _ eventWriter = (*jsonLines)(nil), (*csvTable)(nil)

var csvHeader = []string{
	"id", "time", "event_type", "agent", "label", "session", "client", "provider", "format", "path", "model",
	"status", "stream", "tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write", "tokens_estimated",
	"cost_usd", "cost_default", "latency_ms", "first_byte_ms", "blocked", "block_reason", "incident", "shadow", "retry",
	"score", "rule", "tags", "finish", "tool_calls", "prompt_hash", "prompt_bytes", "reply_hash", "reply_bytes", "unread", "error", "verdict", "audit",
}

func csvRow(e *haltd.Event) []string {
	return []string{
		e.ID.String(), e.Time.Format(time.RFC3339Nano), cell(string(e.Type)),
		cell(e.Agent), cell(e.Label), cell(e.Session), cell(e.Client),
		cell(e.Provider), cell(e.Format), cell(e.Path), cell(e.Model),
		strconv.Itoa(e.Status), strconv.FormatBool(e.Stream),
		whole(e.Tokens.Input), whole(e.Tokens.Output), whole(e.Tokens.CacheRead), whole(e.Tokens.CacheWrite),
		strconv.FormatBool(e.Estimated), e.Cost.String(), strconv.FormatBool(e.Unpriced),
		milliseconds(e.Latency), milliseconds(e.FirstByte),
		strconv.FormatBool(e.Blocked), cell(string(e.BlockReason)), cell(e.Incident), strconv.FormatBool(e.Shadow), strconv.FormatBool(e.Retry),
		strconv.FormatFloat(e.Score, 'f', -1, 64), cell(e.Rule), cell(strings.Join(e.Tags, " ")),
		cell(e.Finish), cell(strings.Join(e.ToolCalls, " ")),
		cell(e.PromptHash), strconv.Itoa(e.PromptLen), cell(e.ReplyHash), strconv.Itoa(e.ReplyLen),
		cell(e.Unread), cell(e.Error), jsonCell(e.Verdict), jsonCell(e.Audit),
	}
}

// cell keeps a spreadsheet from taking a text for a formula: agents choose
// much of what stands here.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// jsonCell is a part of an event that has no columns of its own.
func jsonCell[T any](part *T) string {
	if part == nil {
		return ""
	}
	text, err := json.Marshal(part)
	if err != nil { // words and numbers always marshal
		return ""
	}
	return string(text)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func milliseconds(d haltd.Duration) string {
	return strconv.FormatFloat(float64(time.Duration(d).Microseconds())/1000, 'f', -1, 64)
}
