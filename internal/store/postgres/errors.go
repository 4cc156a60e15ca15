package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/haltd/haltd"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// goneError is the error of a database that cannot be asked now.
type goneError struct {
	cause    *haltd.Error
	denied   bool // until a person changes something
	readOnly bool // another server may be the primary
}

// IsAway reports whether an error is that of a database which may be there again
// by itself: it cannot be reached, is starting or ending, has no connection left,
// or takes no writes because it is a replica yet.
func IsAway(err error) bool {
	var gone *goneError
	return errors.As(err, &gone) && !gone.denied
}

func (e *goneError) Error() string { return e.cause.Error() }
func (e *goneError) Unwrap() error { return e.cause }

// explain says what a failure means to a person. CodeUnavailable is for what
// lies outside of the data, where the same write may pass later; CodeInvalid
// for data that no later try will save. Errors that are explained already, and
// those of the caller's context, stay as they are.
func (s *Store) explain(ctx context.Context, err error) error {
	var known *haltd.Error
	var answer *pgconn.PgError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answer):
		return s.explainAnswer(answer)
	case errors.Is(err, context.DeadlineExceeded):
		return s.gone("does not answer", "Check that PostgreSQL runs and has time for haltd; a haltd that runs tries again by itself.")
	case err.Error() == "closed pool":
		return unavailable("the record is closed", "Start haltd again.")
	case errors.Is(err, pgx.ErrNoRows):
		return err
	}
	return s.gone("cannot be reached: "+reason(err), "Check that PostgreSQL runs there, and store.url; a haltd that runs tries again by itself.")
}

// reason is what went wrong, in one line and without the names of who tried.
func reason(err error) string {
	var dial *pgconn.ConnectError
	if errors.As(err, &dial) && dial.Unwrap() != nil {
		err = dial.Unwrap()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func (s *Store) gone(what, fix string) error {
	return &goneError{cause: &haltd.Error{Code: haltd.CodeUnavailable, Message: "the database " + s.place + " " + what, Fix: fix}}
}

func (s *Store) readOnly() error {
	return &goneError{readOnly: true, cause: &haltd.Error{Code: haltd.CodeUnavailable, Message: "the database " + s.place + " is read only",
		Fix: "Name the primary in store.url, or all servers and target_session_attrs=read-write."}}
}

func isReadOnly(err error) bool {
	var gone *goneError
	return errors.As(err, &gone) && gone.readOnly
}

func (s *Store) denied(what, fix string) error {
	return &goneError{cause: &haltd.Error{Code: haltd.CodeUnavailable, Message: "the database " + s.place + " " + what, Fix: fix}, denied: true}
}

func (s *Store) explainAnswer(err *pgconn.PgError) error {
	class := err.Code
	if len(class) > 2 {
		class = class[:2]
	}
	switch {
	case err.Code == "53100":
		return unavailable("the disk of the database "+s.place+" is full", "Free some space there, or shorten the retention; a haltd that runs tries again by itself.")
	case class == "28":
		return s.denied("does not let haltd in: "+err.Message, "Check user and password in store.url.")
	case err.Code == "3D000":
		return s.denied("does not exist", "Create it, or name another in store.url.")
	case err.Code == "42501":
		return s.denied("does not let haltd do its work: "+err.Message, "Give the user of store.url the right to create a schema and to use it.")
	case err.Code == "25006":
		return s.readOnly()
	case err.Code == "57014": // one question, for its statement_timeout or by a person
		return unavailable("the database "+s.place+" gave up: "+err.Message, "Raise statement_timeout of the user of store.url where it is too short.")
	case class == "08", class == "53", class == "57", class == "58":
		return s.gone("cannot be used now: "+err.Message, "Check PostgreSQL; a haltd that runs tries again by itself.")
	case class == "22", class == "23", class == "54":
		return haltd.Errorf(haltd.CodeInvalid, "the record cannot hold this value: %s", err.Message)
	}
	// Tables that are missing while a backup is restored, a lock, an index that
	// is damaged: no fault of what was to be written.
	return unavailable("the database "+s.place+" cannot do its work: "+err.Message,
		"Look at the schema of haltd there, and restore it from a backup where something is missing; a haltd that runs tries again by itself.")
}

func unavailable(message, fix string) error {
	return &haltd.Error{Code: haltd.CodeUnavailable, Message: message, Fix: fix}
}

// isConstraint reports whether err is a broken UNIQUE or PRIMARY KEY.
func isConstraint(err error) bool { return hasCode(err, "23505") }

// isFull reports that the database, or the user of haltd, has no connection left.
func isFull(err error) bool { return hasCode(err, "53300") }

// isDeadlock reports whether a transaction was given up for another's sake.
func isDeadlock(err error) bool { return hasCode(err, "40P01") || hasCode(err, "40001") }

func hasCode(err error, code string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == code
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
