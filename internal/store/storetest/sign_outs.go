package storetest

import (
	"sync"
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
	signOut := func(digest string, now time.Time, want bool) {
		t.Helper()
		if first, err := s.SignOut(t.Context(), digest, now, now.Add(time.Hour)); err != nil || first != want {
			t.Errorf("signing %s out for the first time: %v, %v; want %v", digest, first, err, want)
		}
	}
	signedOut("one", false)
	signOut("one", start, true)
	signOut("one", start, false) // twice does no harm
	signedOut("one", true)
	signedOut("two", false)
	signOut("two", start.Add(2*time.Hour), true)
	signedOut("one", false) // it has ended by itself, and is forgotten
	signedOut("two", true)

	// Of many at once one is the first.
	firsts := make(chan bool, 10)
	var wg sync.WaitGroup
	for range cap(firsts) {
		wg.Go(func() {
			if first, err := s.SignOut(t.Context(), "three", start, start.Add(time.Hour)); err != nil {
				t.Error(err)
			} else if first {
				firsts <- true
			}
		})
	}
	wg.Wait()
	equal(t, "firsts", len(firsts), 1)
}
