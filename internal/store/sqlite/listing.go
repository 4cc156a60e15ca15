package sqlite

import (
	"context"
	"database/sql"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

type scanner = table.Row

// querier is what reads: the database, a transaction or the writer's
// connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// read scans all rows that a query answers.
func read[T any](ctx context.Context, db querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items := []T{}
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, rows.Err()
}

// listing is a query for pages of rows, newest first.
type listing[T any] struct {
	columns string
	at, no  string // the columns of a position
	kind    byte
	scan    func(scanner) (T, table.Position, error)
	where   table.Conditions
	page    haltd.Page
}

func list[T any](ctx context.Context, db *sql.DB, l listing[T]) (items []T, next string, err error) {
	if l.page.Cursor != "" {
		after, err := table.ParseCursor(l.page.Cursor, l.kind)
		if err != nil {
			return nil, "", err
		}
		l.where.Add("("+l.at+", "+l.no+") < (?, ?)", after.At, after.No)
	}
	size := table.Limit(l.page.Limit)
	// One row more than asked tells whether there is a next page.
	rows, err := db.QueryContext(ctx, l.columns+l.where.Where()+
		" ORDER BY "+l.at+" DESC, "+l.no+" DESC LIMIT ?", append(l.where.Args, size+1)...)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	items = []T{}
	var last table.Position
	for rows.Next() {
		item, at, err := l.scan(rows)
		if err != nil {
			return nil, "", err
		}
		if len(items) == size {
			return items, last.Cursor(l.kind), nil
		}
		items, last = append(items, item), at
	}
	return items, "", rows.Err()
}
