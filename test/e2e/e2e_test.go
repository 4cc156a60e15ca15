// Package e2e tests haltd as a user has it: the built binary, real clients,
// real peers. Each test starts its own processes on free ports in temporary
// folders and stops them.
package e2e

import (
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// These tests wait for haltd more than they compute: four at a time, however
// few the cores, unless the command line says otherwise. Those that measure how
// long something takes are not parallel, and run by themselves.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
	}
	harness.Main(m)
}

// node is one running haltd.
type node struct{ *harness.Node }

// start runs a haltd and waits until it is ready.
func start(t *testing.T, more string, env ...string) *node {
	t.Helper()
	return &node{harness.Start(t, more, env...)}
}

// provider starts a fake provider and answers it with its address.
func provider(t *testing.T) (*fakellm.Server, string) {
	t.Helper()
	return harness.Provider(t, fakellm.ByModel)
}

const chat = `{"model":"echo","messages":[{"role":"user","content":"hello there"}]}`

func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	status, _, answer := roundTrip(t, req, header)
	return status, answer
}

// ask makes a request without a body that the gateway would read.
func ask(t *testing.T, method, url string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return roundTrip(t, req, header)
}

// roundTrip sends a request with further headers, names and values in turn.
func roundTrip(t *testing.T, req *http.Request, header []string) (int, http.Header, string) {
	t.Helper()
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}
