package gateway

import (
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire/formats"
)

// keyHeaders are the places where clients of any provider put their key,
// beside the query parameter of Gemini. A gateway key is accepted in each,
// and none of them goes upstream when it held one.
var keyHeaders = [...]string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

// authenticate finds the gateway key of a request, takes every trace of it
// out of the request and puts the provider's own key in its place. Without a
// gateway key the client's own key stays where it is.
func (g *Gateway) authenticate(x *exchange) error {
	if g.carriesAdminToken(x) {
		return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "This is the admin token, which must not reach a provider").
			WithFix("Use a provider's key or a gateway key here; the admin token is for the admin API, at its own address."))
	}
	secret := takeGatewayKey(x.r)
	if where := misplaced(x.r); where != "" {
		x.event.Path = "" // which may be the place
		return refuseMisplaced(where)
	}
	if secret == "" {
		if x.settings.requireKeys {
			return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "This gateway needs a gateway key").
				WithFix("Ask the operator for one (haltd keys create --agent NAME) and use it as the client's API key."))
		}
		return nil
	}
	key, ok := g.keys.Find(secret)
	if !ok {
		return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "This gateway key is unknown or revoked").
			WithFix("Ask the operator for a new one (haltd keys create --agent NAME)."))
	}
	x.key = key
	if err := x.checkExpiry(); err != nil {
		return err
	}
	up := x.route.upstream
	if provider := up.APIKey.Reveal(); provider != "" {
		if err := x.checkPermitted(); err != nil {
			return err
		}
		name, value := x.route.keyDialect().KeyHeader(provider)
		x.r.Header[http.CanonicalHeaderKey(name)] = []string{value}
	} else if up.NeedsKey {
		return refuse(http.StatusBadRequest, haltd.Errorf("provider_key_missing", "haltd has no key for provider %s", up.Name).
			WithFix("Set providers.%s.api_key in the configuration, or the provider's key in haltd's environment.", up.Name))
	}
	return nil
}

// The codes of requests that no key opens.
const (
	codePath   = "path_not_allowed"
	codeMethod = "method_not_allowed"
)

// methodOverrides are headers by which some servers take a POST for another
// method.
var methodOverrides = [...]string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}

// isMethodOverride reports one of methodOverrides. Some servers take _ for -.
func isMethodOverride(name string) bool {
	if strings.Contains(name, "_") {
		name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	}
	return slices.Contains(methodOverrides[:], name)
}

// checkPermitted refuses what the operator's key must not be lent for: a
// gateway key is for calls, not for the operator's account.
func (x *exchange) checkPermitted() error {
	if x.isProbe() {
		return nil // answered by haltd
	}
	for name := range x.r.Header {
		if isMethodOverride(name) {
			return refuse(http.StatusForbidden, haltd.Errorf(codeMethod, "Header %s is not passed under a gateway key", name).
				WithFix("Send the request with its own method."))
		}
	}
	if overridesMethod(x.r.URL.RawQuery) {
		return refuse(http.StatusForbidden, haltd.Errorf(codeMethod, "Parameter $httpMethod is not passed under a gateway key").
			WithFix("Send the request with its own method."))
	}
	if !formats.Permits(x.r.Method, x.route.path) {
		return refuse(http.StatusForbidden, haltd.Errorf(codePath, "A gateway key does not open %.20s %.200s: it opens what generates or reads", x.r.Method, x.route.path).
			WithFix("Use a key of the provider's own for anything else, directly or without a gateway key."))
	}
	return nil
}

// overridesMethod reports a query that makes Google's servers take the request
// for one of another method.
func overridesMethod(rawQuery string) bool {
	for pair := range strings.FieldsFuncSeq(rawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err != nil || strings.EqualFold(decoded, "$httpMethod") {
			return true
		}
	}
	return false
}

func (g *Gateway) carriesAdminToken(x *exchange) bool {
	for candidate := range credentials(x.r) {
		if strings.HasPrefix(candidate, haltd.TokenPrefix) || g.guard.recognises(candidate, x.clientIP(), x.start) {
			return true
		}
	}
	return false
}

// takeGatewayKey finds the first gateway key of a request. When there is one,
// every place of a key is emptied: the provider's key alone goes upstream.
func takeGatewayKey(r *http.Request) string {
	secret := ""
	for candidate := range credentials(r) {
		if strings.HasPrefix(candidate, haltd.KeyPrefix) {
			secret = candidate
			break
		}
	}
	if secret == "" {
		return ""
	}
	for _, name := range keyHeaders {
		delete(r.Header, name)
	}
	r.URL.RawQuery = withoutQueryKey(r.URL.RawQuery)
	return secret
}

// credentials are all keys that a request carries, in every place.
func credentials(r *http.Request) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range keyHeaders {
			for _, v := range r.Header[name] {
				if !yield(bearer(v)) {
					return
				}
			}
		}
		for v := range queryKeys(r.URL.RawQuery) {
			if !yield(v) {
				return
			}
		}
	}
}

func bearer(v string) string {
	v = strings.TrimSpace(v)
	if len(v) > 7 && strings.EqualFold(v[:7], "bearer ") {
		v = strings.TrimSpace(v[7:])
	}
	return v
}

// clientKey is the credential that the client itself sent; it only ever
// goes into a digest.
func clientKey(r *http.Request) string {
	for v := range credentials(r) {
		return v
	}
	return ""
}

// queryKeys are the values of the query parameter `key`.
func queryKeys(rawQuery string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if rawQuery == "" {
			return
		}
		for pair := range strings.SplitSeq(rawQuery, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if !isKeyName(name) {
				continue
			}
			if v, err := url.QueryUnescape(value); err == nil && !yield(v) {
				return
			}
		}
	}
}

// withoutQueryKey drops `key` and leaves every other byte of the query.
func withoutQueryKey(rawQuery string) string {
	var kept []string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if name, _, _ := strings.Cut(pair, "="); !isKeyName(name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

func isKeyName(name string) bool {
	if name == "key" {
		return true
	}
	decoded, err := url.QueryUnescape(name)
	return err == nil && decoded == "key"
}

// dropAdminCookie takes the dashboard's cookie out, which browsers send to
// every port of its host, and leaves the others as they are.
func dropAdminCookie(h http.Header) {
	lines := h["Cookie"]
	if !slices.ContainsFunc(lines, func(v string) bool { return strings.Contains(v, haltd.AdminCookie) }) {
		return
	}
	kept := lines[:0:0]
	for _, line := range lines {
		var cookies []string
		for c := range strings.SplitSeq(line, ";") {
			if name, _, _ := strings.Cut(c, "="); strings.TrimSpace(name) != haltd.AdminCookie {
				cookies = append(cookies, c)
			}
		}
		if rest := strings.TrimSpace(strings.Join(cookies, ";")); rest != "" {
			kept = append(kept, rest)
		}
	}
	if delete(h, "Cookie"); len(kept) > 0 {
		h["Cookie"] = kept
	}
}
