package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Each limit stops at its value and not before, and the answer names it.
func TestSessionLimits(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		limits        haltd.SessionLimits
		below, at     detection.Tally
		used, allowed string
	}{
		"session.calls":   {haltd.SessionLimits{Calls: 3}, detection.Tally{Calls: 2}, detection.Tally{Calls: 3}, "3 calls", "3 calls"},
		"session.usd":     {haltd.SessionLimits{USD: 2e9}, detection.Tally{Cost: 1e9}, detection.Tally{Cost: 2e9}, "$2.00", "$2.00"},
		"session.tokens":  {haltd.SessionLimits{Tokens: 1000}, detection.Tally{Tokens: 999}, detection.Tally{Tokens: 1200}, "1,200 tokens", "1,000 tokens"},
		"session.minutes": {haltd.SessionLimits{Minutes: 30}, detection.Tally{Began: now.Add(-30*time.Minute + time.Second)}, detection.Tally{Began: now.Add(-31 * time.Minute)}, "31 minutes", "30 minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			if f, ok := sessionFinding("bot", &c.limits, &c.below, now); ok {
				t.Errorf("below the limit: %+v", f)
			}
			f, ok := sessionFinding("bot", &c.limits, &c.at, now)
			if !ok || f.Name != name || f.Action != haltd.Block || !strings.Contains(f.Sentence, c.used) || !strings.Contains(f.Sentence, name+" allows "+c.allowed) {
				t.Errorf("at the limit: %+v, want it blocked and %s named", f, name)
			}
		})
	}
}
