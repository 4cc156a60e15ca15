package clients

import (
	"context"
	"net/http"
)

// sdk is one official client library, or one of its two APIs.
type sdk struct {
	name         string
	provider     string
	format       string // as events name it
	defaultAgent string // of calls that name none
	directPath   string // what its base URL has after the provider's address
	agentPath    string // and after /agents/{agent}
	path         func(model string, stream bool) string
	finish       [2]string // the provider's word after text, and after tool calls
	errorBody    string    // that reaches the SDK's error byte for byte
	keyHeader    func(key string) (name, value string)
	retries      int // how often it repeats a failed call

	talk   func(ctx context.Context, base string, a ask) outcome
	models func(ctx context.Context, base string, a ask) outcome
}

var sdks = []*sdk{&openaiChat, &openaiResponses, &anthropicMessages, &gemini}

// ask is what a client is told to do. With tools it answers every tool call
// with toolResult and goes on until the model has nothing more to call.
type ask struct {
	model, prompt, key string
	stream, tools      bool
	withoutUsage       bool // OpenAI chat: do not ask for usage in the stream
	retry              bool // where the SDK repeats failed calls only when told to
	header             map[string]string
	onEvent            func() // called after each event of a stream
	// onFailure is called when a call has failed; true makes the same call
	// again, with all that was said before.
	onFailure func(outcome) bool
}

func (a *ask) again(got outcome) bool { return a.onFailure != nil && a.onFailure(got) }

func (a *ask) event() {
	if a.onEvent != nil {
		a.onEvent()
	}
}

const (
	systemPrompt = "You are a weather service. Be brief & precise <always>."
	toolName     = "get_weather"
	toolResult   = "18 °C, light rain"
)

var toolSchema = map[string]any{
	"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
	"required": []string{"city"}, "additionalProperties": false,
}

// outcome is what a client got.
type outcome struct {
	Raw    []string // every reply, or every event of a stream, as the SDK keeps it
	Text   string
	Tools  []string    // name and arguments of each tool call
	Header http.Header // of the last response, without Date
	Failed bool
	// Of the SDK's own error type; empty for errors of the connection,
	// whose words name addresses.
	Status  int
	Body    string
	Message string
}

func headerOf(resp *http.Response) http.Header {
	if resp == nil {
		return nil
	}
	return withoutDate(resp.Header)
}

func withoutDate(h http.Header) http.Header {
	h = h.Clone()
	h.Del("Date")
	return h
}
