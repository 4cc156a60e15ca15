package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// identity is who makes a request.
type identity struct {
	name  string // of the token; "" for the admin token, whose holder says who it is
	role  haltd.Access
	token string // id; "" for the admin token
}

// owner is who holds the admin token.
var owner = identity{role: haltd.AccessAdmin}

type identityKey struct{}

func identityOf(ctx context.Context) identity {
	who, _ := ctx.Value(identityKey{}).(identity)
	return who
}

// forAdmins are the operations that need the role admin: what lets others in,
// what holds secrets, and what cannot be undone.
var forAdmins = []string{
	"create-key", "patch-key", "revoke-key", "load-prices", "reset-prices", "list-tokens", "create-token", "revoke-token",
	"create-channel", "patch-channel", "delete-channel", "delete-agent",
}

// forAll are operations that change nothing but what concerns who asks.
var forAll = []string{"make-sign-in-link"}

// needed is the role that an operation needs: who may read may read all but
// tokens, and who may change may change all but what is for admins.
func needed(op *huma.Operation) haltd.Access {
	switch {
	case slices.Contains(forAdmins, op.OperationID):
		return haltd.AccessAdmin
	case op.Method == http.MethodGet || op.Method == http.MethodHead || slices.Contains(forAll, op.OperationID):
		return haltd.AccessViewer
	}
	return haltd.AccessOperator
}

// refusedRole is why somebody may not do what an operation does; nil when it
// may.
func refusedRole(op *huma.Operation, who identity) *haltd.Error {
	if role := needed(op); !who.role.Covers(role) {
		return haltd.Errorf(codeForbidden, "This needs the role %s, and the token of %s has the role %s", role, who.name, who.role).
			WithFix("Ask an admin to do it, or for a token with that role.")
	}
	return nil
}

// holder is who presents a token: the admin token or one of the API.
func (s *server) holder(ctx context.Context, secret string) (identity, bool, error) {
	if s.isToken(secret) {
		return owner, true, nil
	}
	if s.deps.Tokens == nil || len(secret) < len(haltd.TokenPrefix) || secret[:len(haltd.TokenPrefix)] != haltd.TokenPrefix {
		return identity{}, false, nil
	}
	token, err := s.deps.Tokens.TokenByHash(ctx, haltd.HashToken(secret))
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		return identity{}, false, nil
	}
	return s.inForce(token, err)
}

// holderOf is who signed in with a token of this id.
func (s *server) holderOf(ctx context.Context, id string) (identity, bool, error) {
	if id == "" {
		return owner, true, nil
	}
	if s.deps.Tokens == nil {
		return identity{}, false, nil
	}
	tokens, err := s.deps.Tokens.Tokens(ctx)
	i := slices.IndexFunc(tokens, func(t haltd.Token) bool { return t.ID == id })
	if err != nil || i < 0 {
		return identity{}, false, err
	}
	return s.inForce(tokens[i], nil)
}

func (s *server) inForce(t haltd.Token, err error) (identity, bool, error) {
	if err != nil || !t.InForce(s.deps.Clock()) {
		return identity{}, false, err
	}
	return identity{name: t.Name, role: t.Role, token: t.ID}, true, nil
}
