package fakellm

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// errNoBench says that a request names no bench model.
var errNoBench = errors.New("not a bench model")

// maxBenchBytes bounds what a bench model can make the server prepare.
const maxBenchBytes = 16 << 20

// benchReplies are the prepared answers of models named bench-BYTES, so that
// a benchmark measures what stands before the fake provider and not the fake
// provider. Every reply of one kind has the same bytes, ids included.
type benchReplies struct{ prepared sync.Map }

type benchKind struct {
	format       *format
	bytes        int
	stream       bool
	includeUsage bool
	sse          bool
}

// serveBench answers a bench model with a text of that many bytes, in 20
// chunks when it streams, or fails with errNoBench. It looks for the few
// fields it needs instead of reading the body.
func (s *Server) serveBench(w http.ResponseWriter, req *Request) error {
	kind, ok := benchKindOf(req)
	if !ok || s.hasRules() {
		return errNoBench
	}
	a := s.bench.answer(kind)
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	w.WriteHeader(a.status)
	rc := http.NewResponseController(w)
	for _, f := range a.frames {
		if _, err := w.Write(f); err != nil {
			return fmt.Errorf("writing the reply: %w", err)
		}
		if !a.stream {
			continue
		}
		if err := rc.Flush(); err != nil {
			return fmt.Errorf("flushing the reply: %w", err)
		}
	}
	return nil
}

func benchKindOf(req *Request) (benchKind, bool) {
	if req.Header.Get("Content-Encoding") != "" {
		return benchKind{}, false
	}
	kind := benchKind{}
	var digits string
	if i := strings.Index(req.Path, "/models/bench-"); i >= 0 {
		digits, _, _ = strings.Cut(req.Path[i+len("/models/bench-"):], ":")
		kind.stream = strings.HasSuffix(req.Path, ":streamGenerateContent")
		kind.sse = kind.stream && wantsSSE(req)
	} else {
		model, found := fieldValue(req.Body, `"model"`)
		if !found || !bytes.HasPrefix(model, []byte(`"bench-`)) {
			return benchKind{}, false
		}
		number, _, _ := bytes.Cut(model[len(`"bench-`):], []byte(`"`))
		digits = string(number)
		kind.stream = fieldIsTrue(req.Body, `"stream"`)
		kind.includeUsage = kind.stream && fieldIsTrue(req.Body, `"include_usage"`)
	}
	n, err := strconv.Atoi(digits)
	kind.bytes, kind.format = n, formatOf(req)
	return kind, err == nil && n >= 0 && n <= maxBenchBytes && kind.format.read != nil
}

// fieldValue is what follows the first place where key stands before a colon.
func fieldValue(body []byte, key string) ([]byte, bool) {
	for rest := body; ; {
		i := bytes.Index(rest, []byte(key))
		if i < 0 {
			return nil, false
		}
		rest = bytes.TrimLeft(rest[i+len(key):], " \t\r\n")
		if len(rest) > 0 && rest[0] == ':' {
			return bytes.TrimLeft(rest[1:], " \t\r\n"), true
		}
	}
}

func fieldIsTrue(body []byte, key string) bool {
	value, found := fieldValue(body, key)
	return found && bytes.HasPrefix(value, []byte("true"))
}

func (b *benchReplies) answer(kind benchKind) *answer {
	if a, ok := b.prepared.Load(kind); ok {
		return a.(*answer)
	}
	req := &Request{N: 1, Ask: Ask{
		Format: kind.format.name, Model: "bench-" + strconv.Itoa(kind.bytes), Stream: kind.stream,
		promptBytes: 1024, includeUsage: kind.includeUsage, sse: kind.sse,
	}}
	a := play(kind.format, req, benchScript(kind.bytes))
	if !a.stream {
		a.header.Set("Content-Length", strconv.Itoa(len(a.frames[0])))
	}
	prepared, _ := b.prepared.LoadOrStore(kind, a)
	return prepared.(*answer)
}

func benchScript(bytes int) Script {
	return Script{Text: strings.Repeat("lorem ipsum ", bytes/12+1)[:bytes], Chunks: 20}
}
