package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func TestDetectorEventsAreSentences(t *testing.T) {
	env := &Env{}
	for _, tc := range []struct {
		name, want string
		event      haltd.Event
	}{
		{"would have steered", "would steer: bot called read_file 5 times.", haltd.Event{Type: haltd.EventSteer, Shadow: true, Verdict: &haltd.Verdict{Level: haltd.LevelWarn, Sentence: "bot called read_file 5 times."}}},
		{"would have killed", "would stop: bot called read_file 5 times.", haltd.Event{Type: haltd.EventWarning, Shadow: true, Verdict: &haltd.Verdict{Level: haltd.LevelKill, Sentence: "bot called read_file 5 times."}}},
		{"a warning", "warning: bot repeats itself.", haltd.Event{Type: haltd.EventWarning, Shadow: true, Verdict: &haltd.Verdict{Level: haltd.LevelWarn, Sentence: "bot repeats itself."}}},
		{"growth", "growth: Prompt tokens of s grew.", haltd.Event{Type: haltd.EventGrowth, Verdict: &haltd.Verdict{Level: haltd.LevelWarn, Sentence: "Prompt tokens of s grew."}}},
		{"a kill", "stopped: bot called read_file 5 times.", haltd.Event{Type: haltd.EventKillSwitch, Verdict: &haltd.Verdict{Level: haltd.LevelKill, Sentence: "bot called read_file 5 times."}}},
		{"a halt", "halted: bot called read_file 5 times.", haltd.Event{Type: haltd.EventHalt, Verdict: &haltd.Verdict{Level: haltd.LevelKill, Sentence: "bot called read_file 5 times."}}},
		{"a person's change", "policy_change: deactivated by ann@laptop: enough", haltd.Event{Type: haltd.EventPolicy, Audit: &haltd.Audit{Change: "deactivated", By: "ann@laptop", Why: "enough"}}},
		{"a change without a reason", "policy_change: policy by admin", haltd.Event{Type: haltd.EventPolicy, Audit: &haltd.Audit{Change: "policy", By: "admin"}}},
		{"hostile text", `warning: \x1b[31m`, haltd.Event{Type: haltd.EventWarning, Verdict: &haltd.Verdict{Level: haltd.LevelWarn, Sentence: "\x1b[31m"}}},
		{"a call stays a row", "tok", haltd.Event{Type: haltd.EventCall, Verdict: &haltd.Verdict{Level: haltd.LevelKill, Sentence: "x"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.event.Time, tc.event.Agent, tc.event.Session = time.Unix(0, 0), "bot", "s"
			if got := env.eventLine(&tc.event); !strings.Contains(got, tc.want) {
				t.Errorf("%q does not say %q", got, tc.want)
			}
		})
	}
}
