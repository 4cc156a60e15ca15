package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// replyHeader names the reply that a request wants: its kind and number.
const replyHeader = "X-Bench-Reply"

// openKind before the kind of a reply asks for a stream that stays open after
// openWrites of its writes, until the client goes.
const openKind, openWrites = "open-", streamWrites / 2

// replyKind names a set of replies.
func replyKind(works, stream bool) string {
	return map[bool]string{false: "talk", true: "work"}[works] + "-" + map[bool]string{false: "json", true: "sse"}[stream]
}

// has says whether a body has a field with a value that begins so, with a space
// between them or without.
func has(body []byte, field, value string) bool {
	name := strconv.Quote(field) + ":"
	return bytes.Contains(body, []byte(name+value)) || bytes.Contains(body, []byte(name+" "+value))
}

// upstream answers every request at once with the prepared reply that its
// header names; without one, with the next of the kind that its body asks for:
// other gateways do not pass the header on.
func upstream() http.Handler {
	prepared := map[string]*preparedReply{}
	for _, works := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			set := newReplySet(works, stream)
			for i := range set {
				prepared[fmt.Sprintf("%s-%d", replyKind(works, stream), i)] = &set[i]
			}
		}
	}
	var unnamed atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(replyHeader)
		if name == "" {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // whoever asked has gone
			}
			kind := replyKind(has(body, "tools", "["), has(body, "stream", "true"))
			name = fmt.Sprintf("%s-%d", kind, unnamed.Add(1)%replies)
		} else if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		name, open := strings.CutPrefix(name, openKind)
		reply := prepared[name]
		if reply == nil {
			http.Error(w, "not a request of the benchmark", http.StatusBadRequest)
			return
		}
		h := w.Header()
		if len(reply.writes) == 1 {
			h["Content-Type"] = []string{"application/json"}
			h["Content-Length"] = []string{strconv.Itoa(len(reply.whole))}
			_, _ = w.Write(reply.whole)
			return
		}
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
		flush := w.(http.Flusher)
		for i, b := range reply.writes {
			if open && i == openWrites {
				<-r.Context().Done()
				return
			}
			if _, err := w.Write(b); err != nil {
				return
			}
			flush.Flush()
		}
	})
}
