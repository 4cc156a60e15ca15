package postgres

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const totalsSums = `sum(u.calls)::bigint, sum(u.blocked)::bigint, sum(u.errors)::bigint, sum(u.input)::bigint, sum(u.output)::bigint,
	sum(u.cache_read)::bigint, sum(u.cache_write)::bigint, sum(u.cost)::bigint`

// groupColumns are the values of StatsQuery.By.
var groupColumns = map[string]string{"agent": "u.agent", "provider": "u.provider", "model": "u.model"}

// Stats implements haltd.EventStore. Since is cut down to its hour and Until
// up, so that the hour that runs is part of the answer. A query that breaks a
// rule is CodeInvalid.
func (s *Store) Stats(ctx context.Context, q haltd.StatsQuery) (stats haltd.Stats, err error) {
	err = s.snapshot(ctx, "read stats", func(ctx context.Context, tx pgx.Tx) error {
		if stats, err = table.EmptyStats(q); err != nil {
			return err
		}
		var w table.Conditions
		w.Add("u.hour >= ? AND u.hour < ?", table.Micros(stats.Since), table.Micros(stats.Until))
		w.Equal("u.agent", q.Agent)
		if len(q.Agents) > 0 {
			w.In("u.agent", q.Agents)
		}
		if err := fillBuckets(ctx, tx, w, q.Step, &stats); err != nil {
			return err
		}
		if q.By != "" {
			err = fillGroups(ctx, tx, w, q, &stats)
		}
		return err
	})
	if err != nil {
		return haltd.Stats{}, err
	}
	return stats, nil
}

func fillBuckets(ctx context.Context, tx pgx.Tx, w table.Conditions, step time.Duration, stats *haltd.Stats) error {
	scan := func(row scanner) (i int, err error) {
		var t haltd.Totals
		if err := scanTotals(row, &i, &t); err != nil {
			return 0, err
		}
		stats.Buckets[i].Totals = t
		table.AddTotals(&stats.Totals, t)
		return i, nil
	}
	_, err := read(ctx, tx, scan, numbered("SELECT (u.hour - ?::bigint) / ?::bigint AS bucket, "+totalsSums+" FROM usage u"+w.Where()+" GROUP BY bucket"),
		append([]any{table.Micros(stats.Since), step.Microseconds()}, w.Args...)...)
	return err
}

func fillGroups(ctx context.Context, tx pgx.Tx, w table.Conditions, q haltd.StatsQuery, stats *haltd.Stats) (err error) {
	column := groupColumns[q.By]
	if stats.Groups, err = readGroups(ctx, tx, w, column, q); err != nil {
		return err
	}
	stats.GroupCount, err = readOne(ctx, tx, value[int64], numbered("SELECT count(DISTINCT "+column+") FROM usage u"+w.Where()), w.Args...)
	if err != nil || !q.Series {
		return err
	}
	names := table.LayOutSeries(stats)
	if len(names) == 0 {
		return nil
	}
	w.In(column, names)
	scan := func(row scanner) (struct{}, error) { return struct{}{}, table.ScanSeries(row.Scan, stats) }
	_, err = read(ctx, tx, scan, numbered("SELECT "+column+", (u.hour - ?::bigint) / ?::bigint AS bucket, sum(u.calls)::bigint FROM usage u"+w.Where()+" GROUP BY "+column+", bucket"),
		append([]any{table.Micros(stats.Since), q.Step.Microseconds()}, w.Args...)...)
	return err
}

func readGroups(ctx context.Context, tx pgx.Tx, w table.Conditions, column string, q haltd.StatsQuery) ([]haltd.StatGroup, error) {
	scan := func(row scanner) (g haltd.StatGroup, err error) { return g, scanTotals(row, &g.Name, &g.Totals) }
	return read(ctx, tx, scan, numbered("SELECT "+column+" AS name, "+totalsSums+" FROM usage u"+w.Where()+
		" GROUP BY "+column+" ORDER BY sum(u.cost) DESC, sum(u.calls) DESC, "+column+" LIMIT ? OFFSET ?"), append(w.Args, table.Limit(q.Limit), q.Offset)...)
}

func scanTotals(row scanner, first any, t *haltd.Totals) error {
	return row.Scan(first, &t.Calls, &t.Blocked, &t.Errors,
		&t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, (*int64)(&t.Cost))
}
