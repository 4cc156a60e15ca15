// Package calls reads the requests and replies of LLM providers for package
// detect: OpenAI Chat Completions, OpenAI Responses, Anthropic Messages, also on
// other clouds, Gemini generateContent and Ollama's chat, streamed or not. The
// same conversation reads the same in all of them. It is the reader of the
// gateway.
package calls

import (
	"net/http"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// FromRequest reads the body of a POST to the path of a URL, which says the
// format: /v1/chat/completions, /v1/responses, /v1/messages,
// /v1beta/models/{model}:generateContent and what a provider puts before them.
// An error is an *haltd.Error: CodeMalformed where the body is not of the
// format, which says where, and CodeInvalid where the path is none of these.
func FromRequest(path string, body []byte) (*haltd.Call, error) {
	f, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	return f.ReadCall(path, body, nil)
}

// longest bounds what is kept of a reply.
const longest = 64 << 20

// FromReply reads the whole reply to such a POST: a JSON document or an event
// stream. An error is an *haltd.Error with CodeMalformed; the reply beside it
// holds what could be read and is never nil where the path is one.
func FromReply(path string, body []byte) (*haltd.Reply, error) {
	f, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	tap := wire.NewTap(f, http.StatusOK, http.Header{}, longest, nil)
	tap.Write(body) // which never fails
	reply, unread := tap.Close(true)
	if unread != "" {
		return reply, haltd.Errorf(haltd.CodeMalformed, "the reply cannot be read: %s", unread).
			WithFix("Pass the whole body of a 2xx reply, decoded, as the provider sent it.")
	}
	return reply, nil
}

func formatOf(path string) (wire.Format, error) {
	if f, _ := formats.Match(path); f != nil {
		return f, nil
	}
	return nil, haltd.Errorf(haltd.CodeInvalid, "%q is not the path of an LLM call", path).
		WithFix("Pass the path of the provider's URL, for example /v1/chat/completions, /v1/responses, /v1/messages or /v1beta/models/gemini-2.5-pro:generateContent.")
}
