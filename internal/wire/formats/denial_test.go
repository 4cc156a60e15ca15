package formats

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/sse"
)

var (
	refused  = wire.Denied{Status: 400, Code: "malformed_body", Message: "not \"JSON\"\nat all \xff"}
	blocked  = wire.Denied{Status: 400, Code: "loop_detected", Message: "haltd: Agent a was stopped.", Incident: "inc_bcdfghjkmnpq", Blocked: true}
	rejected = wire.Denied{Status: 429, Code: "rate_limited", Message: "haltd: Agent a calls too often.", Blocked: true, RetryAfter: 7}
)

func TestDenials(t *testing.T) {
	tests := []struct {
		dialect string
		denied  wire.Denied
		want    string
	}{
		{"openai", refused, `{"error":{"message":"not \"JSON\"\nat all �","type":"invalid_request_error","param":null,"code":"malformed_body"}}`},
		{"openai", blocked, `{"error":{"message":"haltd: Agent a was stopped.","type":"invalid_request_error","param":null,"code":"loop_detected","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}`},
		{"openai", rejected, `{"error":{"message":"haltd: Agent a calls too often.","type":"requests","param":null,"code":"rate_limit_exceeded","block_reason":"rate_limited","retry_after_seconds":7},"block_reason":"rate_limited","retry_after_seconds":7}`},
		{"anthropic", refused, `{"type":"error","error":{"type":"invalid_request_error","message":"not \"JSON\"\nat all �"},"request_id":"req_haltdmssmsqwjkmpjd"}`},
		{"anthropic", blocked, `{"type":"error","error":{"type":"invalid_request_error","message":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"request_id":"req_haltdvkmfhbhfdkxnh","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}`},
		{"anthropic", rejected, `{"type":"error","error":{"type":"rate_limit_error","message":"haltd: Agent a calls too often.","block_reason":"rate_limited","retry_after_seconds":7},"request_id":"req_haltdpcrmjdvjnnfrd","block_reason":"rate_limited","retry_after_seconds":7}`},
		{"gemini", refused, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"not \"JSON\"\nat all �"}}`},
		{"gemini", blocked, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}`},
		{"gemini", rejected, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"haltd: Agent a calls too often.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}],"block_reason":"rate_limited","retry_after_seconds":7},"block_reason":"rate_limited","retry_after_seconds":7}`},
		{"ollama", refused, `{"error":"not \"JSON\"\nat all �"}`},
		{"ollama", blocked, `{"error":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}`},
		{"ollama", rejected, `{"error":"haltd: Agent a calls too often.","block_reason":"rate_limited","retry_after_seconds":7}`},
	}
	for _, tt := range tests {
		t.Run(tt.dialect+" "+tt.denied.Code, func(t *testing.T) {
			body := Dialect(tt.dialect).Denial(tt.denied)
			if !json.Valid(body) {
				t.Errorf("%s is not JSON", body)
			}
			if diff := cmp.Diff(tt.want, string(body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	tests := []struct {
		format string
		denied wire.Denied
		want   string
	}{
		{"openai-chat", blocked, "data: " + `{"error":{"message":"haltd: Agent a was stopped.","type":"invalid_request_error","param":null,"code":"loop_detected","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}` + "\n\n"},
		{"openai-chat", rejected, "data: " + `{"error":{"message":"haltd: Agent a calls too often.","type":"requests","param":null,"code":"rate_limit_exceeded","block_reason":"rate_limited","retry_after_seconds":7},"block_reason":"rate_limited","retry_after_seconds":7}` + "\n\n"},
		{"openai-responses", blocked, "event: error\ndata: " + `{"type":"error","sequence_number":0,"error":{"message":"haltd: Agent a was stopped.","type":"invalid_request_error","param":null,"code":"loop_detected","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"code":"loop_detected","message":"haltd: Agent a was stopped.","param":null,"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}` +
			"\n\nevent: response.failed\ndata: " + `{"type":"response.failed","sequence_number":1,"response":{"id":"resp_haltd","object":"response","created_at":0,"status":"failed","error":{"code":"invalid_prompt","message":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"incomplete_details":null,"model":"","output":[],"usage":null},"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}` + "\n\n"},
		{"openai-responses", rejected, "event: error\ndata: " + `{"type":"error","sequence_number":0,"error":{"message":"haltd: Agent a calls too often.","type":"requests","param":null,"code":"rate_limit_exceeded","block_reason":"rate_limited","retry_after_seconds":7},"code":"rate_limit_exceeded","message":"haltd: Agent a calls too often.","param":null,"block_reason":"rate_limited","retry_after_seconds":7}` +
			"\n\nevent: response.failed\ndata: " + `{"type":"response.failed","sequence_number":1,"response":{"id":"resp_haltd","object":"response","created_at":0,"status":"failed","error":{"code":"rate_limit_exceeded","message":"haltd: Agent a calls too often.","block_reason":"rate_limited","retry_after_seconds":7},"incomplete_details":null,"model":"","output":[],"usage":null},"block_reason":"rate_limited","retry_after_seconds":7}` + "\n\n"},
		{"anthropic-messages", blocked, "event: error\ndata: " + `{"type":"error","error":{"type":"invalid_request_error","message":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"request_id":"req_haltdvkmfhbhfdkxnh","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}` + "\n\n"},
		{"anthropic-messages", rejected, "event: error\ndata: " + `{"type":"error","error":{"type":"rate_limit_error","message":"haltd: Agent a calls too often.","block_reason":"rate_limited","retry_after_seconds":7},"request_id":"req_haltdpcrmjdvjnnfrd","block_reason":"rate_limited","retry_after_seconds":7}` + "\n\n"},
		{"gemini-generate", blocked, "data: " + `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"haltd: Agent a was stopped.","block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"},"block_reason":"loop_detected","incident":"inc_bcdfghjkmnpq"}` + "\n\n"},
		{"gemini-generate", rejected, "data: " + `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"haltd: Agent a calls too often.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}],"block_reason":"rate_limited","retry_after_seconds":7},"block_reason":"rate_limited","retry_after_seconds":7}` + "\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.format+" "+tt.denied.Code, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(formatOf(t, tt.format).StreamError(tt.denied))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// halves are streams that have said half of something.
var halves = map[string]string{
	"openai-chat":        `data: {"id":"c","choices":[{"index":0,"delta":{"content":"Half"}}]}` + "\n\n",
	"openai-responses":   "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Half"}` + "\n\n",
	"anthropic-messages": "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half"}}` + "\n\n",
	"gemini-generate":    `data: {"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}` + "\n\n",
}

// What haltd writes into a stream, haltd reads as an error.
func TestStreamErrorsAreReadAsErrors(t *testing.T) {
	for name, half := range halves {
		for _, denied := range []wire.Denied{refused, blocked, rejected} {
			t.Run(name+" "+denied.Code, func(t *testing.T) {
				format := formatOf(t, name)
				stream := format.NewStream(tapLimit)
				events := sse.NewParser(tapLimit, func(name, data []byte) {
					if err := stream.Event(name, data); err != nil {
						t.Errorf("%s: %v", data, err)
					}
				})
				if err := events.Feed(append([]byte(half), format.StreamError(denied)...)); err != nil {
					t.Fatal(err)
				}
				reply := stream.Reply()
				if message := strings.ToValidUTF8(denied.Message, "�"); !strings.HasSuffix(reply.Err, ": "+message) {
					t.Errorf("the error reads as %q, want it to end in %q", reply.Err, message)
				}
				if reply.Text != "Half" || reply.Complete {
					t.Errorf("text %q, complete %v", reply.Text, reply.Complete)
				}
			})
		}
	}
}

// Clients search whole bodies, so that what stands around a calm message must
// be calm, too.
func TestBlocksAreCalm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[ "\\\x00-\x1f0-9a-z]{0,12}`),
			rapid.SampledFrom([]string{"rate", "limit", "5", "00", "\\u0050", "\x05", "token", "maximum", "\n"}),
		)
		denied := blocked
		denied.Code = string(rapid.SampledFrom([]haltd.Reason{
			haltd.ReasonKilled, haltd.ReasonManual, haltd.ReasonBudget, haltd.ReasonHours, haltd.ReasonRule, haltd.ReasonLoop, haltd.ReasonUnsaved,
		}).Draw(rt, "reason"))
		denied.Message = wire.CalmMessage(rapid.SliceOfN(word, 0, 6).Draw(rt, "sentences")...)
		for _, d := range dialects {
			if body := d.Denial(denied); !wire.Calm(string(body)) {
				rt.Errorf("%s: %s is not calm", d.Name(), body)
			}
			for _, f := range d.Formats() {
				for line := range bytes.Lines(f.StreamError(denied)) {
					if line = bytes.TrimSpace(line); !wire.Calm(string(line)) {
						rt.Errorf("%s: %s is not calm", f.Name(), line)
					}
				}
			}
		}
	})
}

func TestGeminiStatusWords(t *testing.T) {
	for status, want := range map[int]string{
		400: "FAILED_PRECONDITION", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		413: "INVALID_ARGUMENT", 426: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 502: "UNAVAILABLE", 503: "UNAVAILABLE",
		504: "DEADLINE_EXCEEDED",
	} {
		var body struct {
			Error struct {
				Code   int
				Status string
			}
		}
		if err := json.Unmarshal(Dialect("gemini").Denial(wire.Denied{Status: status, Code: "x", Message: "y"}), &body); err != nil {
			t.Fatal(err)
		}
		if body.Error.Code != status || body.Error.Status != want {
			t.Errorf("%d is %d %s, want %s", status, body.Error.Code, body.Error.Status, want)
		}
	}
}
