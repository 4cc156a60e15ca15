package gateway

import (
	"crypto/subtle"
	"hash/maphash"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd/internal/policy"
)

// tokenGuard knows the admin token when it sees it, so that no provider is sent
// it. That would tell a guess from a wrong one, so it looks at few keys that it
// has not seen before: beyond that a key passes like any other, be it right or
// wrong, and the provider says what it says to all keys that it does not know.
type tokenGuard struct {
	token string
	seed  maphash.Seed
	// seen are keys that were compared before, each in the place of its
	// digest. Clients that call all day are compared once.
	seen [8192]atomic.Uint64

	mu  sync.Mutex
	all policy.Bucket
	of  map[netip.Prefix]policy.Bucket
}

// How many new keys are looked at: of one address, and of all.
var (
	newKeysOfOne = policy.PerMinute(10)
	newKeysOfAll = policy.PerMinute(100)
)

// keyAddresses bounds the addresses that are remembered; the limit of all holds
// for the others.
const keyAddresses = 4096

func newTokenGuard(token string) *tokenGuard {
	return &tokenGuard{token: token, seed: maphash.MakeSeed(), of: map[netip.Prefix]policy.Bucket{}}
}

// recognises reports the admin token.
func (t *tokenGuard) recognises(key, ip string, now time.Time) bool {
	if t.token == "" || key == "" {
		return false
	}
	digest := maphash.String(t.seed, key) | 1 // an empty place is 0
	place := &t.seen[digest>>1%uint64(len(t.seen))]
	if place.Load() == digest || !t.take(ip, now) {
		return false
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(t.token)) == 1 {
		return true
	}
	place.Store(digest)
	return false
}

// take takes one of the looks at new keys; false when none is left.
func (t *tokenGuard) take(ip string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	network := networkOf(ip)
	own, known := t.of[network]
	if ok, _ := newKeysOfOne.Check(own, 1, now); !ok {
		return false
	}
	if ok, _ := newKeysOfAll.Check(t.all, 1, now); !ok {
		return false
	}
	t.all = newKeysOfAll.Take(t.all, 1, now)
	if !known && len(t.of) >= keyAddresses {
		maps.DeleteFunc(t.of, func(_ netip.Prefix, b policy.Bucket) bool { return b.Full <= now.UnixMicro() })
	}
	if known || len(t.of) < keyAddresses {
		t.of[network] = newKeysOfOne.Take(own, 1, now)
	}
	return true
}

// networkOf is what one party holds: a single IPv4 address, half of an IPv6
// one. The zero prefix stands for all that cannot be read.
func networkOf(ip string) netip.Prefix {
	a, _ := netip.ParseAddr(ip)
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits)
	return p
}
