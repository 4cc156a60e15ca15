// Package haltd holds the words of the product and nothing else: agents,
// calls, rounds, events, the ports that adapters fill and the errors that a
// person sees. It imports only the standard library, does no I/O, and every
// other package may import it.
package haltd

import "time"

// Clock tells the time. It is passed in wherever time matters, so that tests
// and replay can move it.
type Clock func() time.Time
