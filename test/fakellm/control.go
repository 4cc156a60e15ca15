package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// controlPrefix starts the paths that drive the fake provider itself. They
// are not in the log.
//
//	GET    /_fakellm/requests          the log
//	GET    /_fakellm/requests?await=N  the log, once N requests are done
//	DELETE /_fakellm/requests          forget the log, number anew
//	PUT    /_fakellm/script            a JSON array of rules
const controlPrefix = "/_fakellm/"

func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET " + controlPrefix + "requests":
		s.serveLog(w, r)
	case "DELETE " + controlPrefix + "requests":
		s.Clear()
		w.WriteHeader(http.StatusNoContent)
	case "PUT " + controlPrefix + "script":
		rules, err := readRules(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.SetRules(rules)
		w.WriteHeader(http.StatusNoContent)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	requests := s.Requests()
	if await := r.URL.Query().Get("await"); await != "" {
		n, err := strconv.Atoi(await)
		if err != nil {
			http.Error(w, fmt.Sprintf("await=%s is not a number of requests", await), http.StatusBadRequest)
			return
		}
		if requests, err = s.Await(r.Context(), n); err != nil {
			return // the client left
		}
	}
	w.Header().Set("Content-Type", "application/json")
	// A failed write means that the client left.
	_ = json.NewEncoder(w).Encode(requests)
}

func readRules(r *http.Request) ([]Rule, error) {
	var rules []Rule
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rules); err != nil {
		return nil, fmt.Errorf("the script is not a JSON array of rules: %w", err)
	}
	for i := range rules {
		if err := rules[i].Script.check(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
	}
	return rules, nil
}
