package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KeyedLimit is a rate rule: one bucket for each combination of values that
// its keys have.
type KeyedLimit struct {
	Name  string
	Limit Limit

	policy string
	shadow bool
	keys   []string // sorted
}

// Key names the bucket of a request with these descriptors. It is a hash:
// different values never share a bucket, and secrets in headers stay out of
// the state. Shadow policies have buckets of their own.
func (l *KeyedLimit) Key(descriptors map[string]string) string {
	var memory [256]byte
	b := strconv.AppendBool(memory[:0], l.shadow)
	b = appendPart(b, l.policy)
	b = appendPart(b, l.Name)
	for _, k := range l.keys {
		b = appendPart(b, k)
		b = appendPart(b, descriptors[k])
	}
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(b[:0], "rate:"...), sum[:]))
}

// appendPart writes the length before the bytes, so that no two lists of
// parts look the same.
func appendPart(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// keySource is where the value of a limit key is found.
type keySource string

const (
	fromHeader keySource = "header"
	fromQuery  keySource = "query"
	fromJWT    keySource = "jwt"
	fromIP     keySource = "ip"
)

type limitKey struct {
	text string // as written
	kind keySource
	name string
}

func parseLimitKey(text string) (limitKey, error) {
	kind, name, _ := strings.Cut(text, ":")
	k := limitKey{text: text, kind: keySource(kind), name: name}
	ok := false
	switch k.kind {
	case fromHeader:
		ok = isToken(name)
	case fromQuery:
		ok = name != ""
	case fromJWT:
		ok = !slices.Contains(strings.Split(name, "."), "")
	case fromIP:
		ok = name == "address"
	}
	if !ok {
		return k, fmt.Errorf("expected header:NAME, query:NAME, jwt:CLAIM or ip:address, got %q", text)
	}
	return k, nil
}

// isToken reports a word as HTTP allows it for methods and names of headers.
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}) < 0
}

// Descriptors are the values of all limit keys of the policy, by the keys as
// written; a value that the request does not have is empty. r is as the
// client sent it, remoteIP without port. Claims count only from a token that
// the verifier accepts.
func (p *RequestPolicy) Descriptors(r *http.Request, remoteIP string, now time.Time) map[string]string {
	if len(p.keys) == 0 {
		return nil
	}
	var query url.Values
	var claims map[string]any
	values := make(map[string]string, len(p.keys))
	for _, k := range p.keys {
		switch k.kind {
		case fromHeader:
			values[k.text] = header(r, k.name)
		case fromQuery:
			if query == nil {
				query = r.URL.Query()
			}
			values[k.text] = query.Get(k.name)
		case fromJWT:
			if claims == nil {
				claims = bearerClaims(p.verifier, r, now)
			}
			values[k.text] = claimText(claims, k.name)
		case fromIP:
			values[k.text] = remoteIP
		}
	}
	return values
}

// header finds Host as well, which net/http keeps apart.
func header(r *http.Request, name string) string {
	if strings.EqualFold(name, "Host") {
		return r.Host
	}
	return r.Header.Get(name)
}

// bearerClaims is empty and not nil for a request without a valid token.
func bearerClaims(v *Verifier, r *http.Request, now time.Time) map[string]any {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		if claims, ok := v.Claims(strings.TrimSpace(token), now); ok {
			return claims
		}
	}
	return map[string]any{}
}

// claimText is a claim as text; what is no string, number or boolean has
// none. A dot leads into an object, unless the claim itself is named so.
func claimText(claims map[string]any, name string) string {
	switch v := claims[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		inner, _ := claims[name[:i]].(map[string]any)
		if text := claimText(inner, name[i+1:]); text != "" {
			return text
		}
	}
	return ""
}
