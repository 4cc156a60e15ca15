package admin

import (
	"context"
	"strings"
	"testing"
)

func TestPasswords(t *testing.T) {
	p := newPasswords(hashRounds / 100)
	hash, err := p.hash("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := p.hash("correct horse battery"); again == hash || strings.Contains(hash, "horse") {
		t.Errorf("hashes without salt: %s", hash)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterY": false, "": false} {
		if got := p.matches(hash, password); got != want {
			t.Errorf("%q matches: %v", password, got)
		}
	}
	for _, broken := range []string{"", "$$$", "pbkdf2-sha512$x$AA$AA", "pbkdf2-sha512$1$!$AA", "pbkdf2-sha512$1$AA$"} {
		if p.matches(broken, "") || p.matches(broken, "correct horse battery") {
			t.Errorf("the hash %q lets in", broken)
		}
	}
}

// Who waits for his turn and leaves does not take it.
func TestATurnIsNotTakenByWhoLeft(t *testing.T) {
	p := newPasswords(hashRounds)
	if err := p.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := p.acquire(gone); err == nil {
		t.Error("two have the turn")
	}
	p.release()
	if err := p.acquire(t.Context()); err != nil {
		t.Error(err)
	}
}
