package sqlite

import (
	"database/sql"
	"time"
)

// What there is none of is NULL in the database.

func optionalText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func optionalMicros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return micros(t)
}

func optionalTime(us sql.NullInt64) (t time.Time) {
	if us.Valid {
		t = fromMicros(us.Int64)
	}
	return t
}

func pointerMicros(t *time.Time) any {
	if t == nil {
		return nil
	}
	return micros(*t)
}

func pointerTime(us sql.NullInt64) *time.Time {
	if !us.Valid {
		return nil
	}
	return new(fromMicros(us.Int64))
}
