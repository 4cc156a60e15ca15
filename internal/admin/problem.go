package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/haltd/haltd"
)

// problem is the one shape of an error: {"error": {code, message, field,
// fix, see}}.
type problem struct {
	Detail problemDetail `json:"error"`
	status int
}

type problemDetail struct {
	Code    string `json:"code" doc:"Stable; programs may match on it."`
	Message string `json:"message" doc:"What happened."`
	Field   string `json:"field,omitempty" doc:"What of the request the message is about, such as budgets.day.hard_usd; the first where it is about several. Left out where it is about none."`
	Fix     string `json:"fix" doc:"What to do now."`
	See     string `json:"see,omitempty" doc:"Where the fix is to look something up here: the path to GET, such as /v1/keys, which lists what there is."`
}

// remedy is what to do now: a fix, and the path that it says to GET, for a program
// that calls it by another name; "" for none.
type remedy struct{ fix, see string }

const openAPIPath = "/v1/openapi.json"

// readTheAPI is for whoever broke a rule of the API.
var readTheAPI = remedy{"GET " + openAPIPath + " says what this path takes.", openAPIPath}

func (p *problem) suggest(r remedy) *problem {
	p.Detail.Fix, p.Detail.See = r.fix, r.see
	return p
}

// Error and GetStatus make problem a huma.StatusError.
func (p *problem) Error() string  { return p.Detail.Message }
func (p *problem) GetStatus() int { return p.status }

// huma builds its own validation errors and the error schema of the OpenAPI
// document through these variables.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return fromHuma(nil, status, message, errs...)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		return fromHuma(ctx.Operation(), status, message, errs...)
	}
	huma.DefaultArrayNullable = false
}

// newProblem words an error for the caller. Whoever is refused is told what to
// do now, also where the error itself does not know.
func newProblem(status int, e *haltd.Error) *problem {
	p := &problem{status: status, Detail: problemDetail{Code: e.Code, Message: e.Sentence(), Field: e.Field, Fix: e.Fix}}
	if e.Fix != "" {
		return p
	}
	if usual, ok := usualRemedy[e.Code]; ok {
		return p.suggest(usual)
	}
	return p.suggest(readTheAPI)
}

var usualRemedy = map[string]remedy{
	haltd.CodeInvalid:     {"Mend what the message names; " + readTheAPI.fix, readTheAPI.see},
	haltd.CodeExists:      {fix: "Choose another name, or change the one there is."},
	haltd.CodeUnavailable: {fix: "Try again; haltd's log says why."},
	haltd.CodeTooLarge:    {fix: "Send less."},
	haltd.CodeInternal:    {fix: "haltd's log says why."},
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
	haltd.CodeExists:       http.StatusConflict,
	haltd.CodeConflict:     http.StatusConflict,
	codeForbidden:          http.StatusForbidden,
}

// codeForbidden is for a caller who is known and may not do this.
const codeForbidden = "forbidden"

// problemOf turns an error of a handler into what the caller sees. What
// haltd's own rooms did not put in words for a person goes to the log only.
func (s *server) problemOf(ctx context.Context, op *huma.Operation, err error) *problem {
	var e *haltd.Error
	if errors.As(err, &e) {
		if status, ok := statusOfCode[e.Code]; ok {
			shown := *withAll(e, err)
			p := newProblem(status, &shown)
			if list, _, named := strings.Cut(op.Path, "/{"); shown.Fix == "" && named && e.Code == haltd.CodeNotFound {
				p.suggest(remedy{"GET " + list + " lists what there is.", list})
			}
			p.Detail.Field = e.Field
			return p
		}
	}
	if ctx.Err() == nil {
		s.deps.Logger.ErrorContext(ctx, "admin request failed", "reason", op.OperationID, "error", err)
	}
	return newProblem(http.StatusInternalServerError, haltd.Errorf(haltd.CodeInternal, "haltd could not answer this request").
		WithFix("haltd's log says why."))
}

