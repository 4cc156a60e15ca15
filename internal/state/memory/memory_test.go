package memory

import (
	"testing"

	"github.com/haltd/haltd"
)

func TestAttemptsGoOnFromTheLastOne(t *testing.T) {
	a, ctx := NewAttempts(10), t.Context()
	if last := a.Last(1); last != (haltd.Attempt{}) {
		t.Errorf("a request never made: %+v", last)
	}
	for range 3 {
		_ = a.Ended(ctx, 1, haltd.EndedLost)
	}
	_ = a.Ended(ctx, 2, haltd.EndedRefused)
	if last := a.Last(1); last != (haltd.Attempt{Ending: haltd.EndedLost, Lost: 3}) {
		t.Errorf("lost three times: %+v", last)
	}
}

func TestRepliesBelongToTheirAgent(t *testing.T) {
	r, ctx := NewReplies(10), t.Context()
	_ = r.SaveReply(ctx, "billing", "resp_1", haltd.PastReply{Session: "ses_a"})
	if got, err := r.Reply(ctx, "billing", "resp_1"); err != nil || got.Session != "ses_a" {
		t.Errorf("own reply: %+v, want ses_a", got)
	}
	if got, err := r.Reply(ctx, "other", "resp_1"); err != nil || got != (haltd.PastReply{}) {
		t.Errorf("another agent's reply: %+v, want none", got)
	}
}
