package formats

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/gemini"
	"github.com/haltd/haltd/internal/wire/openai"
)

const chatReply = `{"id":"1","model":"m","choices":[{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`

const chatStream = "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n" +
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func brotlied(s string) string {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func zstded(s string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(s), nil))
}

func TestTapReadsEveryEnvelope(t *testing.T) {
	want := &haltd.Reply{ID: "1", Model: "m", Text: "hello", Finish: "stop", Usage: haltd.Usage{Input: 3, Output: 2}, Counted: true, Complete: true}
	tests := []struct{ name, kind, encoding, body string }{
		{"JSON", "application/json", "", chatReply},
		{"JSON without a type", "", "", "\n " + chatReply + "\n"},
		{"stream", "text/event-stream", "", chatStream},
		{"stream without its last empty line", "text/event-stream", "", strings.TrimRight(chatStream, "\n")},
		{"stream under a wrong type", "text/plain", "", ": hi\n\n" + chatStream},
		{"identity", "application/json", "identity", chatReply},
		{"gzip JSON", "application/json", "gzip", gzipped(chatReply)},
		{"br JSON", "application/json", "br", brotlied(chatReply)},
		{"zstd JSON", "application/json", "zstd", zstded(chatReply)},
		{"gzip stream", "text/event-stream", "gzip", gzipped(chatStream)},
		{"br stream", "text/event-stream", "BR", brotlied(chatStream)},
		{"two encodings", "application/json", "gzip, br", brotlied(gzipped(chatReply))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, unread := tapChat(200, tt.kind, tt.encoding, tt.body, tapLimit, true)
			if unread != "" {
				t.Fatalf("unread: %s", unread)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

func tapChat(status int, kind, encoding, body string, limit int64, complete bool) (*haltd.Reply, string) {
	header := http.Header{}
	if kind != "" {
		header.Set("Content-Type", kind)
	}
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	f, _ := Match("/chat/completions")
	tap := wire.NewTap(f, status, header, limit, nil)
	for rest := []byte(body); len(rest) > 0; {
		n := min(7, len(rest))
		tap.Write(rest[:n])
		rest = rest[n:]
	}
	return tap.Close(complete)
}

func TestTapSaysWhatItCouldNotRead(t *testing.T) {
	tests := []struct {
		name, kind, encoding, body string
		limit                      int64
		complete                   bool
		unread                     string
	}{
		{"unknown encoding", "application/json", "compress", chatReply, 1000, true, "unsupported content encoding: compress"},
		{"too long", "application/json", "", chatReply, 20, true, "reply over 20 bytes"},
		{"decodes to too much", "application/json", "gzip", gzipped(chatReply + strings.Repeat(" ", 5000)), 1000, true, "reply over 1000 bytes"},
		{"event too long", "text/event-stream", "", "data: " + strings.Repeat("x", 100) + "\n\n", 50, true, "reply over 50 bytes"},
		{"not JSON", "application/json", "", `{"id":`, 1000, true, "malformed reply"},
		{"cut JSON", "application/json", "", chatReply[:30], 1000, false, "malformed reply"},
		{"bad event", "text/event-stream", "", "data: {\n\n", 1000, true, "malformed reply"},
		{"HTML", "text/html", "", "<html>", 1000, true, "not JSON nor an event stream"},
		{"empty", "application/json", "", "", 1000, true, "empty reply"},
		{"not gzip", "application/json", "gzip", chatReply, 1000, true, "malformed gzip"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply, unread := tapChat(200, tt.kind, tt.encoding, tt.body, tt.limit, tt.complete)
			if unread != tt.unread {
				t.Errorf("unread is %q, want %q", unread, tt.unread)
			}
			if reply == nil || reply.Complete {
				t.Errorf("reply is %+v, want an incomplete one", reply)
			}
		})
	}
}

func TestTapReadsErrorsOfErrorReplies(t *testing.T) {
	reply, unread := tapChat(429, "application/json", "", `{"error":{"message":"slow down","type":"rate_limit"}}`, 1000, true)
	if reply.Err != "rate_limit: slow down" || reply.Complete || unread != "" {
		t.Errorf("reply %+v, unread %q", reply, unread)
	}
	if reply, unread = tapChat(502, "text/html", "", "<html>", 1000, true); reply.Err != "" || unread != "" {
		t.Errorf("reply %+v, unread %q", reply, unread)
	}
}

// Text over the limit is dropped; the usage at the end still counts.
func TestTapCountsUsageOfLongStreams(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"part %d of a long reply\"}}]}\n\n", i)
	}
	b.WriteString(chatStream)
	reply, unread := tapChat(200, "text/event-stream", "", b.String(), 1000, true)
	if unread != "reply over 1000 bytes" || len(reply.Text) > 1000 {
		t.Errorf("unread %q with %d bytes of text", unread, len(reply.Text))
	}
	if !reply.Counted || reply.Usage.Input != 3 || !reply.Complete {
		t.Errorf("usage %+v, complete %v", reply.Usage, reply.Complete)
	}
}

// A compressed stream that breaks off gives what arrived.
func TestTapReadsHalfACompressedStream(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(chatStream))
	w.Flush()
	reply, unread := tapChat(200, "text/event-stream", "gzip", b.String(), 1000, false)
	if unread != "" || reply.Text != "hello" || !reply.Counted {
		t.Errorf("unread %q, reply %+v", unread, reply)
	}
}

