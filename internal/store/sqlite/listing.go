package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"

	"github.com/haltd/haltd"
)

type scanner interface{ Scan(dest ...any) error }

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

// position is where a row stands in a listing.
type position struct{ at, no int64 }

// cursor makes a position opaque. kind keeps a cursor of one listing out of
// another.
func (p position) cursor(kind byte) string {
	b := binary.BigEndian.AppendUint64([]byte{kind}, uint64(p.at))
	b = binary.BigEndian.AppendUint64(b, uint64(p.no))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string, kind byte) (position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 17 || b[0] != kind {
		return position{}, haltd.Errorf(haltd.CodeInvalid, "cursor: %q is none of this listing's", text).
			WithFix("Pass the next of the page before, unchanged, or leave it out to start at the newest.")
	}
	return position{int64(binary.BigEndian.Uint64(b[1:])), int64(binary.BigEndian.Uint64(b[9:]))}, nil
}

// listing is a query for pages of rows, newest first.
type listing[T any] struct {
	columns string
	at, no  string // the columns of a position
	kind    byte
	scan    func(scanner) (T, position, error)
	where   conditions
	page    haltd.Page
}

func list[T any](ctx context.Context, db *sql.DB, l listing[T]) (items []T, next string, err error) {
	if l.page.Cursor != "" {
		after, err := parseCursor(l.page.Cursor, l.kind)
		if err != nil {
			return nil, "", err
		}
		l.where.add("("+l.at+", "+l.no+") < (?, ?)", after.at, after.no)
	}
	size := limit(l.page.Limit)
	// One row more than asked tells whether there is a next page.
	rows, err := db.QueryContext(ctx, l.columns+l.where.where()+
		" ORDER BY "+l.at+" DESC, "+l.no+" DESC LIMIT ?", append(l.where.args, size+1)...)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	items = []T{}
	var last position
	for rows.Next() {
		item, at, err := l.scan(rows)
		if err != nil {
			return nil, "", err
		}
		if len(items) == size {
			return items, last.cursor(l.kind), nil
		}
		items, last = append(items, item), at
	}
	return items, "", rows.Err()
}
