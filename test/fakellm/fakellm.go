// Package fakellm is a scripted fake provider: one http.Handler that speaks
// OpenAI Chat Completions and Responses, Anthropic Messages and Gemini
// generateContent as the real services look on the wire, and that remembers
// every request it got.
//
// Nothing in a reply depends on the wall clock or on chance: the same requests
// in the same order get the same bytes, so that two runs can be compared. It
// reads and writes each format by itself, without the product's own readers,
// so that a test never checks a reader against itself.
//
// What to answer is chosen by, first that applies: rules set with SetRules or
// PUT /_fakellm/script, the function given to New, the model's name (see
// ByModel).
package fakellm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxBody is how much of a request body is read; more is answered 413.
const maxBody = 256 << 20

// Server is the fake provider. It is safe for concurrent use.
type Server struct {
	choose func(Request) Script
	log    requestLog
	bench  benchReplies

	mu    sync.Mutex
	rules []Rule
}

// New makes a provider that answers what choose says; nil means ByModel.
func New(choose func(Request) Script) *Server {
	s := &Server{choose: choose}
	if choose == nil {
		s.choose = ByModel
	}
	s.log.changed = make(chan struct{})
	return s
}

// Requests are the newest requests, oldest first. The log is bounded; see
// maxRequests and maxLogBytes.
func (s *Server) Requests() []Request { return s.log.all() }

// Await waits until n requests since the last Clear have been answered, cut
// or abandoned by their client, and answers what Requests does.
func (s *Server) Await(ctx context.Context, n int) ([]Request, error) {
	return s.log.await(ctx, n)
}

// Clear forgets the requests and numbers the next one 1, so that the ids in
// replies start anew.
func (s *Server) Clear() { s.log.clear() }

// SetRules replaces the rules.
func (s *Server) SetRules(rules []Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append([]Rule(nil), rules...)
}

func (s *Server) hasRules() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rules) > 0
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		s.serveControl(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	entry := s.log.add(r, body)
	// A cut may end the handler by panic, which the log must still see.
	outcome := OutcomeCut
	defer func() { s.log.done(entry, outcome) }()
	if err != nil {
		outcome = OutcomeClientLeft
		return
	}
	req := *entry
	if err = s.serveBench(w, &req); errors.Is(err, errNoBench) {
		err = s.answer(&req).send(r.Context(), w)
	}
	switch {
	case err == nil:
		outcome = OutcomeComplete
	case !errors.Is(err, errCut):
		outcome = OutcomeClientLeft
	}
}

// answer works out what to send for a request.
func (s *Server) answer(req *Request) *answer {
	f := formatOf(req)
	req.Ask.Format = f.name
	if len(req.Body) > maxBody {
		return errorAnswer(f, req, http.StatusRequestEntityTooLarge, "Request exceeds the maximum size")
	}
	if f.read != nil {
		body, err := decodeBody(req.Header.Get("Content-Encoding"), req.Body)
		if err == nil {
			err = f.read(body, req)
		}
		if err != nil {
			return errorAnswer(f, req, http.StatusBadRequest, fmt.Sprintf("We could not parse the JSON body of your request: %v", err))
		}
	}
	script, ruled := s.ruled(req)
	if f.read == nil && !ruled {
		return passThrough(f, req)
	}
	if !ruled {
		script = s.choose(*req)
	}
	return play(f, req, script)
}

// ruled is the script of the first rule that matches and is not used up.
func (s *Server) ruled(req *Request) (Script, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rules {
		rule := &s.rules[i]
		if rule.spent() || !rule.matches(req) {
			continue
		}
		rule.used++
		return rule.Script, true
	}
	return Script{}, false
}
