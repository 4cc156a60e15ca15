package fakellm

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

var geminiFamily = family{
	headers:   geminiHeaders,
	jsonType:  "application/json; charset=UTF-8",
	errorBody: geminiErrorBody,
	pass:      geminiPass,
}

var geminiFormat = format{
	name:       "gemini",
	family:     &geminiFamily,
	read:       readGemini,
	whole:      func(r *reply) []byte { return encodeIndented(r.geminiChunk(r.geminiParts(), true)) },
	stream:     streamGemini,
	streamType: geminiStreamType,
}

func geminiHeaders(h http.Header, _ *Request) {
	h.Add("Vary", "Origin")
	h.Add("Vary", "X-Origin")
	h.Add("Vary", "Referer")
	h.Set("Server", "scaffolding on HTTPServer2")
	h.Set("X-Xss-Protection", "0")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Server-Timing", "gfet4t7; dur=12")
}

func geminiStreamType(req *Request) string {
	if req.Ask.sse {
		return "text/event-stream"
	}
	return geminiFamily.jsonType
}

// geminiErrorBody wraps the error in an array where the reply would have been
// one, as the real service does.
func geminiErrorBody(status int, message string, req *Request) []byte {
	body := object{"error", geminiError(status, message)}
	if strings.HasSuffix(decodedPath(req), ":streamGenerateContent") && !wantsSSE(req) {
		return encodeIndented(list{body})
	}
	return encodeIndented(body)
}

func geminiError(status int, message string) object {
	return object{"code", status, "message", message, "status", geminiStatus(status)}
}

func geminiStatus(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	if status >= 500 {
		return "INTERNAL"
	}
	return "FAILED_PRECONDITION"
}

func geminiPass(req *Request, path string) (int, []byte) {
	switch {
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		models := list{}
		for _, id := range listedModels {
			models = append(models, geminiModel(id))
		}
		return http.StatusOK, encodeIndented(object{"models", models})
	case req.Method == http.MethodGet && strings.Contains(path, "/models/"):
		return http.StatusOK, encodeIndented(geminiModel(geminiPathModel(path)))
	case req.Method == http.MethodPost && strings.HasSuffix(path, ":countTokens"):
		var count Request
		if err := readGemini(req.Body, &count); err != nil {
			return http.StatusBadRequest, geminiErrorBody(http.StatusBadRequest, "Invalid JSON payload received.", req)
		}
		n := tokens(count.Ask.promptBytes)
		return http.StatusOK, encodeIndented(object{"totalTokens", n, "promptTokensDetails", geminiDetails(n)})
	}
	return http.StatusNotFound, nil
}

func geminiModel(id string) object {
	return object{
		"name", "models/" + id, "version", "001", "displayName", id, "description", "A fake model",
		"inputTokenLimit", 1048576, "outputTokenLimit", 65536,
		"supportedGenerationMethods", list{"generateContent", "countTokens"},
	}
}

