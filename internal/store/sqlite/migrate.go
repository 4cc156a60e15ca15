package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// applicationID marks a database file as haltd's; the first migration sets it.
const applicationID = 1751215220 // "halt"

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the steps from an empty database to the newest one, in the
// order of their file names. Steps are only ever added at the end: user_version
// counts how many a database has had.
func migrations() ([]string, error) { return table.Texts(migrationFiles, "migrations") }

// migrate applies the steps that the database has not had, each in a
// transaction of its own.
func migrate(ctx context.Context, conn *sql.Conn, steps []string) error {
	for {
		more, err := migrateOnce(ctx, conn, steps)
		if err != nil || !more {
			return err
		}
	}
}

// migrateOnce looks at the version under the write lock, so that two
// processes that start together do not apply a step twice.
func migrateOnce(ctx context.Context, conn *sql.Conn, steps []string) (more bool, err error) {
	err = transact(ctx, conn, func() error {
		version, err := databaseVersion(ctx, conn, len(steps))
		if err != nil || version == len(steps) {
			return err
		}
		if _, err := conn.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("apply migration %d: %w", version+1, err)
		}
		more = true
		_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1))
		return err
	})
	return more, err
}

// databaseVersion is how many migrations the database has had. A database
// that this binary should keep its hands off is an error.
func databaseVersion(ctx context.Context, conn *sql.Conn, newest int) (int, error) {
	var app, version, tables int
	row := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&app, &version, &tables); err != nil {
		return 0, err
	}
	if app != applicationID && (version != 0 || tables != 0) {
		return 0, haltd.Errorf(haltd.CodeUnavailable, "the database belongs to another program").
			WithFix("Set data_dir to a folder of haltd's own.")
	}
	if version > newest {
		return 0, haltd.Errorf(haltd.CodeUnavailable, "the database has version %d, but this haltd knows versions up to %d", version, newest).
			WithFix("Run the newer haltd that wrote it, or restore the backup from before the upgrade.")
	}
	return version, nil
}
