package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// explain draws one run: each request with the rounds it shows for the first
// time, what they add to the evidence, and what fired.
func explain(w io.Writer, paths []string, id string, set detection.Settings) error {
	o := &own{set: set, cache: detection.NewCache(cacheWords)}
	threads := map[string]*thread{}
	shown := map[string]int{}
	for _, path := range paths {
		err := eachLine(path, func(line []byte) error {
			run, err := runOf(line)
			if err != nil || run != id {
				return err
			}
			var s Step
			if err := json.Unmarshal(line, &s); err != nil {
				return fmt.Errorf("reading a step: %w", err)
			}
			t := threads[s.Thread]
			if t == nil {
				t = &thread{}
				threads[s.Thread] = t
			}
			signals, err := o.step(&s, t)
			if err != nil {
				return err
			}
			rounds := t.session.Rounds(detection.Mark{})
			fmt.Fprintf(w, "request %d  %s\n", s.Step, s.Thread)
			for _, r := range rounds[min(shown[s.Thread], len(rounds)):] {
				fmt.Fprintf(w, "    %-3s %4d  %-24.24s %-13s %5.1f %%  %s\n", r.Letter, r.Index, r.Tool, r.Outcome, r.Certainty, r.Family)
			}
			shown[s.Thread] = len(rounds)
			for i := range signals {
				fmt.Fprintf(w, "  %s  %s\n", strings.ToUpper(signals[i].Level.String()), signals[i].Sentence("the agent"))
				for _, r := range signals[i].Reasons {
					fmt.Fprintf(w, "      %+4d  %s\n", r.Points, r.Text)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(threads) == 0 {
		return haltd.Errorf(haltd.CodeNotFound, "no run %q in these files", id).WithFix("Run ids stand in the field run of a trace and in the verdicts; those of an export are sessions, or agent/session.")
	}
	return nil
}
