package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func keys(t *testing.T, s Store) {
	one := haltd.Key{ID: "key_one", Agent: "a", Name: "laptop", CreatedAt: start}
	two := haltd.Key{ID: "key_two", Agent: "b", CreatedAt: start.Add(time.Second)}
	hashOne, hashTwo := haltd.HashKey("haltd_1"), haltd.HashKey("haltd_2")
	// The younger one first: the listing is by age, not by arrival.
	if err := s.CreateKey(t.Context(), two, hashTwo); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateKey(t.Context(), one, hashOne); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, s, []haltd.Key{one, two}, map[haltd.KeyHash]haltd.Key{hashOne: one, hashTwo: two})

	for _, at := range []time.Time{start.Add(time.Minute), start.Add(time.Hour)} {
		got, err := s.RevokeKey(t.Context(), "key_one", at)
		if err != nil {
			t.Fatal(err)
		}
		one.RevokedAt = new(start.Add(time.Minute))
		equal(t, "the revoked key", got, one)
	}
	wantKeys(t, s, []haltd.Key{one, two}, map[haltd.KeyHash]haltd.Key{hashTwo: two})
	_, err := s.RevokeKey(t.Context(), "key_none", start)
	wantCode(t, "revoking an unknown key", err, haltd.CodeNotFound)
}

func wantKeys(t *testing.T, s Store, list []haltd.Key, hashes map[haltd.KeyHash]haltd.Key) {
	t.Helper()
	gotList, err := s.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "keys, oldest first", gotList, list)
	gotHashes, err := s.KeyHashes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "keys in force", gotHashes, hashes)
}

func keysRefused(t *testing.T, s Store) {
	good := haltd.Key{ID: "key_one", Agent: "a", CreatedAt: start}
	if err := s.CreateKey(t.Context(), good, haltd.HashKey("1")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key    haltd.Key
		secret string
	}{
		"no id":       {haltd.Key{Agent: "a"}, "2"},
		"strange id":  {haltd.Key{ID: "x", Agent: "a"}, "2"},
		"no agent":    {haltd.Key{ID: "key_two"}, "2"},
		"same id":     {good, "2"},
		"same secret": {haltd.Key{ID: "key_two", Agent: "a"}, "1"},
	} {
		err := s.CreateKey(t.Context(), c.key, haltd.HashKey(c.secret))
		wantCode(t, name, err, haltd.CodeInvalid)
		if err != nil && strings.Contains(err.Error(), fmt.Sprintf("%x", haltd.HashKey(c.secret))) {
			t.Errorf("%s: the error shows the hash", name)
		}
	}
}
