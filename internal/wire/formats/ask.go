package formats

import (
	"bytes"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Ask is what a request that is no LLM call asks for, as far as its cost goes.
type Ask struct {
	Kind   Kind
	Models []string // that may answer, as their makers call them
	// Names are how the request itself calls them, where that differs.
	Names        []string
	PromptTokens int64 // estimated
	MaxTokens    int64 // named by all replies together
	Replies      int64 // how many it asks for
	Open         int64 // of them, those that name no maximum
	Stream       bool
	// Later says that what the replies use is not known when the request is
	// answered: a batch.
	Later bool
}

// Bounds of what a request can name.
const (
	maxModels  = 16
	maxReplies = 1 << 16
	maxTokens  = 1 << 48 // so that sums do not overflow
	maxDepth   = 24
)

// ReadAsk reads the request to a route of that kind. A body that should be JSON
// and is not is an *haltd.Error with CodeMalformed; nil is a request that does
// not generate. On a route that nobody knows an object that cannot be read may
// generate all the same: nobody can tell what it costs. Where take refuses memory
// for its parts, the error is CodeUnavailable.
func ReadAsk(kind Kind, path, contentType string, body []byte, take wire.Take) (*Ask, error) {
	a := &ask{Ask: Ask{Kind: kind}}
	media, parameters, _ := mime.ParseMediaType(contentType)
	switch isObject := looksLikeObject(body); {
	case media == "multipart/form-data" && !isObject:
		a.readForm(body, parameters["boundary"])
	case kind == MeteredMedia && media != "" && media != "application/json" && !isObject:
		// A sound or an image by itself: there is nothing to read.
	default:
		err := wire.ReadStrict(body, take, func(r *wire.Reader) { a.readObject(r, &a.top, 0) })
		switch {
		case haltd.ErrorCode(err) == haltd.CodeUnavailable:
			return nil, err
		case err != nil && kind == MaybeMetered && isObject:
			return &Ask{Kind: MeteredMedia, Replies: 1}, nil
		case err != nil && kind == MaybeMetered:
			return nil, nil
		case err != nil:
			return nil, err
		}
		a.PromptTokens = int64(len(body)+3) / 4
	}
	a.name(wire.PathModel(path)) // which decides, whatever the body says
	if segments := wire.Segments(path); len(segments) > 0 && strings.Contains(segments[len(segments)-1], "stream") || streamsUnasked(segments) && !a.saysStream {
		a.Stream = true
	}
	if kind == MaybeMetered && len(a.Models) == 0 && !a.top.hasInputs {
		return nil, nil
	}
	a.take(&a.top)
	if a.Replies == 0 {
		a.take(&request{isOne: true})
	}
	if kind == MaybeMetered {
		a.Kind = MeteredText
	}
	if a.Kind != MeteredText {
		a.MaxTokens, a.Open = 0, 0
	}
	return &a.Ask, nil
}

// looksLikeObject reports a body that a server could take for a JSON object,
// whatever its type says, and in whichever encoding of Unicode.
func looksLikeObject(body []byte) bool {
	start := bytes.TrimLeft(body[:min(len(body), 512)], "\xef\xbb\xbf\xfe\xff\x00 \t\r\n")
	return len(start) > 0 && start[0] == '{'
}

// ask is an Ask under construction.
type ask struct {
	saysStream bool // the request says whether it wants a stream
	Ask
	top request
}

// request is one of the requests in a body: most have one, a batch has many.
type request struct {
	isOne     bool // says something of its own
	hasInputs bool // for a model that is known elsewhere, as agents of clouds are
	maxTokens int64
	choices   int64
	prompts   int64
}

func (a *ask) name(model string) {
	if model == "" || len(a.Models) >= maxModels {
		return
	}
	plain := wire.PlainModel(model)
	if !slices.Contains(a.Models, plain) {
		a.Models = append(a.Models, plain)
	}
	if plain != model && !slices.Contains(a.Names, model) {
		a.Names = append(a.Names, model)
	}
}

// take adds what one request asks for.
func (a *ask) take(q *request) {
	if !q.isOne {
		return
	}
	replies := min(max(q.choices, 1)*max(q.prompts, 1), maxReplies)
	a.Replies = min(a.Replies+replies, maxReplies)
	if q.maxTokens > 0 {
		a.MaxTokens = min(a.MaxTokens+q.maxTokens*replies, maxTokens)
	} else {
		a.Open = min(a.Open+replies, maxReplies)
	}
}

// readObject reads a request, or a part of one that names a maximum or models.
func (a *ask) readObject(r *wire.Reader, q *request, depth int) {
	if r.Kind() != wire.KindObject || depth > maxDepth {
		r.Skip()
		return
	}
	for name := range r.Object() {
		switch string(name) {
		case "model", "modelId":
			q.isOne = true
			if r.Kind() == wire.KindString {
				a.name(r.Text())
			}
		case "models":
			if r.Kind() == wire.KindArray {
				for range r.Array() {
					a.name(r.OptionalText())
				}
			}
		case "max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_new_tokens", "max_gen_len",
			"max_tokens_to_sample", "maxTokens", "maxTokenCount", "num_predict", "n_predict":
			q.maxTokens, q.isOne = max(q.maxTokens, number(r)), true
		case "n", "best_of", "candidateCount", "candidate_count", "sampleCount", "numberOfImages", "num_images":
			q.choices, q.isOne = max(q.choices, number(r)), true
		case "prompt":
			q.isOne, q.hasInputs = true, true
			a.readPrompts(r, q)
		case "stream":
			if k := r.Kind(); k == 't' || k == 'f' {
				a.Stream, a.saysStream = r.Bool(), true
			}
		case "inputs", "input", "inputText", "messages", "contents", "agent", "agent_id":
			q.isOne, q.hasInputs = true, true
		case "content", "instances", "assistant_id", "input_file_id":
			q.isOne = true
		case "options", "inferenceConfig", "inference_config", "generationConfig", "generation_config", "textGenerationConfig", "parameters",
			"batch", "inputConfig", "input_config", "config":
			a.readObject(r, q, depth+1)
		case "requests":
			a.Later = a.Kind == MeteredText
			a.readRequests(r, depth+1)
		}
	}
}

// readPrompts counts the prompts of a completion: each gets a reply.
func (a *ask) readPrompts(r *wire.Reader, q *request) {
	if r.Kind() != wire.KindArray {
		return
	}
	texts := int64(0)
	for range r.Array() {
		if k := r.Kind(); k == wire.KindString || k == wire.KindArray { // else it is one prompt in tokens
			texts++
		}
	}
	q.prompts = max(q.prompts, texts)
}

// readRequests reads the requests of a batch: Anthropic has them in params,
// Google in request, and in an object of the same name.
func (a *ask) readRequests(r *wire.Reader, depth int) {
	if r.Kind() == wire.KindObject && depth <= maxDepth {
		for name := range r.Object() {
			if string(name) == "requests" {
				a.readRequests(r, depth+1)
			}
		}
		return
	}
	if r.Kind() != wire.KindArray {
		return
	}
	for range r.Array() {
		one := request{isOne: true}
		if r.Kind() != wire.KindObject {
			continue
		}
		a.readRequest(r, &one, depth+1)
		a.take(&one)
	}
}

func (a *ask) readRequest(r *wire.Reader, q *request, depth int) {
	for name := range r.Object() {
		switch string(name) {
		case "params", "request", "body", "modelInput":
			a.readObject(r, q, depth)
		case "model":
			a.name(r.OptionalText())
		case "generationConfig", "generation_config":
			a.readObject(r, q, depth)
		}
	}
}

// number reads a count, also one in quotes, and takes whatever is none for 0.
func number(r *wire.Reader) int64 {
	if k := r.Kind(); k != wire.KindNumber && k != wire.KindString {
		r.Skip()
		return 0
	}
	return min(r.Count(), math.MaxInt32)
}

// maxField bounds what is read of a field of a form.
const maxField = 64 << 10

// readForm reads the fields of a form, as uploads of sound and images send
// them. A form that cannot be read names no model.
func (a *ask) readForm(body []byte, boundary string) {
	a.top.isOne = true
	if boundary == "" {
		return
	}
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextRawPart()
		if err != nil {
			return
		}
		name := part.FormName()
		if part.FileName() != "" {
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return
		}
		switch name {
		case "model":
			a.name(string(value))
		case "prompt":
			a.PromptTokens += int64(len(value)+3) / 4
		case "n":
			if n, err := strconv.ParseInt(string(value), 10, 32); err == nil {
				a.top.choices = max(a.top.choices, n)
			}
		case "stream":
			a.Stream = string(value) == "true"
		}
	}
}

// streamsUnasked reports the routes of Ollama's own API, which answer with a stream
// unless told otherwise.
func streamsUnasked(segments []string) bool {
	n := len(segments)
	return n >= 2 && segments[n-2] == "api" && (segments[n-1] == "chat" || segments[n-1] == "generate")
}
