package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// killedFixture is a gateway whose agent bot was killed in session s after n
// rounds. Every session it was killed in is known to the record.
func killedFixture(t *testing.T, n int) *fixture {
	t.Helper()
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	f.send(t, "POST", chatPath, inSession("s"), loopBody(1))
	if res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(n)); res.StatusCode != 400 {
		t.Fatalf("a loop of %d rounds was answered %d %s", n, res.StatusCode, body)
	}
	f.persist(t)
	f.clock.advance(time.Minute)
	return f
}

// roundsUntilKill sends a history that grows by one round a call from n on
// and says how many rounds were added when it was stopped; 0 when it was not.
func (f *fixture) roundsUntilKill(t *testing.T, session string, n, most int) int {
	t.Helper()
	for i := range most {
		f.clock.advance(time.Second)
		if res, _ := f.send(t, "POST", chatPath, inSession(session), loopBody(n+i)); res.StatusCode == 400 {
			return i
		}
		f.Gateway.Wait()
	}
	return 0
}

func TestActivateUndoesAKill(t *testing.T) {
	f := killedFixture(t, 12)
	s := f.activate(t, haltd.Target{Agent: "bot"})
	if !s.Active || s.DeactivatedBy != nil || s.Incident != "" || s.By != "ann" || s.Why != "looked at it" || s.ActivatedAt.IsZero() {
		t.Errorf("standing %+v", s)
	}
	if stored, err := f.store.Agent(t.Context(), "bot"); err != nil || !stored.Active || stored.DeactivatedBy != nil {
		t.Errorf("the record has %+v, %v; want it active", stored, err)
	}
	i := f.incidents(t)
	if len(i) != 1 || i[0].Status != haltd.IncidentResumed || i[0].ClosedBy != "ann" || i[0].ClosedAt == nil {
		t.Errorf("incidents %+v, want it resumed", i)
	}
	n := f.notices(t)
	if len(n) != 2 || !n[1].Recovery || n[1].Incident != i[0].ID || n[1].Topic != haltd.IncidentKillSwitch {
		t.Errorf("notices %+v, want the recovery after the kill", n)
	}
	if res, body := f.send(t, "POST", chatPath, inSession("s"), chatBody); res.StatusCode != 200 {
		t.Errorf("the next request: %d %s", res.StatusCode, body)
	}
}

func TestActivateClearsTheWindow(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	for range 5 {
		f.send(t, "POST", chatPath, inSession("s"), chatBody)
		f.Gateway.Wait()
	}
	if e := f.last(t); e.Score == 0 {
		t.Fatal("five equal calls score nothing; the test is void")
	}
	f.activate(t, haltd.Target{Agent: "bot"})
	f.send(t, "POST", chatPath, inSession("s"), chatBody)
	if e := f.last(t); e.Score != 0 {
		t.Errorf("the first call after the activation scores %v", e.Score)
	}
}

func TestTheOldLoopDoesNotTripAgain(t *testing.T) {
	f := killedFixture(t, 12)
	f.activate(t, haltd.Target{Agent: "bot"})
	f.clock.advance(time.Minute)
	for range 3 {
		if res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(12)); res.StatusCode != 200 {
			t.Fatalf("the history of the killed session: %d %s", res.StatusCode, body)
		}
		f.Gateway.Wait()
	}
	added := f.roundsUntilKill(t, "s", 13, 12)
	if added < 2 {
		t.Errorf("going on was stopped after %d more rounds, want a new loop to be proven, and it stopped", added)
	}
}

func TestANewSessionCountsFromItsFirstRound(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	before := f.roundsUntilKill(t, "first", 0, 15)
	f.activate(t, haltd.Target{Agent: "bot"})
	after := f.roundsUntilKill(t, "second", 0, 15)
	if before == 0 || after != before {
		t.Errorf("a new session was killed after %d rounds, before the activation after %d", after, before)
	}
}

