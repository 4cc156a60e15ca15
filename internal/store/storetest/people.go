package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func tokens(t *testing.T, s Store) {
	later := start.Add(time.Hour)
	one := haltd.Token{ID: "tok_one", Name: "ann", Role: haltd.AccessOperator, CreatedAt: start, CreatedBy: "admin", ExpiresAt: &later}
	two := haltd.Token{ID: "tok_two", Name: "ci", Role: haltd.AccessViewer, CreatedAt: start.Add(time.Second), CreatedBy: "ann"}
	hash := map[string]string{"tok_one": haltd.HashToken("one"), "tok_two": haltd.HashToken("two")}
	for _, token := range []haltd.Token{one, two} {
		if err := s.CreateToken(t.Context(), token, hash[token.ID]); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "the same id again", s.CreateToken(t.Context(), one, haltd.HashToken("three")), haltd.CodeExists)
	same := two
	same.ID = "tok_three"
	wantCode(t, "the same secret again", s.CreateToken(t.Context(), same, hash["tok_two"]), haltd.CodeExists)
	for _, at := range []time.Time{start.Add(time.Minute), later} {
		got, err := s.RevokeToken(t.Context(), "tok_one", at)
		if err != nil {
			t.Fatal(err)
		}
		one.RevokedAt = new(start.Add(time.Minute))
		equal(t, "the revoked token", got, one)
	}
	_, err := s.RevokeToken(t.Context(), "tok_none", start)
	wantCode(t, "revoking an unknown token", err, haltd.CodeNotFound)
	list, err := s.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tokens, oldest first", list, []haltd.Token{one, two})
	for _, token := range list {
		got, err := s.TokenByHash(t.Context(), hash[token.ID])
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the token of a hash", got, token)
	}
	_, err = s.TokenByHash(t.Context(), haltd.HashToken("none"))
	wantCode(t, "an unknown hash", err, haltd.CodeNotFound)
}

func users(t *testing.T, s Store) {
	ann := haltd.User{ID: "usr_ann", Name: "Ann", Role: haltd.AccessOperator, CreatedAt: start, CreatedBy: "admin"}
	bob := haltd.User{ID: "usr_bob", Name: "bob", Role: haltd.AccessViewer, CreatedAt: start.Add(time.Second), CreatedBy: "Ann", Password: "hash", PasswordSet: true}
	for _, u := range []haltd.User{ann, bob} {
		if err := s.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "the same name in another case", s.CreateUser(t.Context(), haltd.User{ID: "usr_other", Name: "ANN"}), haltd.CodeExists)
	wantCode(t, "the same id", s.CreateUser(t.Context(), haltd.User{ID: "usr_ann", Name: "other"}), haltd.CodeExists)

	ann.Role, ann.Password, ann.PasswordSet, ann.SignedOutAt = haltd.AccessAdmin, "another", true, new(start.Add(time.Minute))
	got, err := s.ChangeUser(t.Context(), "usr_ann", func(u *haltd.User) {
		changed := ann
		changed.ID, changed.Name = "usr_bob", "bob" // which do not change
		*u = changed
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the changed user", got, ann)
	list := func() []haltd.User {
		t.Helper()
		list, err := s.Users(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	equal(t, "users, oldest first", list(), []haltd.User{ann, bob})
	_, err = s.ChangeUser(t.Context(), "usr_none", func(*haltd.User) {})
	wantCode(t, "changing an unknown user", err, haltd.CodeNotFound)

	if err := s.DeleteUser(t.Context(), "usr_ann"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "deleting an unknown user", s.DeleteUser(t.Context(), "usr_ann"), haltd.CodeNotFound)
	equal(t, "users that are left", list(), []haltd.User{bob})
	if err := s.CreateUser(t.Context(), haltd.User{ID: "usr_again", Name: "ann"}); err != nil {
		t.Errorf("the name of a deleted user: %v", err)
	}
}

// The audit log has every event that says who changed what, and keeps it when
// events and agents go.
func audits(t *testing.T, s Store) {
	change := func(id haltd.EventID, agent, by, what string) haltd.Event {
		return haltd.Event{
			ID: id, Time: start.Add(time.Duration(id) * time.Minute), Type: haltd.EventPolicy, Agent: agent,
			Audit: &haltd.Audit{Change: what, By: by, Why: "so", Subject: "it"},
		}
	}
	first, second, third := change(1, "a", "ann", "policy"), change(2, "", "bob", "bypass_on"), change(3, "a", "bob", "policy")
	call := haltd.Event{ID: 4, Time: start.Add(4 * time.Minute), Type: haltd.EventCall, Agent: "a"}
	if err := s.AppendEvents(t.Context(), []haltd.Event{first, second, call}); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), haltd.Change{Bypass: &haltd.Bypass{}, Events: []haltd.Event{third}}); err != nil {
		t.Fatal(err)
	}
	want := func(name string, q haltd.AuditQuery, events ...haltd.Event) {
		t.Helper()
		if q.Limit == 0 {
			q.Limit = 10
		}
		entries := []haltd.AuditEntry{}
		for _, e := range events {
			entries = append(entries, haltd.AuditEntry{ID: e.ID, Time: e.Time.UTC(), Agent: e.Agent, Session: e.Session, Audit: *e.Audit})
		}
		got, err := s.Audits(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, append([]haltd.AuditEntry{}, got...), entries)
	}
	want("all, the newest first", haltd.AuditQuery{}, third, second, first)
	want("of a person", haltd.AuditQuery{By: "bob"}, third, second)
	want("of an agent and a change", haltd.AuditQuery{Agent: "a", Change: "policy"}, third, first)
	want("a page", haltd.AuditQuery{Limit: 1, Before: 3}, second)
	want("a span", haltd.AuditQuery{Since: second.Time, Until: third.Time}, second)
	if err := s.DeleteAgent(t.Context(), "", "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PruneEvents(t.Context(), start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want("after the agent and the events went", haltd.AuditQuery{}, third, second, first)
	if gone, err := s.PruneAudits(t.Context(), third.Time); err != nil || gone != 2 {
		t.Errorf("PruneAudits = %d, %v; want 2", gone, err)
	}
	want("what is young enough", haltd.AuditQuery{}, third)
}
