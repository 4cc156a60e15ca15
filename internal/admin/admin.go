// Package admin is the operator's side of haltd: a JSON API over the record,
// over who may call and under which policy, over the gateway keys and the
// state of the process, with its OpenAPI document made from the handlers' own
// types. It reads and changes through ports and never touches the path of a
// request.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// Options are the rooms that the admin API is handed, by small ports, and who
// may enter. All are needed but where it says otherwise.
type Options struct {
	Agents    haltd.AgentStore
	Events    Events
	Excerpts  Excerpts
	Incidents haltd.IncidentStore
	Recorder  Recorder // may be nil
	// Feed tells what all nodes record, where several share the store; nil
	// where the recorder knows all.
	Feed haltd.EventFeed

	Control    Control
	Remarks    Remarks
	Policies   Policies
	Standings  Standings
	Rules      Rules
	BreakGlass BreakGlass
	Spendings  Spendings
	Ledgers    Ledgers
	Windows    Windows
	Ingester   Ingester
	Calls      Calls
	Alerts     Alerts
	Keys       Keyring
	Process    Process
	Prices     Prices
	Metrics    http.Handler
	Dashboard  fs.FS // with an index.html; nil for none

	Access Access
	Audit  haltd.AuditStore
	// TracePage is where a trace is shown, "" for nowhere; may be nil.
	TracePage func(id string) string

	// Streams ends when live streams are to end, which would not by themselves;
	// nil for never.
	Streams context.Context

	Version string
	Clock   haltd.Clock
	Logger  *slog.Logger // may be nil
}

// Access says who is let in, and by which way.
type Access struct {
	Token    string  // what callers present; with an empty one nobody is let in
	SignIn   *SignIn // of browsers; may be nil
	SignOuts haltd.SignOutStore
	Tokens   haltd.TokenStore // of the API; may be nil
	Users    haltd.UserStore  // may be nil
	// Metrics is the token for metrics alone, and whether this machine
	// may read them without one; may be nil.
	Metrics  func() (token string, open bool)
	Secure   bool                  // browsers reach the listener by https
	Hosts    []string              // host names that are answered besides loopback; may be empty
	Public   func() string         // the host by which people reach the listener; may be nil
	Loopback bool                  // the listener is on loopback: answer no other host than loopback, Hosts and Public
	Trusted  func() []netip.Prefix // proxies that say for whom they call; may be nil
}

// Status is the state of the process as it is now.
type Status struct {
	Gateway      string    `json:"gateway" doc:"Where agents call."`
	Admin        string    `json:"admin" doc:"Where this API is."`
	Started      time.Time `json:"started"`
	StoreBytes   int64     `json:"store_bytes" doc:"Size of the record."`
	Degraded     []string  `json:"degraded" doc:"Dependencies that haltd does without now."`
	Pricing      string    `json:"pricing" doc:"Where the prices come from, and of when."`
	Excerpts     string    `json:"excerpts" enum:"off,incidents,on" doc:"Of what excerpts are stored: nothing, what proves an incident, or all calls as well."`
	ExcerptsKept int64     `json:"excerpts_kept_seconds" doc:"How long excerpts are kept; 0 is as long as their events."`
	BlockStatus  int       `json:"block_status" doc:"The HTTP status of the answer to an agent that is stopped or over its budget."`

	Upstreams []haltd.Upstream `json:"upstreams" doc:"Where calls go, by name, and how each answered since haltd started."`
	Node      string           `json:"node" doc:"The id of the node that answers."`
	Nodes     []haltd.Node     `json:"nodes" doc:"The nodes that share the store, and those that ended in the last day."`
}

type server struct {
	deps Options
	api  huma.API
	mux  *http.ServeMux

	burns     burns
	passwords passwords
}

// New makes the handler of the admin listener.
func New(o Options) http.Handler { return http.HandlerFunc(newServer(o).serve) }

func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Recorder == nil {
		o.Recorder = noRecorder{}
	}
	if o.Access.SignIn == nil {
		o.Access.SignIn = NewSignIn(o.Clock, func() string { return "" }, o.Access.Token)
	}
	if o.Access.Trusted == nil {
		o.Access.Trusted = func() []netip.Prefix { return nil }
	}
	if o.Access.Metrics == nil {
		o.Access.Metrics = func() (string, bool) { return "", false }
	}
	if o.TracePage == nil {
		o.TracePage = func(string) string { return "" }
	}
	if o.Access.Public == nil {
		o.Access.Public = func() string { return "" }
	}
	s := &server{deps: o, mux: http.NewServeMux(), passwords: newPasswords(hashRounds)}
	s.api = humago.New(s.mux, apiConfig(o.Version))
	s.api.UseMiddleware(s.authenticate, s.checkQuery, s.catchUp)
	s.registerService()
	s.registerEvents()
	s.registerAgents()
	s.registerPolicy()
	describeDefaults[haltd.Policy](s.api.OpenAPI().Components.Schemas)
	s.registerStandings()
	s.registerSessions()
	s.registerIncidents()
	s.registerAlerts()
	s.registerRules()
	s.registerIngest()
	s.registerBypass()
	s.registerStats()
	s.registerRungs()
	s.registerKeys()
	s.registerPrices()
	s.registerTokens()
	s.registerUsers()
	s.registerAudit()
	s.registerSignIn()
	return s
}

