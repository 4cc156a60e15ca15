package policy

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// instant reads a time with its offset, which tells repeated hours apart.
func instant(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func hours(from, to string, days ...string) []haltd.HourRange {
	return []haltd.HourRange{{Days: days, From: from, To: to}}
}

func TestAllowed(t *testing.T) {
	workday := hours("08:00", "18:00", "mon", "tue", "wed", "thu", "fri")
	night := hours("22:00", "06:00", "fri")
	for _, c := range []struct {
		name    string
		ranges  []haltd.HourRange
		zone    string
		valid   []string
		invalid []string
	}{
		{
			name: "no range is always", zone: "UTC",
			valid: []string{"2026-03-29T02:30:00Z"},
		},
		{
			name: "working days", ranges: workday, zone: "UTC", // 2026-06-01 is a Monday
			valid:   []string{"2026-06-01T08:00:00Z", "2026-06-05T17:59:59.999999999Z"},
			invalid: []string{"2026-06-01T07:59:59.999999999Z", "2026-06-05T18:00:00Z", "2026-06-06T12:00:00Z", "2026-06-07T12:00:00Z"},
		},
		{
			name: "the zone decides", ranges: workday, zone: "America/New_York",
			valid:   []string{"2026-06-01T12:00:00Z", "2026-06-01T21:59:59Z"},
			invalid: []string{"2026-06-01T11:59:59Z", "2026-06-01T22:00:00Z"},
		},
		{
			name: "until the end of the day", ranges: hours("20:00", "24:00", "mon"), zone: "UTC",
			valid:   []string{"2026-06-01T20:00:00Z", "2026-06-01T23:59:59Z"},
			invalid: []string{"2026-06-02T00:00:00Z", "2026-06-01T00:00:00Z"},
		},
		{
			name: "a whole day", ranges: hours("00:00", "24:00", "mon"), zone: "UTC",
			valid:   []string{"2026-06-01T00:00:00Z", "2026-06-01T23:59:59Z"},
			invalid: []string{"2026-05-31T23:59:59Z", "2026-06-02T00:00:00Z"},
		},
		{
			name: "over midnight belongs to the day it begins on", ranges: night, zone: "UTC",
			valid:   []string{"2026-06-05T22:00:00Z", "2026-06-06T00:00:00Z", "2026-06-06T05:59:59Z"},
			invalid: []string{"2026-06-05T05:00:00Z", "2026-06-05T21:59:59Z", "2026-06-06T06:00:00Z", "2026-06-06T22:00:00Z"},
		},
		{
			name: "over midnight from Saturday into Sunday", ranges: hours("23:00", "01:00", "sat"), zone: "UTC",
			valid:   []string{"2026-06-06T23:00:00Z", "2026-06-07T00:59:59Z"},
			invalid: []string{"2026-06-06T00:30:00Z", "2026-06-07T23:30:00Z"},
		},
		{
			name: "over midnight every day", ranges: hours("22:00", "06:00"), zone: "UTC",
			valid:   []string{"2026-06-03T22:00:00Z", "2026-06-03T05:59:59Z"},
			invalid: []string{"2026-06-03T06:00:00Z", "2026-06-03T21:59:59Z"},
		},
		{
			name: "equal ends are a day that starts then", ranges: hours("09:00", "09:00", "mon"), zone: "UTC",
			valid:   []string{"2026-06-01T09:00:00Z", "2026-06-01T23:00:00Z", "2026-06-02T08:59:59Z"},
			invalid: []string{"2026-06-01T08:59:59Z", "2026-06-02T09:00:00Z"},
		},
		{
			name: "any of several ranges", zone: "UTC",
			ranges:  append(hours("08:00", "09:00"), hours("12:00", "13:00")...),
			valid:   []string{"2026-06-01T08:30:00Z", "2026-06-01T12:30:00Z"},
			invalid: []string{"2026-06-01T10:00:00Z"},
		},
		{
			name: "Berlin skips an hour", ranges: hours("01:30", "02:30"), zone: "Europe/Berlin",
			valid:   []string{"2026-03-29T01:30:00+01:00", "2026-03-29T01:59:59+01:00"},
			invalid: []string{"2026-03-29T03:00:00+02:00", "2026-03-29T03:29:59+02:00"},
		},
		{
			name: "Berlin repeats an hour", ranges: hours("02:00", "02:30"), zone: "Europe/Berlin",
			valid:   []string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:29:59+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:29:59+01:00"},
			invalid: []string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T01:59:59+02:00"},
		},
		{
			name: "New York skips an hour in the night", ranges: hours("22:00", "06:00", "sat"), zone: "America/New_York",
			valid:   []string{"2026-03-07T22:00:00-05:00", "2026-03-08T01:59:59-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T05:59:59-04:00"},
			invalid: []string{"2026-03-08T06:00:00-04:00"},
		},
		{
			name: "New York repeats an hour", ranges: hours("01:00", "01:30"), zone: "America/New_York",
			valid:   []string{"2026-11-01T01:15:00-04:00", "2026-11-01T01:15:00-05:00"},
			invalid: []string{"2026-11-01T01:45:00-04:00", "2026-11-01T01:45:00-05:00"},
		},
		{
			name: "an offset of half an hour", ranges: hours("09:00", "17:30"), zone: "Asia/Kolkata",
			valid:   []string{"2026-06-01T03:30:00Z", "2026-06-01T11:59:59Z"},
			invalid: []string{"2026-06-01T03:29:59Z", "2026-06-01T12:00:00Z"},
		},
		{
			name: "midnight is skipped in Beirut", ranges: hours("00:00", "01:30", "sun"), zone: "Asia/Beirut",
			valid:   []string{"2022-03-27T01:00:00+03:00", "2022-03-27T01:29:59+03:00"},
			invalid: []string{"2022-03-26T23:59:59+02:00", "2022-03-27T01:30:00+03:00"},
		},
		{
			name: "midnight is skipped in São Paulo", ranges: hours("23:00", "00:30", "sat"), zone: "America/Sao_Paulo",
			valid:   []string{"2018-11-03T23:00:00-03:00", "2018-11-03T23:59:59-03:00"},
			invalid: []string{"2018-11-04T01:00:00-02:00"},
		},
		{
			name: "a range that cannot be read allows nothing", ranges: hours("8", "18:00"), zone: "UTC",
			invalid: []string{"2026-06-01T12:00:00Z"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := zone(t, c.zone)
			for _, s := range c.valid {
				if !Allowed(c.ranges, z, instant(t, s)) {
					t.Errorf("%s is not allowed", s)
				}
			}
			for _, s := range c.invalid {
				if Allowed(c.ranges, z, instant(t, s)) {
					t.Errorf("%s is allowed", s)
				}
			}
		})
	}
}

func TestNextAllowed(t *testing.T) {
	for _, c := range []struct {
		name      string
		ranges    []haltd.HourRange
		zone      string
		now, want string // want "" is never
	}{
		{"always", nil, "UTC", "2026-06-01T08:00:00.000000001Z", "2026-06-01T08:00:00.000000001Z"},
		{"now", hours("08:00", "18:00"), "UTC", "2026-06-01T08:30:00.5Z", "2026-06-01T08:30:00.5Z"},
		{"later today", hours("08:00", "18:00"), "UTC", "2026-06-01T07:59:59.5Z", "2026-06-01T08:00:00Z"},
		{"tomorrow", hours("08:00", "18:00"), "UTC", "2026-06-01T18:00:00Z", "2026-06-02T08:00:00Z"},
		{"after the weekend", hours("08:00", "18:00", "mon"), "UTC", "2026-06-05T18:00:00Z", "2026-06-08T08:00:00Z"},
		{"in a week", hours("08:00", "09:00", "mon"), "UTC", "2026-06-01T09:00:00Z", "2026-06-08T08:00:00Z"},
		{"over a change of the clock", hours("08:00", "18:00"), "Europe/Berlin", "2026-03-28T18:00:00+01:00", "2026-03-29T08:00:00+02:00"},
		{"a start that is skipped", hours("02:15", "04:00"), "Europe/Berlin", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"a range that is skipped", hours("02:15", "02:45"), "Europe/Berlin", "2026-03-29T01:00:00+01:00", "2026-03-30T02:15:00+02:00"},
		{"a weekly range that is skipped", hours("02:15", "02:45", "sun"), "Europe/Berlin", "2026-03-22T03:00:00+01:00", ""},
		{"the end comes again", hours("01:00", "02:30"), "Europe/Berlin", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00"},
		{"the start comes again", hours("01:15", "01:30"), "America/New_York", "2026-11-01T01:40:00-04:00", "2026-11-01T01:15:00-05:00"},
		{"midnight is skipped", hours("00:00", "02:00", "sun"), "America/Sao_Paulo", "2018-11-03T12:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		{"an offset of half an hour", hours("09:00", "17:30"), "Asia/Kolkata", "2026-06-01T00:00:00Z", "2026-06-01T03:30:00Z"},
		{"ranges that cannot be read", hours("8", "18"), "UTC", "2026-06-01T00:00:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := NextAllowed(c.ranges, zone(t, c.zone), instant(t, c.now))
			if ok != (c.want != "") {
				t.Fatalf("NextAllowed = %v, %v, want %q", got, ok, c.want)
			}
			if ok && !got.Equal(instant(t, c.want)) {
				t.Errorf("NextAllowed = %v, want %s", got, c.want)
			}
		})
	}
}

// NextAllowed must agree with asking Allowed minute by minute.
func TestNextAllowedIsTheFirstAllowedMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, now := drawZoneTime(t)
		now = now.Truncate(time.Minute)
		var ranges []haltd.HourRange
		for range rapid.IntRange(1, 3).Draw(t, "ranges") {
			ranges = append(ranges, haltd.HourRange{
				Days: rapid.SliceOfN(rapid.SampledFrom(haltd.Weekdays), 0, 2).Draw(t, "days"),
				From: drawClock(t, "from"), To: drawClock(t, "to"),
			})
		}
		want, found := now, false
		for ; !want.After(now.Add(lookahead)); want = want.Add(time.Minute) {
			if found = Allowed(ranges, z, want); found {
				break
			}
		}
		got, ok := NextAllowed(ranges, z, now)
		if ok != found || ok && !got.Equal(want) {
			t.Fatalf("NextAllowed = %v, %v; minute by minute %v, %v", got, ok, want, found)
		}
	})
}

