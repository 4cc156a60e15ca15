package sqlite

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const (
	addUsageSQL = `INSERT INTO usage (hour, agent, provider, model, ` + totalsColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)` + onUsageSQL

	onUsageSQL = `
		ON CONFLICT (hour, agent, provider, model) DO UPDATE SET
		calls = calls + excluded.calls, blocked = blocked + excluded.blocked, errors = errors + excluded.errors,
		input = input + excluded.input, output = output + excluded.output,
		cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cost = cost + excluded.cost`

	countUsageSQL = `SELECT count(*) FROM usage WHERE hour = ? AND agent = ?`

	hasUsageSQL = `SELECT EXISTS (SELECT 1 FROM usage WHERE hour = ? AND agent = ? AND provider = ? AND model = ?)`
)

// mostProviders is how many rows more than models an hour of an agent may
// have, for the other models of each provider.
const mostProviders = 20

// usageRow is the row that sums of an agent go to: that of their model or,
// where the hour has enough rows, that of the other models of its provider.
// Agents are never lumped together: what each has spent must be known.
func (a *appender) usageRow(key table.UsageKey, agent int64) (provider, model string, err error) {
	rows, err := a.countUsage.number(key.Hour, agent)
	if err != nil {
		return "", "", err
	}
	for _, row := range []struct {
		model string
		most  int64
	}{{key.Model, haltd.MostModels}, {haltd.Other, haltd.MostModels + mostProviders}} {
		if rows < row.most {
			return key.Provider, row.model, nil
		}
		known, err := a.hasUsage.number(key.Hour, agent, key.Provider, row.model)
		if err != nil {
			return "", "", err
		}
		if known != 0 {
			return key.Provider, row.model, nil
		}
	}
	return haltd.Other, haltd.Other, nil
}
