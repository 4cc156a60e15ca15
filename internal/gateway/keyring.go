package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
)

// Keyring holds the gateway keys in force, by hash, so that a request finds
// its key without touching the store.
type Keyring struct {
	store KeyStore
	clock haltd.Clock

	change sync.Mutex // held while the store and the table change together
	table  atomic.Pointer[keyTable]

	// mu guards the making of a new table and what is below. It is never held
	// while the store is asked: to revoke a key waits for nobody.
	mu      sync.Mutex
	revoked map[string]*revocation // by key, of those that the store may still answer
}

// revocation is the end of a key that holds already.
type revocation struct {
	at      time.Time
	written bool // to the store
}

// keyTable are the keys that are not revoked and the agents that have one. It
// never changes once made, but for when keys were used.
type keyTable struct {
	keys   map[haltd.KeyHash]*heldKey
	agents map[string]bool
}

// heldKey is a key and when it was last used, in microseconds.
type heldKey struct {
	haltd.Key
	used, written atomic.Int64
}

// newKeyTable keeps what is known of the use of keys that were held before.
func newKeyTable(keys map[haltd.KeyHash]haltd.Key, old *keyTable) *keyTable {
	t := &keyTable{keys: make(map[haltd.KeyHash]*heldKey, len(keys)), agents: make(map[string]bool, len(keys))}
	for hash, key := range keys {
		held := &heldKey{Key: key}
		if old != nil && old.keys[hash] != nil {
			held.used.Store(old.keys[hash].used.Load())
			held.written.Store(old.keys[hash].written.Load())
		}
		t.keys[hash], t.agents[key.Agent] = held, true
	}
	return t
}

// plain are the keys without their use.
func (t *keyTable) plain() map[haltd.KeyHash]haltd.Key {
	keys := make(map[haltd.KeyHash]haltd.Key, len(t.keys)+1)
	for hash, held := range t.keys {
		keys[hash] = held.Key
	}
	return keys
}

// NewKeyring loads the keys of the store.
func NewKeyring(ctx context.Context, store KeyStore, clock haltd.Clock) (*Keyring, error) {
	k := &Keyring{store: store, clock: clock, revoked: map[string]*revocation{}}
	return k, k.Reload(ctx)
}

// Reload loads the keys again, which another node may have changed.
func (k *Keyring) Reload(ctx context.Context) error {
	k.change.Lock()
	defer k.change.Unlock()
	hashes, err := k.store.KeyHashes(ctx)
	if err != nil {
		return fmt.Errorf("load gateway keys: %w", err)
	}
	k.replace(func(map[haltd.KeyHash]haltd.Key) map[haltd.KeyHash]haltd.Key {
		k.forgetRevoked(hashes)
		return hashes
	})
	return nil
}

// replace makes a new table of the keys in force, without those that are
// revoked: what was read from the store may be older than that.
func (k *Keyring) replace(keys func(map[haltd.KeyHash]haltd.Key) map[haltd.KeyHash]haltd.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.table.Load()
	var now map[haltd.KeyHash]haltd.Key
	if old != nil {
		now = old.plain()
	}
	now = keys(now)
	maps.DeleteFunc(now, func(_ haltd.KeyHash, key haltd.Key) bool { return k.revoked[key.ID] != nil })
	k.table.Store(newKeyTable(now, old))
}

// forgetRevoked forgets the keys that the store no longer has in force either.
func (k *Keyring) forgetRevoked(inForce map[haltd.KeyHash]haltd.Key) {
	still := map[string]bool{}
	for _, key := range inForce {
		still[key.ID] = true
	}
	maps.DeleteFunc(k.revoked, func(id string, r *revocation) bool { return r.written && !still[id] })
}

// Find looks a whole key up, and notes that it is used. It may have expired.
func (k *Keyring) Find(secret string) (haltd.Key, bool) {
	held := k.table.Load().keys[haltd.HashKey(secret)]
	if held == nil {
		return haltd.Key{}, false
	}
	held.used.Store(k.clock().UnixMicro())
	return held.Key, true
}

