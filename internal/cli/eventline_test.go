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
		{"would have killed", "would kill: bot called read_file 5 times.", haltd.Event{Type: haltd.EventWarning, Shadow: true, Verdict: []byte(`{"level":"kill","sentence":"bot called read_file 5 times."}`)}},
		{"a warning", "warning: bot repeats itself.", haltd.Event{Type: haltd.EventWarning, Shadow: true, Verdict: []byte(`{"level":"warn","sentence":"bot repeats itself."}`)}},
		{"growth", "growth: Prompt tokens of s grew.", haltd.Event{Type: haltd.EventGrowth, Verdict: []byte(`{"level":"warn","sentence":"Prompt tokens of s grew."}`)}},
		{"a kill", "kill_switch: bot called read_file 5 times.", haltd.Event{Type: haltd.EventKillSwitch, Verdict: []byte(`{"level":"kill","sentence":"bot called read_file 5 times."}`)}},
		{"a person's change", "policy_change: deactivated by ann@laptop: enough", haltd.Event{Type: haltd.EventPolicy, Verdict: []byte(`{"change":"deactivated","by":"ann@laptop","why":"enough"}`)}},
		{"a change without a reason", "policy_change: policy by admin", haltd.Event{Type: haltd.EventPolicy, Verdict: []byte(`{"change":"policy","by":"admin"}`)}},
		{"hostile text", `warning: \x1b[31m`, haltd.Event{Type: haltd.EventWarning, Verdict: []byte(`{"level":"warn","sentence":"\u001b[31m"}`)}},
		{"a call stays a row", "tok", haltd.Event{Type: haltd.EventCall, Verdict: []byte(`{"level":"kill","sentence":"x"}`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.event.Time, tc.event.Agent, tc.event.Session = time.Unix(0, 0), "bot", "s"
			if got := env.eventLine(&tc.event); !strings.Contains(got, tc.want) {
				t.Errorf("%q does not say %q", got, tc.want)
			}
		})
	}
}