func TestTheMarkSurvivesARestart(t *testing.T) {
	f := killedFixture(t, 12)
	f.activate(t, haltd.Target{Agent: "bot"})
	f.clock.advance(time.Minute)
	for n := 12; n < 14; n++ {
		if res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(n)); res.StatusCode != 200 {
			t.Fatalf("after the resume, %d rounds: %d %s", n, res.StatusCode, body)
		}
	}
	fresh := f.restart(t)
	if a := fresh.control.Agent("bot"); !a.Standing.Active || a.Standing.ActivatedAt.IsZero() {
		t.Fatalf("after the restart bot stands %+v", a.Standing)
	}
	if res, body := fresh.send(t, "POST", chatPath, inSession("s"), loopBody(14)); res.StatusCode != 200 {
		t.Fatalf("after the restart, 14 rounds: %d %s", res.StatusCode, body)
	}
	// The rounds 13 and 14 were made after the resume, before the restart:
	// they count, so that fewer are missing.
	added := fresh.roundsUntilKill(t, "s", 15, 12)
	control := killedFixture(t, 12)
	control.activate(t, haltd.Target{Agent: "bot"})
	control.clock.advance(time.Minute)
	control.send(t, "POST", chatPath, inSession("s"), loopBody(12))
	all := control.roundsUntilKill(t, "s", 13, 15)
	// The window of similarity, which supports stall, does not survive.
	if added < all-2 || added >= all {
		t.Errorf("killed %d rounds after the restart; without one it takes %d after the resume, of which two were before", added, all)
	}
}

// A session that began after the activation has nothing to leave out, also
// when haltd forgets that it has seen it.
func TestANewSessionCountsAcrossARestart(t *testing.T) {
	f := killedFixture(t, 12)
	f.activate(t, haltd.Target{Agent: "bot"})
	f.clock.advance(time.Minute)
	for n := range 4 {
		if res, body := f.send(t, "POST", chatPath, inSession("new"), loopBody(n)); res.StatusCode != 200 {
			t.Fatalf("%d rounds: %d %s", n, res.StatusCode, body)
		}
	}
	f = f.restart(t)
	if res, _ := f.send(t, "POST", chatPath, inSession("new"), loopBody(12)); res.StatusCode != 400 {
		t.Errorf("a loop that began after the activation was answered %d", res.StatusCode)
	}
}

func TestAKillSurvivesARestart(t *testing.T) {
	f := killedFixture(t, 12).restart(t)
	res, _ := f.send(t, "POST", chatPath, inSession("other"), chatBody)
	if i := f.incidents(t); res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "kill_switch" || res.Header.Get("X-Haltd-Incident") != i[0].ID {
		t.Errorf("answered %d with %v", res.StatusCode, res.Header)
	}
}

func TestGraceOnlyWarns(t *testing.T) {
	f := killedFixture(t, 12)
	s, err := f.control.Activate(t.Context(), haltd.Target{Agent: "bot"}, 30*time.Minute, "ann", "")
	if err != nil || !s.GraceUntil.Equal(s.ActivatedAt.Add(30*time.Minute)) {
		t.Fatalf("standing %+v, %v", s, err)
	}
	if n := f.roundsUntilKill(t, "s", 12, 20); n != 0 {
		t.Fatalf("killed after %d rounds in the time of grace", n)
	}
	res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(33))
	if res.Header.Get("X-Haltd-Reason") != "loop_detected" {
		t.Errorf("a loop in the time of grace is not flagged: %v", res.Header)
	}
	if e := f.last(t); e.Verdict == nil || !e.Verdict.Grace {
		t.Errorf("the event does not say that grace spared it: %+v", e.Verdict)
	}
	f.clock.advance(30 * time.Minute)
	if res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(34)); res.StatusCode != 400 {
		t.Errorf("after the time of grace: %d", res.StatusCode)
	}
}

// A reply that comes after its agent was killed and resumed belongs to the
// old window.
func TestAReplyFromBeforeTheResumeIsNoEvidence(t *testing.T) {
	up := newHeld(answer(200, "application/json", chatReply))
	f := newFixture(t, up, killYAML)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.send(t, "POST", chatPath, inSession("s"), chatBody)
	}()
	<-up.arrived
	f.activate(t, haltd.Target{Agent: "bot"})
	close(up.release)
	<-done
	f.send(t, "POST", chatPath, inSession("s"), chatBody)
	if e := f.last(t); e.Score != 0 {
		t.Errorf("the first call after the activation scores %v", e.Score)
	}
}

const rejectYAML = providersYAML + "defaults:\n  kill_switch: {enabled: true, similarity: reject, stall: reject, retry_after_seconds: 60}\n"

