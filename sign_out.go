package haltd

import (
	"context"
	"time"
)

// SignOutStore remembers the cookies of browsers that were signed out, and the
// codes of links that were used, before their time had come.
type SignOutStore interface {
	// SignOut remembers a cookie or a code, by its digest, until it would have
	// ended by itself, and forgets those that have. first is false for one
	// that is remembered already.
	SignOut(ctx context.Context, digest string, now, until time.Time) (first bool, err error)
	SignedOut(ctx context.Context, digest string) (bool, error)
}
