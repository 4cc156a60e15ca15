package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// brokenKeyStore does not take the end of a key while it is broken.
type brokenKeyStore struct {
	keyStore
	broken bool
}

func (s *brokenKeyStore) RevokeKey(ctx context.Context, id string, at time.Time) (haltd.Key, error) {
	if s.broken {
		return haltd.Key{}, haltd.Errorf(haltd.CodeUnavailable, "the store does not answer")
	}
	return s.keyStore.RevokeKey(ctx, id, at)
}

// A revoked key is refused although the store does not take it, also after the
// keys were loaded anew, and the store is told when it answers again.
func TestARevokedKeyIsRefusedWhileTheStoreFails(t *testing.T) {
	ctx := t.Context()
	store := &brokenKeyStore{keyStore: keyStore{byHash: map[haltd.KeyHash]haltd.Key{}}}
	ring, err := NewKeyring(ctx, store, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	key, secret, err := ring.Create(ctx, "bot", "", haltd.KeyLimits{})
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ring.Create(ctx, "other", "", haltd.KeyLimits{})
	if err != nil {
		t.Fatal(err)
	}

	store.broken = true
	revoked, err := ring.Revoke(ctx, key.ID)
	if haltd.ErrorCode(err) != haltd.CodeUnavailable || revoked.ID != key.ID || revoked.RevokedAt == nil {
		t.Errorf("revoked %+v, %v; want the key, and that it is not on disk", revoked, err)
	}
	refused := func(when string) {
		t.Helper()
		if _, ok := ring.Find(secret); ok {
			t.Errorf("%s the key is in force", when)
		}
		if _, ok := ring.Find(other); !ok {
			t.Errorf("%s another key is not in force", when)
		}
	}
	refused("while the store fails")
	if err := ring.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	refused("after a reload")
	if err := ring.Flush(ctx); err == nil {
		t.Error("the flush does not say that the store fails")
	}

	store.broken = false
	if err := ring.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if _, held := store.byHash[haltd.HashKey(secret)]; held {
		t.Error("the store was not told that the key is revoked")
	}
	if err := ring.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	refused("when the store is back")
	if n := len(ring.revoked); n != 0 {
		t.Errorf("%d revocations are still remembered", n)
	}
	if _, err := ring.Revoke(ctx, "key_none"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("an unknown key: %v", err)
	}
}
