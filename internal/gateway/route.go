package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// route is what the path of a request says.
type route struct {
	agent    string // path segment as sent; "" without one
	upstream *upstream
	rest     string       // escaped path for the upstream, as sent
	path     string       // the same, decoded and clean
	format   wire.Format  // what a body sent there means; nil when it is no LLM call
	kind     formats.Kind // what the request makes that is no LLM call
	dialect  wire.Dialect // of the format, else of the provider
}

// keyDialect is the manner in which the upstream takes its key. Whoever
// offers OpenAI's format takes a key as OpenAI does.
func (rt *route) keyDialect() wire.Dialect {
	if rt.dialect.Name() == "openai" {
		return rt.dialect
	}
	return rt.upstream.dialect
}

// findRoute reads the routes of the gateway:
//
//	/agents/{agent}/{provider}/…
//	/agents/{agent}/v1/…
//	/{provider}/…
//	/v1/…, /v1beta/…
func findRoute(r *http.Request, s *Settings) (route, error) {
	var rt route
	escaped := requestPath(r)
	rest := escaped
	segment, after, err := nextSegment(rest)
	if err != nil {
		return rt, err
	}
	if segment == "agents" {
		if rt.agent, rest, err = nextSegment(after); err != nil {
			return rt, err
		}
		if segment, after, err = nextSegment(rest); err != nil {
			return rt, err
		}
	}
	if service, err := findService(r, s, rest); err != nil || service != nil {
		rt.upstream, rt.rest, rt.dialect = service, rest, s.fallback
		if err == nil {
			rt.path, err = cleanPath(rest)
		}
		return rt, err
	}
	if u := s.upstream(segment); u != nil {
		rt.upstream, rest = u, after
	}
	rt.rest = rest
	if rt.path, err = cleanPath(rest); err != nil {
		return rt, err
	}
	if rt.upstream == nil {
		rt.upstream = s.upstream(inferProvider(r, rt.path))
	}
	if rt.upstream == nil {
		return rt, refuse(http.StatusNotFound, noRoute(escaped))
	}
	if rt.format, rt.dialect = formats.Match(rt.path); rt.format == nil {
		rt.dialect = rt.upstream.dialect
		rt.kind = formats.KindOf(r.Method, rt.path, r.ContentLength != 0)
	}
	return rt, nil
}

// findService finds the service of a policy that selects this path; nil when
// there is none.
func findService(r *http.Request, s *Settings, rest string) (*upstream, error) {
	if len(s.services) == 0 {
		return nil, nil
	}
	path, err := cleanPath(rest)
	if err != nil {
		return nil, err
	}
	p, ok := s.policies.Upstream(r.Method, r.Host, path)
	if !ok {
		return nil, nil
	}
	return s.service(p.ID), nil
}

// requestPath is the path as it stood in the request line. net/url would
// re-escape some of what it decodes.
func requestPath(r *http.Request) string {
	raw := r.RequestURI
	if !strings.HasPrefix(raw, "/") {
		return r.URL.EscapedPath()
	}
	raw, _, _ = strings.Cut(raw, "?")
	return raw
}

// nextSegment cuts the first segment off an escaped path and decodes it.
// Empty segments before it are skipped: base URLs with a trailing slash make
// them.
func nextSegment(escaped string) (segment, rest string, err error) {
	escaped = strings.TrimLeft(escaped, "/")
	end := strings.IndexByte(escaped, '/')
	if end < 0 {
		end = len(escaped)
	}
	segment, err = url.PathUnescape(escaped[:end])
	if err != nil {
		return "", "", badPath()
	}
	return segment, escaped[end:], nil
}

// cleanPath decodes a path for matching. Dot segments, backslashes and
// fragments are refused: what they mean depends on who reads them, and a path
// must not mean another thing to the upstream than to haltd.
func cleanPath(escaped string) (string, error) {
	decoded, err := url.PathUnescape(escaped)
	if err != nil || strings.ContainsAny(decoded, "\\\x00") || strings.Contains(escaped, "#") {
		return "", badPath()
	}
	if !strings.Contains(decoded, "//") && !strings.Contains(decoded, "/.") {
		return decoded, nil
	}
	var b strings.Builder
	for segment := range strings.SplitSeq(decoded, "/") {
		switch segment {
		case "":
		case ".", "..":
			return "", badPath()
		default:
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	return b.String(), nil
}

func badPath() error {
	return refuse(http.StatusBadRequest, haltd.Errorf("invalid_path", "The path of this request is ambiguous").
		WithFix("Send it without dot segments, backslashes, fragments or broken percent signs."))
}

func noRoute(path string) *haltd.Error {
	e := haltd.Errorf(haltd.CodeNotFound, "The gateway has no route for %.200s", path)
	if f, _ := formats.Match("/v1" + path); f != nil && strings.Count(path, "/") <= 2 {
		return e.WithFix("Add /v1 to the client's base URL.")
	}
	return e.WithFix("Use /v1/…, /{provider}/… or /agents/{agent}/{provider}/… with a configured provider.")
}

// inferProvider names the provider of a bare path by its shape, then by the
// headers that only that provider's clients send; "" when nothing tells.
func inferProvider(r *http.Request, path string) string {
	first, tail, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(path, "/")), "/")
	switch {
	case first == "v1beta" || first == "v1alpha":
		return "gemini"
	case first == "v1" && (strings.HasPrefix(tail, "models/") || strings.HasPrefix(tail, "tunedmodels/")) && strings.Contains(tail, ":"):
		return "gemini"
	case first == "v1" && (tail == "messages" || strings.HasPrefix(tail, "messages/")):
		return "anthropic"
	case first == "v1" && (strings.HasPrefix(tail, "chat/") || strings.HasPrefix(tail, "responses")):
		return "openai"
	case field(r.Header, "Anthropic-Version") != "" || clientFamily(r.Header) == "claude-code":
		return "anthropic"
	case field(r.Header, "X-Goog-Api-Key") != "" || (first == "v1" && hasQueryKey(r)):
		return "gemini"
	case first == "v1" && field(r.Header, "X-Api-Key") != "":
		return "anthropic"
	case first == "v1":
		return "openai"
	}
	return ""
}

func hasQueryKey(r *http.Request) bool {
	for range queryKeys(r.URL.RawQuery) {
		return true
	}
	return false
}
