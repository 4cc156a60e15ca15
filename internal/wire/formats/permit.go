package formats

import (
	"net/http"
	"strings"

	"github.com/haltd/haltd/internal/wire"
)

// permitted are the requests that generate, prepare a generation or read, as
// paths behind the version: * is one segment, ** any number of them. What
// deletes, administers, trains, or makes credentials that would work without
// the gateway is missing on purpose.
var permitted = map[string][][]string{
	http.MethodGet: patterns(
		"models/**", "tunedmodels/**", // of all providers
		"chat/completions/**", "responses/**", "conversations/**", "batches/**", "files/**", "uploads/**",
		"threads/**", "assistants/**", "vector_stores/**", "videos/**", "audio/voices", "fine_tuning/jobs/**",
		"messages/batches/**",
		"cachedcontents/**", "operations/**", "interactions/**", "filesearchstores/**",
		"api/tags", "api/ps", "api/version", "version", // Ollama
	),
	http.MethodPost: patterns(
		"completions", "embeddings", "moderations", "rerank", "ocr", "fim/completions", "agents/completions",
		"responses/compact", "responses/input_tokens", "responses/*/cancel", "conversations", "conversations/*/items",
		"images/generations", "images/edits", "images/variations", "videos", "videos/*/remix",
		"audio/speech", "audio/transcriptions", "audio/translations",
		"batches", "batches/*/cancel", "files", "uploads", "uploads/*/parts", "uploads/*/complete", "uploads/*/cancel",
		"assistants", "threads", "threads/runs", "threads/*/messages", "threads/*/runs", "threads/*/runs/*/submit_tool_outputs", "threads/*/runs/*/cancel",
		"vector_stores", "vector_stores/*/files", "vector_stores/*/search",
		"complete", "messages/count_tokens", "messages/batches", "messages/batches/*/cancel",
		"cachedcontents", "interactions", "interactions/*/cancel", "batches/*:cancel",
		"api/chat", "api/generate", "api/embed", "api/embeddings", "api/show",
		"model/*/invoke", "model/*/invoke-with-response-stream", "model/*/converse", "model/*/converse-stream", // Bedrock
	),
}

// permittedVerbs are the methods of Gemini's and Vertex's models.
var permittedVerbs = map[string]bool{
	"generatecontent": true, "streamgeneratecontent": true, "batchgeneratecontent": true, "generateanswer": true,
	"counttokens": true, "computetokens": true, "embedcontent": true, "batchembedcontents": true, "asyncbatchembedcontent": true,
	"predict": true, "predictlongrunning": true, "fetchpredictoperation": true, "rawpredict": true, "streamrawpredict": true,
}

func patterns(paths ...string) [][]string {
	all := make([][]string, len(paths))
	for i, p := range paths {
		all[i] = strings.Split(p, "/")
	}
	return all
}

// Permits reports whether a request may go out with the operator's key: one
// that generates or reads. path is decoded and clean; a method counts as it is
// written, and a path that servers may read in two ways is none of these.
func Permits(method, path string) bool {
	if strings.ContainsAny(path, ";%") {
		return false
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if f, _ := Match(path); f != nil && method == http.MethodPost {
		return true
	}
	tail := behindVersion(wire.Segments(path))
	if method == http.MethodPost && isModelCall(tail) {
		return true
	}
	for _, p := range permitted[method] {
		if matches(p, tail) {
			return true
		}
	}
	return false
}

// behindVersion leaves out what stands before the resource: a version, with
// what some providers put around it, a project of Vertex, a deployment of
// Azure.
func behindVersion(s []string) []string {
	if len(s) > 1 && (s[0] == "openai" || s[0] == "upload" || s[0] == "api" && isVersion(s[1])) {
		s = s[1:]
	}
	if len(s) > 0 && isVersion(s[0]) {
		s = s[1:]
	}
	for _, prefix := range [...]string{"openai", "projects/*/locations/*", "publishers/*", "deployments/*"} {
		p := strings.Split(prefix, "/")
		if len(s) > len(p) && matches(p, s[:len(p)]) {
			s = s[len(p):]
		}
	}
	return s
}

func isVersion(segment string) bool {
	return len(segment) >= 2 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9'
}

// isModelCall reports models/{model}:{verb} with a verb that generates or
// counts.
func isModelCall(s []string) bool {
	if len(s) != 2 || s[0] != "models" && s[0] != "tunedmodels" && s[0] != "endpoints" && s[0] != "dynamic" {
		return false
	}
	_, verb, _ := strings.Cut(s[1], ":")
	return permittedVerbs[verb]
}

func matches(pattern, s []string) bool {
	for i, p := range pattern {
		switch {
		case p == "**":
			return true
		case i >= len(s):
			return false
		case strings.HasPrefix(p, "*:"):
			if !strings.HasSuffix(s[i], p[1:]) {
				return false
			}
		case p != "*" && p != s[i]:
			return false
		}
	}
	return len(pattern) == len(s)
}
