package haltd

import "context"

// The secrets that nodes share, by name.
const (
	// SecretRequests keys the digests of requests, by which retries and
	// identical requests are known again, on whichever node they land.
	SecretRequests = "requests"
	// SecretAdminToken is the admin token of nodes that share a store, where
	// the configuration has none. It signs cookies, too, so that who is
	// signed in is so on every node.
	SecretAdminToken = "admin_token"
)

// SecretStore keeps random secrets that all nodes must have in common and
// nobody else may know. They are made once and never change. It is not for
// what an operator enters: that is sealed, see ChannelStore.
type SecretStore interface {
	// SharedSecret is the secret of that name: fresh, where there was none,
	// or what another was faster with.
	SharedSecret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}
