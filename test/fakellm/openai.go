package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
)

var openaiFamily = family{
	headers:   openaiHeaders,
	jsonType:  "application/json",
	errorBody: openaiError,
	pass:      openaiPass,
}

func openaiHeaders(h http.Header, req *Request) {
	h.Set("X-Request-Id", hexIdentifier("req_", 32, req.N, "request"))
	h.Set("Openai-Organization", "fake-org")
	h.Set("Openai-Processing-Ms", "12")
	h.Set("Openai-Version", "2020-10-01")
	h.Set("X-Ratelimit-Limit-Requests", "10000")
	h.Set("X-Ratelimit-Remaining-Requests", "9999")
	h.Set("X-Ratelimit-Reset-Requests", "6ms")
}

func openaiError(status int, message string, _ *Request) []byte {
	return encodeIndented(object{"error", openaiErrorObject(status, message)})
}

func openaiErrorObject(status int, message string) object {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusNotFound:
		code = "model_not_found"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= 500:
		kind, code = "server_error", "server_error"
	}
	return object{"message", message, "type", kind, "param", nil, "code", code}
}

func openaiPass(req *Request, path string) (int, []byte) {
	switch {
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		data := list{}
		for _, id := range listedModels {
			data = append(data, openaiModel(id))
		}
		return http.StatusOK, encodeIndented(object{"object", "list", "data", data})
	case req.Method == http.MethodGet && strings.Contains(path, "/models/"):
		return http.StatusOK, encodeIndented(openaiModel(path[strings.LastIndex(path, "/")+1:]))
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/embeddings"):
		return openaiEmbeddings(req)
	}
	return http.StatusNotFound, nil
}

// listedModels are what every family's models listing shows.
var listedModels = []string{"echo", "loop", "tools"}

func openaiModel(id string) object {
	return object{"id", id, "object", "model", "created", created, "owned_by", "fake-org"}
}

func openaiEmbeddings(req *Request) (int, []byte) {
	var body struct {
		Model string
		Input json.RawMessage
	}
	if err := json.Unmarshal(req.Body, &body); err != nil {
		return http.StatusBadRequest, openaiError(http.StatusBadRequest, "We could not parse the JSON body of your request.", req)
	}
	var inputs []string
	if json.Unmarshal(body.Input, &inputs) != nil {
		inputs = []string{string(body.Input)}
	}
	data, size := list{}, 0
	for i, in := range inputs {
		size += len(in)
		data = append(data, object{"object", "embedding", "index", i, "embedding", list{0.25, -0.5, 0.125}})
	}
	n := tokens(size)
	return http.StatusOK, encodeIndented(object{"object", "list", "data", data, "model", body.Model,
		"usage", object{"prompt_tokens", n, "total_tokens", n}})
}

// sseData is an event without a name.
func sseData(v any) []byte {
	return append(append([]byte("data: "), encode(v)...), "\n\n"...)
}

// sseEvent is an event with a name.
func sseEvent(name string, v any) []byte {
	return append([]byte("event: "+name+"\n"), sseData(v)...)
}

// partText joins the texts of a content field that is a string or an array of
// parts.
func partText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
