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
	for name, stream := range map[string]bool{"JSON": false, "SSE": true} {
		t.Run(name, func(t *testing.T) {
			var seen atomic.Int64
			answers := upstream()
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen.Add(1)
				answers.ServeHTTP(w, r)
			}))
			defer up.Close()
			target, err := url.Parse(up.URL)
			if err != nil {
				t.Fatal(err)
			}
			proxy := httptest.NewServer(reverseProxy(target))
			defer proxy.Close()
			l, err := newLoad(1<<10, stream)
			if err != nil {
				t.Fatal(err)
			}
			begun := false
			got, err := generate(t.Context(), proxy.Listener.Addr().String(), l, 4, 50*time.Millisecond, func() error {
				begun = seen.Load() == 4
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !begun {
				t.Error("the time began before every connection had made one exchange")
			}
			if got.requests == 0 || got.sent != got.requests+4 || int64(got.sent) != seen.Load() {
				t.Errorf("%d requests counted, %d sent, %d seen by the upstream", got.requests, got.sent, seen.Load())
			}
		})
	}
}

func TestGenerateRefusesReplies(t *testing.T) {
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
			l := load{{wireRequest(1, "s", []byte("{}")), []byte("expected")}}
			_, err := generate(context.Background(), s.Listener.Addr().String(), l, 1, time.Second, func() error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
