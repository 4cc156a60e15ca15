package table

import (
	"time"

	"github.com/haltd/haltd"
)

const maxBuckets = 2000

// EmptyStats checks q and lays out its buckets.
func EmptyStats(q haltd.StatsQuery) (haltd.Stats, error) {
	invalid := func(format string, args ...any) (haltd.Stats, error) {
		return haltd.Stats{}, haltd.Errorf(haltd.CodeInvalid, format, args...)
	}
	since := q.Since.UTC().Truncate(time.Hour)
	until := q.Until.UTC().Add(time.Hour - 1).Truncate(time.Hour)
	if !since.Before(until) {
		return invalid("until: %s is not after since", until.Format(time.RFC3339))
	}
	if q.Step < time.Hour || q.Step%time.Hour != 0 {
		return invalid("step: %s is not a multiple of an hour", q.Step)
	}
	if q.By != "" && q.By != "agent" && q.By != "provider" && q.By != "model" {
		return invalid("by: %q is none of agent, provider, model", q.By)
	}
	// Compared by adding: a difference of far times does not fit a Duration.
	if q.Step > time.Duration(1<<63-1)/maxBuckets || since.Add(maxBuckets*q.Step).Before(until) {
		return invalid("step: %s makes more than %d buckets of the time asked for, or is too long", q.Step, maxBuckets)
	}
	stats := haltd.Stats{Since: since, Until: until, Buckets: []haltd.StatBucket{}}
	for t := since; t.Before(until); t = t.Add(q.Step) {
		stats.Buckets = append(stats.Buckets, haltd.StatBucket{Start: t})
	}
	return stats, nil
}

// LayOutSeries gives all groups an empty series and names them.
func LayOutSeries(stats *haltd.Stats) (names []string) {
	for i := range stats.Groups {
		stats.Groups[i].Series = make([]int64, len(stats.Buckets))
		names = append(names, stats.Groups[i].Name)
	}
	return names
}

// ScanSeries reads a row of name, bucket and calls into the series of its group.
func ScanSeries(scan func(...any) error, stats *haltd.Stats) error {
	var name string
	var bucket int
	var calls int64
	if err := scan(&name, &bucket, &calls); err != nil {
		return err
	}
	for i := range stats.Groups {
		if stats.Groups[i].Name == name && bucket < len(stats.Buckets) {
			stats.Groups[i].Series[bucket] = calls
		}
	}
	return nil
}