// serve answers what must hold for every request before it is matched.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	limitBody(w, r)
	if p := s.checkHost(r); p != nil {
		writeProblem(w, p)
		return
	}
	if handler, pattern := s.mux.Handler(r); pattern == "" {
		if s.isPage(r) {
			s.page(w, r)
		} else {
			notRouted(w, r, handler)
		}
		return
	}
	s.mux.ServeHTTP(w, r)
}

// bodyPatience is how long a body may take to arrive.
const bodyPatience = 10 * time.Second

// limitBody keeps a caller who sends a body without end from holding a
// connection: the server reads what is left of a body before it answers, also
// to somebody whom it refuses.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // -1 is a body of unknown length
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyPatience)) // not every writer has deadlines
	}
}

// notRouted answers what the mux does not know, in the API's own shape. What
// the mux would have said tells an unknown path from a wrong method.
func notRouted(w http.ResponseWriter, r *http.Request, muxAnswer http.Handler) {
	answer := headOnly{header: http.Header{}}
	muxAnswer.ServeHTTP(&answer, r)
	if answer.status == http.StatusMethodNotAllowed {
		allowed := answer.header.Get("Allow")
		w.Header().Set("Allow", allowed)
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, haltd.Errorf("method_not_allowed", "%s does not take %s", r.URL.Path, r.Method).
			WithFix("Use %s.", allowed)))
		return
	}
	writeProblem(w, newProblem(http.StatusNotFound, haltd.Errorf(haltd.CodeNotFound, "There is nothing at %s", r.URL.Path)).
		suggest(remedy{"GET " + openAPIPath + " lists every path.", openAPIPath}))
}

// headOnly keeps the head of an answer and forgets the body.
type headOnly struct {
	header http.Header
	status int
}

func (h *headOnly) Header() http.Header         { return h.header }
func (h *headOnly) WriteHeader(status int)      { h.status = status }
func (h *headOnly) Write(b []byte) (int, error) { return len(b), nil }

const (
	bearerScheme = "admin_token"
	keyScheme    = "gateway_key"
)

// apiConfig leaves out huma's own documentation pages, which load scripts
// from elsewhere, and its $schema links.
func apiConfig(version string) huma.Config {
	c := huma.DefaultConfig("haltd admin API", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.Info.Description = "What agents did and do behind this haltd, what they may do, and the keys they call with. Times are RFC 3339 in UTC, money is in US dollars, spans are in milliseconds."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		bearerScheme: {Type: "http", Scheme: "bearer", Description: "The admin token, or an API token."},
		keyScheme:    {Type: "http", Scheme: "bearer", Description: "A gateway key; it may also be sent as X-Api-Key."},
	}
	c.Formats = maps.Clone(c.Formats)
	c.Formats["application/x-www-form-urlencoded"] = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: labelledForm}
	// JSON shows these differently from what their Go types say.
	schemas := c.Components.Schemas
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.Money](), reflect.TypeFor[float64]())
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.Duration](), reflect.TypeFor[float64]())
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.Ladder](), reflect.TypeFor[ladder]())
	schemas.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]())
	schemas.RegisterTypeAlias(reflect.TypeFor[haltd.PolicyOverride](), reflect.TypeFor[ownPolicy]())
	return c
}

// labelledForm reads JSON that calls itself a form, as curl -d does by
// default. A real form is refused.
func labelledForm(body []byte, v any) error {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return huma.ErrUnknownContentType
	}
	return json.Unmarshal(body, v)
}

// operation describes a route that needs the token.
func operation(method, path, id, summary string) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, Description: descriptions[id],
		Security: []map[string][]string{{bearerScheme: {}}},
	}
}

// The marks of operations.
const (
	publicMark  = "public"
	keyMark     = "gateway key"
	schemasMark = "schemas" // the registry, for the wording of errors
)

// public marks an operation that needs no token.
func public(op huma.Operation) huma.Operation {
	op.Security = []map[string][]string{}
	op.Metadata = map[string]any{publicMark: true}
	return op
}

func isPublic(op *huma.Operation) bool { return op.Metadata[publicMark] == true }

// withKey marks an operation for which a gateway key suffices.
func withKey(op huma.Operation) huma.Operation {
	op.Security = append(op.Security, map[string][]string{keyScheme: {}})
	op.Metadata = map[string]any{keyMark: true}
	return op
}

func takesKey(op *huma.Operation) bool { return op.Metadata[keyMark] == true }

// register adds a route whose errors take the API's shape; those that are
// nobody's fault but haltd's are logged.
func register[I, O any](s *server, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	if op.Metadata == nil {
		op.Metadata = map[string]any{}
	}
	op.Metadata[schemasMark] = s.api.OpenAPI().Components.Schemas
	if !isPublic(&op) {
		op.Extensions = map[string]any{"x-role": needed(&op)}
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if p := (*problem)(nil); errors.As(err, &p) {
			return nil, err // with headers of its own
		}
		if err != nil {
			return nil, s.problemOf(ctx, &op, err)
		}
		return out, nil
	})
}
