package gateway

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/haltd/haltd"
)

// secretLength is how many characters of base64 a secret of haltd's has behind
// its prefix, at least. Names may begin alike.
const secretLength = 40

// common is how the prefixes of keys and tokens begin.
const common = "haltd"

// refuseMisplaced refuses a key or a token of haltd's where nobody looks for
// one: it would reach the provider.
func refuseMisplaced(where string) error {
	return refuse(http.StatusUnauthorized, haltd.Errorf(haltd.CodeUnauthorized, "%s has a key of haltd's in it, which must not reach a provider", where).
		WithFix("Use the key as the client's API key: as Authorization: Bearer, x-api-key, x-goog-api-key, api-key or the parameter key."))
}

// misplaced says which part of a request carries a secret of haltd's, after the
// places of keys were emptied; "" for none.
func misplaced(r *http.Request) string {
	for name, values := range r.Header {
		for _, v := range values {
			if hasSecret(v) || name == "Authorization" && hasSecret(basic(v)) {
				return "Header " + name
			}
		}
	}
	if hasSecret(r.URL.Path) { // which is decoded
		return "The path"
	}
	if q := r.URL.RawQuery; q != "" {
		if text, err := url.QueryUnescape(q); hasSecret(q) || err == nil && hasSecret(text) {
			return "The query"
		}
	}
	return ""
}

// hasSecret reports a gateway key or a token of the admin API in a text.
func hasSecret(text string) bool {
	for {
		at := strings.Index(text, common)
		if at < 0 {
			return false
		}
		text = strings.TrimPrefix(text[at:], haltd.KeyPrefix)
		if text = strings.TrimPrefix(text, haltd.TokenPrefix); strings.HasPrefix(text, common) {
			text = text[len(common):]
			continue
		}
		length := strings.IndexFunc(text, func(c rune) bool {
			return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
		})
		if length < 0 {
			length = len(text)
		}
		if length >= secretLength {
			return true
		}
	}
}

// basic is user and password of an Authorization header that has them.
func basic(v string) string {
	scheme, code, _ := strings.Cut(v, " ")
	if !strings.EqualFold(scheme, "basic") {
		return ""
	}
	text, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
	return string(text)
}
