package formats

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

func FuzzChatCall(f *testing.F)      { fuzzCall(f, "openai-chat") }
func FuzzResponsesCall(f *testing.F) { fuzzCall(f, "openai-responses") }
func FuzzMessagesCall(f *testing.F)  { fuzzCall(f, "anthropic-messages") }
func FuzzGenerateCall(f *testing.F)  { fuzzCall(f, "gemini-generate") }

func FuzzChatReply(f *testing.F)      { fuzzReply(f, "openai-chat") }
func FuzzResponsesReply(f *testing.F) { fuzzReply(f, "openai-responses") }
func FuzzMessagesReply(f *testing.F)  { fuzzReply(f, "anthropic-messages") }
func FuzzGenerateReply(f *testing.F)  { fuzzReply(f, "gemini-generate") }

// fuzzCall holds that whatever ReadCall accepts is JSON to everyone else too,
// without duplicate names, and that what it makes of it stays in proportion.
func fuzzCall(f *testing.F, name string) {
	for _, body := range exchanges(f, name, ".call.json") {
		f.Add(body)
	}
	f.Add([]byte(minimal[name]))
	format := formatOf(f, name)
	f.Fuzz(func(t *testing.T, body []byte) {
		call, err := format.ReadCall(paths[name], body, nil)
		if err != nil {
			if haltd.ErrorCode(err) != haltd.CodeMalformed {
				t.Fatalf("refused with %v, which is not %s", err, haltd.CodeMalformed)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatal("accepted what is not JSON")
		}
		if name, ok := duplicateName(body); ok {
			t.Fatalf("accepted the duplicate name %q", name)
		}
		if n := callSize(call); n > 32*len(body) {
			t.Fatalf("%d bytes of text from a body of %d", n, len(body))
		}
		for _, shares := range []bool{false, true} {
			again, err := format.ReadCall(paths[name], body, &wire.Memory{Texts: make([]byte, 0, len(body)/2), Shares: shares})
			if err != nil || !reflect.DeepEqual(call, again) {
				t.Fatalf("a second reading differs, sharing the body %v: %v\n%s", shares, err, cmp.Diff(call, again))
			}
		}
		call.Newest()
		call.FirstUser()
		checkReadOn(t, format, paths[name], body)
	})
}

func callSize(call *haltd.Call) int {
	n := 0
	add := func(ms []haltd.Message) {
		for _, m := range ms {
			n += len(m.Text)
		}
	}
	add(call.Opening)
	for _, round := range call.Rounds {
		n += len(round.Text)
		add(round.Inputs)
		for _, c := range round.Calls {
			n += len(c.ID) + len(c.Name) + len(c.Arguments)
		}
		for _, r := range round.Results {
			n += len(r.CallID) + len(r.Text)
		}
	}
	return n
}

// duplicateName finds a name that an object has twice, with another decoder
// than the one under test.
func duplicateName(body []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	type level struct {
		names map[string]bool // nil in an array
		value bool            // a value is due, not a name
	}
	var stack []level
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].names != nil {
			top := &stack[n-1]
			if name, ok := token.(string); ok && !top.value {
				if top.names[name] {
					return name, true
				}
				top.names[name] = true
				top.value = true
				continue
			}
			top.value = false
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{names: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, level{})
		}
	}
}

// fuzzReply holds that a reply never panics, grows out of proportion or
// depends on how its bytes were cut or on the short cut for like events.
func fuzzReply(f *testing.F, name string) {
	for _, ending := range []string{".json", ".sse"} {
		for _, body := range exchanges(f, name, ".reply"+ending) {
			f.Add(body, uint64(len(body)))
		}
	}
	format := formatOf(f, name)
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		if short, plain := bothWays(format, body); !cmp.Equal(short, plain) {
			t.Fatalf("the short cut differs (-plain +short):\n%s", cmp.Diff(plain, short))
		}
		random := rand.New(rand.NewPCG(seed, 1))
		for _, ending := range []string{".json", ".sse"} {
			whole, unread := tapAll(format, ending, body)
			if n := replySize(whole); n > 4*len(body)+100 {
				t.Fatalf("%d bytes of text from a reply of %d", n, len(body))
			}
			tap := newTap(format, ending)
			for rest := body; len(rest) > 0; {
				n := 1 + random.IntN(len(rest))
				tap.Write(rest[:n])
				rest = rest[n:]
			}
			cut, unreadCut := tap.Close(true)
			if unread != unreadCut || !reflect.DeepEqual(whole, cut) {
				t.Fatalf("%s: unread %q in one piece, %q when cut (-whole +cut):\n%s", ending, unread, unreadCut, cmp.Diff(whole, cut))
			}
		}
	})
}

func replySize(r *haltd.Reply) int {
	n := len(r.ID) + len(r.Model) + len(r.Text) + len(r.Thinking) + len(r.Finish) + len(r.Err)
	for _, c := range r.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}

func TestDuplicateNameFindsDuplicates(t *testing.T) {
	for body, want := range map[string]bool{
		`{"a":1,"b":[{"a":1}],"c":{"a":"a"}}`: false,
		`{"a":[{"x":{"b":"b","\u0062":2}}]}`:  true,
		`[{"a":"a"},{"a":"a","a":1}]`:         true,
	} {
		if _, got := duplicateName([]byte(body)); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}
