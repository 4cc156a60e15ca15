package haltd

import (
	"context"
	"time"
)

// SignOutStore remembers the browsers that were signed out before the time of
// their cookie had come.
type SignOutStore interface {
	// SignOut remembers a cookie, by its digest, until it would have ended by
	// itself, and forgets those that have.
	SignOut(ctx context.Context, digest string, now, until time.Time) error
	SignedOut(ctx context.Context, digest string) (bool, error)
}
