package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// field is a header of a request or reply, "" where it has none. Its name is written as
// net/http writes it, which then need not be found out, twenty times a call.
func field(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// families are the names of clients that clientFamily finds besides those of
// the official SDKs.
var families = []string{"claude-code", "opencode", "codex", "gemini-cli", "langchain", "vercel-ai", "google-genai", "curl", unknownClient}

const unknownClient = "unknown"

// isFamily reports the id of a default agent. Whoever calls itself so shares
// that agent: its kill must not fall on everybody.
func isFamily(agent string) bool {
	maker, language, _ := strings.Cut(agent, "-")
	return slices.Contains(families, agent) || language != "" && stainlessFamily(maker+"/"+language) == agent
}

// isInteractive reports a client with a person at its keyboard.
func isInteractive(client string) bool {
	switch client {
	case "claude-code", "codex", "gemini-cli", "opencode":
		return true
	}
	return false
}

// clientFamily names the program that calls, by what it sends unasked. It is
// also the id of the default agent, so each is a valid agent id.
func clientFamily(h http.Header) string {
	ua := strings.ToLower(field(h, "User-Agent"))
	originator := strings.ToLower(field(h, "Originator"))
	switch {
	case field(h, "X-Claude-Code-Session-Id") != "" || strings.HasPrefix(ua, "claude-cli/"):
		return "claude-code"
	case originator == "opencode" || strings.HasPrefix(ua, "opencode/"):
		return "opencode"
	case strings.HasPrefix(originator, "codex") || strings.HasPrefix(ua, "codex") || field(h, "X-Codex-Turn-Metadata") != "":
		return "codex"
	case strings.HasPrefix(ua, "geminicli"):
		return "gemini-cli"
	case strings.Contains(ua, "langchain"):
		return "langchain"
	case strings.HasPrefix(ua, "ai/") || strings.HasPrefix(ua, "ai-sdk/") || strings.Contains(ua, " ai-sdk/"):
		return "vercel-ai"
	case strings.Contains(ua, "google-genai-sdk/") || strings.Contains(strings.ToLower(field(h, "X-Goog-Api-Client")), "google-genai-sdk/"):
		return "google-genai"
	}
	if family := stainlessFamily(ua); family != "" {
		return family
	}
	if strings.HasPrefix(ua, "curl/") {
		return "curl"
	}
	return unknownClient
}

// stainlessFamily reads the user agents of the official SDKs, such as
// "OpenAI/Python 1.99.0" and "AsyncAnthropic/Python 0.60.0".
func stainlessFamily(ua string) string {
	for _, maker := range [...]string{"openai", "anthropic"} {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(ua, "async"), maker+"/")
		if !ok {
			continue
		}
		language, _, _ := strings.Cut(rest, " ")
		switch language {
		case "js", "python", "go", "java", "ruby", "kotlin", "csharp", "php":
			return maker + "-" + language
		}
		return maker + "-sdk"
	}
	return ""
}
