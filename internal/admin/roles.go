package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// identity is who makes a request.
type identity struct {
	name     string // of the user or the token; "" for the admin token, whose holder says who it is
	role     haltd.Access
	id       string // of the user or the token; "" for the admin token
	password string // of a user: chosen or missing
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
	"list-users", "create-user", "patch-user", "delete-user", "make-user-link",
	"create-channel", "patch-channel", "delete-channel", "delete-agent",
}

// forAll are operations that change nothing but what concerns who asks.
var forAll = []string{"make-sign-in-link", "set-password"}

// needed is the role that an operation needs: who may read may read all but
// tokens and users, and who may change may change all but what is for admins.
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
		return haltd.Errorf(codeForbidden, "This needs the role %s, and %s has the role %s", role, who.name, who.role).
			WithFix("Ask an admin to do it, or for that role.")
	}
	return nil
}

// holder is who presents a token: the admin token or one of the API.
func (s *server) holder(ctx context.Context, secret string) (identity, bool, error) {
	if s.isToken(secret) {
		return owner, true, nil
	}
	if s.deps.Access.Tokens == nil || len(secret) < len(haltd.TokenPrefix) || secret[:len(haltd.TokenPrefix)] != haltd.TokenPrefix {
		return identity{}, false, nil
	}
	token, err := s.deps.Access.Tokens.TokenByHash(ctx, haltd.HashToken(secret))
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		return identity{}, false, nil
	}
	return s.inForce(token, err)
}

// holderOf is who signed in, or was sent a link, at that time: the admin, a
// user or the holder of an API token, by id.
func (s *server) holderOf(ctx context.Context, id string, at time.Time) (identity, bool, error) {
	if id == "" {
		return owner, true, nil
	}
	if strings.HasPrefix(id, haltd.UserIDPrefix) {
		return s.signedInUser(ctx, id, at)
	}
	if s.deps.Access.Tokens == nil {
		return identity{}, false, nil
	}
	tokens, err := s.deps.Access.Tokens.Tokens(ctx)
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
	return identity{name: t.Name, role: t.Role, id: t.ID}, true, nil
}

// signedInUser is the user of this id, unless what was handed out then is void.
// Both times count in whole seconds: a proof has no finer ones.
func (s *server) signedInUser(ctx context.Context, id string, at time.Time) (identity, bool, error) {
	if s.deps.Access.Users == nil {
		return identity{}, false, nil
	}
	u, err := s.userOf(ctx, id)
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		return identity{}, false, nil
	}
	if err != nil || u.SignedOutAt != nil && at.Unix() < u.SignedOutAt.Unix() {
		return identity{}, false, err
	}
	return identityOfUser(u), true, nil
}
