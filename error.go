package haltd

import (
	"errors"
	"fmt"
)

// Error is what a person or a client program sees: a stable code, a sentence
// that says what happened, and what to do now. Wrap it with %w to add what
// was being done; ErrorCode finds it again.
type Error struct {
	Code    string // stable, snake_case; clients may match on it
	Field   string // what of the input it is about, such as budgets.day.hard_usd; may be empty
	Message string // what happened, one sentence, without a trailing full stop
	Fix     string // what to do now, one sentence; may be empty
}

func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Sentence()
	}
	return e.Sentence() + ". " + e.Fix
}

// Sentence is the message, led by the field where there is one.
func (e *Error) Sentence() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Errorf makes an Error without a fix; see Error.WithFix.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithFix says what the reader should do now.
func (e *Error) WithFix(format string, args ...any) *Error {
	e.Fix = fmt.Sprintf(format, args...)
	return e
}

// In says which field of the input the error is about.
func (e *Error) In(field string) *Error {
	e.Field = field
	return e
}

// The codes that cross a package border. Gateway and admin explain those that
// they answer.
const (
	CodeNotFound     = "not_found"      // the thing asked for does not exist
	CodeInvalid      = "invalid"        // the input breaks a rule; the message names the field
	CodeUnauthorized = "unauthorized"   // no key or token, or a wrong one
	CodeMalformed    = "malformed_body" // an LLM body that cannot be read
	CodeTooLarge     = "body_too_large"
	CodeStalled      = "body_stalled" // a client began to send a body and stopped
	CodeBusy         = "busy"         // bodies in flight take all the memory they may
	CodeUpstream     = "upstream_unreachable"
	CodeUnavailable  = "unavailable" // a dependency does not answer
	CodeExists       = "exists"      // it is there already
	CodeConflict     = "conflict"    // somebody else was faster: look again, then decide again
	CodeInternal     = "internal"
)

// Explanation says of a code what happened and what to do: a line of
// docs/errors.md.
type Explanation struct {
	Code   string
	Status int // of HTTP
	Means  string
	Do     string
}

// ErrorCode is the code of the first *Error in err's chain, CodeInternal
// where there is none, and "" for nil.
func ErrorCode(err error) string {
	if err == nil {
		return "" // before e, which is allocated
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
