package calls_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/calls"
)

var paths = map[string]string{
	"openai-chat":        "/v1/chat/completions",
	"openai-responses":   "/v1/responses",
	"anthropic-messages": "/v1/messages",
	"gemini-generate":    "/v1beta/models/gemini-2.5-pro:generateContent",
}

// exchange reads one of the recorded exchanges of the gateway's own tests.
func exchange(t *testing.T, format, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../internal/wire/formats/testdata", format, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same conversation reads the same in four formats, streamed or not.
func TestFourFormatsSayTheSame(t *testing.T) {
	var first *haltd.Call
	for format, path := range paths {
		body := exchange(t, format, "weather.call.json")
		call, err := calls.FromRequest(path, body)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if call.Format != format || len(call.Rounds) == 0 {
			t.Errorf("%s: format %s, %d rounds", format, call.Format, len(call.Rounds))
		}
		before := call.FirstUser()
		clear(body)
		if call.FirstUser() != before {
			t.Errorf("%s: the call changes with the body", format)
		}
		if first == nil {
			first = call
		}
		if n, m := len(call.Rounds), len(first.Rounds); n != m {
			t.Errorf("%s has %d rounds, %s %d", format, n, first.Format, m)
		}
		whole, err := calls.FromReply(path, exchange(t, format, "weather.reply.json"))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		streamed, err := calls.FromReply(path, exchange(t, format, "weather.reply.sse"))
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if len(whole.Calls) == 0 || !whole.Complete || !whole.Counted {
			t.Errorf("%s: %+v", format, whole)
		}
		whole.Beside, streamed.Beside = 0, 0 // further choices, which only one of the two has
		if diff := cmp.Diff(whole, streamed); diff != "" {
			t.Errorf("%s: streamed, the reply says something else:\n%s", format, diff)
		}
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	_, err := calls.FromRequest("/v1/messages", []byte(`{"messages":7}`))
	wantCode(t, err, haltd.CodeMalformed)
	_, err = calls.FromRequest("/v1/embeddings", []byte(`{}`))
	wantCode(t, err, haltd.CodeInvalid)
	_, err = calls.FromReply("/v1/embeddings", []byte(`{}`))
	wantCode(t, err, haltd.CodeInvalid)
	reply, err := calls.FromReply("/v1/messages", []byte(`busy`))
	wantCode(t, err, haltd.CodeMalformed)
	if reply == nil {
		t.Error("no reply to observe")
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *haltd.Error
	if !errors.As(err, &e) || e.Code != code || e.Sentence() == "" {
		t.Errorf("got %v, want an error with code %s", err, code)
	}
}
