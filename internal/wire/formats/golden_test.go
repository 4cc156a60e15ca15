package formats

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

const tapLimit = 1 << 20

// paths has one path per format, by which Match finds it.
var paths = map[string]string{
	"openai-chat":        "/v1/chat/completions",
	"openai-responses":   "/v1/responses",
	"anthropic-messages": "/v1/messages",
	"gemini-generate":    "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
}

func formatOf(t testing.TB, name string) wire.Format {
	t.Helper()
	f, _ := Match(paths[name])
	if f == nil || f.Name() != name {
		t.Fatalf("%s does not match the format %s", paths[name], name)
	}
	return f
}

// exchanges are the files in testdata of one format whose name ends so.
func exchanges(t testing.TB, format, ending string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", format, "*"+ending))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s files for %s: %v", ending, format, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func checkGolden(t *testing.T, file string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestCallsMatchTheirGoldenFiles(t *testing.T) {
	for format, path := range paths {
		for file, body := range exchanges(t, format, ".call.json") {
			t.Run(file, func(t *testing.T) {
				for _, shares := range []bool{false, true} {
					call, err := formatOf(t, format).ReadCall(path, body, &wire.Memory{Texts: make([]byte, 0, len(body)), Shares: shares})
					if err != nil {
						t.Fatal(err)
					}
					checkGolden(t, strings.TrimSuffix(file, ".json")+".golden", call)
				}
			})
		}
	}
}

// A reply has one golden file whether it comes as JSON or as a stream.
func TestRepliesMatchTheirGoldenFiles(t *testing.T) {
	for format := range paths {
		for _, ending := range []string{".json", ".sse"} {
			for file, body := range exchanges(t, format, ".reply"+ending) {
				t.Run(file, func(t *testing.T) {
					reply, unread := tapAll(formatOf(t, format), ending, body)
					if unread != "" {
						t.Fatalf("unread: %s", unread)
					}
					checkGolden(t, strings.TrimSuffix(file, ending)+".golden", reply)
				})
			}
		}
	}
}

func tapAll(f wire.Format, ending string, body []byte) (*haltd.Reply, string) {
	tap := newTap(f, ending)
	tap.Write(body)
	return tap.Close(true)
}

func newTap(f wire.Format, ending string) *wire.Tap {
	kind := "application/json"
	if ending == ".sse" {
		kind = "text/event-stream; charset=utf-8"
	}
	return wire.NewTap(f, 200, http.Header{"Content-Type": {kind}}, tapLimit, nil)
}

func TestStreamsReadTheSameWhereverTheyAreCut(t *testing.T) {
	step := 3 // make verify takes every byte
	if os.Getenv("HALTD_SIZES") == "all" {
		step = 1
	}
	for format := range paths {
		f := formatOf(t, format)
		for file, body := range exchanges(t, format, ".reply.sse") {
			want, _ := tapAll(f, ".sse", body)
			for cut := 0; cut < len(body); cut += step {
				tap := newTap(f, ".sse")
				tap.Write(body[:cut])
				tap.Write(body[cut:])
				got, unread := tap.Close(true)
				if unread != "" || !reflect.DeepEqual(want, got) {
					t.Fatalf("%s cut at byte %d: unread %q (-want +got):\n%s", file, cut, unread, cmp.Diff(want, got))
				}
			}
		}
	}
}

// What is left of a stream that breaks off is read, and never taken for whole.
func TestBrokenStreamsGiveWhatArrived(t *testing.T) {
	for format := range paths {
		f := formatOf(t, format)
		for file, body := range exchanges(t, format, "weather.reply.sse") {
			whole, _ := tapAll(f, ".sse", body)
			for cut := range len(body) {
				tap := newTap(f, ".sse")
				tap.Write(body[:cut])
				got, unread := tap.Close(false)
				if unread != "" {
					t.Fatalf("%s ended at byte %d: unread %q", file, cut, unread)
				}
				if !strings.HasPrefix(whole.Text, got.Text) || !strings.HasPrefix(whole.Thinking, got.Thinking) {
					t.Fatalf("%s ended at byte %d: %q is no start of %q", file, cut, got.Text, whole.Text)
				}
				if got.Complete && got.Finish != whole.Finish {
					t.Fatalf("%s ended at byte %d: complete without its finish", file, cut)
				}
			}
		}
	}
}

// The same conversation gives the same rounds in every format.
func TestOneConversationInFourFormats(t *testing.T) {
	var want *haltd.Call
	for _, format := range []string{"openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"} {
		body := exchanges(t, format, "weather.call.json")[filepath.Join("testdata", format, "weather.call.json")]
		call, err := formatOf(t, format).ReadCall(paths[format], body, nil)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		neutral(call)
		if want == nil {
			want = call
			continue
		}
		if diff := cmp.Diff(want, call); diff != "" {
			t.Errorf("%s reads differently from openai-chat (-chat +%s):\n%s", format, format, diff)
		}
		wantText, wantTools := want.Newest()
		if text, tools := call.Newest(); text != wantText || tools != wantTools {
			t.Errorf("%s: newest is %q, %v, in openai-chat %q, %v", format, text, tools, wantText, wantTools)
		}
	}
	if text, tools := want.Newest(); text != "rain" || !tools {
		t.Errorf("newest is %q, %v, want the last tool result", text, tools)
	}
}

// neutral takes out of a call what is each format's own: names, ids, the
// spelling of arguments and the length of the envelope.
func neutral(call *haltd.Call) {
	call.Format, call.Model, call.PromptTokens = "", "", 0
	for i := range call.Rounds {
		round := &call.Rounds[i]
		for j := range round.Calls {
			round.Calls[j].ID = ""
			round.Calls[j].Arguments = detection.CanonicalArguments(round.Calls[j].Arguments)
		}
		for j := range round.Results {
			round.Results[j].CallID = ""
		}
	}
}