// geminiPathModel is the model in a path like /v1beta/models/NAME:method.
func geminiPathModel(path string) string {
	_, rest, _ := strings.Cut(path, "/models/")
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func wantsSSE(req *Request) bool {
	query, err := url.ParseQuery(req.Query)
	return err == nil && query.Get("alt") == "sse"
}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text             string `json:"text"`
		FunctionResponse *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

type geminiTool struct {
	FunctionDeclarations []struct {
		Name                 string          `json:"name"`
		Parameters           json.RawMessage `json:"parameters"`
		ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
	} `json:"functionDeclarations"`
}

func readGemini(body []byte, req *Request) error {
	var b struct {
		SystemInstruction geminiContent   `json:"systemInstruction"`
		Contents          []geminiContent `json:"contents"`
		Tools             []geminiTool    `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	path, ask := decodedPath(req), &req.Ask
	ask.Model = geminiPathModel(path)
	ask.Stream = strings.HasSuffix(path, ":streamGenerateContent")
	ask.sse = wantsSSE(req)
	b.SystemInstruction.Role = "system"
	for _, c := range append([]geminiContent{b.SystemInstruction}, b.Contents...) {
		ask.heardContent(c)
	}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			schema := f.Parameters
			if schema == nil {
				schema = f.ParametersJSONSchema
			}
			ask.Tools = append(ask.Tools, Tool{Name: f.Name, Schema: schema})
		}
	}
	return nil
}

func (a *Ask) heardContent(c geminiContent) {
	var texts, results []string
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			results = append(results, string(p.FunctionResponse.Response))
		} else if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	role := c.Role
	if role == "" {
		role = "user"
	}
	if len(results) == 0 {
		a.heard(role, strings.Join(texts, "\n"))
		return
	}
	a.Results = nil
	for _, text := range results {
		a.returned(text)
	}
}

// geminiParts are the parts of the whole reply.
func (r *reply) geminiParts() list {
	parts := list{}
	if r.Thinking != "" {
		parts = append(parts, object{"text", r.Thinking, "thought", true})
	}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		parts = append(parts, object{"text", r.Text})
	}
	return append(parts, r.geminiCalls()...)
}

func (r *reply) geminiCalls() list {
	var parts list
	for _, c := range r.ToolCalls {
		call := object{"name", c.Name, "args", rawObject(c.Arguments)}
		if c.ID != "" {
			call = append(object{"id", c.ID}, call...)
		}
		parts = append(parts, object{"functionCall", call})
	}
	return parts
}

// geminiChunk is one response object; the last one has the finish reason.
func (r *reply) geminiChunk(parts list, last bool) object {
	candidate := object{"content", object{"parts", parts, "role", "model"}}
	if last {
		candidate = append(candidate, "finishReason", r.finish("STOP", "STOP"))
	}
	o := object{"candidates", list{append(candidate, "index", 0)}}
	if !r.NoUsage {
		o = append(o, "usageMetadata", r.geminiUsage())
	}
	return append(o, "modelVersion", r.ask.Model, "responseId", identifier("", 22, r.n, "response"))
}

func (r *reply) geminiUsage() object {
	u := r.usage
	o := object{"promptTokenCount", u.Input, "candidatesTokenCount", u.Output - r.thinking, "totalTokenCount", u.Input + u.Output}
	if u.CacheRead > 0 {
		o = append(o, "cachedContentTokenCount", u.CacheRead)
	}
	o = append(o, "promptTokensDetails", geminiDetails(u.Input))
	if r.thinking > 0 {
		o = append(o, "thoughtsTokenCount", r.thinking)
	}
	return o
}

func geminiDetails(n int64) list { return list{object{"modality", "TEXT", "tokenCount", n}} }

func streamGemini(r *reply) [][]byte {
	var contents []list
	for _, p := range r.pieces(r.Thinking) {
		contents = append(contents, list{object{"text", p, "thought", true}})
	}
	for _, p := range r.pieces(r.Text) {
		contents = append(contents, list{object{"text", p}})
	}
	if calls := r.geminiCalls(); len(calls) > 0 {
		contents = append(contents, calls)
	}
	if len(contents) == 0 {
		contents = []list{{object{"text", ""}}}
	}
	var chunks []object
	for i, parts := range contents {
		last := i == len(contents)-1 && r.InBandError == ""
		chunks = append(chunks, r.geminiChunk(parts, last))
	}
	if r.InBandError != "" {
		chunks = append(chunks, object{"error", geminiError(http.StatusServiceUnavailable, r.InBandError)})
	}
	if r.ask.sse {
		return geminiEvents(chunks)
	}
	return geminiArray(chunks)
}

// geminiEvents ends lines with CR LF, as the real service does.
func geminiEvents(chunks []object) [][]byte {
	var frames [][]byte
	for _, c := range chunks {
		frames = append(frames, append(append([]byte("data: "), encode(c)...), "\r\n\r\n"...))
	}
	return frames
}

// geminiArray is a JSON array that arrives element by element.
func geminiArray(chunks []object) [][]byte {
	var frames [][]byte
	for i, c := range chunks {
		before := ",\r\n"
		if i == 0 {
			before = "["
		}
		frames = append(frames, append([]byte(before), encodeIndented(c)...))
	}
	return append(frames, []byte("]\n"))
}
