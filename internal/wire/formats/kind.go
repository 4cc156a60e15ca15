package formats

import (
	"net/http"
	"slices"
	"strings"

	"github.com/haltd/haltd/internal/wire"
)

// Kind is what a request makes that is no LLM call: completions, embeddings, images,
// audio, batches, and the same in the shapes of other clouds.
type Kind uint8

// The kinds. MaybeMetered is a route that nobody knows: it generates where it names
// a model, or an agent, or has something to say to one.
const (
	NotMetered Kind = iota // makes nothing that is paid by tokens
	MaybeMetered
	MeteredText
	MeteredEmbedding // is paid by its prompt
	MeteredMedia     // images, sound, and whatever tells of no tokens
)

// The words in a path that tell its kind, in lower case. What stands after the
// colon of a path of Google's is a word of its own.
var (
	freeEnds = []string{
		"count_tokens", "counttokens", "computetokens", "input_tokens", "tokenize", "detokenize", "cancel", "moderations", "archive",
		"show", "pull", "push", "copy", "create",
	}
	freeWords = []string{
		"files", "uploads", "vector_stores", "fine_tuning", "fine-tunes", "containers", "assistants", "cachedcontents",
		"organization", "organizations", "corpora", "webhooks", "permissions", "blobs", "skills",
	}
	embeddingEnds = []string{"embeddings", "embed", "rerank", "embedcontent", "batchembedcontents", "asyncbatchembedcontent"}
	mediaWords    = []string{"images", "audio", "videos", "video", "realtime", "predict", "predictlongrunning", "chatkit"}
	textEnds      = []string{
		"completions", "completion", "infill", "complete", "compact", "chat", "generate", "generate_stream", "generatecontent", "streamgeneratecontent", "batchgeneratecontent", "rawpredict",
		"streamrawpredict", "invoke", "invoke-with-response-stream", "converse", "converse-stream", "submit_tool_outputs", "ocr",
	}
)

// KindOf is what a request makes that is no LLM call. A server may not mind how
// the method is written, or which it is, where the path says what is wanted.
// What deletes something that was made generates where its body asks for that.
func KindOf(method, path string, hasBody bool) Kind {
	post := strings.EqualFold(method, http.MethodPost)
	if !post && !hasBody {
		return NotMetered
	}
	kind := kindOfPath(path)
	switch {
	case post || kind == NotMetered:
		return kind
	case kind == MaybeMetered:
		return NotMetered
	case strings.EqualFold(method, http.MethodDelete):
		return MaybeMetered
	}
	return kind
}

// kindOfPath tells from the path of a POST what it makes.
func kindOfPath(path string) Kind {
	s := wire.Segments(path)
	if len(s) == 0 {
		return NotMetered
	}
	last := s[len(s)-1]
	if at := strings.LastIndexByte(last, ':'); at >= 0 {
		last = last[at+1:]
		s = append(s[:len(s)-1:len(s)-1], last)
	}
	s = withoutNames(s)
	before := ""
	if len(s) > 1 {
		before = s[len(s)-2]
	}
	has := func(words []string) bool {
		return slices.ContainsFunc(s, func(segment string) bool { return slices.Contains(words, segment) })
	}
	switch {
	case before == "graders" && last == "run" || slices.Contains(s, "evals") && last == "runs":
		return MeteredMedia // models grade and answer: what they are asked is in files and samples
	case slices.Contains(freeEnds, last) || has(freeWords) || slices.Contains(s, "evals"):
		return NotMetered
	case slices.Contains(s, "conversations") && last != "items":
		return MaybeMetered // OpenAI's keep what was said, Mistral's answer
	case slices.Contains(s, "threads"):
		if last == "runs" || last == "submit_tool_outputs" {
			return MeteredText
		}
		return NotMetered
	case last == "batches":
		if before == "messages" || before == "models" {
			return MeteredText
		}
		return MeteredMedia // its requests are in a file
	case before == "batch" && last == "jobs" || last == "batchpredictionjobs" || last == "model-invocation-job":
		return MeteredMedia // likewise: Mistral's, Google's and Amazon's
	case before == "batches" || before == "completions" || before == "responses" && last != "compact":
		return NotMetered // what was made before is changed
	case slices.Contains(embeddingEnds, last):
		return MeteredEmbedding
	case has(mediaWords):
		return MeteredMedia
	case slices.Contains(textEnds, last):
		return MeteredText
	}
	return MaybeMetered
}

// named are the words that a name follows which somebody chose: it tells nothing
// of what the path makes, though it may be one of the words above.
var named = []string{"deployments", "engines", "projects", "locations", "publishers", "models", "tunedmodels", "endpoints"}

// withoutNames are the segments of a path but for such names. That of a model of
// Bedrock's may have slashes in it.
func withoutNames(s []string) []string {
	kept := make([]string, 0, len(s))
	for i := 0; i < len(s); i++ {
		kept = append(kept, s[i])
		switch last := len(s) - 1; {
		case s[i] == "model" && i < last:
			return append(kept, s[last])
		case i+1 < last && slices.Contains(named, s[i]):
			i++
		}
	}
	return kept
}
