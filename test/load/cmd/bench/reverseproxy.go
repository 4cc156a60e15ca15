package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// reverseProxy is the plainest gateway that Go's standard library makes, as one
// would run it: it reads the whole body, as whoever judges a request must, and
// passes it on; its buffers are used again, and streams are flushed at once.
func reverseProxy(target *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		BufferPool:    copyBuffers{},
		FlushInterval: -1,
		Transport: &http.Transport{
			DisableCompression:  true,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     90 * time.Second,
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := bodies.Get().(*bytes.Buffer)
		defer bodies.Put(buf)
		buf.Reset()
		if _, err := buf.ReadFrom(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body := buf.Bytes()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	})
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var copies = sync.Pool{New: func() any { return make([]byte, 32<<10) }}

// copyBuffers are what replies are copied with.
type copyBuffers struct{}

func (copyBuffers) Get() []byte  { return copies.Get().([]byte) }
func (copyBuffers) Put(b []byte) { copies.Put(b) }
