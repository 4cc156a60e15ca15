package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	"github.com/haltd/haltd"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// explain says what a failure means to a person. CodeUnavailable is for what
// lies outside of the data, a full disk or a lock, where the same write may
// pass later; CodeInvalid for data that no later try will save. Errors that
// are explained already, and those of the context, stay as they are.
func explain(path string, err error) error {
	var known *haltd.Error
	var db *sqlite.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, sql.ErrConnDone), err.Error() == "sql: database is closed":
		return unavailable("the record is closed", "Start haltd again.")
	case errors.As(err, &db):
		return explainCode(path, db)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return unavailable("the database "+path+" cannot be written: "+reason(err), "Give the user haltd runs as write permission there, or set data_dir to a folder it can write.")
	case errors.Is(err, syscall.ENOSPC):
		return full(path)
	case errors.As(err, new(*fs.PathError)):
		return unavailable("the database "+path+" cannot be opened: "+reason(err), "Set data_dir to a folder that haltd can write.")
	}
	return err
}

func explainCode(path string, err *sqlite.Error) error {
	switch err.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return unavailable("the database "+path+" is locked by another program", "Stop the other program that has it open; haltd tries again by itself.")
	case lib.SQLITE_FULL:
		return full(path)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_AUTH:
		return unavailable("the database "+path+" cannot be written: "+err.Error(), "Give the user haltd runs as write permission to the file and its folder.")
	case lib.SQLITE_NOTADB:
		return unavailable(path+" is not a database", "Move the file away, or set data_dir to another folder.")
	case lib.SQLITE_CORRUPT:
		return unavailable("the database "+path+" is damaged", "Restore it from a backup, or move it away to start a new one.")
	case lib.SQLITE_IOERR, lib.SQLITE_NOMEM:
		return unavailable("the database "+path+" cannot be read or written: "+err.Error(), "Check the disk that holds it.")
	case lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_CONSTRAINT:
		return haltd.Errorf(haltd.CodeInvalid, "the record cannot hold this value: %s", err.Error())
	}
	return err
}

func full(path string) error {
	return unavailable("the disk that holds "+path+" is full", "Free some space, or shorten the retention; haltd tries again by itself.")
}

func unavailable(message, fix string) error {
	return &haltd.Error{Code: haltd.CodeUnavailable, Message: message, Fix: fix}
}

// reason is the system's word for a failure, without operation and path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// isConstraint reports whether err is a broken UNIQUE or PRIMARY KEY.
func isConstraint(err error) bool {
	var db *sqlite.Error
	return errors.As(err, &db) && db.Code()&0xff == lib.SQLITE_CONSTRAINT
}
