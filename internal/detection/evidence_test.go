package detection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		signal haltd.Signal
		want   string
	}{
		{haltd.Signal{Detector: haltd.DetectorStall, Family: haltd.FamilyRepeat, Tools: []string{"read_file"}, Count: 5, Outcome: "error"}, "bot called read_file 5 times with the same arguments and got the same error."},
		{haltd.Signal{Detector: haltd.DetectorStall, Family: haltd.FamilyCycle, Tools: []string{"list", "read"}}, "bot repeats list, read and nothing changes."},
		{haltd.Signal{Detector: haltd.DetectorStall, Family: haltd.FamilyFutile, Count: 6, Outcome: "empty result"}, "bot tried 6 different calls and got the same empty result."},
		{haltd.Signal{Detector: haltd.DetectorStall, Family: haltd.FamilyChatter, Count: 9}, "bot said the same thing 9 times without a tool call."},
		{haltd.Signal{Detector: haltd.DetectorGrowth, Session: "ses_1"}, "Prompt tokens of ses_1 grew 1.4 times or more, 3 calls in a row."},
		{haltd.Signal{Detector: haltd.DetectorSimilarity, Score: 12, Parts: &haltd.ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 4}}, "bot repeats itself: 5 similar prompts, 2 similar replies and the same tool call 5 times."},
		{haltd.Signal{Detector: haltd.DetectorSimilarity, Score: 12, Parts: &haltd.ScoreParts{Prompts: 12}}, "bot repeats itself: 13 similar prompts."},
		{haltd.Signal{Detector: haltd.DetectorSimilarity, Score: 12, Threshold: 10, Window: 20}, "bot repeats itself: score 12.0 exceeds the threshold of 10.0 in a window of 20 calls."},
		{haltd.Signal{Detector: haltd.DetectorSimilarity, Score: 12, Threshold: 10}, "bot repeats itself: score 12.0 exceeds the threshold of 10.0."},
	} {
		if diff := cmp.Diff(c.want, c.signal.Sentence("bot")); diff != "" {
			t.Errorf("sentence (-want +got):\n%s", diff)
		}
	}
}

func TestEvidenceNamesTheRounds(t *testing.T) {
	k := newTalkWith(t, plainSettings(), "Please do the task.")
	for range 6 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
	}
	s := k.last.Signals[0]
	if s.Count != 6 || s.Outcome != "error" || len(s.Tools) != 1 || s.Tools[0] != "read_file" {
		t.Errorf("signal %+v, want six errors of read_file", s)
	}
	if got := lettersOf(s.Rounds); got != "0A 1A 2A 3A 4A 5A" {
		t.Errorf("rounds %s, want the first and all that repeat it", got)
	}
}

func TestEvidenceNamesTheRoundsThatAreRepeated(t *testing.T) {
	k := newTalkWith(t, plainSettings(), "Please do the task.")
	k.does("list_files", `{}`, "a.go b.go")
	for range 4 {
		k.does("read_file", `{"path":"/etc/x"}`, "Error: permission denied")
		k.does("get_owner", `{"path":"/etc/x"}`, "Error: the owner is unknown")
	}
	if got := lettersOf(k.last.Signals[0].Rounds); got != "1A 2B 3A 4B 5A 6B 7A 8B" {
		t.Errorf("rounds %s, want both of the cycle from their first time on", got)
	}
}

func lettersOf(rounds []haltd.RoundEvidence) string {
	var words []string
	for _, r := range rounds {
		words = append(words, fmt.Sprint(r.Index, r.Letter))
	}
	return strings.Join(words, " ")
}
