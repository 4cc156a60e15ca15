package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// migrationLock is held while tables are made: nodes that start together do it
// one after the other.
const migrationLock = 1751215220 // "halt"

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the steps from an empty database to the newest one, in the
// order of their file names. Steps are only ever added at the end, and leave
// nodes of the release before working beside those of the new one: columns and
// tables are added, and taken away a release later.
func migrations() ([]string, error) { return table.Texts(migrationFiles, "migrations") }

// migrate brings the tables up to date, over a connection of its own: a step
// may take long.
func migrate(ctx context.Context, cfg *pgx.ConnConfig) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// The lock ends with the connection, however that ends.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	return applySteps(ctx, conn, steps)
}

// applySteps applies what the database has not had, each step in a transaction
// of its own.
func applySteps(ctx context.Context, conn *pgx.Conn, steps []string) error {
	version, err := databaseVersion(ctx, conn)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return haltd.Errorf(haltd.CodeUnavailable, "the database has version %d, but this haltd knows versions up to %d", version, len(steps)).
			WithFix("Start the newer haltd that wrote it, or restore the backup from before the upgrade.")
	}
	for ; version < len(steps); version++ {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, steps[version]); err != nil {
				return fmt.Errorf("apply migration %d: %w", version+1, err)
			}
			_, err := tx.Exec(ctx, "INSERT INTO migrations (version, time) VALUES ($1, "+now+")", version+1)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// databaseVersion is how many steps the database has had. A schema and a table
// that exist are not asked for again: that needs rights which a user may not have.
func databaseVersion(ctx context.Context, conn *pgx.Conn) (version int, err error) {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT current_schema() IS NOT NULL").Scan(&there); err != nil {
		return 0, err
	}
	if !there {
		if _, err := conn.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
			return 0, err
		}
	}
	if err := conn.QueryRow(ctx, "SELECT to_regclass('migrations') IS NOT NULL").Scan(&there); err != nil {
		return 0, err
	}
	if !there {
		if _, err := conn.Exec(ctx, "CREATE TABLE migrations (version INTEGER PRIMARY KEY, time BIGINT NOT NULL)"); err != nil {
			return 0, err
		}
	}
	err = conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version)
	return version, err
}
