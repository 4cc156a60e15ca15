package haltd

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// KeyPrefix starts every gateway key. Whatever carries it is never sent
// upstream.
const KeyPrefix = "haltd_"

// AdminCookie is the cookie of the dashboard, which never goes upstream either.
const AdminCookie = "haltd_session"

// Key is a gateway key without its secret: it names the agent that calls
// with it.
type Key struct {
	ID        string     `json:"id"`
	Agent     string     `json:"agent"`
	Name      string     `json:"name,omitempty"` // what the operator calls it
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	// LastUsedAt is when a request last carried the key, also one that was
	// refused. It is written every few seconds.
	LastUsedAt *time.Time `json:"last_used_at" doc:"When a request last carried the key; null for never."`
	KeyLimits
}

// KeyLimits are what a gateway key is good for.
type KeyLimits struct {
	ExpiresAt   *time.Time `json:"expires_at,omitempty" doc:"When it ends by itself; it never does when left out."`
	Models      []string   `json:"models,omitempty" maxItems:"100" doc:"Models that may be called with it, * for any text; all when left out."`
	BudgetDay   Money      `json:"budget_day_usd,omitempty" minimum:"0" doc:"What calls with it may cost in a day, besides the budget of the agent; no limit when left out."`
	BudgetMonth Money      `json:"budget_month_usd,omitempty" minimum:"0" doc:"The same in a month."`
}

// Expired reports a key whose time is over.
func (l *KeyLimits) Expired(now time.Time) bool {
	return l.ExpiresAt != nil && !now.Before(*l.ExpiresAt)
}

// Budgets are those of the key itself.
func (l *KeyLimits) Budgets() Budgets {
	return Budgets{Day: Budget{HardUSD: l.BudgetDay}, Month: Budget{HardUSD: l.BudgetMonth}}
}

// Title is the key as people know it: by its name or, without one, by its id.
func (k *Key) Title() string { return cmp.Or(k.Name, k.ID) }

// KeyLedger names the ledger of a key, as an agent's id names that of an agent.
// No agent has a space in its id.
func KeyLedger(id string) string { return "key " + id }

// KeyHash is the SHA-256 of a whole gateway key. Keys carry 256 random
// bits, so a plain hash cannot be turned back.
type KeyHash [sha256.Size]byte

// HashKey hashes a whole gateway key.
func HashKey(secret string) KeyHash { return sha256.Sum256([]byte(secret)) }

// NewKeySecret makes the secret of a new gateway key, shown once.
func NewKeySecret() string {
	var b [32]byte
	rand.Read(b[:])
	return KeyPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// KeyStore keeps gateway keys by their hash. That keys were made, changed or
// revoked is told by ChangeFeed.
type KeyStore interface {
	CreateKey(ctx context.Context, k Key, hash KeyHash) error
	// Keys lists all keys, revoked ones included, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// KeyHashes are the hashes of the keys in force, for the gateway's
	// own table; they leave the process by no other way.
	KeyHashes(ctx context.Context) (map[KeyHash]Key, error)
	// RevokeKey marks a key revoked; CodeNotFound when there is none with
	// that id. Revoking twice keeps the first time.
	RevokeKey(ctx context.Context, id string, at time.Time) (Key, error)
	// ChangeKey changes the name and the limits of a key in one step; what else
	// change sets is not written. Its error ends it and is returned;
	// CodeNotFound when there is no key with that id.
	ChangeKey(ctx context.Context, id string, change func(*Key) error) (Key, error)
}

// KeyUseStore keeps when gateway keys were last used.
type KeyUseStore interface {
	// UseKeys notes it by id. What is known to be later stays; a key that is
	// not there is passed over. It is no change that ChangeFeed tells.
	UseKeys(ctx context.Context, used map[string]time.Time) error
}
