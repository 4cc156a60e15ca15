package load

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
)

// kind is what decides the shape of a reply.
type kind struct {
	format string
	stream bool
}

// replies answers calls as callOf numbers them. It asks the fake provider for
// one reply of each kind and from then on only changes the number in it: the
// provider must cost little where the gateway is to be kept busy.
type replies map[kind]*httptest.ResponseRecorder

// unnumbered is replaced in a reply by the same text with the call's number.
const unnumbered = "call 000000"

func newReplies(t *testing.T) replies {
	t.Helper()
	const sentence = "This is the answer to " + unnumbered + ". "
	provider := fakellm.New(func(fakellm.Request) fakellm.Script {
		return fakellm.Script{Text: strings.Repeat(sentence, 5), ChunkSize: len(sentence)}
	})
	all := replies{}
	for _, format := range callFormats {
		for _, stream := range []bool{false, true} {
			r, err := call{0, format, stream}.request(t.Context(), "http://provider")
			if err != nil {
				t.Fatal(err)
			}
			reply := httptest.NewRecorder()
			provider.ServeHTTP(reply, r)
			if n := bytes.Count(reply.Body.Bytes(), []byte(unnumbered)); reply.Code != http.StatusOK || n < 5 {
				t.Fatalf("the fake provider's reply has status %d and %d sentences: %s", reply.Code, n, reply.Body)
			}
			all[kind{format, stream}] = reply
		}
	}
	return all
}

// ServeHTTP answers at once, streams in two writes that part anywhere. Where
// the client leaves, they part before the end of the text, and the second never
// comes: who has all of the text has not left early.
func (all replies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.Header.Get(numberHeader))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := callOf(number)
	reply := all[kind{c.format, c.stream}]
	numbered := fmt.Appendf(nil, "call %06d", number)
	body := bytes.ReplaceAll(reply.Body.Bytes(), []byte(unnumbered), numbered)
	maps.Copy(w.Header(), reply.Header())
	if c.stream {
		end := len(body)
		if leaves(number) {
			end = bytes.Index(body, numbered)
		}
		part := 1 + number%(end-1)
		_, _ = w.Write(body[:part]) // a client that left shows in the request's context
		_ = http.NewResponseController(w).Flush()
		body = body[part:]
	}
	if leaves(number) {
		<-r.Context().Done()
		return
	}
	_, _ = w.Write(body)
}
