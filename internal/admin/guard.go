package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

// authenticate runs inside the matched route, so that no spelling of a path
// can go around it.
func (s *server) authenticate(ctx huma.Context, next func(huma.Context)) {
	if isPublic(ctx.Operation()) {
		next(ctx)
		return
	}
	if ctx.Operation().OperationID == "get-metrics" && s.opensMetrics(ctx) {
		next(ctx)
		return
	}
	who, ok, err := s.byCookie(ctx)
	if ok || err != nil {
		s.enter(ctx, who, err, next)
		return
	}
	if takesKey(ctx.Operation()) {
		if agent, ok := s.keyHolder(ctx); ok {
			next(huma.WithValue(ctx, keyAgent{}, agent))
			return
		}
	}
	who, ok, wait, err := s.byToken(ctx)
	if ok || err != nil {
		s.enter(ctx, who, err, next)
		return
	}
	if wait > 0 {
		_, w := humago.Unwrap(ctx)
		w.Header().Set("Retry-After", retryAfter(wait))
		writeProblem(w, newProblem(http.StatusTooManyRequests, tooMany()))
		return
	}
	_, w := humago.Unwrap(ctx)
	w.Header().Set("WWW-Authenticate", `Bearer realm="haltd admin"`)
	what, wrong := "This needs an API token or the admin token", "This is neither the admin token nor an API token in force"
	if takesKey(ctx.Operation()) {
		what, wrong = "This needs the admin token or a gateway key", "This is neither the admin token nor a gateway key in force"
	}
	if ctx.Header("Authorization") != "" || ctx.Header("X-Api-Key") != "" {
		what = wrong
	}
	writeProblem(w, newProblem(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "%s", what).
		WithFix("Send Authorization: Bearer TOKEN. An admin makes API tokens with haltd tokens create; the admin token is admin.token of the configuration, else what the file admin.token in the data directory holds.")))
}

// enter lets somebody in whose role suffices.
func (s *server) enter(ctx huma.Context, who identity, err error, next func(huma.Context)) {
	if err == nil {
		if refused := refusedRole(ctx.Operation(), who); refused != nil {
			err = refused
		}
	}
	if err != nil {
		_, w := humago.Unwrap(ctx)
		writeProblem(w, s.problemOf(ctx.Context(), ctx.Operation(), err))
		return
	}
	next(huma.WithValue(ctx, identityKey{}, who))
}

// opensMetrics reports a request for metrics that needs no role: it carries
// the token for them, or comes from this machine where that is enough.
func (s *server) opensMetrics(ctx huma.Context) bool {
	r, _ := humago.Unwrap(ctx)
	token, open := s.deps.Access.Metrics()
	return open && s.deps.Access.Loopback && s.callerOf(r).local ||
		token != "" && subtle.ConstantTimeCompare([]byte(bearer(ctx.Header("Authorization"))), []byte(token)) == 1
}

// byToken tells who presents the admin token or an API token; a wrong one is an
// attempt to guess it. A gateway key is none: agents report with keys that may
// have been revoked, and must not get in an operator's way.
func (s *server) byToken(ctx huma.Context) (who identity, ok bool, wait time.Duration, err error) {
	token := bearer(ctx.Header("Authorization"))
	if token == "" || strings.HasPrefix(token, haltd.KeyPrefix) && !strings.HasPrefix(s.deps.Access.Token, haltd.KeyPrefix) {
		return identity{}, false, 0, nil
	}
	r, _ := humago.Unwrap(ctx)
	who, right, err := s.holder(ctx.Context(), token)
	if err != nil {
		return who, false, 0, err
	}
	ok, wait = s.deps.Access.SignIn.attempts.try(ctx.Context(), s.deps.Clock, s.callerOf(r), func() bool { return right })
	return who, ok, wait, nil
}

// keyAgent is under which the context of a request carries the agent whose
// gateway key came with it.
type keyAgent struct{}

