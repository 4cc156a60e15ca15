package haltd

import (
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
}

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

// KeyStore keeps gateway keys by their hash. That keys were made or revoked is
// told by ChangeFeed.
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
}
