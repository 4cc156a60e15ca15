package table

import (
	"database/sql"
	"time"
)

// What there is none of is NULL in the database.

// OptionalText is NULL for no text.
func OptionalText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// OptionalMicros is NULL for the zero time.
func OptionalMicros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return Micros(t)
}

// OptionalTime reads what OptionalMicros wrote.
func OptionalTime(us sql.NullInt64) (t time.Time) {
	if us.Valid {
		t = FromMicros(us.Int64)
	}
	return t
}

// PointerMicros is NULL for no time.
func PointerMicros(t *time.Time) any {
	if t == nil {
		return nil
	}
	return Micros(*t)
}

// PointerTime reads what PointerMicros wrote.
func PointerTime(us sql.NullInt64) *time.Time {
	if !us.Valid {
		return nil
	}
	return new(FromMicros(us.Int64))
}
