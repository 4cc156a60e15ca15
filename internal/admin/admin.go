// Package admin is the operator's side of haltd: a JSON API over the record,
// the gateway keys and the state of the process, with its OpenAPI document
// made from the handlers' own types. It reads through ports and never touches
// the path of a request.
package admin

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// Options are the neighbours of the admin API. All are needed but where it
// says otherwise.
type Options struct {
	Agents haltd.AgentStore
	Events haltd.EventStore
	Live   Live
	Keys   Keyring

	Token    string   // what callers present; with an empty one nobody is let in
	Hosts    []string // host names that are answered besides loopback; may be empty
	Loopback bool     // the listener is on loopback: answer no other host than loopback and Hosts

	Ready   func(context.Context) error // nil when haltd can serve
	Metrics http.Handler
	Config  func() ([]byte, error) // the effective configuration as YAML, without secrets

	Status  func() Status
	Version string
	Clock   haltd.Clock
	Logger  *slog.Logger // may be nil
}

// Status is the state of the process as it is now.
type Status struct {
	Gateway    string    `json:"gateway" doc:"Where agents call."`
	Admin      string    `json:"admin" doc:"Where this API is."`
	Started    time.Time `json:"started"`
	StoreBytes int64     `json:"store_bytes" doc:"Size of the record."`
	Degraded   []string  `json:"degraded" doc:"Dependencies that haltd does without now."`
}

// Live hands out events as they happen. A subscriber's channel is closed
// when it does not keep up and when haltd stops. The function ends the
// subscription. Streams end with the context of their request.
type Live interface {
	Subscribe(buffer int) (<-chan haltd.Event, func())
}

// Keyring makes and ends gateway keys, with the errors of haltd.KeyStore.
type Keyring interface {
	Create(ctx context.Context, agent, name string) (key haltd.Key, secret string, err error)
	List(ctx context.Context) ([]haltd.Key, error)
	Revoke(ctx context.Context, id string) (haltd.Key, error)
}

type server struct {
	Options
	api huma.API
	mux *http.ServeMux
}

// New makes the handler of the admin listener.
func New(o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{Options: o, mux: http.NewServeMux()}
	s.api = humago.New(s.mux, apiConfig(o.Version))
	s.api.UseMiddleware(s.authenticate, s.checkQuery)
	s.registerService()
	s.registerEvents()
	s.registerAgents()
	s.registerStats()
	s.registerKeys()
	s.mux.HandleFunc("GET /{$}", greet)
	return http.HandlerFunc(s.serve)
}

// serve answers what must hold for every request before it is matched.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	if p := s.checkHost(r); p != nil {
		writeProblem(w, p)
		return
	}
	if handler, pattern := s.mux.Handler(r); pattern == "" {
		notRouted(w, r, handler)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// notRouted answers what the mux does not know, in the API's own shape. What
// the mux would have said tells an unknown path from a wrong method.
func notRouted(w http.ResponseWriter, r *http.Request, muxAnswer http.Handler) {
	said := headOnly{header: http.Header{}}
	muxAnswer.ServeHTTP(&said, r)
	if said.status == http.StatusMethodNotAllowed {
		allowed := said.header.Get("Allow")
		w.Header().Set("Allow", allowed)
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, haltd.Errorf("method_not_allowed", "%s does not take %s", r.URL.Path, r.Method).
			WithFix("Use %s.", allowed)))
		return
	}
	writeProblem(w, newProblem(http.StatusNotFound, haltd.Errorf(haltd.CodeNotFound, "There is nothing at %s", r.URL.Path).
		WithFix("GET /v1/openapi.json lists every path.")))
}

// headOnly keeps the head of an answer and forgets the body.
type headOnly struct {
	header http.Header
	status int
}

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) WriteHeader(status int)      { h.status = status }
func (h *headOnly) Write(b []byte) (int, error) { return len(b), nil }

func greet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("haltd admin. The API is under /v1 and described at /v1/openapi.json; send the admin token as a Bearer token.\n"))
}

const bearerScheme = "admin_token"

// apiConfig leaves out huma's own documentation pages, which load scripts
// from elsewhere, and its $schema links.
func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("haltd admin API", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.Info.Description = "What agents did and do behind this haltd, and the keys they call with. Times are RFC 3339 in UTC, money is in US dollars, spans are in milliseconds."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "The admin token."},
	}
	// JSON shows these differently from what their Go types say.
	schemas := c.Components.Schemas
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.Money](), reflect.TypeFor[float64]())
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.Duration](), reflect.TypeFor[float64]())
	schemas.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]())
	return c
}

// operation describes a route that needs the token.
func operation(method, path, id, summary string) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary,
		Security: []map[string][]string{{bearerScheme: {}}},
	}
}

const publicMark = "public"

// public marks an operation that needs no token.
func public(op huma.Operation) huma.Operation {
	op.Security = []map[string][]string{}
	op.Metadata = map[string]any{publicMark: true}
	return op
}

func isPublic(op *huma.Operation) bool { return op.Metadata[publicMark] == true }

// register adds a route whose errors take the API's shape; those that are
// nobody's fault but haltd's are logged.
func register[I, O any](s *server, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.problemOf(ctx, op.OperationID, err)
		}
		return out, nil
	})
}
