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
		return Position{}, haltd.Errorf(haltd.CodeInvalid, "%q is not from this list", text).In("cursor").
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

// In adds a filter by any of several values of a column.
func (w *Conditions) In(column string, values []string) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	w.Add(column+" IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// Contains adds a search for part of a column.
func (w *Conditions) Contains(column, part string) { w.ContainsAny([]string{column}, part) }

// ContainsAny adds a search for part of one of the columns.
func (w *Conditions) ContainsAny(columns []string, part string) {
	if part == "" {
		return
	}
	part = "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part) + "%"
	terms, args := make([]string, len(columns)), make([]any, len(columns))
	for i, column := range columns {
		terms[i], args[i] = column+` LIKE ? ESCAPE '\'`, part
	}
	w.Add("("+strings.Join(terms, " OR ")+")", args...)
}

// Incidents adds the filters of a query for incidents i.
func (w *Conditions) Incidents(q haltd.IncidentQuery) {
	w.Equal("i.agent", q.Agent)
	w.ContainsAny([]string{"i.agent", "i.id"}, q.Search)
	w.Equal("i.session", q.Session)
	w.Equal("i.kind", string(q.Kind))
	w.Equal("i.detector", string(q.Detector))
	w.Equal("i.status", string(q.Status))
	if q.Shadow != nil {
		w.Add("i.shadow = ?", *q.Shadow)
	}
	if q.Stops != nil {
		w.Add("(i.action IN ('kill', 'halt') AND i.shadow = ?) = ?", false, *q.Stops)
	}
	if !q.Since.IsZero() {
		w.Add("i.time >= ?", Micros(q.Since))
	}
}

// Agents adds the filters of a query for agents a.
func (w *Conditions) Agents(q haltd.AgentQuery) {
	w.Contains("a.id", q.Search)
	if q.Active != nil {
		w.Add("a.active = ?", *q.Active)
	}
	switch q.State {
	case haltd.AgentActive:
		w.Add("a.active = ?", true)
	case haltd.AgentStopped:
		w.Add("a.active = ? AND a.deactivated_by = ?", false, string(haltd.ByKillSwitch))
	case haltd.AgentInactive:
		w.Add("a.active = ? AND coalesce(a.deactivated_by, '') <> ?", false, string(haltd.ByKillSwitch))
	}
	if len(q.IDs) > 0 {
		w.In("a.id", q.IDs)
	}
}

// Sessions adds the filters of a query for sessions s of agents a with
// standings t.
func (w *Conditions) Sessions(q haltd.SessionQuery) {
	w.Contains("s.id", q.Search)
	w.Equal("a.id", q.Agent)
	switch q.State {
	case haltd.SessionActive:
		w.Add("coalesce(t.active, ?) = ?", true, true)
	case haltd.SessionHalted:
		w.Add("t.active = ? AND t.deactivated_by = ?", false, string(haltd.ByHalt))
	case haltd.SessionStopped:
		w.Add("t.active = ? AND coalesce(t.deactivated_by, '') <> ?", false, string(haltd.ByHalt))
	}
}

// Order is a listing's column, its kind of cursor, and where a row stands by
// it: which of its totals that is.
type Order struct {
	Column string
	Kind   byte
	Of     func(*haltd.Totals) int64 // nil where it is the time
}

// OrderBy is the order of a listing whose cursors by time are of that kind, in
// the rows of a table.
func OrderBy(sort haltd.Sort, rows string, kind byte) Order {
	switch sort {
	case haltd.SortCost:
		return Order{rows + ".cost", kind ^ 0x20, func(t *haltd.Totals) int64 { return int64(t.Cost) }}
	case haltd.SortCalls:
		return Order{rows + ".calls", kind ^ 0x40, func(t *haltd.Totals) int64 { return t.Calls }}
	case haltd.SortBlocked:
		return Order{rows + ".blocked", kind ^ 0x60, func(t *haltd.Totals) int64 { return t.Blocked }}
	}
	return Order{Column: rows + ".last_seen", Kind: kind}
}

// Place is where a row with these totals stands.
func (o Order) Place(p Position, t *haltd.Totals) Position {
	if o.Of != nil {
		p.At = o.Of(t)
	}
	return p
}

// Events adds the filters of a query for events e, but for agent and session.
func (w *Conditions) Events(q haltd.EventQuery) {
	if len(q.Types) > 0 {
		types := make([]string, len(q.Types))
		for i, t := range q.Types {
			types[i] = string(t)
		}
		w.In("e.type", types)
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
