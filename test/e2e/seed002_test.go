package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// rejecting is the answer of the first document: the request is refused for a
// while, the agent stays active.
const rejecting = `"similarity":"reject","stall":"reject","require_corroboration":false`

// TestSeed002 is the kill switch as it was specified first. Its subtests bear
// the titles of its requirements and scenarios.
func TestSeed002(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	s.hold(t, comparing...)
	s.hold(t,
		requirement{"Kill Switch Configuration", append(switching[:3:3],
			scenario{"Configure threshold", blocksBeyondThreshold},
		)},
		requirement{"Kill Switch Enforcement", []scenario{
			{"Block on threshold exceeded", blockOnThreshold},
			{"Include retry information", retryInformation},
			{"Record blocked event", recordBlocked},
		}},
		requirement{"Kill Switch State Management", memory},
	)
}

func blocksBeyondThreshold(t *testing.T, s *stage) {
	// Equal calls score 1, 4, 7, …: the third only reaches the threshold.
	a := s.agent(t).with(rejecting + `,"threshold":4`)
	if got, at := a.loop(6); at != 4 || got.status != http.StatusTooManyRequests {
		t.Errorf("call %d was answered %d, want the fourth with 429", at, got.status)
	}
}

func blockOnThreshold(t *testing.T, s *stage) {
	a := s.agent(t).with(rejecting)
	got, at := a.loop(10)
	if at == 0 || got.status != http.StatusTooManyRequests || got.denied.BlockReason != "loop_detected" {
		t.Fatalf("call %d was answered %d %s, want 429 with block_reason loop_detected", at, got.status, got.body)
	}
	if reason := got.header.Get("X-Haltd-Reason"); reason != "loop_detected" {
		t.Errorf("X-Haltd-Reason %q, want loop_detected", reason)
	}
	if !strings.Contains(got.body, `},"block_reason":"loop_detected"`) {
		t.Errorf("the body has no block_reason at its top: %s", got.body)
	}
	if n := s.forwarded(a); n != at-1 {
		t.Errorf("%d calls reached the provider, want %d", n, at-1)
	}
	if v := a.view(); !v.Active || v.DeactivatedBy != nil {
		t.Errorf("agent %+v, want it active", v.Agent)
	}
	if other := a.ask("Write a poem about the autumn sea.", "Grey waves."); other.status != http.StatusOK {
		t.Errorf("another request was answered %d %s", other.status, other.body)
	}
}

func retryInformation(t *testing.T, s *stage) {
	a := s.agent(t).with(rejecting)
	if got, _ := a.loop(10); got.denied.RetryAfter != 60 || got.header.Get("Retry-After") != "60" {
		t.Errorf("retry_after_seconds %d, Retry-After %q; want 60", got.denied.RetryAfter, got.header.Get("Retry-After"))
	}
	soon := s.agent(t, "soon").with(rejecting + `,"retry_after_seconds":1`)
	got, at := soon.loop(10)
	if got.denied.RetryAfter != 1 || got.header.Get("Retry-After") != "1" {
		t.Errorf("retry_after_seconds %d, Retry-After %q; want 1", got.denied.RetryAfter, got.header.Get("Retry-After"))
	}
	// An agent that waits as long as it was asked to may call again.
	told := time.Now()
	s.Eventually(t, "a second older", func() bool { return time.Since(told) > 1100*time.Millisecond })
	if _, again := soon.loop(at - 1); again != 0 {
		t.Errorf("after the wait: stopped at call %d, want a new start", again)
	}
}

func recordBlocked(t *testing.T, s *stage) {
	a := s.agent(t).with(rejecting)
	_, at := a.loop(10)
	e := a.has(haltd.EventBlocked, 1)[0]
	if !e.Blocked || e.BlockReason != haltd.ReasonLoop || e.Status != http.StatusTooManyRequests {
		t.Errorf("event %+v; want blocked, loop_detected, 429", e)
	}
	if e.Score <= 10 {
		t.Errorf("score %v, want more than the threshold of 10", e.Score)
	}
	if calls := a.has(haltd.EventCall, at-1); len(calls) != at-1 || calls[0].Blocked {
		t.Errorf("%d calls recorded before it, want %d that were not blocked", len(calls), at-1)
	}
	if i := a.incidents(1); len(i) != 1 || i[0].Action != haltd.Reject || i[0].ID != e.Incident {
		t.Errorf("incidents %+v; want the one of the event, with action reject", i)
	}
}
