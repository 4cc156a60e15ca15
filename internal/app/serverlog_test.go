package app

import (
	"bytes"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAFaultOfAHandlerIsLogged(t *testing.T) {
	var out bytes.Buffer
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			panic(http.ErrAbortHandler) // how a handler breaks a connection off
		}
		panic("the fault")
	}))
	srv.Config.ErrorLog = log.New(serverLog{slog.New(slog.NewTextHandler(&out, nil))}, "", 0)
	srv.Start()
	for _, path := range []string{"/gone", "/fault"} {
		if res, err := http.Get(srv.URL + path); err == nil {
			res.Body.Close()
			t.Errorf("GET %s was answered %d", path, res.StatusCode)
		}
	}
	srv.Close()
	if got := out.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "the fault") || !strings.Contains(got, "serverlog_test.go") {
		t.Errorf("logged %q, want one error with the fault and its stack", got)
	}
}
