package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
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

type patchKeyInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the key, not the key itself."`
	Body keyPatch
}

// keyPatch is what changes of a key; what is left out stays.
type keyPatch struct {
	Name        *string      `json:"name,omitempty" maxLength:"200" doc:"What you call the key."`
	ExpiresAt   optionalTime `json:"expires_at,omitzero" doc:"When it ends by itself; null for never."`
	Models      []string     `json:"models,omitempty" maxItems:"100" doc:"Models that may be called with it, * for any text; [] for all."`
	BudgetDay   *haltd.Money `json:"budget_day_usd,omitempty" minimum:"0" doc:"What calls with it may cost in a day; 0 for no limit."`
	BudgetMonth *haltd.Money `json:"budget_month_usd,omitempty" minimum:"0" doc:"The same in a month."`
}

func (p *keyPatch) apply(k *haltd.Key) {
	if p.Name != nil {
		k.Name = *p.Name
	}
	if p.ExpiresAt.given {
		k.ExpiresAt = p.ExpiresAt.at
	}
	if p.Models != nil {
		k.Models = p.Models
	}
	if p.BudgetDay != nil {
		k.BudgetDay = *p.BudgetDay
	}
	if p.BudgetMonth != nil {
		k.BudgetMonth = *p.BudgetMonth
	}
}

// optionalTime is a time that may be left out, which is not the same as null.
type optionalTime struct {
	given bool
	at    *time.Time
}

func (o *optionalTime) UnmarshalJSON(b []byte) error {
	o.given = true
	return json.Unmarshal(b, &o.at)
}

// IsZero reports that it was left out.
func (o optionalTime) IsZero() bool { return !o.given }

// MarshalJSON is what UnmarshalJSON reads.
func (o optionalTime) MarshalJSON() ([]byte, error) { return json.Marshal(o.at) }

// Schema is that of a time or null.
func (optionalTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true}
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
		s.note(in.by(), haltd.ChangeKeyCreated, key.Agent, auditedKey(&key), err)
		return &createKeyOutput{newKey{keyInUTC(key), secret}}, err
	})

	patch := operation(http.MethodPatch, "/v1/keys/{id}", "patch-key", "Change the name and the limits of a gateway key")
	patch.Description = "What is left out stays as it is. Effective on the next call; a key that has expired may be given more time, one that is revoked is not changed."
	register(s, patch, func(ctx context.Context, in *patchKeyInput) (*keyOutput, error) {
		key, err := s.deps.Keys.Change(ctx, in.ID, in.Body.apply)
		s.note(in.by(), haltd.ChangeKeyChanged, key.Agent, auditedKey(&key), err)
		return &keyOutput{keyInUTC(key)}, err
	})

	register(s, operation(http.MethodDelete, "/v1/keys/{id}", "revoke-key", "Revoke a gateway key"),
		func(ctx context.Context, in *revokeKeyInput) (*keyOutput, error) {
			key, err := s.deps.Keys.Revoke(ctx, in.ID)
			if key.ID != "" { // it holds, on disk or not
				s.note(in.by(), haltd.ChangeKeyRevoked, key.Agent, key.ID, nil)
			}
			return &keyOutput{keyInUTC(key)}, err
		})
}

// auditedKey is a key as the audit log names it where it was made or changed:
// with what it is good for from now on.
func auditedKey(k *haltd.Key) string {
	good := []string{"all models"}
	if len(k.Models) > 0 {
		good[0] = strings.Join(k.Models, " ")
	}
	if k.BudgetDay > 0 {
		good = append(good, fmt.Sprintf("$%s a day", k.BudgetDay))
	}
	if k.BudgetMonth > 0 {
		good = append(good, fmt.Sprintf("$%s a month", k.BudgetMonth))
	}
	if k.ExpiresAt != nil {
		good = append(good, "until "+k.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s (%s)", k.ID, strings.Join(good, ", "))
}

func keyInUTC(k haltd.Key) haltd.Key {
	k.CreatedAt = k.CreatedAt.UTC()
	k.RevokedAt, k.LastUsedAt, k.ExpiresAt = inUTC(k.RevokedAt), inUTC(k.LastUsedAt), inUTC(k.ExpiresAt)
	return k
}
