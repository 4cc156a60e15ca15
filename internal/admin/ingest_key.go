package admin

import (
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// IngestPath is where agents report calls, on either listener.
const IngestPath = "/v1/ingest"

// IngestOptions are what reports of calls need. All are.
type IngestOptions struct {
	Ingester Ingester
	Keys     Keyring
	Version  string
	Logger   *slog.Logger
}

// NewIngest makes the handler of IngestPath on the gateway's listener, so that
// agents need not reach the admin listener. It takes gateway keys and no other
// token: whether something is the admin token is not told here.
func NewIngest(o IngestOptions) http.Handler {
	s := &server{deps: Options{Ingester: o.Ingester, Keys: o.Keys, Logger: o.Logger}, mux: http.NewServeMux()}
	s.api = humago.New(s.mux, apiConfig(o.Version))
	s.api.UseMiddleware(s.requireKey, s.checkQuery)
	s.registerIngest()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		limitBody(w, r)
		s.mux.ServeHTTP(w, r)
	})
}

func (s *server) requireKey(ctx huma.Context, next func(huma.Context)) {
	agent, ok := s.keyHolder(ctx)
	if !ok {
		_, w := humago.Unwrap(ctx)
		writeProblem(w, newProblem(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "This path needs a valid gateway key").
			WithFix("Send the agent's key (haltd_…) as Authorization: Bearer; the operator makes one with haltd keys create --agent NAME. Other tokens are for the admin listener.")))
		return
	}
	next(huma.WithValue(ctx, keyAgent{}, agent))
}
