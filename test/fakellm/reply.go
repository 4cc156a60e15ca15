package fakellm

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/haltd/haltd"
)

// created is the time of the first reply in Unix seconds; each later one is a
// second younger.
const created = 1767225600

// format is one wire format, or one family's other paths when read is nil.
type format struct {
	name   string
	family *family
	read   func(body []byte, req *Request) error
	whole  func(*reply) []byte
	stream func(*reply) [][]byte
	// streamType is the content type of a stream where it is not the
	// family's usual one.
	streamType func(*Request) string
}

// family is what all paths of a provider have in common.
type family struct {
	headers   func(h http.Header, req *Request)
	jsonType  string
	errorBody func(status int, message string, req *Request) []byte
	pass      func(req *Request, path string) (status int, body []byte)
}

// formatOf tells the format from the end of the path, so that any prefix a
// provider's base URL adds works.
func formatOf(req *Request) *format {
	path := decodedPath(req)
	if req.Method == http.MethodPost {
		switch {
		case strings.HasSuffix(path, "/chat/completions"):
			return &chatFormat
		case strings.HasSuffix(path, "/responses"):
			return &responsesFormat
		case strings.HasSuffix(path, "/messages"):
			return &anthropicFormat
		case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
			return &geminiFormat
		}
	}
	switch {
	case strings.Contains(path, "/v1beta"):
		return &format{family: &geminiFamily}
	case req.Header.Get("Anthropic-Version") != "", strings.Contains(path, "/messages"):
		return &format{family: &anthropicFamily}
	}
	return &format{family: &openaiFamily}
}

func decodedPath(req *Request) string {
	path, err := url.PathUnescape(req.Path)
	if err != nil {
		return req.Path
	}
	return path
}

// reply is a script on its way into a format.
type reply struct {
	Script
	n        int
	ask      *Ask
	usage    haltd.Usage
	thinking int64 // part of usage.Output
}

// play turns a script into bytes.
func play(f *format, req *Request, s Script) *answer {
	if s.InBandError != "" && (f.stream == nil || !req.Ask.Stream) {
		s.Status, s.Error = http.StatusInternalServerError, s.InBandError
	}
	var a *answer
	switch {
	case s.Body != "":
		a = newAnswer(f, req, http.StatusOK)
		a.frames = [][]byte{[]byte(s.Body)}
	case s.Status >= 400:
		a = errorAnswer(f, req, s.Status, s.Error)
	case f.read == nil:
		a = passThrough(f, req)
	default:
		r := newReply(req, s)
		a = newAnswer(f, req, http.StatusOK)
		if !req.Ask.Stream {
			a.frames = [][]byte{f.whole(r)}
			break
		}
		a.frames, a.stream = f.stream(r), true
		a.header.Set("Content-Type", "text/event-stream; charset=utf-8")
		if f.streamType != nil {
			a.header.Set("Content-Type", f.streamType(req))
		}
		a.header.Set("Cache-Control", "no-cache")
	}
	if s.Status != 0 {
		a.status = s.Status
	}
	for name, value := range s.Header {
		a.header.Set(name, value)
	}
	a.script = s
	return a
}

func newReply(req *Request, s Script) *reply {
	r := &reply{Script: s, n: req.N, ask: &req.Ask}
	r.thinking = tokens(len(s.Thinking))
	r.usage.Input = tokens(req.Ask.promptBytes)
	r.usage.Output = r.thinking + tokens(len(s.Text))
	for _, c := range s.ToolCalls {
		r.usage.Output += tokens(len(c.Name) + len(c.Arguments))
	}
	if s.Usage != nil {
		r.usage = *s.Usage
		r.thinking = min(r.thinking, r.usage.Output)
	}
	return r
}

// tokens estimates: four bytes a token, none for nothing.
func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// pieces divides a text as the script asks. An empty text has none.
func (r *reply) pieces(text string) []string {
	n := utf8.RuneCountInString(text)
	size := max(4, (n+19)/20)
	switch {
	case r.Chunks > 0:
		size = max(1, (n+r.Chunks-1)/r.Chunks)
	case r.ChunkSize > 0:
		size = r.ChunkSize
	}
	var out []string
	for text != "" {
		end := 0
		for range size {
			if end < len(text) {
				_, width := utf8.DecodeRuneInString(text[end:])
				end += width
			}
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// callID is the script's id for the i-th tool call, or one made with prefix.
func (r *reply) callID(i int, prefix string, size int) string {
	if id := r.ToolCalls[i].ID; id != "" {
		return id
	}
	return identifier(prefix, size, r.n, fmt.Sprintf("call %d", i))
}

// finish is the script's word, or the one that fits.
func (r *reply) finish(said, called string) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.ToolCalls) > 0:
		return called
	}
	return said
}

func newAnswer(f *format, req *Request, status int) *answer {
	a := &answer{status: status, header: http.Header{}}
	f.family.headers(a.header, req)
	a.header.Set("Content-Type", f.family.jsonType)
	return a
}

func errorAnswer(f *format, req *Request, status int, message string) *answer {
	if message == "" {
		message = defaultMessage(status)
	}
	a := newAnswer(f, req, status)
	a.frames = [][]byte{f.family.errorBody(status, message, req)}
	return a
}

func defaultMessage(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Incorrect API key provided."
	case http.StatusNotFound:
		return "The requested model or path does not exist."
	case http.StatusTooManyRequests:
		return "Rate limit reached for requests."
	}
	if status >= 500 {
		return "The server had an error while processing your request."
	}
	return "The request is not valid."
}

func passThrough(f *format, req *Request) *answer {
	status, body := f.family.pass(req, decodedPath(req))
	if body == nil {
		return errorAnswer(f, req, http.StatusNotFound, "")
	}
	a := newAnswer(f, req, status)
	a.frames = [][]byte{body}
	return a
}
