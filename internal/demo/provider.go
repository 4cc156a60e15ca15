package demo

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// model is a name with a price, so that the dashboard shows costs.
const model = "gpt-5.4"

// provider stands in for an LLM provider. Its model does as the task says: it
// reads the files that the task names, one after the other, and sums them up.
// A file that cannot be read it tries again, which is all that a loop needs.
type provider struct {
	think time.Duration // before each reply
	clock haltd.Clock
	noted func(heeds bool, note string) // told of a note that haltd added; nil for nobody
}

// maxBody is far more than the agents of the demo send.
const maxBody = 1 << 20

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		refuse(w, http.StatusNotFound, "The provider of the demo knows /v1/chat/completions only.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "The request is larger than the provider of the demo takes.")
		return
	}
	var request chatRequest
	if err := json.Unmarshal(body, &request); err != nil {
		refuse(w, http.StatusBadRequest, "The request is no chat completion.")
		return
	}
	if pause(r.Context(), p.think) != nil {
		return
	}
	if note, ok := noteIn(request.Messages); ok && p.noted != nil {
		p.noted(heedsNotes(request.Messages), note)
	}
	reply := answer(request.Messages)
	whole := completion{
		ID: "chatcmpl-" + rand.Text(), Object: "chat.completion", Created: p.clock().Unix(), Model: model,
		Usage: count(body, reply),
	}
	if request.Stream {
		stream(w, whole, reply, request.StreamOptions)
		return
	}
	whole.Choices = []choice{{Message: &reply, FinishReason: finish(reply)}}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(whole) // whoever left does not need it
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]string{"message": why, "type": "invalid_request_error"},
	})
}

var fileName = regexp.MustCompile(`[a-z0-9-]+/[a-z0-9-]+\.[a-z]+`)

// answer is what the model says next.
func answer(messages []message) message {
	task := len(messages) - 1
	for task >= 0 && messages[task].Role != "user" {
		task--
	}
	if task < 0 {
		return message{Role: "assistant", Content: "There is no task."}
	}
	read := contents(messages[task:])
	var summary []string
	for _, path := range fileName.FindAllString(messages[task].Content, -1) {
		text, ok := read[path]
		if !ok && leavesOut(messages, path, read) {
			continue
		}
		if !ok {
			return message{Role: "assistant", ToolCalls: []toolCall{readCall(path)}}
		}
		sentence, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
		summary = append(summary, strings.TrimSuffix(sentence, ".")+".")
	}
	return message{Role: "assistant", Content: strings.Join(summary, " ")}
}

func readCall(path string) toolCall {
	arguments, _ := json.Marshal(fileArguments{path}) // a struct of one string cannot fail
	return toolCall{
		ID: "call_" + rand.Text(), Type: "function",
		Function: functionCall{Name: readFile, Arguments: string(arguments)},
	}
}

// contents are the files that a conversation has read, by path.
func contents(messages []message) map[string]string {
	read, asked := map[string]string{}, map[string]string{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			var a fileArguments
			if json.Unmarshal([]byte(c.Function.Arguments), &a) == nil {
				asked[c.ID] = a.Path
			}
		}
		if path, ok := asked[m.ToolCallID]; ok && m.Role == "tool" && !strings.HasPrefix(m.Content, errorMark) {
			read[path] = m.Content
		}
	}
	return read
}

// reasoning is how many tokens the model thinks before each reply.
const reasoning = 192

// count goes by the usual four bytes a token.
func count(request []byte, reply message) *usage {
	length := len(reply.Content)
	for _, c := range reply.ToolCalls {
		length += len(c.Function.Name) + len(c.Function.Arguments)
	}
	u := usage{PromptTokens: len(request) / 4, CompletionTokens: reasoning + length/4}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return &u
}

func finish(reply message) *string {
	reason := "stop"
	if len(reply.ToolCalls) > 0 {
		reason = "tool_calls"
	}
	return &reason
}

// stream sends a reply piece by piece, as providers do.
func stream(w http.ResponseWriter, whole completion, reply message, options *streamOptions) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(choices []choice, used *usage) {
		piece := whole
		piece.Object, piece.Choices, piece.Usage = "chat.completion.chunk", choices, used
		data, _ := json.Marshal(piece) // strings and numbers cannot fail
		// Whoever left does not need the rest.
		_, _ = io.WriteString(w, "data: "+string(data)+"\n\n")
		_ = control.Flush()
	}
	for _, d := range pieces(reply) {
		send([]choice{{Delta: &d}}, nil)
	}
	send([]choice{{Delta: &delta{}, FinishReason: finish(reply)}}, nil)
	if options != nil && options.IncludeUsage {
		send([]choice{}, whole.Usage)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// wordsAPiece is how many words of a text one piece carries.
const wordsAPiece = 6

func pieces(reply message) []delta {
	all := []delta{{Role: reply.Role}}
	for i, c := range reply.ToolCalls {
		opening := c
		opening.Function.Arguments = ""
		rest := toolCall{Function: functionCall{Arguments: c.Function.Arguments}}
		all = append(all, delta{ToolCalls: []toolCallDelta{{i, opening}}}, delta{ToolCalls: []toolCallDelta{{i, rest}}})
	}
	for words := range slices.Chunk(strings.SplitAfter(reply.Content, " "), wordsAPiece) {
		if text := strings.Join(words, ""); text != "" {
			all = append(all, delta{Content: text})
		}
	}
	return all
}
