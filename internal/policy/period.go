package policy

import (
	"time"

	"github.com/haltd/haltd"
)

// PeriodStart is when the period that holds now began: the first instant of
// the day or month in the zone. Periods follow each other without gap or
// overlap, also where the clock is turned back over midnight.
func PeriodStart(p haltd.Period, zone *time.Location, now time.Time) time.Time {
	start, _ := period(p, zone, now)
	return start
}

// PeriodEnd is when the period after the one that holds now begins.
func PeriodEnd(p haltd.Period, zone *time.Location, now time.Time) time.Time {
	_, end := period(p, zone, now)
	return end
}

func period(p haltd.Period, zone *time.Location, now time.Time) (start, end time.Time) {
	year, month, day := now.In(zone).Date()
	nth := func(n int) time.Time {
		if p == haltd.Monthly {
			return dayStart(year, month+time.Month(n), 1, zone)
		}
		return dayStart(year, month, day+n, zone)
	}
	start, end = nth(0), nth(1)
	if !now.Before(end) {
		// The clock was turned back over midnight: the calendar shows the
		// old day again, but the new one has begun.
		return end, nth(2)
	}
	return start, end
}

// dayStart is the first instant at which the calendar in the zone shows the
// day or a later one. time.Date alone does not tell: midnight may be skipped,
// or come twice.
func dayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	t := midnight.Add(-24 * time.Hour).In(zone) // the day before, whatever the zone
	for {
		_, offset := t.Zone()
		at := midnight.Add(-time.Duration(offset) * time.Second)
		if at.Before(t) {
			at = t // a change of the clock skipped midnight
		}
		_, change := t.ZoneBounds()
		if change.IsZero() || at.Before(change) {
			return at.In(zone)
		}
		t = change
	}
}