// keyHolder is the agent of the gateway key that a request carries.
func (s *server) keyHolder(ctx huma.Context) (agent string, ok bool) {
	for _, secret := range []string{bearer(ctx.Header("Authorization")), strings.TrimSpace(ctx.Header("X-Api-Key"))} {
		if strings.HasPrefix(secret, haltd.KeyPrefix) {
			return s.deps.Keys.AgentOf(secret)
		}
	}
	return "", false
}

// bearer is the token of an Authorization header, "" where there is none.
func bearer(authorization string) string {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// isToken compares digests, so that neither the length nor the content of
// the token shows in the time it takes.
func (s *server) isToken(token string) bool {
	if s.deps.Access.Token == "" {
		return false
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.deps.Access.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// checkHost refuses names that this listener does not go by: a web page can
// point its own name at haltd's address and would then read the answers. An
// address is nobody's to point elsewhere, nor is localhost. Probes come with
// whatever name the prober knows and learn nothing.
func (s *server) checkHost(r *http.Request) *problem {
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return nil
	}
	if !s.deps.Access.Loopback && len(s.deps.Access.Hosts) == 0 {
		return nil
	}
	host := hostName(r.Host)
	if isLoopback(host) || !s.deps.Access.Loopback && isAddress(host) {
		return nil
	}
	if public := s.deps.Access.Public(); public != "" && hostName(public) == host {
		return nil
	}
	if slices.ContainsFunc(s.deps.Access.Hosts, func(known string) bool { return hostName(known) == host }) {
		return nil
	}
	return newProblem(http.StatusMisdirectedRequest, haltd.Errorf("unknown_host", "This haltd does not go by the name %q", host).
		WithFix("Call it by its address, or set it as alerts.public_url, or add it to admin.hosts in the configuration."))
}

// hostName is a host without port, brackets and trailing dot, lowercased.
func hostName(hostPort string) string {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// catchUpLimit bounds how long a reader waits for a store that fails.
const catchUpLimit = 300 * time.Millisecond

// catchUp lets whoever asks for the record see what happened before it asked.
// A store that cannot be written still answers with what it has.
func (s *server) catchUp(ctx huma.Context, next func(huma.Context)) {
	if op := ctx.Operation(); op.Method == http.MethodGet && strings.HasPrefix(op.Path, "/v1/") {
		s.writeQueued(ctx.Context())
	}
	next(ctx)
}

// writeQueued has what happened so far written, unless the store fails.
func (s *server) writeQueued(ctx context.Context) {
	limit, cancel := context.WithTimeout(ctx, catchUpLimit)
	defer cancel()
	_ = s.deps.Recorder.Flush(limit)
}

// checkQuery refuses parameters that the route does not have: a misspelt
// filter would otherwise silently select everything.
func (s *server) checkQuery(ctx huma.Context, next func(huma.Context)) {
	op, address := ctx.Operation(), ctx.URL()
	if isPublic(op) || address.RawQuery == "" {
		next(ctx)
		return
	}
	if err := refusedQuery(op, address.RawQuery); err != nil {
		_, w := humago.Unwrap(ctx)
		writeProblem(w, newProblem(http.StatusBadRequest, err))
		return
	}
	next(ctx)
}

func refusedQuery(op *huma.Operation, rawQuery string) *haltd.Error {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return haltd.Errorf(haltd.CodeInvalid, "The query cannot be read: %v", err).WithFix("Percent-encode it.")
	}
	var known []string
	repeatable := map[string]bool{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
			repeatable[p.Name] = p.Schema.Type == huma.TypeArray
		}
	}
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			return haltd.Errorf(haltd.CodeInvalid, "%s is not a query parameter of %s", name, op.Path).
				WithFix("%s", suggestion(name, known))
		case len(values) > 1 && !repeatable[name]:
			return haltd.Errorf(haltd.CodeInvalid, "%s is given %d times", name, len(values)).WithFix("Give it once.")
		}
	}
	return nil
}
