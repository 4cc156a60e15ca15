package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Every setting of a session is a limit that is looked at, and an answer names it
// as it is declared.
func TestEverySettingOfASessionIsALimit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	used := detection.Tally{Calls: 9, Cost: 9 * haltd.Dollar, Tokens: 9, Began: now.Add(-9 * time.Minute), TurnCalls: 9, TurnCost: 9 * haltd.Dollar}
	limits := 0
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		for _, s := range section.Settings {
			name, ok := strings.CutPrefix(s.Path, "session.")
			if !ok {
				continue
			}
			limits++
			value := fmt.Sprintf(`{%q: 1}`, name)
			if outer, inner, nested := strings.Cut(name, "."); nested {
				value = fmt.Sprintf(`{%q: {%q: 1}}`, outer, inner)
			}
			override := haltd.MustOverride(`{"session": ` + value + `}`)
			p := override.Over(haltd.Policy{})
			if f, ok := sessionFinding("bot", &p.Sessions, &used, now); !ok || f.Name != s.Path || !strings.Contains(f.Sentence, s.Path+" allows") {
				t.Errorf("%s at its limit: %+v", s.Path, f)
			}
		}
	}
	if limits < 6 {
		t.Errorf("%d limits of a session are declared, want six or more", limits)
	}
}
