package main

import (
	"strings"
	"testing"
	"time"
)

// A span of time is written as in the configuration, and what is none is said
// with one that is.
func TestSpansOfTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "2160h": 2160 * time.Hour, "soon": 0} {
		var c commands
		_, err := newParser(&c).Parse([]string{"keys", "create", "--agent", "a", "--expires", text})
		switch {
		case want > 0 && (err != nil || c.Keys.Create.Expires != want):
			t.Errorf("--expires %s is %s, %v", text, c.Keys.Create.Expires, err)
		case want == 0 && (err == nil || !strings.Contains(err.Error(), `--expires: expected a span of time such as 30m, 12h or 90d, got "soon"`)):
			t.Errorf("--expires %s: %v", text, err)
		}
	}
}
