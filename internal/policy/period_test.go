package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		name       string
		period     haltd.Period
		zone       string
		now        string
		start, end string
	}{
		{"a day", haltd.Daily, "UTC", "2026-06-01T12:00:00Z", "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z"},
		{"its first instant", haltd.Daily, "UTC", "2026-06-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z"},
		{"its last instant", haltd.Daily, "UTC", "2026-06-01T23:59:59.999999999Z", "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z"},
		{"a month", haltd.Monthly, "UTC", "2026-02-10T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"the month after the 31st", haltd.Monthly, "UTC", "2026-01-31T12:00:00Z", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		{"the last month of a year", haltd.Monthly, "UTC", "2026-12-31T23:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"the zone decides the day", haltd.Daily, "America/New_York", "2026-06-02T03:00:00Z", "2026-06-01T00:00:00-04:00", "2026-06-02T00:00:00-04:00"},
		{"the zone decides the month", haltd.Monthly, "Europe/Berlin", "2026-02-28T23:30:00Z", "2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+02:00"},
		{"half an hour", haltd.Daily, "Asia/Kolkata", "2026-06-01T18:29:59Z", "2026-06-01T00:00:00+05:30", "2026-06-02T00:00:00+05:30"},
		{"23 hours", haltd.Daily, "Europe/Berlin", "2026-03-29T12:00:00+02:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"25 hours", haltd.Daily, "America/New_York", "2026-11-01T12:00:00-05:00", "2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"},
		{"a day without midnight", haltd.Daily, "America/Sao_Paulo", "2018-11-04T12:00:00-02:00", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		{"before a day without midnight", haltd.Daily, "Asia/Beirut", "2022-03-26T23:59:59+02:00", "2022-03-26T00:00:00+02:00", "2022-03-27T01:00:00+03:00"},
		{"two midnights, the first counts", haltd.Daily, "America/Havana", "2025-11-02T00:30:00-05:00", "2025-11-02T00:00:00-04:00", "2025-11-03T00:00:00-05:00"},
		{"turned back before midnight", haltd.Daily, "America/Sao_Paulo", "2019-02-16T23:30:00-03:00", "2019-02-16T00:00:00-02:00", "2019-02-17T00:00:00-03:00"},
		{"turned back over midnight, the new day goes on", haltd.Daily, "America/St_Johns", "2010-11-06T23:30:00-03:30", "2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"},
		{"a day that is left out", haltd.Daily, "Pacific/Apia", "2011-12-29T12:00:00-10:00", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z, now := zone(t, c.zone), instant(t, c.now)
			if got := PeriodStart(c.period, z, now); !got.Equal(instant(t, c.start)) {
				t.Errorf("PeriodStart = %v, want %s", got, c.start)
			}
			if got := PeriodEnd(c.period, z, now); !got.Equal(instant(t, c.end)) {
				t.Errorf("PeriodEnd = %v, want %s", got, c.end)
			}
		})
	}
}

func TestPeriodsFollowEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, now := drawZoneTime(t)
		p := rapid.SampledFrom([]haltd.Period{haltd.Daily, haltd.Monthly}).Draw(t, "period")
		start, end := PeriodStart(p, z, now), PeriodEnd(p, z, now)
		if start.After(now) || !now.Before(end) {
			t.Fatalf("%v is outside of %v to %v", now, start, end)
		}
		for _, at := range []time.Time{start, end.Add(-1)} {
			if got := PeriodStart(p, z, at); !got.Equal(start) {
				t.Fatalf("PeriodStart(%v) = %v, want that of the same period, %v", at, got, start)
			}
			if got := PeriodEnd(p, z, at); !got.Equal(end) {
				t.Fatalf("PeriodEnd(%v) = %v, want that of the same period, %v", at, got, end)
			}
		}
		if got := PeriodStart(p, z, end); !got.Equal(end) {
			t.Fatalf("PeriodStart(%v) = %v, want the next period", end, got)
		}
	})
}