func drawClock(t *rapid.T, name string) string {
	m := rapid.IntRange(0, 24*60-1).Draw(t, name)
	return time.Date(2000, 1, 1, m/60, m%60, 0, 0, time.UTC).Format("15:04")
}

// drawZoneTime draws instants around changes of the clock: at two, at
// midnight, over midnight, by half an hour and by a whole day.
func drawZoneTime(t *rapid.T) (*time.Location, time.Time) {
	c := rapid.SampledFrom([]struct {
		zone   string
		change string
	}{
		{"UTC", "2026-01-01T00:00:00Z"},
		{"Europe/Berlin", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25T01:00:00Z"},
		{"America/New_York", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01T06:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "2019-02-17T02:00:00Z"},
		{"Asia/Beirut", "2022-03-26T22:00:00Z"},
		{"America/Havana", "2025-11-02T05:00:00Z"},
		{"America/St_Johns", "2010-11-07T02:31:00Z"},
		{"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"Asia/Kolkata", "2026-06-30T18:30:00Z"},
	}).Draw(t, "change")
	z, err := time.LoadLocation(c.zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, c.change)
	if err != nil {
		t.Fatal(err)
	}
	around := rapid.Int64Range(int64(-72*time.Hour), int64(72*time.Hour)).Draw(t, "around")
	return z, at.Add(time.Duration(around))
}
