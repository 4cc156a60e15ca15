package harness

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
)

// Provider starts a fake provider and answers it with its address.
func Provider(t testing.TB, script func(fakellm.Request) fakellm.Script) (llm *fakellm.Server, url string) {
	t.Helper()
	llm = fakellm.New(script)
	s := httptest.NewServer(llm)
	t.Cleanup(s.Close)
	return llm, s.URL
}

// ScriptHeader carries what the provider is to answer a call, for Scripted.
const ScriptHeader = "X-Script"

// Scripted answers what the call asks for in its header, and otherwise by its
// model.
func Scripted(r fakellm.Request) fakellm.Script {
	text := r.Header.Get(ScriptHeader)
	if text == "" {
		return fakellm.ByModel(r)
	}
	var s fakellm.Script
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fakellm.Script{Status: http.StatusTeapot, Error: err.Error()}
	}
	return s
}
