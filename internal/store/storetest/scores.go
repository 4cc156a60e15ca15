package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// scoredCall is a call with a score, n minutes after the start.
func scoredCall(n int, agent, session string, score float64) haltd.Event {
	e := call(n, start.Add(time.Duration(n)*time.Minute), agent, session)
	e.Score = score
	return e
}

func point(e haltd.Event) haltd.ScorePoint {
	return haltd.ScorePoint{Event: e.ID, Time: e.Time, Agent: e.Agent, Session: e.Session, Score: e.Score}
}

func scores(t *testing.T, s Store) {
	first, second, third := scoredCall(1, "a", "s", 0), scoredCall(3, "a", "s", 0.1+0.2), scoredCall(5, "a", "s", 1e21)
	second.Type, second.Blocked = haltd.EventBlocked, true
	third.Type, third.Blocked = haltd.EventKillSwitch, true
	warning := scoredCall(4, "a", "s", 7)
	warning.Type = haltd.EventWarning
	add(t, s, first, scoredCall(2, "a", "other", 8), second, warning, third, scoredCall(6, "b", "s", 9))
	got, err := s.Scores(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "scores", got, []haltd.ScorePoint{point(first), point(second), point(third)})
	got, err = s.Scores(t.Context(), "a", "none")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "scores of an unknown session", got, []haltd.ScorePoint{})
}

func peaks(t *testing.T, s Store) {
	early, late := scoredCall(1, "a", "s", 20), scoredCall(7, "a", "s", 12)
	warning := scoredCall(2, "a", "warned", 30)
	warning.Type = haltd.EventWarning
	exact, above := scoredCall(3, "a", "t", 10), scoredCall(4, "a", "t", 10.5)
	above.Verdict = &haltd.Verdict{Score: 10.5, Unmet: "no second signal"}
	alone := point(above)
	alone.Unmet = "no second signal"
	killed := scoredCall(6, "a", "u", 11)
	killed.Type, killed.Blocked = haltd.EventKillSwitch, true
	add(t, s, early, warning, scoredCall(5, "a", "u", 3), late)
	add(t, s, exact, above, scoredCall(8, "a", "t", 15), killed, call(9, start.Add(time.Hour), "a", "v"), scoredCall(10, "other", "s", 40))
	last := point(scoredCall(8, "a", "t", 15))
	for name, c := range map[string]struct {
		threshold    float64
		corroborated bool
		since        time.Time
		limit        int
		want         []haltd.ScorePoint
	}{
		"first above":      {10, false, start, 10, []haltd.ScorePoint{point(killed), alone, point(early)}},
		"corroborated":     {10, true, start, 10, []haltd.ScorePoint{last, point(killed), point(early)}},
		"limit":            {10, false, start, 2, []haltd.ScorePoint{point(killed), alone}},
		"since counts":     {10, false, late.Time, 10, []haltd.ScorePoint{last, point(late)}},
		"higher threshold": {14.5, false, start, 10, []haltd.ScorePoint{last, point(early)}},
		"none":             {100, false, start, 10, []haltd.ScorePoint{}},
	} {
		got, err := s.Peaks(t.Context(), haltd.PeakQuery{Agent: "a", Threshold: c.threshold, Corroborated: c.corroborated, Since: c.since, Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, got, c.want)
	}
}
