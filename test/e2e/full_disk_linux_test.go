package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// fill makes the disk full for a process, as it sees it: no file of it may grow
// or be written. The answer undoes it.
func fill(t *testing.T, pid int) (free func()) {
	t.Helper()
	set := func(soft uint64) {
		limit := syscall.Rlimit{Cur: soft, Max: ^uint64(0)}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), 1 /* RLIMIT_FSIZE */, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
		if errno != 0 {
			t.Fatalf("limit the files of haltd: %v", errno)
		}
	}
	set(0)
	return func() { set(^uint64(0)) }
}

// With a full disk calls go on, a loop is refused at once and no call of its
// agent, nor of one that a person stops, is forwarded any more; hard budgets
// refuse, and all is made up for when there is room.
func TestAFullDiskDelaysNobody(t *testing.T) {
	s := newStage(t, "agents: {spender: {budgets: {day: {hard_usd: 5}}}}\n")
	looper, other, spender := s.agent(t, "looper").with(`"require_corroboration": false, "threshold": 3`), s.agent(t, "other"), s.agent(t, "spender")
	stopped := s.agent(t, "stopped")
	stopped.passes(stopped.ask("one", "1"))
	spender.id = "spender"
	healthy := other.ask("one", "1")
	if healthy.status != http.StatusOK {
		t.Fatalf("%d %s", healthy.status, healthy.body)
	}
	free := fill(t, s.PID())
	quick := func(what string, f func()) {
		t.Helper()
		began := time.Now()
		f()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s took %v with a full disk", what, took)
		}
	}
	var denied answer
	quick("a loop", func() { denied, _ = looper.loop(15) })
	if denied.status != http.StatusBadRequest || denied.denied.BlockReason != string(haltd.ReasonLoop) {
		t.Fatalf("the loop: %d %s; want it refused", denied.status, denied.body)
	}
	before := s.forwarded(looper)
	for range 3 {
		quick("a call of the loop", func() { denied, _ = looper.loop(1) })
		if denied.status != http.StatusBadRequest {
			t.Errorf("after the loop was seen: %d", denied.status)
		}
	}
	quick("something else of the agent", func() {
		if got := looper.ask("Something else", "else"); got.status != http.StatusBadRequest || got.denied.Incident != "" {
			t.Errorf("another call of the killed agent: %d %s; want it refused without an incident that nobody can look up", got.status, got.body)
		}
	})
	if n := s.forwarded(looper); n != before {
		t.Errorf("%d calls of the agent were forwarded after its loop was seen", n-before)
	}
	quick("another agent", func() {
		if got := other.ask("two", "2"); got.status != http.StatusOK {
			t.Errorf("another agent: %d %s; want it served", got.status, got.body)
		}
	})
	quick("a hard budget", func() {
		got := spender.send(request{messages: []message{user("hi")}, maxTokens: 10, reply: fakellm.Script{Text: "x"}})
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("a hard budget: %d %s; want 503", got.status, got.body)
		}
	})
	quick("a change that cannot be written", func() {
		var problem refused
		status := s.API(t, "POST", "/v1/agents/"+stopped.id+"/deactivate", map[string]any{}, &problem)
		if status != http.StatusServiceUnavailable || !strings.Contains(problem.Error.Message+problem.Error.Fix, "disk") || !strings.Contains(problem.Error.Message, "refused from now on") {
			t.Errorf("switch off: %d %+v; want 503 that names the disk and says that it holds", status, problem)
		}
		stopped.stopped(stopped.ask("two", "2"), "manual")
	})
	if s.metric(t, "haltd_degraded") != 1 {
		t.Error("haltd_degraded does not tell")
	}
	free()
	s.Eventually(t, "well again", func() bool { return s.metric(t, "haltd_degraded") == 0 })
	s.Eventually(t, "done with both stops", func() bool { return !looper.view().Active && !stopped.view().Active })
	if denied, _ = looper.loop(1); denied.status != http.StatusBadRequest || denied.denied.Incident == "" {
		t.Errorf("with room again: %d %s; want the agent killed, and its incident", denied.status, denied.body)
	}
	looper.incidents(1)
	other.has(haltd.EventCall, 2)
}

// The bypass is for when haltd itself is the problem, and so may its disk be: it
// holds at once, and is written when there is room.
func TestTheBypassNeedsNoDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	looper, spender, stopped := s.agent(t, "looper").with(""), s.agent(t, "spender").policy(dollarADay), s.agent(t, "stopped")
	stopped.passes(stopped.ask("one", "1"))
	s.Must(t, "POST", "/v1/agents/"+stopped.id+"/deactivate", map[string]any{}, nil)
	if got, _ := looper.loop(15); got.status != http.StatusBadRequest {
		t.Fatalf("the loop: %d %s", got.status, got.body)
	}
	free := fill(t, s.PID())
	enforced := func(loop, budget int) {
		t.Helper()
		if got := looper.ask("Something else", "else"); got.status != loop {
			t.Errorf("the killed agent: %d %s; want %d", got.status, got.body, loop)
		}
		if got := spender.send(request{messages: []message{user("hi")}, maxTokens: 10, reply: fakellm.Script{Text: "x"}}); got.status != budget {
			t.Errorf("a hard budget: %d %s; want %d", got.status, got.body, budget)
		}
		stopped.stopped(stopped.ask("two", "2"), "manual")
	}
	set := func(on bool) (status int, problem refused) {
		return s.API(t, "PUT", "/v1/bypass", map[string]any{"on": on, "reason": "the disk is full"}, &problem), problem
	}
	enforced(http.StatusBadRequest, http.StatusServiceUnavailable)
	for range 2 {
		if status, problem := set(true); status != http.StatusServiceUnavailable || !strings.Contains(problem.Error.Message, "nothing is enforced from now on") || !strings.Contains(problem.Error.Message, "disk") {
			t.Errorf("bypass on: %d %+v; want 503 that says that it holds, and is not on disk", status, problem)
		}
	}
	enforced(http.StatusOK, http.StatusOK)
	if s.metric(t, "haltd_bypass") != 1 {
		t.Error("haltd_bypass does not tell")
	}
	if status, problem := set(false); status != http.StatusOK {
		t.Errorf("bypass off: %d %+v; want 200", status, problem)
	}
	enforced(http.StatusBadRequest, http.StatusServiceUnavailable)
	set(true)
	free()
	s.Eventually(t, "done with the bypass", func() bool {
		return strings.Contains(s.Log(), "the bypass that held in memory is written")
	})
	s.Kill(t)
	s.Run(t)
	enforced(http.StatusOK, http.StatusOK)
	if status, problem := set(false); status != http.StatusOK {
		t.Errorf("bypass off: %d %+v; want 200", status, problem)
	}
	enforced(http.StatusBadRequest, http.StatusOK)
}
