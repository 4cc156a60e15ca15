package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// AuditFilter selects entries of the audit log.
type AuditFilter struct {
	By     string `query:"by" maxLength:"200" doc:"Who made the change."`
	Change string `query:"change" maxLength:"50" doc:"What was done, such as policy or token_created."`
	Agent  string `query:"agent" maxLength:"128"`
	Since  string `query:"since" doc:"From then on: RFC 3339, or a span back from now such as 24h or 7d."`
	Until  string `query:"until" doc:"Up to but without then."`
}

func (f *AuditFilter) query(now time.Time) (q haltd.AuditQuery, err error) {
	q = haltd.AuditQuery{By: f.By, Change: f.Change, Agent: f.Agent}
	if q.Since, err = instant("since", f.Since, now); err != nil {
		return q, err
	}
	q.Until, err = instant("until", f.Until, now)
	return q, err
}

type auditInput struct {
	AuditFilter
	Paging
}

type auditOutput struct {
	Body struct {
		Entries []haltd.AuditEntry `json:"entries"`
		Next    *string            `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type exportAuditInput struct {
	AuditFilter
	Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"One JSON object a line, or a table."`
}

func (s *server) registerAudit() {
	register(s, operation(http.MethodGet, "/v1/audit", "list-audit", "Who changed what, the newest first"), s.listAudit)
	export := operation(http.MethodGet, "/v1/audit/export", "export-audit", "The audit log as a file, the newest first")
	export.Responses = textResponse("application/x-ndjson", "The entries, as a file.")
	export.Responses["200"].Content["text/csv"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	register(s, export, s.exportAudit)
}

func (s *server) listAudit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	q, err := in.query(s.deps.Clock().UTC())
	if err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		if q.Before, err = haltd.ParseEventID(in.Cursor); err != nil || q.Before <= 0 {
			return nil, haltd.Errorf(haltd.CodeInvalid, "%q is not the next of an earlier page", in.Cursor).In("cursor").WithFix("Leave it out to start at the newest entry.")
		}
	}
	out := &auditOutput{}
	var next haltd.EventID
	if out.Body.Entries, next, err = s.auditPage(ctx, q, in.Limit); err != nil {
		return nil, err
	}
	if next != 0 {
		out.Body.Next = nextOf(next.String())
	}
	return out, nil
}

// auditPage reads a page and says where the next one begins; 0 for nowhere.
func (s *server) auditPage(ctx context.Context, q haltd.AuditQuery, limit int) ([]haltd.AuditEntry, haltd.EventID, error) {
	q.Limit = limit + 1
	entries, err := s.deps.Audit.Audits(ctx, q)
	if err != nil || len(entries) <= limit {
		return append([]haltd.AuditEntry{}, entries...), 0, err
	}
	return entries[:limit], entries[limit-1].ID, nil
}

func (s *server) exportAudit(ctx context.Context, in *exportAuditInput) (*huma.StreamResponse, error) {
	now := s.deps.Clock().UTC()
	q, err := in.query(now)
	if err != nil {
		return nil, err
	}
	entries, next, err := s.auditPage(ctx, q, exportPage)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", map[string]string{"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}[in.Format])
		w.Header().Set("Content-Disposition", `attachment; filename="haltd-audit-`+now.Format("20060102T150405Z")+"."+in.Format+`"`)
		if r.Method == http.MethodHead {
			return
		}
		control := http.NewResponseController(w)
		defer endDeadline(control)
		write, flush := auditWriter(w, in.Format)
		for {
			extendWrite(control)
			for i := range entries {
				if err = write(&entries[i]); err != nil {
					break
				}
			}
			if err == nil {
				err = flush()
			}
			if err == nil && next != 0 {
				q.Before = next
				entries, next, err = s.auditPage(ctx, q, exportPage)
				if err == nil {
					continue
				}
			}
			if err != nil {
				panic(http.ErrAbortHandler) // the only way left to say that the file is not whole
			}
			return
		}
	}}, nil
}

func auditWriter(w http.ResponseWriter, format string) (write func(*haltd.AuditEntry) error, flush func() error) {
	if format != "csv" {
		lines := json.NewEncoder(w)
		return func(e *haltd.AuditEntry) error { return lines.Encode(e) }, func() error { return nil }
	}
	table := csv.NewWriter(w)
	_ = table.Write([]string{"id", "time", "by", "change", "agent", "session", "subject", "why", "detail"}) // an error stays until Flush
	return func(e *haltd.AuditEntry) error {
			return table.Write([]string{
				e.ID.String(), e.Time.Format(time.RFC3339Nano), cell(e.By), cell(e.Change), cell(e.Agent), cell(e.Session), cell(e.Subject), cell(e.Why), jsonCell(&e.Audit),
			})
		}, func() error {
			table.Flush()
			return table.Error()
		}
}
