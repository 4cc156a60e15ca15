package storetest

import (
	"testing"
	"time"
)

func signOuts(t *testing.T, s Store) {
	signedOut := func(digest string, want bool) {
		t.Helper()
		if got, err := s.SignedOut(t.Context(), digest); err != nil || got != want {
			t.Errorf("%s is signed out: %v, %v; want %v", digest, got, err, want)
		}
	}
	signOut := func(digest string, now time.Time) {
		t.Helper()
		if err := s.SignOut(t.Context(), digest, now, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	signedOut("one", false)
	signOut("one", start)
	signOut("one", start) // twice does no harm
	signedOut("one", true)
	signedOut("two", false)
	signOut("two", start.Add(2*time.Hour))
	signedOut("one", false) // it has ended by itself, and is forgotten
	signedOut("two", true)
}
