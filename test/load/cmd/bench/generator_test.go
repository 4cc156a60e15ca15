package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestGenerate drives the benchmark's own proxy and upstream.
func TestGenerate(t *testing.T) {
	for name, c := range map[string]cell{
		"busy JSON":  {BodyBytes: 1 << 10, Concurrency: 4},
		"busy SSE":   {BodyBytes: 1 << 10, Concurrency: 4, Stream: true},
		"same SSE":   {Kind: sameAnswer, BodyBytes: 1 << 10, Concurrency: 4, Stream: true},
		"paced JSON": {BodyBytes: 10 << 10, Rate: 500},
		"paced SSE":  {BodyBytes: 10 << 10, Rate: 500, Stream: true},
	} {
		t.Run(name, func(t *testing.T) {
			var seen atomic.Int64
			answers := upstream()
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen.Add(1)
				answers.ServeHTTP(w, r)
			}))
			defer up.Close()
			behind, err := url.Parse(up.URL)
			if err != nil {
				t.Fatal(err)
			}
			proxy := httptest.NewServer(reverseProxy(behind))
			defer proxy.Close()
			l, err := newLoad(c.Kind, c.BodyBytes, c.Stream, 0)
			if err != nil {
				t.Fatal(err)
			}
			var warm int64
			got, err := generate(t.Context(), &target{address: proxy.Listener.Addr().String()}, l, c, 50*time.Millisecond, func() error {
				warm = seen.Load()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			clients := int64(max(c.Concurrency, 4))
			if c.Rate > 0 {
				clients = pacedClients
				if got.requests != 25 {
					t.Errorf("%d requests in 50 ms at 500 a second, want 25", got.requests)
				}
			}
			if warm != clients {
				t.Errorf("the time began after %d exchanges, want one for each of %d clients", warm, clients)
			}
			if got.requests == 0 || got.sent != got.requests+int(warm) || int64(got.sent) != seen.Load() || got.bodyBytes < got.requests {
				t.Errorf("%d requests counted, %d sent, %d seen by the upstream, %d bytes", got.requests, got.sent, seen.Load(), got.bodyBytes)
			}
		})
	}
}

// A target that answers late does not delay the requests that follow.
func TestPaceDoesNotWaitForReplies(t *testing.T) {
	l, err := newLoad(questioning, 1<<10, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	const late = pacedClients + 20
	var seen atomic.Int64
	all := make(chan struct{})
	answers := upstream()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := seen.Add(1); n > pacedClients { // those before warm up
			if n == pacedClients+late {
				close(all)
			}
			<-all
		}
		answers.ServeHTTP(w, r)
	}))
	defer s.Close()
	c := cell{BodyBytes: 1 << 10, Rate: 1000}
	got, err := generate(t.Context(), &target{address: s.Listener.Addr().String()}, l, c, late*time.Millisecond, func() error { return nil })
	if err != nil || got.requests != late {
		t.Errorf("%d requests, %v; want all %d on their way at once", got.requests, err, late)
	}
}

func TestGenerateRefusesReplies(t *testing.T) {
	l, err := newLoad(questioning, 1<<10, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "too much", http.StatusTooManyRequests) }, "status 429: too much"},
		"bytes":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) }, "is not the one"},
		"cut":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			_, err := generate(context.Background(), &target{address: s.Listener.Addr().String()}, l, cell{Concurrency: 1}, time.Second, func() error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
