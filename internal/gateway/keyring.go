package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/haltd/haltd"
)

// Keyring holds the gateway keys in force, by hash, so that a request finds
// its key without touching the store.
type Keyring struct {
	store haltd.KeyStore
	clock haltd.Clock

	change sync.Mutex // held while the store and the table change together
	table  atomic.Pointer[keyTable]
}

// keyTable are the keys in force and the agents that have one. It never changes
// once made.
type keyTable struct {
	keys   map[haltd.KeyHash]haltd.Key
	agents map[string]bool
}

func newKeyTable(keys map[haltd.KeyHash]haltd.Key) *keyTable {
	t := &keyTable{keys: keys, agents: make(map[string]bool, len(keys))}
	for _, key := range keys {
		t.agents[key.Agent] = true
	}
	return t
}

// NewKeyring loads the keys of the store.
func NewKeyring(ctx context.Context, store haltd.KeyStore, clock haltd.Clock) (*Keyring, error) {
	k := &Keyring{store: store, clock: clock}
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
	k.table.Store(newKeyTable(hashes))
	return nil
}

// Find looks a whole key up.
func (k *Keyring) Find(secret string) (haltd.Key, bool) {
	key, ok := k.table.Load().keys[haltd.HashKey(secret)]
	return key, ok
}

// Guards reports whether an agent has a key in force.
func (k *Keyring) Guards(agent string) bool { return k.table.Load().agents[agent] }

// AgentOf is the agent of a whole key in force.
func (k *Keyring) AgentOf(secret string) (agent string, ok bool) {
	key, ok := k.Find(secret)
	return key.Agent, ok
}

// Create makes a key for an agent. The secret is not kept and cannot be
// shown again.
func (k *Keyring) Create(ctx context.Context, agent, name string) (haltd.Key, string, error) {
	id, ok := haltd.AgentID(agent)
	if !ok {
		return haltd.Key{}, "", haltd.Errorf(haltd.CodeInvalid, "agent: %q is not a valid agent id", agent).
			WithFix("Use 1 to 128 letters, digits and . _ : @ -, starting with a letter or digit.")
	}
	if len(name) > 200 {
		return haltd.Key{}, "", haltd.Errorf(haltd.CodeInvalid, "name: longer than 200 bytes").WithFix("Shorten it.")
	}
	k.change.Lock()
	defer k.change.Unlock()
	secret := haltd.NewKeySecret()
	key := haltd.Key{ID: "key_" + letters(12), Agent: id, Name: name, CreatedAt: k.clock().UTC()}
	hash := haltd.HashKey(secret)
	if err := k.store.CreateKey(ctx, key, hash); err != nil {
		return haltd.Key{}, "", fmt.Errorf("create gateway key: %w", err)
	}
	keys := maps.Clone(k.table.Load().keys)
	keys[hash] = key
	k.table.Store(newKeyTable(keys))
	return key, secret, nil
}

// List lists all keys, revoked ones too.
func (k *Keyring) List(ctx context.Context) ([]haltd.Key, error) { return k.store.Keys(ctx) }

// Revoke ends a key; the next request with it is refused.
func (k *Keyring) Revoke(ctx context.Context, id string) (haltd.Key, error) {
	k.change.Lock()
	defer k.change.Unlock()
	key, err := k.store.RevokeKey(ctx, id, k.clock().UTC())
	if err != nil {
		return haltd.Key{}, fmt.Errorf("revoke gateway key: %w", err)
	}
	keys := maps.Clone(k.table.Load().keys)
	maps.DeleteFunc(keys, func(_ haltd.KeyHash, v haltd.Key) bool { return v.ID == id })
	k.table.Store(newKeyTable(keys))
	return key, nil
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
