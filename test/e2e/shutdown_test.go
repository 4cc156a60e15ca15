package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

// A request of the admin API that is in flight when haltd ends is let finish,
// while a live stream, which would not end by itself, is ended.
func TestAdminRequestsFinishWhileHaltdEnds(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	stream, err := n.Open(t.Context(), "GET", "/v1/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	address := strings.TrimPrefix(n.Admin, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"agent":"late"}`
	if _, err := fmt.Fprintf(conn, "POST /v1/keys HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", address, harness.Token, len(body)); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // it reads the body
		t.Fatalf("%q, %v; want to be asked for the body", line, err)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); n.Stop(t) }()
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("a live stream ends with %v", err)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.ReadString('\n'); err != nil { // the end of the 100
		t.Fatal(err)
	}
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode > 299 {
		t.Errorf("a request in flight is answered %d: %s", res.StatusCode, answer)
	}
	conn.Close()
	<-stopped
}
