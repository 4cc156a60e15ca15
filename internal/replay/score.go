package replay

import (
	"slices"

	"github.com/haltd/haltd/internal/economics"
)

// Score is how verdicts compare with labels.
type Score struct {
	Groups map[string]Count `json:"groups"`
	// Delay is the median number of requests between the step that proves
	// a loop and the kill, over stuck runs with such a step; Distance the
	// median distance to the reader's stop; WarnedFirst the share of killed
	// runs whose warning came before the kill; Saved the share of the
	// tokens of killed stuck runs that the kill would have saved.
	Delay       float64 `json:"delay_after_confirm"`
	Distance    float64 `json:"distance_to_stop"`
	WarnedFirst float64 `json:"warned_before_kill"`
	Saved       float64 `json:"tokens_saved"`
}

// Count is one group of runs.
type Count struct {
	Runs   int `json:"runs"`
	Killed int `json:"killed"`
	Warned int `json:"warned"` // killed ones included
}

// ScoreOf compares outcomes with labels. Only runs that keep selects count;
// nil selects all.
func ScoreOf(outcomes []Outcome, labels map[string]Label, keep func(Label) bool) Score {
	s := Score{Groups: map[string]Count{}}
	var delays, distances []int
	var killed, warnedFirst int
	var stuck economics.Run
	for i := range outcomes {
		o := &outcomes[i]
		l, ok := labels[o.Run]
		if !ok || l.Group == "" || keep != nil && !keep(l) {
			continue
		}
		c := s.Groups[l.Group]
		c.Runs++
		if o.WarnStep != nil {
			c.Warned++
		}
		if o.KillStep != nil {
			c.Killed++
			killed++
			if *o.WarnStep < *o.KillStep {
				warnedFirst++
			}
			if l.Group == "stuck" {
				stuck = stuck.Plus(economics.Run{Tokens: o.Tokens, Saved: o.Saved})
				if l.Confirm != nil {
					delays = append(delays, *o.KillStep-*l.Confirm)
				}
				if l.Stop != nil {
					distances = append(distances, distance(*o.KillStep, *l.Stop))
				}
			}
		}
		s.Groups[l.Group] = c
	}
	s.Delay, s.Distance = median(delays), median(distances)
	s.WarnedFirst = share(warnedFirst, killed)
	s.Saved = stuck.Share()
	return s
}

func distance(a, b int) int { return max(a-b, b-a) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func median(v []int) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	n := len(v)
	return float64(v[(n-1)/2]+v[n/2]) / 2
}
