package table

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// oneShot is the event of a call without a history.
func oneShot() haltd.Event {
	return haltd.Event{
		Agent: "classifier", Session: "ses_1", Format: "openai", Path: "/v1/chat/completions", Status: 200,
		Tokens: haltd.Usage{Input: 812, Output: 3}, Cost: 2_075_000, Latency: haltd.Duration(412 * time.Millisecond), FirstByte: haltd.Duration(410 * time.Millisecond),
		Finish: "stop", PromptHash: "9f86d081884c7d65", PromptLen: 3211, ReplyHash: "2cf24dba5fb0a30e", ReplyLen: 7,
	}
}

// warned is the same of a call that was warned.
func warned() haltd.Event {
	e := oneShot()
	e.Score = 38
	e.Verdict = &haltd.Verdict{
		Version: haltd.VerdictVersion, Action: haltd.Warn, Check: haltd.CheckSimilarity, Reason: haltd.ReasonLoop, Sentence: "classifier repeats itself: 20 similar replies.",
		Level: haltd.LevelWarn, Score: 38, Parts: haltd.ScoreParts{Responses: 19}, Certainty: 2.5, Unmet: "fewer than two of prompts, replies and tool calls match twice",
		Findings: []haltd.Finding{{Check: haltd.CheckSimilarity, Action: haltd.Warn, Reason: haltd.ReasonLoop, Sentence: "classifier repeats itself: 20 similar replies."}},
	}
	return e
}

// told is the event of a warning, with its evidence.
func told() haltd.Event {
	e := warned()
	v := *e.Verdict
	at := time.Date(2026, 3, 11, 12, 0, 0, 5000, time.UTC)
	s := haltd.Signal{Detector: haltd.DetectorSimilarity, Level: haltd.LevelWarn, Score: 38, Threshold: 10, Parts: &v.Parts, Window: 20}
	for i := range 19 {
		s.Matches = append(s.Matches, haltd.Match{Entry: uint64(i), Time: at, PromptDistance: -1, ResponseDistance: i % 3})
	}
	v.Signals = []haltd.Signal{s}
	v.Basis = &haltd.Basis{Calls: 20, Features: 30, Weights: "2026-03-01"}
	e.Verdict, e.Type = &v, haltd.EventWarning
	return e
}

func BenchmarkDetailOf(b *testing.B) {
	for _, c := range []struct {
		what  string
		event haltd.Event
	}{{"without a verdict", oneShot()}, {"with a verdict", warned()}, {"with its evidence", told()}} {
		b.Run(c.what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DetailOf(&c.event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
