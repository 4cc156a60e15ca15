package policy

import (
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// Allowed reports whether now lies in one of the ranges; without any, it
// always does. Ranges speak of what the clock on the wall shows: an hour that
// is skipped when the clock changes is never reached, one that is repeated
// counts twice. A range that breaks a rule of haltd.Policy.Check allows
// nothing.
func Allowed(ranges []haltd.HourRange, zone *time.Location, now time.Time) bool {
	if len(ranges) == 0 {
		return true
	}
	local := now.In(zone)
	hour, minute, _ := local.Clock()
	for i := range ranges {
		if inRange(&ranges[i], local.Weekday(), hour*60+minute) {
			return true
		}
	}
	return false
}

// inRange knows that a range over midnight belongs to the day it begins on.
func inRange(r *haltd.HourRange, day time.Weekday, minute int) bool {
	from, fromOK := haltd.MinuteOfDay(r.From)
	to, toOK := haltd.MinuteOfDay(r.To)
	switch {
	case !fromOK || !toOK:
		return false
	case from < to:
		return from <= minute && minute < to && onDay(r, day)
	default:
		yesterday := (day + 6) % 7
		return minute >= from && onDay(r, day) || minute < to && onDay(r, yesterday)
	}
}

func onDay(r *haltd.HourRange, day time.Weekday) bool {
	return len(r.Days) == 0 || slices.Contains(r.Days, haltd.Weekdays[day])
}

// lookahead is a week and a day, so that a weekly range is found on any day.
const lookahead = 8 * 24 * time.Hour

// NextAllowed is the first instant from now on that is allowed. ok is false
// when there is none within eight days.
func NextAllowed(ranges []haltd.HourRange, zone *time.Location, now time.Time) (at time.Time, ok bool) {
	last := now.Add(lookahead)
	for t := now.In(zone); !t.After(last); t = nextStart(ranges, t) {
		if Allowed(ranges, zone, t) {
			return t, true
		}
	}
	return time.Time{}, false
}

// nextStart is the next instant at which a range can begin: when the clock
// on the wall shows its From, or when the clock is changed.
func nextStart(ranges []haltd.HourRange, t time.Time) time.Time {
	hour, minute, second := t.Clock()
	sinceMidnight := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(t.Nanosecond())
	const day = 24 * time.Hour
	wait := day
	for i := range ranges {
		from, _ := haltd.MinuteOfDay(ranges[i].From)
		until := time.Duration(from)*time.Minute - sinceMidnight
		if until <= 0 {
			until += day
		}
		wait = min(wait, until)
	}
	next := t.Add(wait)
	if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(next) {
		return change
	}
	return next
}
