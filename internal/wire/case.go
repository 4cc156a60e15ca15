package wire

import (
	"strconv"

	"github.com/haltd/haltd"
)

// spellings are the member names on which the reading of a request rests, by
// their folded form.
var spellings = foldAll(
	"model", "models", "stream", "messages", "input", "instructions", "system", "contents", "tools", "functions",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "n", "candidateCount",
	"systemInstruction", "system_instruction", "generationConfig", "generation_config",
	"previous_response_id", "conversation",
	"role", "content", "parts", "type", "text", "refusal",
	"tool_calls", "tool_call_id", "tool_use_id", "call_id", "id", "name",
	"function", "custom", "function_call", "functionCall", "functionResponse", "function_response",
	"arguments", "args", "output", "outputs", "results", "response", "is_error",
)

func foldAll(names ...string) map[string]string {
	m := make(map[string]string, len(names))
	for _, name := range names {
		m[fold([]byte(name))] = name
	}
	return m
}

// checkCase refuses a name that is one of the API's but for its case: a server
// that does not mind would read what haltd has not.
func checkCase(name []byte) error {
	if isSnake(name) || len(name) > 40 {
		return nil
	}
	right, ok := spellings[fold(name)]
	if !ok || right == string(name) {
		return nil
	}
	return haltd.Errorf(haltd.CodeMalformed, "member name %s is %s in another case", strconv.Quote(string(name)), strconv.Quote(right)).
		WithFix("Write it %q, as the provider's API does; what haltd cannot read it does not forward.", right)
}

// isSnake reports a name without a letter that has another case.
func isSnake(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}
