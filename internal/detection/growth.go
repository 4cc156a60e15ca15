package detection

import (
	"slices"
	"time"
)

// Growth looks at the prompt tokens of the last calls of a session: when at
// least four are known and the last three ratios are all 1.4 or more, the
// agent appends its own output to its context.
const (
	growthWindow = 5
	growthPoints = 4
	// growthQuiet is how long a session is not reported again.
	growthQuiet = 24 * time.Hour
)

// grows reports whether the last three ratios of the counts are all at least
// 1.4. Integers, so that 1000 → 1400 is 1.4 and not a little less.
func grows(tokens []int64) bool {
	n := len(tokens)
	if n < growthPoints {
		return false
	}
	for i := n - growthPoints + 1; i < n; i++ {
		if tokens[i-1] <= 0 || 10*tokens[i] < 14*tokens[i-1] {
			return false
		}
	}
	return true
}

// growthKey separates what must not be mixed: a sub-agent with another model
// or another system prompt has a prompt of its own size.
type growthKey struct {
	model  string
	system uint64
}

// maxGrowthKeys bounds the series that a session keeps; the oldest goes
// first.
const maxGrowthKeys = 8

// growth is the token counts of one session.
type growth struct {
	series   []growthSeries
	reported bool
	at       time.Time // when it was reported
}

type growthSeries struct {
	key    growthKey
	tokens []int64
}

// observe takes the provider's count of a prompt and returns the recent
// counts when they grow and the session has not been reported for a day.
func (g *growth) observe(key growthKey, tokens, floor int64, now time.Time) ([]int64, bool) {
	i := slices.IndexFunc(g.series, func(s growthSeries) bool { return s.key == key })
	if i < 0 {
		if len(g.series) == maxGrowthKeys {
			g.series = slices.Delete(g.series, 0, 1)
		}
		g.series = append(g.series, growthSeries{key: key})
		i = len(g.series) - 1
	}
	s := &g.series[i]
	s.tokens = append(s.tokens, tokens)
	s.tokens = slices.Delete(s.tokens, 0, max(0, len(s.tokens)-growthWindow))
	if tokens < floor || !grows(s.tokens) || g.reported && now.Sub(g.at) < growthQuiet {
		return nil, false
	}
	g.reported, g.at = true, now
	return slices.Clone(s.tokens), true
}
