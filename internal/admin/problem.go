package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// problem is the one shape of an error: {"error": {code, message, fix}}.
type problem struct {
	Detail problemDetail `json:"error"`
	status int
}

type problemDetail struct {
	Code    string `json:"code" doc:"Stable; programs may match on it."`
	Message string `json:"message" doc:"What happened."`
	Fix     string `json:"fix" doc:"What to do now; may be empty."`
}

// Error and GetStatus make problem a huma.StatusError.
func (p *problem) Error() string  { return p.Detail.Message }
func (p *problem) GetStatus() int { return p.status }

// huma builds its own validation errors and the error schema of the OpenAPI
// document through these variables.
func init() {
	huma.NewError = fromHuma
	huma.DefaultArrayNullable = false
}

func newProblem(status int, e *haltd.Error) *problem {
	return &problem{status: status, Detail: problemDetail{Code: e.Code, Message: e.Message, Fix: e.Fix}}
}

func writeProblem(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // a caller that has left cannot be told
}

var statusOfCode = map[string]int{
	haltd.CodeNotFound:     http.StatusNotFound,
	haltd.CodeInvalid:      http.StatusBadRequest,
	haltd.CodeUnauthorized: http.StatusUnauthorized,
	haltd.CodeTooLarge:     http.StatusRequestEntityTooLarge,
	haltd.CodeUnavailable:  http.StatusServiceUnavailable,
}

// problemOf turns an error of a handler into what the caller sees. What
// haltd's own rooms did not put in words for a person goes to the log only.
func (s *server) problemOf(ctx context.Context, operation string, err error) *problem {
	var e *haltd.Error
	if errors.As(err, &e) {
		if status, ok := statusOfCode[e.Code]; ok {
			return newProblem(status, e)
		}
	}
	if ctx.Err() == nil {
		s.Logger.ErrorContext(ctx, "admin request failed", "reason", operation, "error", err)
	}
	return newProblem(http.StatusInternalServerError, haltd.Errorf(haltd.CodeInternal, "haltd could not answer this request").
		WithFix("haltd's log says why."))
}

// fromHuma words huma's validation errors.
func fromHuma(status int, message string, errs ...error) huma.StatusError {
	var said []string
	for _, err := range errs {
		if err != nil {
			said = append(said, wording(err))
		}
	}
	e := haltd.Errorf(haltd.CodeInvalid, "%s", message)
	if len(said) > 0 {
		e.Message = strings.Join(said, "; ")
	}
	switch status {
	case http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case http.StatusRequestEntityTooLarge:
		e = haltd.Errorf(haltd.CodeTooLarge, "The body is larger than 1 MiB").WithFix("Send less.")
	case http.StatusUnsupportedMediaType:
		e = haltd.Errorf(haltd.CodeInvalid, "The body is not JSON").WithFix("Send it with Content-Type: application/json.")
	}
	if status >= 400 && e.Fix == "" {
		e.Fix = "GET /v1/openapi.json says what this path takes."
	}
	return newProblem(status, e)
}

// wording names the field and what is wrong with it, without repeating a
// whole body.
func wording(err error) string {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return err.Error()
	}
	if d.Location == "" {
		return d.Message
	}
	place, field, _ := strings.Cut(d.Location, ".")
	if field == "" {
		return place + ": " + d.Message
	}
	if d.Message == "unexpected property" {
		return field + " is not a field of this " + place
	}
	return field + ": " + d.Message
}
