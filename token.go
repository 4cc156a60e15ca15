package haltd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Access is the role of a person or a program: what it may do by the admin API.
type Access string

// The roles, each of which may do what those before it may.
const (
	AccessViewer   Access = "viewer"   // read
	AccessOperator Access = "operator" // stop and resume, policies, rules, incidents, bypass
	AccessAdmin    Access = "admin"    // keys, tokens, channels, deleting
)

// Accesses are all of them, the weakest first.
var Accesses = []Access{AccessViewer, AccessOperator, AccessAdmin}

// Covers reports a role that may do what needs another one.
func (r Access) Covers(needed Access) bool {
	return slices.Contains(Accesses, r) && slices.Index(Accesses, r) >= slices.Index(Accesses, needed)
}

// TokenPrefix begins every API token.
const TokenPrefix = "haltdt_"

// Token lets a person or a program use the admin API under a name, in a role,
// for a time. Its secret is shown once and kept as a hash.
type Token struct {
	ID        string     `json:"id"`
	Name      string     `json:"name" doc:"Who acts with it; the audit log says so."`
	Role      Access     `json:"role" enum:"viewer,operator,admin"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"It never does when left out."`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// InForce reports a token that can be used.
func (t *Token) InForce(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

// NewTokenSecret makes the secret of a token.
func NewTokenSecret() string { return TokenPrefix + rand.Text() + rand.Text() }

// HashToken is what a store keeps of a secret.
func HashToken(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// TokenStore keeps API tokens. A store that does not answer is
// CodeUnavailable.
type TokenStore interface {
	// CreateToken keeps a new token with the hash of its secret; CodeExists
	// where the id or the hash is there already.
	CreateToken(ctx context.Context, t Token, hash string) error
	// RevokeToken ends a token at that time, once; CodeNotFound where there is
	// none.
	RevokeToken(ctx context.Context, id string, at time.Time) (Token, error)
	// Tokens are all, the oldest first.
	Tokens(ctx context.Context) ([]Token, error)
	// TokenByHash finds a token, also one that is revoked or has expired;
	// CodeNotFound where there is none.
	TokenByHash(ctx context.Context, hash string) (Token, error)
}
