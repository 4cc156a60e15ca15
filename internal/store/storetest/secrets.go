package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/haltd/haltd"
)

func sharedSecrets(t *testing.T, s Store) {
	secret := func(name, fresh string) string {
		t.Helper()
		b, err := s.SharedSecret(t.Context(), name, []byte(fresh))
		if err != nil {
			t.Fatalf("SharedSecret: %v", err)
		}
		return string(b)
	}
	equal(t, "the first", secret("a", "one\x00\xff"), "one\x00\xff")
	equal(t, "the second", secret("a", "two"), "one\x00\xff")
	equal(t, "another name", secret("b", "two"), "two")
	_, err := s.SharedSecret(t.Context(), "c", nil)
	wantCode(t, "an empty secret", err, haltd.CodeInvalid)

	got := make([]string, 10)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			b, err := s.SharedSecret(t.Context(), "race", fmt.Append(nil, i))
			if err != nil {
				t.Error(err)
			}
			got[i] = string(b)
		})
	}
	wg.Wait()
	for i := range got {
		equal(t, "a secret that many want to make", got[i], got[0])
	}
}
