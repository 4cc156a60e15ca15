package e2e

import (
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// While the store takes its time, a reply that came ends at once, a client that
// leaves is not waited with, and a kill holds before it is written. haltd waits
// five seconds for a store.
func TestASlowStoreHoldsUpNobody(t *testing.T) {
	t.Parallel() // it waits
	const soon, killWait = 3 * time.Second, 2 * time.Second
	s := newStage(t, "")
	spender := s.agent(t, "spender").policy(`{"budgets":{"day":{"hard_usd":1000}}}`)
	leaver := s.agent(t, "leaver").policy(`{"budgets":{"day":{"hard_usd":1000}}}`)
	resumed := s.agent(t, "resumed").with("")
	looper := s.agent(t, "looper").with(`"require_corroboration": false, "threshold": 3`)
	plain := s.agent(t, "plain").policy(`{"budgets":{"day":{"hard_usd":1000}}}`)
	spender.ask("hello", "hello")
	plain.ask("hello", "hello")
	resumed.ask("hello", "hello")
	resumed.activate()
	s.Events(t, "type=llm_call", 3) // or the account of the leaver waits for them

	db := lockStore(t, s.Config.DataDir)

	// Its account has to be opened, which is a write.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.Gateway+"/agents/"+leaver.id+"/openai/v1/chat/completions", strings.NewReader(chat))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Fatalf("%d without a reservation on disk", res.StatusCode)
	}
	s.Eventually(t, "rid of the client that left", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
	if took := time.Since(began); took > soon {
		t.Errorf("a client that left after 0.2 s was waited with for %v", took)
	}

	// Its mark has to be written.
	began = time.Now()
	resumed.passes(resumed.ask("hello", "hello"))
	if took := time.Since(began); took > soon {
		t.Errorf("the first call after a resume took %v", took)
	}

	// It costs more than was reserved, which is written when it is settled.
	began = time.Now()
	got := spender.send(request{messages: []message{user("hello again")}, stream: true, maxTokens: 10, model: dear,
		reply: fakellm.Script{Text: "hello", Usage: &haltd.Usage{Input: 100, Output: 4_000_000}}})
	if took := time.Since(began); got.status != http.StatusOK || !strings.Contains(got.body, "[DONE]") || took > soon {
		t.Errorf("%d after %v: %s; want the whole stream and its end at once", got.status, took, got.body)
	}

	// So does a reply that is no stream.
	began = time.Now()
	got = plain.send(request{messages: []message{user("hello again")}, maxTokens: 10, model: dear,
		reply: fakellm.Script{Text: "hello", Usage: &haltd.Usage{Input: 100, Output: 4_000_000}}})
	if took := time.Since(began); got.status != http.StatusOK || took > soon {
		t.Errorf("%d after %v: %s; want the whole reply at once", got.status, took, got.body)
	}

	// Its kill has to be written.
	began = time.Now()
	denied, _ := looper.loop(15)
	if took := time.Since(began); denied.status != http.StatusBadRequest || denied.denied.Incident != "" || took > soon+killWait {
		t.Errorf("a loop: %d after %v: %s; want it refused, and the wait bounded", denied.status, took, denied.body)
	}
	before := s.forwarded(looper)
	looper.stopped(looper.ask("Something else", "else"), "kill_switch")
	if n := s.forwarded(looper); n != before || !looper.view().Active {
		t.Errorf("%d calls of the agent were forwarded after its loop was seen, active %v; want none, and nothing shown that is not written", n-before, looper.view().Active)
	}

	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.Eventually(t, "done with the bookkeeping", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
	s.Eventually(t, "done with the kill", func() bool { return !looper.view().Active })
	if spent := spender.spent().Spent.Cost; spent < 120*haltd.Dollar {
		t.Errorf("%v are spent, want all that the stream cost", spent)
	}
	killedWhileAnotherIsDeleted(t, s, db)
}

// A gateway key that is revoked while the store hangs is refused from the next
// call on, and is written when the store is back.
func TestARevokedKeyIsRefusedWhileTheStoreHangs(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, "providers: {openai: {base_url: \""+url+"\", api_key: sk-operator}}\n")
	var key struct{ ID, Secret string }
	n.Must(t, "POST", "/v1/keys", map[string]any{"agent": "leaked"}, &key)
	ask := func() int {
		status, _ := post(t, n.Gateway+"/v1/chat/completions", chat, "Authorization", "Bearer "+key.Secret)
		return status
	}
	if status := ask(); status != http.StatusOK {
		t.Fatalf("a call with the key: %d", status)
	}
	db := lockStore(t, n.Config.DataDir)
	answered := make(chan string, 1)
	go func() {
		_, errs, _ := n.CLI(t, "keys", "revoke", key.ID)
		answered <- errs
	}()
	began := time.Now()
	n.Eventually(t, "refusing the key", func() bool { return ask() == http.StatusUnauthorized })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the key was refused after %v", took)
	}
	if errs := <-answered; !strings.Contains(errs, "is refused from now on, but that is not on disk yet") {
		t.Errorf("keys revoke said %q", errs)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	n.Eventually(t, "written", func() bool { return strings.Contains(n.run(t, "keys", "ls"), "revoked") })
	n.Stop(t)
	n.Run(t)
	if status := ask(); status != http.StatusUnauthorized {
		t.Errorf("after a restart a call with the key: %d", status)
	}
}

// killedWhileAnotherIsDeleted deletes an agent that has a great many sessions:
// the kill of another is written in between.
func killedWhileAnotherIsDeleted(t *testing.T, s *stage, db *sql.DB) {
	const many = 50_000
	settings := `"require_corroboration": false, "threshold": 3`
	_, at := s.agent(t, "before").with(settings).loop(15)
	big, other := s.agent(t, "big"), s.agent(t, "other").with(settings)
	big.ask("hello", "hello")
	big.has(haltd.EventCall, 1)
	other.loop(at - 1)
	left := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM sessions JOIN agents ON agents.no = sessions.agent WHERE agents.id = ?", big.id).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := db.Exec(`INSERT INTO sessions (id, agent, first_seen, last_seen, first_event, last_event)
		WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
		SELECT 'many-' || n, (SELECT no FROM agents WHERE id = ?), 1, 1, 1, 1 FROM numbers`, many, big.id); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan int, 1)
	go func() {
		status, _, _ := s.Ask(t.Context(), "DELETE", "/v1/agents/"+big.id, nil)
		deleted <- status
	}()
	s.Eventually(t, "deleting", func() bool { return left() <= many })
	denied, _ := other.loop(1)
	rest := left()
	if denied.status != http.StatusBadRequest || denied.denied.Incident == "" || other.view().Active {
		t.Errorf("the loop of another agent: %d %s; want it killed, and written", denied.status, denied.body)
	}
	if rest == 0 {
		t.Error("the kill was written after all sessions of the other agent were deleted; want it in between")
	}
	if status := <-deleted; status != http.StatusNoContent && status != http.StatusOK || left() != 0 {
		t.Errorf("delete: %d, %d sessions are left", status, left())
	}
}

// lockStore keeps haltd from writing to its database until what it returns rolls
// back, or the test ends.
func lockStore(t *testing.T, dataDir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dataDir, "haltd.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return db
}
