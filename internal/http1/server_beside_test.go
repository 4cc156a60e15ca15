package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var emptyHost = regexp.MustCompile(`(?i)host:[ \t]*\r?\n`)

// FuzzServer compares what comes back with what comes back from net/http's server.
func FuzzServer(f *testing.F) {
	for _, raw := range exchanges {
		if len(raw) < 1000 {
			f.Add(raw)
		}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		b, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q %v", r.Method, r.RequestURI, b, err != nil)
	})
	_, own := served(f, handler, nil)
	library := beside(f, handler)
	f.Fuzz(func(t *testing.T, raw string) {
		if strings.Contains(raw, "HTTP/1.0") || strings.Contains(raw, "100-continue") || strings.HasPrefix(raw, "PRI ") || strings.Contains(raw, ":/") || emptyHost.MatchString(raw) {
			return // they differ: HTTP/1.0 that is kept, and requests whose Host header is empty or not needed
		}
		ask := func(address string) string {
			c := dial(t, address).(*net.TCPConn)
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.WriteString(c, raw)
			_ = c.CloseWrite()
			b, _ := io.ReadAll(c)
			var all strings.Builder
			in := bufio.NewReader(bytes.NewReader(b))
			for {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					return all.String()
				}
				b, err := io.ReadAll(res.Body)
				status := res.StatusCode
				if status == http.StatusNotImplemented {
					status = http.StatusBadRequest
				}
				if status >= 400 { // in words of their own
					b = nil
				}
				fmt.Fprintln(&all, status, string(b), err)
			}
		}
		if got, want := ask(own), ask(library); got != want {
			t.Errorf("%q:\n%s\nwith net/http:\n%s", raw, got, want)
		}
	})
}

// BenchmarkServe takes a request of 1 KB and answers it with as much, by a client that is
// the same for both.
func BenchmarkServe(b *testing.B) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	_, own := served(b, handler, nil)
	body := bytes.Repeat([]byte("x"), 1<<10)
	for _, by := range []struct{ name, address string }{{"hand", own}, {"library", beside(b, handler)}} {
		b.Run("1KB/"+by.name, func(b *testing.B) {
			client, _ := pool(by.address)
			client.MaxIdle = 16
			defer client.CloseIdleConnections()
			benchmarkCalls(b, client, by.address, body)
		})
	}
}
