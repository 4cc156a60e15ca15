package admin

import (
	"context"
	"net/http"

	"github.com/haltd/haltd"
)

type bypassInput struct {
	Actor
	Body struct {
		On     bool   `json:"on" doc:"While it is on, nothing is enforced except stops by hand."`
		Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for the record."`
	}
}

type bypassOutput struct{ Body haltd.Bypass }

func (s *server) registerBypass() {
	register(s, operation(http.MethodGet, "/v1/bypass", "get-bypass", "Whether enforcement is switched off"),
		func(context.Context, *noInput) (*bypassOutput, error) {
			return &bypassOutput{bypassInUTC(s.deps.BreakGlass.Bypass())}, nil
		})
	register(s, operation(http.MethodPut, "/v1/bypass", "set-bypass", "Switch all enforcement except stops by hand off, or on again"),
		func(ctx context.Context, in *bypassInput) (*bypassOutput, error) {
			b, err := s.deps.BreakGlass.SetBypass(ctx, in.Body.On, in.by(), in.Body.Reason)
			return &bypassOutput{bypassInUTC(b)}, err
		})
}

func bypassInUTC(b haltd.Bypass) haltd.Bypass {
	b.At = b.At.UTC()
	return b
}
