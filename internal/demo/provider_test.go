package demo

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asked is a conversation in which the model has called read_file for path
// and got result.
func asked(id, path, result string) []message {
	c := readCall(path)
	c.ID = id
	return []message{
		{Role: "assistant", ToolCalls: []toolCall{c}},
		{Role: "tool", ToolCallID: id, Content: result},
	}
}

func TestTheModelReadsWhatTheTaskNames(t *testing.T) {
	task := message{Role: "user", Content: "Compare a/one.md and b/two.md."}
	one, two := asked("1", "a/one.md", "One is\nfirst. And more."), asked("2", "b/two.md", "Two is second.")
	missing := asked("1", "a/one.md", errorMark+"a/one.md: no such file or directory")
	for _, tc := range []struct {
		name        string
		messages    [][]message
		calls, says string
	}{
		{"at first", [][]message{{task}}, "a/one.md", ""},
		{"the next file", [][]message{{task}, one}, "b/two.md", ""},
		{"a missing file again", [][]message{{task}, missing, missing}, "a/one.md", ""},
		{"a sum at the end", [][]message{{task}, one, two}, "", "One is first. Two is second."},
		{"the newest task only", [][]message{{task}, one, two, {{Role: "user", Content: "Now c/three.md."}}}, "c/three.md", ""},
		{"nothing without a task", nil, "", "There is no task."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var conversation []message
			for _, part := range tc.messages {
				conversation = append(conversation, part...)
			}
			got := answer(conversation)
			calls := ""
			if len(got.ToolCalls) == 1 {
				calls = got.ToolCalls[0].Function.Arguments
			}
			if tc.calls != "" {
				tc.calls = `{"path":"` + tc.calls + `"}`
			}
			if calls != tc.calls || got.Content != tc.says {
				t.Errorf("calls %q and says %q, want %q and %q", calls, got.Content, tc.calls, tc.says)
			}
		})
	}
}

func TestAStreamedReplyIsTheSameReply(t *testing.T) {
	for name, reply := range map[string]message{
		"text":      {Role: "assistant", Content: "Eight words are more than one piece holds. Really."},
		"tool call": {Role: "assistant", ToolCalls: []toolCall{readCall("a/one.md")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			stream(w, completion{}, reply, nil)
			got, err := readStream(w.Body)
			if diff := cmp.Diff(reply, got); err != nil || diff != "" {
				t.Errorf("%v; -sent +read:\n%s", err, diff)
			}
		})
	}
}

func TestAStreamThatIsCutIsAnError(t *testing.T) {
	w := httptest.NewRecorder()
	stream(w, completion{}, message{Role: "assistant", Content: "Half of it."}, nil)
	w.Body.Truncate(w.Body.Len() - len("data: [DONE]\n\n"))
	if m, err := readStream(w.Body); err == nil {
		t.Errorf("read %+v without an error", m)
	}
}

func TestTheProviderRefusesWhatItDoesNotKnow(t *testing.T) {
	p := &provider{clock: time.Now}
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/v1/chat/completions", 404},
		{"POST", "/v1/embeddings", 404},
		{"POST", "/v1/chat/completions", 400}, // without a body
	} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.want {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, w.Code, tc.want)
		}
	}
}