// withAll adds to the first of several broken rules what the others are, so
// that a person can mend all at once.
func withAll(first *haltd.Error, err error) *haltd.Error {
	for ; err != nil; err = errors.Unwrap(err) {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		all := haltd.Error{Code: first.Code, Fix: first.Fix}
		var sentences []string
		for _, each := range joined.Unwrap() {
			var e *haltd.Error
			if errors.As(each, &e) && e.Code == first.Code {
				sentences = append(sentences, e.Sentence())
			}
		}
		all.Message = strings.Join(sentences, "; ")
		return &all
	}
	return first
}

// fromHuma words huma's validation errors. op is nil where there is none
// yet.
func fromHuma(op *huma.Operation, status int, message string, errs ...error) huma.StatusError {
	var sentences []string
	var first string
	e := haltd.Errorf(haltd.CodeInvalid, "%s", message)
	for _, err := range errs {
		if err != nil {
			sentence, field := wording(err)
			sentences, first = append(sentences, sentence), cmp.Or(first, field)
			if e.Fix == "" {
				e.Fix = meant(op, err)
			}
		}
	}
	if len(sentences) > 0 {
		e.Message = strings.Join(sentences, "; ")
	}
	switch status {
	case http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case http.StatusRequestEntityTooLarge:
		e = haltd.Errorf(haltd.CodeTooLarge, "The body is larger than 1 MiB").WithFix("Send less.")
	case http.StatusUnsupportedMediaType:
		e = haltd.Errorf(haltd.CodeInvalid, "The body is not JSON").WithFix("Send it with Content-Type: application/json.")
	}
	p := newProblem(status, e)
	if status >= 400 && e.Fix == "" {
		p.suggest(readTheAPI)
	}
	p.Detail.Field = first
	return p
}

// wording names the field, where there is one, and what is wrong with it,
// without repeating a whole body.
func wording(err error) (sentence, field string) {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return err.Error(), ""
	}
	if d.Location == "" {
		return d.Message, ""
	}
	place, field, _ := strings.Cut(d.Location, ".")
	if field == "" {
		return place + ": " + d.Message, ""
	}
	switch d.Message {
	case validation.MsgUnexpectedProperty:
		return field + " is not a field of this " + place, field
	case validation.MsgExpectedMatchExactlyOneSchema: // nothing but a ladder takes one of two kinds
		return field + ": expected warn, steer, reject, halt or kill, or a list of them, the mildest first", field
	}
	return field + ": " + d.Message, field
}

// meant suggests the field that a key which is none was meant to be; "" for
// other errors.
func meant(op *huma.Operation, err error) string {
	var d *huma.ErrorDetail
	if op == nil || op.RequestBody == nil || !errors.As(err, &d) || d.Message != validation.MsgUnexpectedProperty {
		return ""
	}
	content, schemas := op.RequestBody.Content["application/json"], op.Metadata[schemasMark]
	registry, ok := schemas.(huma.Registry)
	if !ok || content == nil {
		return ""
	}
	steps := strings.Split(d.Location, ".")[1:] // the first is "body"
	if len(steps) == 0 {
		return ""
	}
	fields := fieldsAt(registry, content.Schema, steps[:len(steps)-1])
	if len(fields) == 0 {
		return ""
	}
	return suggestion(steps[len(steps)-1], fields)
}

// fieldsAt are the fields of the object at the end of a path such as
// [budgets day]; nil when the path leads elsewhere.
func fieldsAt(registry huma.Registry, schema *huma.Schema, path []string) []string {
	for {
		for schema != nil && schema.Ref != "" {
			schema = registry.SchemaFromRef(schema.Ref)
		}
		switch {
		case schema == nil:
			return nil
		case schema.Type == huma.TypeArray:
			schema = schema.Items
		case len(path) == 0:
			return slices.Sorted(maps.Keys(schema.Properties))
		default:
			name, _, _ := strings.Cut(path[0], "[") // without an index
			schema, path = schema.Properties[name], path[1:]
		}
	}
}