// Guards reports whether an agent has a key that is not revoked. One that has
// expired guards on: the name must not be free for all by the passing of time.
func (k *Keyring) Guards(agent string) bool { return k.table.Load().agents[agent] }

// AgentOf is the agent of a whole key in force.
func (k *Keyring) AgentOf(secret string) (agent string, ok bool) {
	key, ok := k.Find(secret)
	if key.Expired(k.clock()) {
		return "", false
	}
	return key.Agent, ok
}

// Flush writes when keys were last used, and which were revoked while the store
// did not answer.
func (k *Keyring) Flush(ctx context.Context) error {
	if err := k.writeRevoked(ctx); err != nil {
		return err
	}
	used := map[string]time.Time{}
	var held []*heldKey
	for _, h := range k.table.Load().keys {
		if at := h.used.Load(); at > h.written.Load() {
			held, used[h.ID] = append(held, h), time.UnixMicro(at).UTC()
		}
	}
	if len(used) == 0 {
		return nil
	}
	if err := k.store.UseKeys(ctx, used); err != nil {
		return err
	}
	for _, h := range held {
		h.written.Store(used[h.ID].UnixMicro())
	}
	return nil
}

// Create makes a key for an agent. The secret is not kept and cannot be
// shown again.
func (k *Keyring) Create(ctx context.Context, agent, name string, limits haltd.KeyLimits) (haltd.Key, string, error) {
	id, ok := haltd.AgentID(agent)
	if !ok {
		return haltd.Key{}, "", haltd.Errorf(haltd.CodeInvalid, "%q is not a valid agent id", agent).In("agent").
			WithFix("Use 1 to 128 letters, digits and . _ : @ -, starting with a letter or digit.")
	}
	if err := checkKeyName(name); err != nil {
		return haltd.Key{}, "", err
	}
	if err := checkKeyLimits(&limits, k.clock()); err != nil {
		return haltd.Key{}, "", err
	}
	k.change.Lock()
	defer k.change.Unlock()
	secret := haltd.NewKeySecret()
	key := haltd.Key{ID: "key_" + letters(12), Agent: id, Name: name, CreatedAt: k.clock().UTC(), KeyLimits: limits}
	hash := haltd.HashKey(secret)
	if err := k.store.CreateKey(ctx, key, hash); err != nil {
		return haltd.Key{}, "", fmt.Errorf("create gateway key: %w", err)
	}
	k.replace(func(keys map[haltd.KeyHash]haltd.Key) map[haltd.KeyHash]haltd.Key {
		keys[hash] = key
		return keys
	})
	return key, secret, nil
}

func checkKeyName(name string) error {
	if len(name) > 200 {
		return haltd.Errorf(haltd.CodeInvalid, "longer than 200 bytes").In("name").WithFix("Shorten it.")
	}
	return nil
}

// Change changes the name and the limits of a key, from the next request on. A
// key that has expired may be given more time; one that is revoked is
// CodeConflict.
func (k *Keyring) Change(ctx context.Context, id string, edit func(*haltd.Key)) (haltd.Key, error) {
	k.change.Lock()
	defer k.change.Unlock()
	key, err := k.store.ChangeKey(ctx, id, func(key *haltd.Key) error {
		if key.RevokedAt != nil {
			return haltd.Errorf(haltd.CodeConflict, "Key %s is revoked", id).WithFix("Create a new one (haltd keys create --agent %s).", key.Agent)
		}
		ends := key.ExpiresAt
		edit(key)
		if err := checkKeyName(key.Name); err != nil {
			return err
		}
		if key.ExpiresAt == ends { // it may have passed
			key.ExpiresAt = nil
			defer func() { key.ExpiresAt = ends }()
		}
		return checkKeyLimits(&key.KeyLimits, k.clock())
	})
	if err != nil {
		return haltd.Key{}, fmt.Errorf("change gateway key: %w", err)
	}
	k.replace(func(keys map[haltd.KeyHash]haltd.Key) map[haltd.KeyHash]haltd.Key {
		for hash, held := range keys {
			if held.ID == id {
				keys[hash] = key
			}
		}
		return keys
	})
	return key, nil
}