func BenchmarkTapStream(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767000000,\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n"
	stream := []byte(strings.Repeat(event, 100) + chatStream)
	f, _ := Match("/chat/completions")
	header := http.Header{"Content-Type": {"text/event-stream"}}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		tap := wire.NewTap(f, 200, header, tapLimit, nil)
		tap.Write(stream)
		if _, unread := tap.Close(true); unread != "" {
			b.Fatal(unread)
		}
	}
}

// A reply for which there is no memory passes unread, and what a stream said
// before is kept.
func TestTapWithoutMemoryIsUnread(t *testing.T) {
	for kind, reply := range map[string]string{
		"application/json":  `{"choices":[{"message":{"content":"` + strings.Repeat("a", 5000) + `"}}]}`,
		"text/event-stream": `data: {"choices":[{"delta":{"content":"` + strings.Repeat("a", 5000) + `"}}]}` + "\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"more\"}}]}\n\n",
	} {
		tap := wire.NewTap(openai.Chat{}, 200, http.Header{"Content-Type": {kind}}, tapLimit, func(n int64) bool { return n < 1000 })
		_, _ = tap.Write([]byte(reply))
		_, _ = tap.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"and more\"}}]}\n\n"))
		got, unread := tap.Close(true)
		if unread != "no memory left for bodies" || strings.Contains(got.Text, "and more") {
			t.Errorf("%s: unread %q with a text of %d bytes; want it unread and nothing kept after that", kind, unread, len(got.Text))
		}
	}
}

// What a stream in one array has said before it was cut is read.
func TestTapReadsAnArrayThatWasCut(t *testing.T) {
	const first = `[{"candidates":[{"content":{"parts":[{"text":"The \"order\" ]} is "}]}}]}`
	const second = `,
{"candidates":[{"content":{"parts":[{"text":"on its way."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}}`
	for cut, want := range map[string]string{
		first + second + "\n":          `The "order" ]} is on its way.`,
		first + second:                 `The "order" ]} is on its way.`,
		first + second[:len(second)-1]: `The "order" ]} is `,
		first:                          `The "order" ]} is `,
		first[:len(first)-1]:           "",
		"[":                            "",
	} {
		for _, encoding := range []string{"", "gzip"} {
			sent := cut
			if encoding != "" {
				sent = gzipped(cut)
			}
			tap := wire.NewTap(gemini.Generate{}, 200, http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {encoding}}, 1<<20, nil)
			_, _ = tap.Write([]byte(sent))
			reply, unread := tap.Close(false)
			if reply.Text != want || reply.Complete || (unread != "") != (want == "") {
				t.Errorf("%q of %q: read %q, complete %v, unread %q; want %q", encoding, cut, reply.Text, reply.Complete, unread, want)
			}
		}
	}
}

// An event without an end takes its share of memory as it grows.
func TestEventsWithoutEndTakeMemory(t *testing.T) {
	for media, start := range map[string]string{
		"text/event-stream":                  "data: ",
		"application/x-ndjson":               `{"x":"`,
		"application/vnd.amazon.eventstream": "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		const granted = 1 << 20
		left := int64(granted)
		take := func(n int64) bool {
			if n > left {
				return false
			}
			left -= n
			return true
		}
		tap := wire.NewTap(formatOf(t, "openai-chat"), 200, http.Header{"Content-Type": {media}}, 32<<20, take)
		tap.Write([]byte(start))
		for range 64 {
			tap.Write(bytes.Repeat([]byte("a"), 64<<10))
		}
		if tap.Follows() || left == granted {
			t.Errorf("%s: an event of 4 MiB is followed with 1 MiB of memory, of which %d bytes were taken", media, granted-left)
		}
		if _, unread := tap.Close(true); !strings.HasPrefix(unread, "no memory") {
			t.Errorf("%s: unread %q", media, unread)
		}
	}
}

// Short replies are kept in memory which others have used: what was read of one
// stays what it is, and none reads what another one left.
func TestRepliesDoNotShareWhatTheySay(t *testing.T) {
	others := []byte(strings.Repeat("{", 4<<10))
	for format := range paths {
		f := formatOf(t, format)
		for name, body := range exchanges(t, format, ".reply.json") {
			want, wantUnread := tapAll(f, ".reply.json", body)
			wanted := fmt.Sprintf("%+v", *want)
			for range 4 {
				tapAll(f, ".reply.json", others)
				got, unread := tapAll(f, ".reply.json", body)
				if s := fmt.Sprintf("%+v", *got); s != wanted || unread != wantUnread {
					t.Fatalf("%s: %s, unread %q; want %s, unread %q", name, s, unread, wanted, wantUnread)
				}
			}
			if s := fmt.Sprintf("%+v", *want); s != wanted {
				t.Errorf("%s: became %s, was %s", name, s, wanted)
			}
		}
	}
}

func TestRepliesOfAnyLengthAreReadWhole(t *testing.T) {
	for _, length := range []int{100, 4<<10 - 1, 4 << 10, 4<<10 + 1, 8<<10 + 1, 100 << 10} {
		for _, piece := range []int{length, 1000, 4 << 10} {
			const before, after = `{"choices":[{"message":{"content":"`, `"},"finish_reason":"stop"}]}`
			text := strings.Repeat("a", length-len(before)-len(after))
			tap := wire.NewTap(openai.Chat{}, 200, http.Header{"Content-Type": {"application/json"}}, tapLimit, nil)
			for part := range slices.Chunk([]byte(before+text+after), piece) {
				_, _ = tap.Write(part)
			}
			if reply, unread := tap.Close(true); reply.Text != text || unread != "" {
				t.Errorf("%d bytes in pieces of %d: read %d of %d bytes, unread %q", length, piece, len(reply.Text), len(text), unread)
			}
		}
	}
}