func TestRejectedUntilQuiet(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), rejectYAML)
	rejected := func(n int, header map[string]string) *http.Response {
		t.Helper()
		header["X-Session-Id"] = "s"
		res, body := f.send(t, "POST", chatPath, header, loopBody(n))
		if res.StatusCode != 429 || res.Header.Get("Retry-After") != "60" || res.Header.Get("X-Haltd-Reason") != "loop_detected" ||
			!strings.Contains(body, `"block_reason":"loop_detected"`) || !strings.Contains(body, `"retry_after_seconds":60`) {
			t.Fatalf("%d rounds: %d %v %s; want a rejection for 60 s", n, res.StatusCode, res.Header, body)
		}
		return res
	}
	incident := rejected(12, map[string]string{}).Header.Get("X-Haltd-Incident")
	for n := range 6 {
		f.clock.advance(50 * time.Second)
		if got := rejected(12+n, map[string]string{"X-Stainless-Retry-Count": strconv.Itoa(n)}).Header.Get("X-Haltd-Incident"); got != incident || got == "" {
			t.Errorf("rejected under incident %q, want %q", got, incident)
		}
	}
	f.clock.advance(60 * time.Second)
	if res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(18)); res.StatusCode != 200 {
		t.Fatalf("after 60 s of silence: %d %s", res.StatusCode, body)
	}
	f.Gateway.Wait()
	var again *http.Response
	for n := 19; n < 35 && (again == nil || again.StatusCode == 200); n++ {
		again, _ = f.send(t, "POST", chatPath, inSession("s"), loopBody(n))
		f.Gateway.Wait()
	}
	if again.StatusCode != 429 {
		t.Errorf("going on looping is not rejected again")
	}
	i := f.waitIncidents(t, 1)
	if len(i) != 1 || i[0].ID != incident || i[0].Action != haltd.Reject || again.Header.Get("X-Haltd-Incident") != incident {
		t.Errorf("incidents %+v; want one that every answer names", i)
	}
	if len(f.notices(t)) != 1 {
		t.Errorf("%d notices, want one", len(f.notices(t)))
	}
	if !f.control.Agent("bot").Standing.Active {
		t.Error("a rejected agent was switched off")
	}
	for _, e := range f.events.ofType(haltd.EventBlocked) {
		if !e.Blocked || e.BlockReason != haltd.ReasonLoop || e.Incident != incident || e.Status != 429 {
			t.Errorf("event blocked %v for %q under %q, status %d", e.Blocked, e.BlockReason, e.Incident, e.Status)
		}
	}
}

// An agent that does not tell its sessions apart begins a new one with every
// question: its rejections belong together all the same, and end.
func TestRejectionsOfGuessedSessionsEnd(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", strings.Replace(chatReply, "hello", "I cannot find that order.", 1)), rejectYAML)
	// By its first words each is a session of its own; what it asks is the same
	// to the letter.
	const alike = `{"model":"m","messages":[{"role":"user","content":"This is terminal %d."},{"role":"user","content":"Check my order, please."}]}`
	ask := func(i int) *http.Response {
		f.clock.advance(time.Second)
		res, _ := f.send(t, "POST", chatPath, nil, fmt.Sprintf(alike, i))
		f.Gateway.Wait()
		return res
	}
	var incidents []string
	for i := range 15 {
		if res := ask(i); res.StatusCode == 429 {
			incidents = append(incidents, res.Header.Get("X-Haltd-Incident"))
		}
	}
	if len(incidents) < 5 {
		t.Fatalf("%d of 15 like calls rejected", len(incidents))
	}
	if res, _ := f.send(t, "POST", chatPath, map[string]string{"X-Stainless-Retry-Count": "1"}, fmt.Sprintf(alike, 14)); res.StatusCode != 429 {
		t.Errorf("what was rejected passes when it claims to be a retry: %d", res.StatusCode)
	}
	for _, id := range incidents {
		if id != incidents[0] {
			t.Fatalf("rejections are filed under %v, want one incident", incidents)
		}
	}
	f.clock.advance(time.Minute)
	if res := ask(20); res.StatusCode != 200 {
		t.Errorf("after a minute of silence: %d", res.StatusCode)
	}
	if i := f.waitIncidents(t, 1); len(i) != 1 || i[0].ID != incidents[0] {
		t.Errorf("incidents %+v, want the one that the answers name", i)
	}
}
