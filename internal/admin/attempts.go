package admin

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// How many wrong tokens and codes are looked at before their senders are
// slowed down, and how fast that grows back.
const (
	attemptsOfOne = 10
	regainedOfOne = 6 * time.Second
	attemptsOfAll = 100
	regainedOfAll = time.Second

	// Who is on this machine is never locked out by what others there send:
	// beyond the limit each attempt waits so long, so many at once.
	localPause   = time.Second
	localWaiting = 20

	// addresses bounds those that are remembered; the limit of all holds for
	// the others.
	addresses = 4096
)

// allowance is how many attempts may fail: each failure pushes the time at
// which all of it is regained further away.
type allowance struct{ regained time.Time }

// wait is how long until another attempt is looked at; 0 or less for now.
func (a allowance) wait(now time.Time, most int, each time.Duration) time.Duration {
	if !a.regained.After(now) {
		return 0
	}
	return a.regained.Sub(now) - time.Duration(most-1)*each
}

func (a allowance) spend(now time.Time, each time.Duration) allowance {
	if a.regained.Before(now) {
		a.regained = now
	}
	return allowance{a.regained.Add(each)}
}

// attempts keeps anybody from guessing the admin token: what comes from an
// address that sent too many wrong ones is not compared at all, be it right
// or wrong.
type attempts struct {
	mu      sync.Mutex
	all     allowance // of all addresses but this machine's own
	of      map[netip.Prefix]allowance
	waiting int // on this machine
}

// try compares what a caller presents. Where the caller must come again
// instead, it says after how long. Comparing is under the lock, so that many
// attempts at once are counted like many in turn.
func (a *attempts) try(ctx context.Context, clock haltd.Clock, from caller, right func() bool) (ok bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait = a.limit(clock(), from)
	if wait > 0 && from.local && a.waiting < localWaiting {
		a.pause(ctx)
		wait = 0
	}
	if wait > 0 {
		return false, wait
	}
	if !right() {
		a.count(clock(), from)
		return false, 0
	}
	return true, 0
}

// wait is how long until an attempt of this caller is looked at at all; 0 for
// who is on this machine.
func (a *attempts) wait(now time.Time, from caller) time.Duration {
	if from.local {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limit(now, from)
}

// mustWait answers an attempt that was not looked at.
func mustWait(wait time.Duration) error {
	return huma.ErrorWithHeaders(newProblem(http.StatusTooManyRequests, tooMany()), http.Header{"Retry-After": {retryAfter(wait)}})
}

// limit is how long a caller has to wait.
func (a *attempts) limit(now time.Time, from caller) time.Duration {
	wait := a.of[from.network].wait(now, attemptsOfOne, regainedOfOne)
	if from.local {
		return min(wait, localPause)
	}
	return max(wait, a.all.wait(now, attemptsOfAll, regainedOfAll))
}

// pause lets go of the lock for a moment. A client that leaves meanwhile does
// not learn how its attempt ended.
func (a *attempts) pause(ctx context.Context) {
	a.waiting++
	a.mu.Unlock()
	t := time.NewTimer(localPause)
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	t.Stop()
	a.mu.Lock()
	a.waiting--
}

// count notes that an attempt has failed.
func (a *attempts) count(now time.Time, from caller) {
	if a.of == nil {
		a.of = map[netip.Prefix]allowance{}
	}
	if len(a.of) >= addresses {
		maps.DeleteFunc(a.of, func(_ netip.Prefix, old allowance) bool { return old.regained.Before(now) })
	}
	if _, known := a.of[from.network]; known || len(a.of) < addresses {
		a.of[from.network] = a.of[from.network].spend(now, regainedOfOne)
	}
	if !from.local {
		a.all = a.all.spend(now, regainedOfAll)
	}
}

// caller is where a request comes from, as far as attempts are counted.
type caller struct {
	network netip.Prefix // an IPv4 address, or the network of an IPv6 one
	local   bool         // from this machine, and passed on for nobody
}

// thisMachine is where a proxy is believed without being named.
var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// callerOf reads the peer's address. A proxy on this machine, or a trusted
// one, says for whom it calls.
func (s *server) callerOf(r *http.Request) caller {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	peer, _ := netip.ParseAddr(host)
	passedOn := r.Header.Values("X-Forwarded-For")
	if peer.IsLoopback() && len(passedOn) == 0 {
		return caller{network: network(peer), local: r.Header.Get("Forwarded") == ""}
	}
	client, ok := haltd.ClientAddress(peer, passedOn, append(s.deps.Access.Trusted(), thisMachine...))
	if !ok {
		return caller{}
	}
	return caller{network: network(client)}
}

// network is what one party holds: a single IPv4 address, half of an IPv6
// one. The zero prefix stands for all that cannot be read.
func network(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.Prefix(bits)
	return p
}

// tooMany answers an attempt that was not looked at.
func tooMany() *haltd.Error {
	return haltd.Errorf(codeTooMany, "Too many wrong tokens or passwords were sent; this one was not checked").
		WithFix("Wait for the seconds that Retry-After names. On the machine of haltd itself the right token is always taken, within seconds: run haltd sign-in there.")
}

// codeTooMany is for a caller who has to wait.
const codeTooMany = "too_many_attempts"
