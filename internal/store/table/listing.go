package table

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/haltd/haltd"
)

// defaultLimit is the length of a page that does not say.
const defaultLimit = 100

// Limit is the length of a page.
func Limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return n
}

// Position is where a row stands in a listing.
type Position struct{ At, No int64 }

// Cursor makes a position opaque. kind keeps a cursor of one listing out of
// another.
func (p Position) Cursor(kind byte) string {
	b := binary.BigEndian.AppendUint64([]byte{kind}, uint64(p.At))
	b = binary.BigEndian.AppendUint64(b, uint64(p.No))
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads what Cursor wrote; anything else is CodeInvalid.
func ParseCursor(text string, kind byte) (Position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 17 || b[0] != kind {
		return Position{}, haltd.Errorf(haltd.CodeInvalid, "cursor: %q is none of this listing's", text).
			WithFix("Pass the next of the page before, unchanged, or leave it out to start at the newest.")
	}
	return Position{int64(binary.BigEndian.Uint64(b[1:])), int64(binary.BigEndian.Uint64(b[9:]))}, nil
}

// Conditions collects the terms of a WHERE clause. A term is constant text;
// what a caller sent goes into Args only.
type Conditions struct {
	Terms []string
	Args  []any
}

// Add adds a term; each ? in it stands for one argument.
func (w *Conditions) Add(term string, args ...any) {
	w.Terms = append(w.Terms, term)
	w.Args = append(w.Args, args...)
}

// Equal adds a filter by a column's value.
func (w *Conditions) Equal(column, value string) {
	if value != "" {
		w.Add(column+" = ?", value)
	}
}

// Contains adds a search for part of a column.
func (w *Conditions) Contains(column, part string) {
	if part != "" {
		part = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part)
		w.Add(column+` LIKE ? ESCAPE '\'`, "%"+part+"%")
	}
}

// Events adds the filters of a query for events e, but for agent and session.
func (w *Conditions) Events(q haltd.EventQuery) {
	if len(q.Types) > 0 {
		types := make([]any, len(q.Types))
		for i, t := range q.Types {
			types[i] = string(t)
		}
		w.Add("e.type IN (?"+strings.Repeat(", ?", len(types)-1)+")", types...)
	}
	w.Equal("e.client", q.Client)
	w.Equal("e.provider", q.Provider)
	w.Equal("e.model", q.Model)
	if q.Blocked != nil {
		w.Add("e.blocked = ?", *q.Blocked)
	}
	if !q.Since.IsZero() {
		w.Add("e.time >= ?", Micros(q.Since))
	}
	if !q.Until.IsZero() {
		w.Add("e.time < ?", Micros(q.Until))
	}
	if q.Before != 0 {
		w.Add("e.id < ?", int64(q.Before))
	}
}

// Where is the clause, or nothing without terms.
func (w *Conditions) Where() string {
	if len(w.Terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.Terms, " AND ")
}
