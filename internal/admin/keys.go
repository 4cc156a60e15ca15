package admin

import (
	"context"
	"net/http"

	"github.com/haltd/haltd"
)

type keysOutput struct {
	Body struct {
		Keys []keyView `json:"keys"`
	}
}

// keyView is a key and what it has spent of its own budgets.
type keyView struct {
	haltd.Key
	Spending []haltd.PeriodSpending `json:"spending,omitempty" doc:"What calls with it have cost, where it has a budget of its own."`
}

type createKeyInput struct {
	Actor
	Body struct {
		Agent string `json:"agent" minLength:"1" maxLength:"128" doc:"Id of the agent that calls with the key."`
		Name  string `json:"name,omitempty" maxLength:"200" doc:"What you call the key."`
		haltd.KeyLimits
	}
}

type newKey struct {
	haltd.Key
	Secret string `json:"secret" doc:"The key itself. It is shown this once."`
}

type createKeyOutput struct{ Body newKey }

type revokeKeyInput struct {
	Actor
	ID string `path:"id" doc:"Id of the key, not the key itself."`
}

type keyOutput struct{ Body haltd.Key }

func (s *server) registerKeys() {
	register(s, operation(http.MethodGet, "/v1/keys", "list-keys", "Gateway keys, revoked ones included"),
		func(ctx context.Context, _ *noInput) (*keysOutput, error) {
			keys, err := s.deps.Keys.List(ctx)
			if err != nil {
				return nil, err
			}
			out := &keysOutput{}
			out.Body.Keys = make([]keyView, len(keys))
			for i := range keys {
				view := keyView{Key: keyInUTC(keys[i])}
				if view.RevokedAt == nil {
					if view.Spending, err = s.deps.Spendings.KeySpending(ctx, view.Key); err != nil {
						return nil, err
					}
				}
				out.Body.Keys[i] = view
			}
			return out, nil
		})

	create := operation(http.MethodPost, "/v1/keys", "create-key", "Make a gateway key")
	create.DefaultStatus = http.StatusCreated
	register(s, create, func(ctx context.Context, in *createKeyInput) (*createKeyOutput, error) {
		key, secret, err := s.deps.Keys.Create(ctx, in.Body.Agent, in.Body.Name, in.Body.KeyLimits)
		s.note(in.by(), "key_created", key.Agent, key.ID, err)
		return &createKeyOutput{newKey{keyInUTC(key), secret}}, err
	})

	register(s, operation(http.MethodDelete, "/v1/keys/{id}", "revoke-key", "Revoke a gateway key"),
		func(ctx context.Context, in *revokeKeyInput) (*keyOutput, error) {
			key, err := s.deps.Keys.Revoke(ctx, in.ID)
			s.note(in.by(), "key_revoked", key.Agent, key.ID, err)
			return &keyOutput{keyInUTC(key)}, err
		})
}

func keyInUTC(k haltd.Key) haltd.Key {
	k.CreatedAt = k.CreatedAt.UTC()
	k.RevokedAt, k.LastUsedAt, k.ExpiresAt = inUTC(k.RevokedAt), inUTC(k.LastUsedAt), inUTC(k.ExpiresAt)
	return k
}
