package gemini

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// codeExecution names the calls of the built-in tool that runs code.
const codeExecution = "code_execution"

func readPart(r *wire.Reader, c *wire.Conversation) {
	text, isText, thought := "", false, false
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "text":
			isText = r.Kind() == wire.KindString
			text = r.Piece()
		case "thought":
			thought = r.Bool()
		case "functionCall", "function_call":
			c.ToolCall(readFunctionCall(r))
		case "functionResponse", "function_response":
			c.Result(readFunctionResponse(r, c))
		case "executableCode", "executable_code":
			c.ToolCall(haltd.ToolCall{Name: codeExecution, Arguments: string(r.Raw())})
		case "codeExecutionResult", "code_execution_result":
			c.Result(readCodeResult(r))
		case "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata",
			"partMetadata", "part_metadata", "mediaResolution", "media_resolution":
		default:
			c.Opaque(digestMedia(string(name), r))
		}
	}
	if isText && !thought {
		c.Text(text)
	}
}

func readFunctionCall(r *wire.Reader) (call haltd.ToolCall) {
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "id":
			call.ID = r.Piece()
		case "name":
			call.Name = r.Piece()
		case "args":
			call.Arguments = r.TextOrObject()
		}
	}
	return call
}

func readFunctionResponse(r *wire.Reader, c *wire.Conversation) (result haltd.ToolResult) {
	var media []byte
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "id":
			result.CallID = r.Piece()
		case "name":
			result.Name = r.Piece()
		case "response":
			result.Text, result.Error = readResponse(r)
		case "parts":
			for range r.ArrayOrOne() {
				for name := range r.Object() {
					media = append(media, '\n')
					media = append(media, c.OpaqueText(digestMedia(string(name), r))...)
				}
			}
		}
	}
	if len(media) > 0 {
		result.Text = strings.TrimPrefix(result.Text+string(media), "\n")
	}
	return result
}

// readResponse reads what a function returned. Clients wrap plain text in an
// object of one member, which then is all there is to say.
func readResponse(r *wire.Reader) (text string, failed bool) {
	if r.Kind() == wire.KindString {
		return r.Text(), false
	}
	start, members, wrapped := r.Offset(), 0, false
	for name := range r.Members() {
		members++
		switch word := string(name); word {
		case "output", "result", "content", "error":
			failed = word == "error"
			if wrapped = r.Kind() == wire.KindString; wrapped {
				text = r.Piece()
			}
		}
	}
	switch {
	case members == 0:
		return "", false
	case members > 1:
		return r.JSONSince(start), false
	case !wrapped:
		return r.JSONSince(start), failed
	}
	return text, failed
}

func readCodeResult(r *wire.Reader) haltd.ToolResult {
	result := haltd.ToolResult{Name: codeExecution}
	for name := range r.Object() {
		switch string(name) {
		case "outcome":
			result.Error = r.OptionalText() != "OUTCOME_OK"
		case "output":
			result.Text = r.Piece()
		}
	}
	return result
}

// digestMedia reads a part that is not text. Its kind is that of its media
// type, where it has one, else its member name.
func digestMedia(member string, r *wire.Reader) (kind string, digest uint64) {
	kind = strings.ToLower(member)
	var d xxhash.Digest
	d.Reset()
	if r.Kind() != wire.KindObject {
		d.Write(r.Raw())
		return kind, d.Sum64()
	}
	for name := range r.Object() {
		switch string(name) {
		case "mimeType", "mime_type":
			kind, _, _ = strings.Cut(r.OptionalText(), "/")
			if kind == "application" || kind == "text" {
				kind = "file"
			}
		case "displayName", "display_name":
		default:
			d.Write(name)
			d.Write(r.Raw())
		}
	}
	return kind, d.Sum64()
}
