package gemini

import (
	"math"
	"path"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Generate is the generateContent and streamGenerateContent format.
type Generate struct{}

var _ wire.Format = Generate{}

// Name is "gemini-generate".
func (Generate) Name() string { return "gemini-generate" }

// Match accepts the two methods on models, tuned models and endpoints.
func (Generate) Match(p string) bool {
	model, method := splitPath(p)
	return model != "" && (method == "generatecontent" || method == "streamgeneratecontent")
}

// splitPath finds the model and, in lower case, the method of it that a path
// calls.
func splitPath(p string) (model, method string) {
	s := wire.Segments(p)
	if len(s) < 2 {
		return "", ""
	}
	switch s[len(s)-2] {
	case "models", "tunedmodels", "endpoints":
	default:
		return "", ""
	}
	last, _, _ := strings.Cut(path.Base(p), ";")
	model, method, _ = strings.Cut(last, ":")
	return model, strings.ToLower(method)
}

// ReadCall reads a request for content; the model and whether the reply is a
// stream are in the path.
func (f Generate) ReadCall(p string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	call, err := wire.ReadCall(f.Name(), body, m, readCall)
	if err != nil {
		return nil, err
	}
	model, method := splitPath(p)
	call.Model, call.Stream = model, method == "streamgeneratecontent"
	return call, nil
}

func readCall(r *wire.Reader, c *wire.Conversation) {
	hasContents := false
	for name := range r.Object() {
		switch string(name) {
		case "contents":
			k := r.Kind()
			hasContents = k == wire.KindArray || k == wire.KindObject
			contents := r.ArrayOrOne()
			if k == wire.KindArray {
				contents = c.Messages(r)
			}
			for range contents {
				readContent(r, c)
			}
		case "systemInstruction", "system_instruction":
			readSystem(r, c)
		case "cachedContent", "cached_content":
			c.Stored(r.OptionalText())
		case "tools":
			for range r.ArrayOrOne() {
				readTool(r, c)
			}
		case "generationConfig", "generation_config":
			readConfig(r, c)
		}
	}
	if !hasContents {
		r.Fail(wire.RefuseAt("/contents", "an array"))
	}
}

// readConfig reads how long the reply may be. Google reads both ways of writing a
// name: where a request has both, the larger number is what it may cost.
func readConfig(r *wire.Reader, c *wire.Conversation) {
	for name := range r.Object() {
		switch string(name) {
		case "maxOutputTokens", "max_output_tokens":
			c.Call.MaxTokens = max(c.Call.MaxTokens, int(min(r.Count(), math.MaxInt32)))
		case "responseSchema", "response_schema", "responseJsonSchema", "response_json_schema":
			c.Schema(len(r.Raw()))
		case "candidateCount", "candidate_count":
			c.Call.Choices = max(c.Call.Choices, wire.Choices(r))
		}
	}
}

// readTool reads a group of declared functions, or a built-in tool such as
// googleSearch, which goes by its member name.
func readTool(r *wire.Reader, c *wire.Conversation) {
	for name := range r.Object() {
		switch string(name) {
		case "functionDeclarations", "function_declarations":
			for range r.ArrayOrOne() {
				readDeclaration(r, c)
			}
		default:
			tool := string(name)
			c.Tool(tool, int64(len(r.Raw())))
		}
	}
}

func readDeclaration(r *wire.Reader, c *wire.Conversation) {
	start, tool := r.Offset(), ""
	for name := range r.Object() {
		if string(name) == "name" {
			tool = r.Text()
		}
	}
	c.Tool(tool, r.Offset()-start)
}

func readSystem(r *wire.Reader, c *wire.Conversation) {
	if r.Kind() == wire.KindString {
		c.Instructions(r.Text())
		return
	}
	for name := range r.Object() {
		if string(name) == "parts" {
			for range r.ArrayOrOne() {
				readPart(r, c)
			}
		}
	}
	c.EndInstructions()
}

// readContent reads one turn. Who speaks is often written last, and a turn
// without a role is the user's.
func readContent(r *wire.Reader, c *wire.Conversation) {
	role := ""
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "role":
			role = r.Piece()
		case "parts":
			for range r.ArrayOrOne() {
				readPart(r, c)
			}
		}
	}
	switch role {
	case "", "function":
		c.End(wire.User)
	default:
		c.End(wire.SpeakerOf(role))
	}
}
