package gateway

import (
	"crypto/subtle"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/haltd/haltd"
)

// keyHeaders are the places where clients of any provider put their key,
// beside the query parameter of Gemini. A gateway key is accepted in each,
// and none of them goes upstream when it held one.
var keyHeaders = [...]string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

// authenticate finds the gateway key of a request, takes every trace of it
// out of the request and puts the provider's own key in its place. Without a
// gateway key the client's own key stays where it is.
func (g *Gateway) authenticate(x *exchange) error {
	if g.carriesAdminToken(x.r) {
		return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "This is the admin token, which no provider may see").
			WithFix("Send it to the admin API, which has an address of its own; here goes a provider's key or a gateway key."))
	}
	secret := takeGatewayKey(x.r)
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
	up := x.route.upstream
	if provider := up.APIKey.Reveal(); provider != "" {
		name, value := x.route.keyDialect().KeyHeader(provider)
		x.r.Header[http.CanonicalHeaderKey(name)] = []string{value}
	} else if up.NeedsKey {
		return refuse(http.StatusBadRequest, haltd.Errorf("provider_key_missing", "haltd has no key for provider %s", up.Name).
			WithFix("Set providers.%s.api_key in the configuration, or the provider's key in haltd's environment.", up.Name))
	}
	return nil
}

func (g *Gateway) carriesAdminToken(r *http.Request) bool {
	if g.adminToken == "" {
		return false
	}
	for candidate := range credentials(r) {
		if subtle.ConstantTimeCompare([]byte(candidate), []byte(g.adminToken)) == 1 {
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
