package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/haltd/haltd"
)

// mostTokens bounds those in force.
const mostTokens = 1000

type tokensOutput struct {
	Body struct {
		Tokens []haltd.Token `json:"tokens"`
	}
}

type createTokenInput struct {
	Actor
	Body struct {
		Name      string     `json:"name" minLength:"1" maxLength:"100" doc:"Who acts with it: a person or a program. The audit log says so."`
		Role      string     `json:"role" enum:"viewer,operator,admin" doc:"viewer reads; operator also stops and resumes, and changes policies and rules; admin does everything."`
		ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"It never does when left out."`
	}
}

type newToken struct {
	haltd.Token
	Secret string `json:"secret" doc:"The token itself. It is shown this once."`
}

type createTokenOutput struct{ Body newToken }

type revokeTokenInput struct {
	Actor
	ID string `path:"id" doc:"Id of the token, not the token itself."`
}

type tokenOutput struct{ Body haltd.Token }

func (s *server) registerTokens() {
	register(s, operation(http.MethodGet, "/v1/tokens", "list-tokens", "API tokens, those that have ended included"),
		func(ctx context.Context, _ *noInput) (*tokensOutput, error) {
			list, err := s.deps.Access.Tokens.Tokens(ctx)
			out := &tokensOutput{}
			out.Body.Tokens = append([]haltd.Token{}, list...)
			return out, err
		})
	create := operation(http.MethodPost, "/v1/tokens", "create-token", "Make an API token for a person or a program")
	create.DefaultStatus = http.StatusCreated
	register(s, create, s.createToken)
	register(s, operation(http.MethodDelete, "/v1/tokens/{id}", "revoke-token", "End an API token, and the sign-ins made with it"),
		func(ctx context.Context, in *revokeTokenInput) (*tokenOutput, error) {
			token, err := s.deps.Access.Tokens.RevokeToken(ctx, in.ID, s.deps.Clock())
			s.note(in.by(), haltd.ChangeTokenRevoked, "", token.Name+" ("+in.ID+")", err)
			return &tokenOutput{token}, err
		})
}

func (s *server) createToken(ctx context.Context, in *createTokenInput) (*createTokenOutput, error) {
	now := s.deps.Clock().UTC().Truncate(time.Microsecond)
	name, err := actorName(in.Body.Name)
	if err != nil {
		return nil, err
	}
	if end := in.Body.ExpiresAt; end != nil && !end.After(now) {
		return nil, haltd.Errorf(haltd.CodeInvalid, "%s has passed", end.Format(time.RFC3339)).In("expires_at")
	}
	list, err := s.deps.Access.Tokens.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	inForce := 0
	for i := range list {
		if list[i].InForce(now) {
			inForce++
		}
	}
	if inForce >= mostTokens {
		return nil, haltd.Errorf(haltd.CodeInvalid, "there are already %d active tokens", inForce).WithFix("Revoke those that nobody uses.")
	}
	token := haltd.Token{ID: haltd.NewName("tok_"), Name: name, Role: haltd.Access(in.Body.Role), CreatedAt: now, CreatedBy: in.by(), ExpiresAt: inUTC(in.Body.ExpiresAt)}
	secret := haltd.NewTokenSecret()
	err = s.deps.Access.Tokens.CreateToken(ctx, token, haltd.HashToken(secret))
	s.note(in.by(), haltd.ChangeTokenCreated, "", token.Name+" ("+token.ID+", "+string(token.Role)+")", err)
	return &createTokenOutput{newToken{token, secret}}, err
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC().Truncate(time.Microsecond)
	return &at
}
