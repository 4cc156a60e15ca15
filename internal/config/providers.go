package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// builtIn is what haltd knows of a provider without being told.
type builtIn struct {
	baseURL      string
	format       string
	keyVariables []string // where its key may be found, the first set one wins
}

// builtIns have base URLs to which the provider's own paths, /v1/… or
// /v1beta/…, are appended.
var builtIns = map[string]builtIn{
	"openai":     {"https://api.openai.com", "openai", []string{"OPENAI_API_KEY"}},
	"anthropic":  {"https://api.anthropic.com", "anthropic", []string{"ANTHROPIC_API_KEY"}},
	"gemini":     {"https://generativelanguage.googleapis.com", "gemini", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	"mistral":    {"https://api.mistral.ai", "openai", []string{"MISTRAL_API_KEY"}},
	"groq":       {"https://api.groq.com/openai", "openai", []string{"GROQ_API_KEY"}},
	"deepseek":   {"https://api.deepseek.com", "openai", []string{"DEEPSEEK_API_KEY"}},
	"openrouter": {"https://openrouter.ai/api", "openai", []string{"OPENROUTER_API_KEY"}},
	"together":   {"https://api.together.xyz", "openai", []string{"TOGETHER_API_KEY"}},
	"xai":        {"https://api.x.ai", "openai", []string{"XAI_API_KEY"}},
	"moonshot":   {"https://api.moonshot.ai", "openai", []string{"MOONSHOT_API_KEY"}},
	"ollama":     {"http://127.0.0.1:11434", "openai", nil},
}

func builtInProviders() map[string]Provider {
	providers := make(map[string]Provider, len(builtIns))
	for name, b := range builtIns {
		u, err := url.Parse(b.baseURL)
		if err != nil {
			panic(err) // a constant above
		}
		providers[name] = Provider{
			Name:     name,
			BaseURL:  u,
			Format:   b.format,
			NeedsKey: len(b.keyVariables) > 0,

			ConnectTimeout: connectTimeout,
		}
	}
	return providers
}

// connectTimeout is that of a provider for which nobody said anything.
const connectTimeout = 10 * time.Second

var (
	providerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	// reservedNames are first segments of the gateway's own paths.
	reservedNames = []string{"agents", "v1", "v1beta", "v1alpha", "healthz"}
	formats       = []string{"openai", "anthropic", "gemini"}
)

// provider completes and checks one entry.
func (d *decoder) provider(name string, p Provider) Provider {
	key := join("providers", name)
	switch {
	case !providerName.MatchString(name):
		d.problem(key, "not a provider name; use lower-case letters, digits and dashes, 32 at most, and a letter first")
	case slices.Contains(reservedNames, name):
		d.problem(key, "the name is taken by a path of the gateway; choose another")
	}
	p.Name = name
	if p.Format == "" && !d.isSet(key+".format") {
		p.Format = "openai"
	}
	if !slices.Contains(formats, p.Format) {
		d.problem(key+".format", "expected openai, anthropic or gemini, got %s", quote(p.Format))
	}
	if p.MaxConnections < 0 {
		d.problem(key+".max_connections", "expected 0 (no limit) or more, got %d", p.MaxConnections)
	}
	if p.ConnectTimeout == 0 && !d.isSet(key+".connect_timeout") {
		p.ConnectTimeout = connectTimeout
	}
	d.reach(key, &p)
	p.APIKey = d.headerSecret(key+".api_key", p.APIKey, p.APIKeyFile)
	p.BaseURL = d.baseURL(key, p.BaseURL)
	if u := p.BaseURL; u != nil && u.Scheme == "http" && p.APIKey != "" && !isLoopback(u.Hostname()) {
		d.warn(key+".base_url", "the key of %s travels unencrypted; use https", name)
	}
	return p
}

func (d *decoder) baseURL(provider string, u *url.URL) *url.URL {
	key := provider + ".base_url"
	if u != nil {
		return d.absoluteURL(key, u, "use api_key for the key")
	}
	if !d.isSet(key) { // else the decoder said what is wrong with it
		d.problem(provider, "base_url is missing; only built-in providers go without")
	}
	return nil
}

// absoluteURL is u without a slash at its end, or nil for one to which no path
// can be appended. fix says where a password belongs instead.
func (d *decoder) absoluteURL(key string, u *url.URL, fix string) *url.URL {
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		d.problem(key, "expected a URL such as https://api.example.com, got %s", quote(u.Redacted()))
	case u.User != nil:
		d.problem(key, "a URL with a user name or password; %s", fix)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		d.problem(key, "a URL with a query or fragment; end it at the path")
	default:
		return withoutSlash(u)
	}
	return nil
}

// withoutSlash is u with a path to which another one can be appended.
func withoutSlash(u *url.URL) *url.URL {
	trimmed := *u
	trimmed.Path = strings.TrimRight(u.Path, "/")
	trimmed.RawPath = strings.TrimRight(u.RawPath, "/")
	return &trimmed
}
