package admin

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// instant reads a time parameter: RFC 3339, or a span before now such as 15m,
// 1h or 7d. An empty text is the zero time.
func instant(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	if d, ok := span(text); ok {
		return now.Add(-d).UTC(), nil
	}
	return time.Time{}, haltd.Errorf(haltd.CodeInvalid, "%q is not a time", text).In(name).
		WithFix("Use RFC 3339 such as 2026-01-31T08:00:00Z, or a span before now such as 15m, 1h or 7d.")
}

// span reads a length of time with one unit: s, m, h, d or w.
func span(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
	digits := strings.TrimRight(text, "smhdw")
	unit, ok := units[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
