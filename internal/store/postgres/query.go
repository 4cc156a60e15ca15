package postgres

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// now is the clock of the store, in microseconds, as it goes on during a
// transaction.
const now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

type scanner = table.Row

// querier is what asks: the pool or a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// exec runs a statement and says how many rows it changed.
func exec(ctx context.Context, db querier, query string, args ...any) (int64, error) {
	tag, err := db.Exec(ctx, query, mended(args)...)
	return tag.RowsAffected(), err
}

// read scans all rows that a query answers.
func read[T any](ctx context.Context, db querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, query, mended(args)...)
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

// readOne scans the first row that a query answers; without one it fails with
// pgx.ErrNoRows.
func readOne[T any](ctx context.Context, db querier, scan func(scanner) (T, error), query string, args ...any) (item T, err error) {
	list, err := read(ctx, db, scan, query, args...)
	if err == nil && len(list) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return item, err
	}
	return list[0], nil
}

// value scans a row of one column.
func value[T any](row scanner) (v T, err error) { return v, row.Scan(&v) }

// mended are arguments that PostgreSQL takes: it refuses texts with a zero byte
// or broken characters, which clients may send.
func mended(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = mend(text)
		}
	}
	return args
}

func mend(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// numbered writes the arguments of a query as PostgreSQL counts them: $1, $2.
func numbered(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = after
	}
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

func list[T any](ctx context.Context, db querier, l listing[T]) (items []T, next string, err error) {
	if l.page.Cursor != "" {
		after, err := table.ParseCursor(l.page.Cursor, l.kind)
		if err != nil {
			return nil, "", err
		}
		l.where.Add("("+l.at+", "+l.no+") < (?, ?)", after.At, after.No)
	}
	size := table.Limit(l.page.Limit)
	type row struct {
		item T
		at   table.Position
	}
	scan := func(s scanner) (r row, err error) {
		r.item, r.at, err = l.scan(s)
		return r, err
	}
	// One row more than asked tells whether there is a next page.
	rows, err := read(ctx, db, scan, numbered(l.columns+insensitive(l.where.Where())+" ORDER BY "+l.at+" DESC, "+l.no+" DESC LIMIT ?"),
		append(l.where.Args, size+1)...)
	if err != nil {
		return nil, "", err
	}
	items = []T{}
	for i, r := range rows {
		if i == size {
			return items, rows[i-1].at.Cursor(l.kind), nil
		}
		items = append(items, r.item)
	}
	return items, "", nil
}

// insensitive has a search find capitals and small letters alike.
func insensitive(where string) string { return strings.ReplaceAll(where, " LIKE ", " ILIKE ") }
