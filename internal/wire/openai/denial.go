package openai

import "github.com/haltd/haltd/internal/wire"

// Denial is an OpenAI error body.
func (Dialect) Denial(d wire.Denied) []byte {
	b := appendError([]byte(`{"error":`), d)
	return append(d.AppendBlock(b), '}')
}

// rateLimitExceeded is the code of every rate limit of OpenAI.
const rateLimitExceeded = "rate_limit_exceeded"

// words are the type and the code of the error.
func words(d wire.Denied) (kind, code string) {
	if d.RetryAfter > 0 {
		return "requests", rateLimitExceeded
	}
	return "invalid_request_error", d.Code
}

// appendError appends the error object.
func appendError(dst []byte, d wire.Denied) []byte {
	kind, code := words(d)
	dst = wire.AppendQuoted(append(dst, `{"message":`...), d.Message)
	dst = wire.AppendQuoted(append(dst, `,"type":`...), kind)
	dst = wire.AppendQuoted(append(dst, `,"param":null,"code":`...), code)
	return append(d.AppendBlock(dst), '}')
}

// StreamError is a chunk with an error body.
func (Chat) StreamError(d wire.Denied) []byte {
	b := append([]byte("data: "), Dialect{}.Denial(d)...)
	return append(b, "\n\n"...)
}

// StreamError is an error event and a failed response, as the API itself ends
// a stream: SDKs raise the first, Codex reads only the second. Nobody checks
// the sequence numbers, which the provider alone could continue.
func (Responses) StreamError(d wire.Denied) []byte {
	return appendFailed(appendErrorEvent(nil, d), d)
}

// appendErrorEvent says everything twice: in an object, as the API sends it,
// and beside it, as the API's reference has it. Some clients insist on the
// one, some on the other.
func appendErrorEvent(dst []byte, d wire.Denied) []byte {
	_, code := words(d)
	dst = append(dst, "event: error\ndata: "+`{"type":"error","sequence_number":0,"error":`...)
	dst = wire.AppendQuoted(append(appendError(dst, d), `,"code":`...), code)
	dst = wire.AppendQuoted(append(dst, `,"message":`...), d.Message)
	dst = append(dst, `,"param":null`...)
	return append(d.AppendBlock(dst), "}\n\n"...)
}

// appendFailed gives the failed response one of the few codes that it can
// have. Codex tries again after all but some of them; invalid_prompt is the
// one that fits and stops it.
func appendFailed(dst []byte, d wire.Denied) []byte {
	code := "invalid_prompt"
	if d.RetryAfter > 0 {
		code = rateLimitExceeded
	}
	dst = append(dst, "event: response.failed\ndata: "+
		`{"type":"response.failed","sequence_number":1,"response":{"id":"resp_haltd","object":"response","created_at":0,"status":"failed","error":{"code":`...)
	dst = wire.AppendQuoted(dst, code)
	dst = wire.AppendQuoted(append(dst, `,"message":`...), d.Message)
	dst = append(d.AppendBlock(dst), `},"incomplete_details":null,"model":"","output":[],"usage":null}`...)
	return append(d.AppendBlock(dst), "}\n\n"...)
}