// checkKeyLimits refuses limits that a key cannot have, and brings the others
// into one form.
func checkKeyLimits(l *haltd.KeyLimits, now time.Time) error {
	if end := l.ExpiresAt; end != nil {
		if !end.After(now) {
			return haltd.Errorf(haltd.CodeInvalid, "%s has passed", end.Format(time.RFC3339)).In("expires_at").WithFix("Give a time to come, or leave it out.")
		}
		at := end.UTC().Truncate(time.Microsecond)
		l.ExpiresAt = &at
	}
	for i, model := range l.Models {
		if model = strings.TrimSpace(model); model == "" || len(model) > 200 {
			return haltd.Errorf(haltd.CodeInvalid, "expected the name of a model, or a pattern with *, of 200 bytes at most, got %q", model).In("models")
		}
		l.Models[i] = strings.ToLower(model)
	}
	if len(l.Models) > mostKeyModels {
		return haltd.Errorf(haltd.CodeInvalid, "%d models are more than %d", len(l.Models), mostKeyModels).In("models").WithFix("Use patterns, for example gpt-*.")
	}
	for name, amount := range map[string]haltd.Money{"budget_day_usd": l.BudgetDay, "budget_month_usd": l.BudgetMonth} {
		if amount < 0 {
			return haltd.Errorf(haltd.CodeInvalid, "expected an amount of dollars, got %s", amount).In(name)
		}
	}
	return nil
}

const mostKeyModels = 100

// List lists all keys, revoked ones too.
func (k *Keyring) List(ctx context.Context) ([]haltd.Key, error) {
	keys, err := k.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	used := map[string]int64{}
	for _, h := range k.table.Load().keys {
		used[h.ID] = h.used.Load()
	}
	for i := range keys {
		if at := used[keys[i].ID]; at > 0 && (keys[i].LastUsedAt == nil || at > keys[i].LastUsedAt.UnixMicro()) {
			keys[i].LastUsedAt = new(time.UnixMicro(at).UTC())
		}
	}
	return keys, nil
}

// Revoke ends a key; the next request with it is refused, whether or not the
// store answers. A key that could not be written as revoked comes back with
// CodeUnavailable, and is written by a later Flush.
func (k *Keyring) Revoke(ctx context.Context, id string) (haltd.Key, error) {
	at := k.clock().UTC()
	held, known := k.refuse(id, at)
	key, err := k.store.RevokeKey(ctx, id, at)
	switch {
	case err == nil:
		k.noteWritten(id)
		return key, nil
	case !known:
		return haltd.Key{}, fmt.Errorf("revoke gateway key: %w", err)
	}
	held.RevokedAt = &at
	return held, haltd.Errorf(haltd.CodeUnavailable, "Key %s is refused from now on, but that is not on disk yet, and a restart would lift it: %v", id, err).
		WithFix("Check the store; haltd tries again by itself.")
}

// refuse takes a key out of the table, if it is in it.
func (k *Keyring) refuse(id string, at time.Time) (held haltd.Key, known bool) {
	k.replace(func(keys map[haltd.KeyHash]haltd.Key) map[haltd.KeyHash]haltd.Key {
		for _, key := range keys {
			if key.ID == id {
				held, known = key, true
				k.revoked[id] = &revocation{at: at}
			}
		}
		return keys
	})
	return held, known
}

func (k *Keyring) noteWritten(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.revoked[id]; r != nil {
		r.written = true
	}
}

// writeRevoked writes what Revoke could not.
func (k *Keyring) writeRevoked(ctx context.Context) error {
	k.mu.Lock()
	owed := map[string]time.Time{}
	for id, r := range k.revoked {
		if !r.written {
			owed[id] = r.at
		}
	}
	k.mu.Unlock()
	for id, at := range owed {
		if _, err := k.store.RevokeKey(ctx, id, at); err != nil && haltd.ErrorCode(err) != haltd.CodeNotFound {
			return fmt.Errorf("revoke gateway key: %w", err)
		}
		k.noteWritten(id)
	}
	return nil
}

// letters makes a random name of lower-case letters.
func letters(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	for i := range b {
		b[i] = 'a' + b[i]%26
	}
	return string(b)
}
