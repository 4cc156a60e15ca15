package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const totalsSums = `sum(u.calls), sum(u.blocked), sum(u.errors), sum(u.input), sum(u.output),
	sum(u.cache_read), sum(u.cache_write), sum(u.cost)`

// summed are the rows of usage summed by a column first: what is made of it,
// a bucket or a name, is then made for each sum and not for each row.
func summed(by string, w table.Conditions) string {
	return "(SELECT " + by + `, sum(u.calls) AS calls, sum(u.blocked) AS blocked, sum(u.errors) AS errors, sum(u.input) AS input, sum(u.output) AS output,
	sum(u.cache_read) AS cache_read, sum(u.cache_write) AS cache_write, sum(u.cost) AS cost FROM usage u` + w.Where() + " GROUP BY " + by + ") u"
}

// groupColumns are the values of StatsQuery.By.
var groupColumns = map[string]string{
	"agent":    "coalesce((SELECT id FROM agents WHERE no = u.agent), '')",
	"provider": "u.provider",
	"model":    "u.model",
}

// groupKeys are the columns that they are read from.
var groupKeys = map[string]string{"agent": "u.agent", "provider": "u.provider", "model": "u.model"}

// Stats implements haltd.EventStore. Since is cut down to its hour and Until
// up, so that the hour that runs is part of the answer. A query that breaks a
// rule is CodeInvalid.
func (s *Store) Stats(ctx context.Context, q haltd.StatsQuery) (haltd.Stats, error) {
	stats, err := s.stats(ctx, q)
	if err != nil {
		return haltd.Stats{}, fmt.Errorf("read stats: %w", explain(s.path, err))
	}
	return stats, nil
}

func (s *Store) stats(ctx context.Context, q haltd.StatsQuery) (haltd.Stats, error) {
	stats, err := table.EmptyStats(q)
	if err != nil {
		return stats, err
	}
	var w table.Conditions
	w.Add("u.hour >= ? AND u.hour < ?", table.Micros(stats.Since), table.Micros(stats.Until))
	if q.Agent != "" {
		w.Add("u.agent = (SELECT no FROM agents WHERE id = ?)", q.Agent)
	}
	if len(q.Agents) > 0 {
		w.In("u.agent IN (SELECT no FROM agents WHERE id", q.Agents)
		w.Terms[len(w.Terms)-1] += ")"
	}
	// Both questions are asked of one state of the database.
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return stats, err
	}
	defer tx.Rollback()
	if err := fillBuckets(ctx, tx, w, q.Step, &stats); err != nil {
		return stats, err
	}
	if q.By != "" {
		err = fillGroups(ctx, tx, w, q, &stats)
	}
	return stats, err
}

func fillGroups(ctx context.Context, tx *sql.Tx, w table.Conditions, q haltd.StatsQuery, stats *haltd.Stats) (err error) {
	column := groupColumns[q.By]
	if stats.Groups, stats.GroupCount, err = readGroups(ctx, tx, w, q); err != nil {
		return err
	}
	if len(stats.Groups) == 0 && q.Offset > 0 { // behind the last, which no row tells
		count := "SELECT count(DISTINCT " + column + ") FROM (SELECT DISTINCT " + groupKeys[q.By] + " FROM usage u" + w.Where() + ") u"
		return tx.QueryRowContext(ctx, count, w.Args...).Scan(&stats.GroupCount)
	}
	if !q.Series {
		return nil
	}
	names := table.LayOutSeries(stats)
	if len(names) == 0 {
		return nil
	}
	if q.By == "agent" {
		w.In("u.agent IN (SELECT no FROM agents WHERE id", names)
		w.Terms[len(w.Terms)-1] += ")"
	} else {
		w.In(column, names)
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+column+" AS name, (u.hour - ?) / ? AS bucket, sum(u.calls) FROM usage u"+w.Where()+" GROUP BY name, bucket",
		append([]any{table.Micros(stats.Since), q.Step.Microseconds()}, w.Args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := table.ScanSeries(rows.Scan, stats); err != nil {
			return err
		}
	}
	return rows.Err()
}

func fillBuckets(ctx context.Context, tx *sql.Tx, w table.Conditions, step time.Duration, stats *haltd.Stats) error {
	args := append([]any{table.Micros(stats.Since), step.Microseconds()}, w.Args...)
	rows, err := tx.QueryContext(ctx, `SELECT (u.hour - ?) / ? AS bucket, `+totalsSums+` FROM `+summed("u.hour", w)+` GROUP BY bucket`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var i int
		var t haltd.Totals
		if err := scanTotals(rows, &t, &i); err != nil {
			return err
		}
		stats.Buckets[i].Totals = t
		table.AddTotals(&stats.Totals, t)
	}
	return rows.Err()
}

// readGroups answers a page of the groups, and how many there are in all.
func readGroups(ctx context.Context, tx *sql.Tx, w table.Conditions, q haltd.StatsQuery) (groups []haltd.StatGroup, all int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT count(*) OVER (), `+groupColumns[q.By]+` AS name, `+totalsSums+` FROM `+summed(groupKeys[q.By], w)+`
		GROUP BY name ORDER BY sum(u.cost) DESC, sum(u.calls) DESC, name LIMIT ? OFFSET ?`, append(w.Args, table.Limit(q.Limit), q.Offset)...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	groups = []haltd.StatGroup{}
	for rows.Next() {
		var g haltd.StatGroup
		if err := scanTotals(rows, &g.Totals, &all, &g.Name); err != nil {
			return nil, 0, err
		}
		groups = append(groups, g)
	}
	return groups, all, rows.Err()
}

func scanTotals(rows *sql.Rows, t *haltd.Totals, before ...any) error {
	return rows.Scan(append(before, &t.Calls, &t.Blocked, &t.Errors,
		&t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, &t.Cost)...)
}
