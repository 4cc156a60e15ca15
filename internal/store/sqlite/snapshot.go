package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/haltd/haltd"
)

// KeyFile is the name of the file that holds the key of the secrets, beside
// the database.
const KeyFile = keyFile

// Snapshot writes the database at path, as it is now, into a new file. A haltd
// may be writing to it at the same time.
func Snapshot(ctx context.Context, path, to string) error {
	err := look(ctx, path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	})
	if err != nil {
		return fmt.Errorf("copy the record: %w", explain(path, err))
	}
	return nil
}

// Verify reports what is wrong with a database that nobody uses: that it is
// damaged, of another program, or of a newer haltd than this.
func Verify(ctx context.Context, path string) error {
	err := look(ctx, path, func(conn *sql.Conn) error {
		var result string
		if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
			return err
		}
		if result != "ok" {
			return haltd.Errorf(haltd.CodeUnavailable, "the database is damaged: %s", result).WithFix("Use another backup.")
		}
		steps, err := migrations()
		if err != nil {
			return err
		}
		version, err := databaseVersion(ctx, conn, len(steps))
		if err == nil && version == 0 {
			err = haltd.Errorf(haltd.CodeUnavailable, "the database is empty").WithFix("Use another backup.")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("check the record: %w", explain(path, err))
	}
	return nil
}

// look opens a database that is there for one question.
func look(ctx context.Context, path string, ask func(*sql.Conn) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dataSource(path, busyTimeout)+"&mode=rw") // never make one
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(ask(conn), conn.Close(), db.Close())
}
