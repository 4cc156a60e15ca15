package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const (
	onUsageSQL = `
		ON CONFLICT (hour, agent, provider, model) DO UPDATE SET
		calls = usage.calls + excluded.calls, blocked = usage.blocked + excluded.blocked, errors = usage.errors + excluded.errors,
		input = usage.input + excluded.input, output = usage.output + excluded.output,
		cache_read = usage.cache_read + excluded.cache_read, cache_write = usage.cache_write + excluded.cache_write, cost = usage.cost + excluded.cost`

	addUsageSQL = `INSERT INTO usage (hour, agent, provider, model, ` + totalsColumns + `)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
			$9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])` + onUsageSQL

	knownUsageSQL = `SELECT u.hour, u.agent, u.provider, u.model FROM usage u
		JOIN unnest($1::bigint[], $2::text[]) AS k (hour, agent) ON u.hour = k.hour AND u.agent = k.agent`
)

// mostProviders is how many rows more than models an hour of an agent may
// have, for the other models of each provider.
const mostProviders = 20

// writeUsage adds events to the hourly sums.
func writeUsage(ctx context.Context, tx pgx.Tx, t *table.Tally) error {
	if len(t.Usage) == 0 {
		return nil
	}
	sums, err := limitUsage(ctx, tx, t)
	if err != nil {
		return err
	}
	var hours []int64
	var agents, providers, models []string
	var cols columns
	for _, key := range slices.SortedFunc(maps.Keys(sums), compareUsage) {
		hours, agents = append(hours, key.Hour), append(agents, key.Agent)
		providers, models = append(providers, key.Provider), append(models, key.Model)
		cols.add(sums[key])
	}
	_, err = tx.Exec(ctx, addUsageSQL, append([]any{hours, agents, providers, models}, cols.args()...)...)
	return err
}

func compareUsage(a, b table.UsageKey) int {
	return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
}

// hourOfAgent is what has a bound of rows.
type hourOfAgent struct {
	hour  int64
	agent string
}

// limitUsage says to which rows the sums of a tally go: those of their models
// or, where the hour of an agent has enough rows, that of the other models of
// the provider. Agents are never lumped together: what each has spent must be
// known.
func limitUsage(ctx context.Context, tx pgx.Tx, t *table.Tally) (map[table.UsageKey]*haltd.Totals, error) {
	pairs := map[hourOfAgent]int{} // rows
	var hours []int64
	var agents []string
	for key := range t.Usage {
		pair := hourOfAgent{key.Hour, mend(key.Agent)}
		if _, there := pairs[pair]; !there {
			pairs[pair] = 0
			hours, agents = append(hours, pair.hour), append(agents, pair.agent)
		}
	}
	scan := func(row scanner) (k table.UsageKey, err error) {
		return k, row.Scan(&k.Hour, &k.Agent, &k.Provider, &k.Model)
	}
	rows, err := read(ctx, tx, scan, knownUsageSQL, hours, agents)
	if err != nil {
		return nil, err
	}
	known := map[table.UsageKey]bool{}
	for _, key := range rows {
		known[key] = true
		pairs[hourOfAgent{key.Hour, key.Agent}]++
	}
	sums := map[table.UsageKey]*haltd.Totals{}
	for _, key := range slices.SortedFunc(maps.Keys(t.Usage), compareUsage) {
		to := usageRow(table.UsageKey{Hour: key.Hour, Agent: mend(key.Agent), Provider: mend(key.Provider), Model: mend(key.Model)}, known, pairs)
		if sums[to] == nil {
			sums[to] = &haltd.Totals{}
		}
		table.AddTotals(sums[to], *t.Usage[key])
	}
	return sums, nil
}

func usageRow(key table.UsageKey, known map[table.UsageKey]bool, pairs map[hourOfAgent]int) table.UsageKey {
	pair := hourOfAgent{key.Hour, key.Agent}
	choose := func(key table.UsageKey) table.UsageKey {
		if !known[key] {
			known[key] = true
			pairs[pair]++
		}
		return key
	}
	other := key
	other.Model = haltd.Other
	switch {
	case known[key] || pairs[pair] < haltd.MostModels:
		return choose(key)
	case known[other] || pairs[pair] < haltd.MostModels+mostProviders:
		return choose(other)
	}
	other.Provider = haltd.Other
	return choose(other)
}
