package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckRewritten(t *testing.T) {
	// As a peer would: other white space, another order, pieces left out.
	var reply map[string]any
	if err := json.Unmarshal(jsonReply(3, true), &reply); err != nil {
		t.Fatal(err)
	}
	other, err := json.MarshalIndent(reply, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	stream := streamReply(3, false)
	for name, c := range map[string]struct {
		body          string
		works, stream bool
		want          string
	}{
		"JSON as it is":      {string(jsonReply(3, false)), false, false, ""},
		"JSON anew":          {string(other), true, false, ""},
		"no JSON":            {"gateway error", false, false, "no JSON"},
		"another id":         {`{"id":"x","choices":[{"finish_reason":"stop"}]}`, false, false, "not one of the upstream's"},
		"another finish":     {string(other), false, false, "not one of the upstream's"},
		"stream as it is":    {strings.Join(stream, ""), false, true, ""},
		"no first piece":     {strings.Join(stream[1:], ""), false, true, ""},
		"pieces together":    {strings.Join(stream[len(stream)-3:], ""), false, true, "3 pieces of 20"},
		"no finish":          {strings.Join(stream, ""), true, true, "how it finishes"},
		"a stream cut short": {strings.Join(stream[:len(stream)-1], ""), false, true, "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkRewritten([]byte(c.body), c.works, c.stream)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("checkRewritten = %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheUpstreamAnswersWithoutAHeader(t *testing.T) {
	up := upstream()
	for _, k := range []kind{oneShot, growing} {
		for _, stream := range []bool{false, true} {
			l, err := newLoad(k, 10<<10, stream, 0)
			if err != nil {
				t.Fatal(err)
			}
			var begun atomic.Int64
			e := l.clients(1, &begun, portkeyPeer("127.0.0.1:9"))[0].next()
			r := requestOf(t, e)
			r.Header.Del(replyHeader)
			w := httptest.NewRecorder()
			up.ServeHTTP(w, r)
			if err := e.check(w.Body.Bytes()); w.Code != http.StatusOK || err != nil {
				t.Errorf("%s, stream %v: status %d, %v", k, stream, w.Code, err)
			}
		}
	}
}

func TestOnlyAPeerGetsItsHeaders(t *testing.T) {
	l, err := newLoad(questioning, 1<<10, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	headers := func(p *peer) http.Header {
		var begun atomic.Int64
		return requestOf(t, l.clients(1, &begun, p)[0].next()).Header
	}
	plain, peers := headers(nil), headers(portkeyPeer("127.0.0.1:9"))
	want := plain.Clone()
	want.Set("X-Portkey-Provider", "openai")
	want.Set("X-Portkey-Custom-Host", "http://127.0.0.1:9/v1")
	if diff := cmp.Diff(want, peers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func requestOf(t *testing.T, e exchange) *http.Request {
	t.Helper()
	var wire bytes.Buffer
	request := e.request(nil)
	if _, err := request.WriteTo(&wire); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r
}

func TestPeersHaveAPlaceOfTheirOwnInADocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "performance.md")
	others := docsBegin + "old\n" + docsEnd
	if err := os.WriteFile(path, []byte(others+peersBegin+peersEnd), 0o600); err != nil {
		t.Fatal(err)
	}
	r := measured(100, 40, 0.3)
	r.targets = append(r.targets, &target{name: "portkey", peer: &peer{}})
	for _, c := range r.cells {
		r.samples[c]["portkey"] = []sample{{Requests: 10, CPU: 400}, {Requests: 10, CPU: 200}}
	}
	if err := reportOf(r).writeDocs(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.HasPrefix(text, others+peersBegin) || !strings.HasSuffix(text, peersEnd) ||
		!strings.Contains(text, "| one-shot | JSON | 1 KB | 64 busy | portkey | 3.00 (2.00–4.00) |\n") {
		t.Errorf("the document is now:\n%s", text)
	}
}
