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
	exact, above := scoredCall(3, "b", "s", 10), scoredCall(4, "b", "s", 10.5)
	killed := scoredCall(6, "c", "s", 11)
	killed.Type, killed.Blocked = haltd.EventKillSwitch, true
	add(t, s, early, warning, scoredCall(5, "c", "s", 3), late)
	add(t, s, exact, above, scoredCall(8, "b", "s", 15), killed, call(9, start.Add(time.Hour), "d", "s"))
	for name, c := range map[string]struct {
		threshold float64
		since     time.Time
		limit     int
		want      []haltd.ScorePoint
	}{
		"first above":      {10, start, 10, []haltd.ScorePoint{point(killed), point(above), point(early)}},
		"limit":            {10, start, 2, []haltd.ScorePoint{point(killed), point(above)}},
		"since counts":     {10, late.Time, 10, []haltd.ScorePoint{point(scoredCall(8, "b", "s", 15)), point(late)}},
		"higher threshold": {14.5, start, 10, []haltd.ScorePoint{point(scoredCall(8, "b", "s", 15)), point(early)}},
		"none":             {100, start, 10, []haltd.ScorePoint{}},
	} {
		got, err := s.Peaks(t.Context(), c.threshold, c.since, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, got, c.want)
	}
}
