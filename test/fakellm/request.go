package fakellm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// The log keeps at most this many requests and this many bytes of bodies;
// the oldest go first.
const (
	maxRequests = 4096
	maxLogBytes = 128 << 20
)

// Request is one request as it arrived.
type Request struct {
	N                int         `json:"n"` // 1 for the first since Clear
	Method           string      `json:"method"`
	Path             string      `json:"path"` // as sent, still escaped
	Query            string      `json:"query"`
	Proto            string      `json:"proto"`
	Host             string      `json:"host"`
	Header           http.Header `json:"header"`
	TransferEncoding []string    `json:"transfer_encoding,omitempty"`
	Body             []byte      `json:"body"`
	Outcome          Outcome     `json:"outcome"`

	// Ask is what the body says. It is filled for the function given to New
	// and stays empty in the log.
	Ask Ask `json:"-"`

	generation int // of the log; Clear starts another
}

// Outcome says how the answer to a request ended. It is empty while the
// answer is still being sent.
type Outcome string

// The ways an answer ends.
const (
	OutcomeComplete   Outcome = "complete"
	OutcomeCut        Outcome = "cut"         // the script ended the connection
	OutcomeClientLeft Outcome = "client_left" // the client ended it
)

// Ask is an LLM request read only as far as scripts need it.
type Ask struct {
	Format  string // openai-chat, openai-responses, anthropic or gemini; empty on other paths
	Model   string
	Stream  bool
	User    string   // the last user message
	Results []string // the tool results that the request ends with
	Tools   []Tool   // as declared, in order

	promptBytes  int  // of all texts, from which usage is estimated
	includeUsage bool // OpenAI chat: stream_options.include_usage
	sse          bool // Gemini: alt=sse
}

// Tool is a declared tool.
type Tool struct {
	Name   string
	Custom bool            // takes free text instead of JSON (OpenAI)
	Schema json.RawMessage // of its arguments
}

// heard notes the text of one message that is no tool result.
func (a *Ask) heard(role, text string) {
	a.promptBytes += len(text)
	a.Results = nil
	if role == "user" {
		a.User = text
	}
}

// returned notes one tool result.
func (a *Ask) returned(text string) {
	a.promptBytes += len(text)
	a.Results = append(a.Results, text)
}

func (a *Ask) tool(name string) (Tool, bool) {
	i := slices.IndexFunc(a.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return a.Tools[i], true
}

// requestLog is the bounded memory of requests.
type requestLog struct {
	mu         sync.Mutex
	requests   []*Request
	bytes      int
	last       int           // number of the newest request
	finished   int           // how many have an outcome
	changed    chan struct{} // closed and replaced at every outcome
	generation int
}

func (l *requestLog) add(r *http.Request, body []byte) *Request {
	req := &Request{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Proto: r.Proto, Host: r.Host,
		Header: r.Header, TransferEncoding: r.TransferEncoding, Body: body,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	req.N, req.generation = l.last, l.generation
	l.requests = append(l.requests, req)
	l.bytes += len(body)
	for len(l.requests) > 1 && (len(l.requests) > maxRequests || l.bytes > maxLogBytes) {
		l.bytes -= len(l.requests[0].Body)
		l.requests[0] = nil
		l.requests = l.requests[1:]
	}
	return req
}

// done notes an outcome. A request from before the last clear no longer
// counts.
func (l *requestLog) done(req *Request, outcome Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	req.Outcome = outcome
	if req.generation != l.generation {
		return
	}
	l.finished++
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.bytes, l.last, l.finished = nil, 0, 0, 0
	l.generation++
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copyLocked()
}

func (l *requestLog) copyLocked() []Request {
	out := make([]Request, len(l.requests))
	for i, r := range l.requests {
		out[i] = *r
	}
	return out
}

func (l *requestLog) await(ctx context.Context, n int) ([]Request, error) {
	for {
		l.mu.Lock()
		if l.finished >= n {
			defer l.mu.Unlock()
			return l.copyLocked(), nil
		}
		changed, finished := l.changed, l.finished
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %d requests, %d so far: %w", n, finished, ctx.Err())
		}
	}
}

// decodeBody undoes a request's Content-Encoding.
func decodeBody(encoding string, body []byte) ([]byte, error) {
	var r io.Reader
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		zr, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("gzip body: %w", err)
		}
		r = zr
	case "zstd":
		zr, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("zstd body: %w", err)
		}
		defer zr.Close()
		r = zr
	case "br":
		r = brotli.NewReader(bytes.NewReader(body))
	default:
		return nil, fmt.Errorf("content encoding %q is not supported", encoding)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		return nil, fmt.Errorf("%s body: %w", encoding, err)
	}
	return out, nil
}
