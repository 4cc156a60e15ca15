// The race detector makes this replay take minutes; make test runs it without.
//go:build !race

package replay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/haltd/haltd/detect"
)

// traces is the folder of real agent runs, which is not part of this
// repository: HALTD_TRACES, or shared/traces beside the checkout.
func traces(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HALTD_TRACES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "traces")
	}
	if _, err := os.Stat(filepath.Join(dir, "open.mit.steps.jsonl.gz")); err != nil {
		t.Skip("no traces here; set HALTD_TRACES to their folder")
	}
	return dir
}

// TestRealRuns holds the quality that was reached on real runs, a little
// below the measured figures, so that a change that loses it is seen.
func TestRealRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 52,000 calls")
	}
	dir := traces(t)
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	labels, err := LoadLabels(in("open.mit.runs.jsonl.gz", "open.other.runs.jsonl.gz", "open2.runs.jsonl.gz", "open.read.jsonl", "open2.read.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	newJudge, err := NewJudge("", detect.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := Replay(t.Context(), in("open.mit.steps.jsonl.gz", "open.other.steps.jsonl.gz", "open2.steps.jsonl.gz"), newJudge, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := ScoreOf(outcomes, labels, nil)
	read := ScoreOf(outcomes, labels, func(l Label) bool { return l.Read })
	for _, c := range []struct {
		name     string
		got      float64
		min, max float64
	}{
		{"stuck killed", killed(all, "stuck"), .95, 1},
		{"healthy killed", killed(all, "healthy"), 0, .005},
		{"capped chats killed", killed(all, "capped_chat"), .7, 1},
		{"stuck killed, by readers", killed(read, "stuck"), .80, 1},
		{"healthy killed, by readers", killed(read, "healthy"), 0, .01},
		{"wasteful killed, by readers", killed(read, "wasteful"), 0, .30},
		{"delay after confirm", all.Delay, -10, 1},
		{"distance to stop", read.Distance, 0, 2},
		{"warned before killed", all.WarnedFirst, .8, 1},
	} {
		if c.got < c.min || c.got > c.max {
			t.Errorf("%s: %.3f, want %.3f to %.3f", c.name, c.got, c.min, c.max)
		}
	}
}

func killed(s Score, group string) float64 {
	c := s.Groups[group]
	return share(c.Killed, c.Runs)
}
