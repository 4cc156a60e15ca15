package wire

import (
	"slices"
	"strings"
	"testing"
)

// What clients do with the words of an error whose status alone would stop
// them. Read in their sources or, where those are not public, seen in reports.
//
//	client            searches                looks for                                                   and then
//	OpenCode          message and whole body  429 500 502 503 504 524 inside any number; rate limit,      tries 5 times more
//	 (session/                                rate increased too quickly, too many requests; overloaded,
//	 retry.ts)                                service unavailable, internal error, server error, provider
//	                                          returned error; terminated, fetch failed, network error,
//	                                          upstream connect, connection error, refused or lost, socket
//	                                          hang up, reset before headers, getaddrinfo, ENOTFOUND,
//	                                          EAI_AGAIN, ECONN…; request or stream timeout; try or retry
//	                                          your request, try again later, resource exhausted, at capacity
//	OpenCode          message                 prompt is too long, exceeds the context window, maximum     compacts
//	 (provider/                               prompt length, reduce the length of the messages, exceeds
//	 error.ts), pi                            the limit of, token limit, too many tokens, request entity
//	 (overflow.ts)                            too large, requested … output tokens, prompt contains …
//	                                          tokens, for a total of … tokens, 400 (no body)
//	pi                message                 the same as OpenCode and other side closed, retry delay     tries again
//	                                          (rate.?limit: any character between the words)
//	Claude Code       message of a 400        prompt is too long; input length and max_tokens exceed      compacts, or
//	                                          context limit; overloaded_error in any message              tries again
//	Codex (codex-api  code of the failed      all but context_length_exceeded, insufficient_quota,        tries again
//	 sse/responses)   response                usage_not_included, cyber_policy and invalid_prompt;
//	                                          "try again in N s" in the message sets the pause
//	Gemini CLI        message                 Please retry in N s; 429 and 5xx only in what it logs       tries again
//	 (retry.ts, googleQuotaErrors.ts)
//	goose (provider   whole body of a 400     too long, context length, reduce the length, token count,   compacts
//	 errors)                                  exceeds, input length, max_tokens, maximum prompt length
//	Roo Code          message and body of     context length or window, token … limit, maximum … tokens,  cuts the history
//	 (context-error-  a 400                   too many tokens, input or prompt is too long, content size
//	 handling.ts)                             exceeds, request too large, tokens exceed
//	Cline (same file) message of a 400        context length or window, maximum context, too many tokens; cuts the history
//	                                          from Anthropic any invalid_request_error, whatever it says
//	LiteLLM           body                    429 as a word, rate limit, service tier capacity exceeded,  raises another
//	 (exception_                              request too large, request was throttled, quota reached,    error class, which
//	 mapping_utils)                           Overloaded, server had an error, a timeout occurred, lists  aider and others
//	                                          of context wordings, content policy and safety system       retry
//	                                          wordings, litellm.SomethingError
//	aider             class of LiteLLM        all but BadRequest, Authentication, NotFound, context       tries again
//	 (exceptions.py)
//	Vercel ai,        status only             –                                                           –
//	LangChain JS, SDKs
var hotTexts = []string{
	"status 429", "It cost $1,500 today.", "inc_x5029z", "15004 calls", "Round 524 of 529.", "call 4080", "409",
	"rate limit", "Rate-Limited", "RATE_LIMIT_ERROR", "ratelimit", "rate   limits", "rate\u00a0limit", "rate/limit", "corporate limits",
	"The rate increased too quickly.", "Too Many Requests", "too_many_requests", "ThrottlingException", "slow_down", "Quota reached", "Usage limit reached", "RESOURCE_EXHAUSTED",
	"Overloaded", "overloaded_error", "service unavailable", "temporarily stopped", "currently at capacity", "service tier capacity exceeded",
	"server error", "server_error", "The server had an error", "internal_error", "Internal Server Error", "provider-returned-error", "litellm.Timeout",
	"network error", "connection lost", "socket hang up", "ECONNRESET", "EPIPE", "getaddrinfo ENOTFOUND", "EAI_AGAIN", "upstream connect error",
	"fetch failed", "Failed to fetch", "other side closed", "reset before headers", "the run was terminated", "timeout", "time-out", "timed out", "ETIMEDOUT",
	"Please retry in 5s", "try again later", "Try your request again", "retryable",
	"context_length_exceeded", "the context", "prompt is too long", "request_too_large", "Request entity too large", "too many tokens", "token count of 7",
	"tokens exceed", "token budget limit", "a limit of 7 tokens", "exceeded model token limit", "max_tokens", "maximum number of tokens", "maximum prompt length", "input length", "prompt: length",
	"Current length is 9", "reduce the length of the messages", "longer than the model", "content size exceeds", "It exceeds the budget", "requested 7 output tokens",
	"prompt contains 7 input tokens", "for a total of 7 tokens", "400 (no body)",
	"content_filter", "content policy violation", "violating our usage policy", "our safety system",
	"two\nlines", "tab\there", "\x05", "a\u2028b",
}

var calmTexts = []string{
	"",
	"haltd: Agent nightly-build was stopped: it called read_file 12 times in a row with the same result.",
	"The daily budget of 20.00 USD is spent; it starts anew at midnight UTC.",
	"2,000,000 of 2,000,000 tokens are spent.",
	"Agent a is outside its working hours (08:00 to 18:00, Europe/Lisbon).",
	"A person has to resume it: see incident inc_rkdwmtbcdfgh on the dashboard.",
	"budget_exceeded", "kill_switch", "outside_hours", "loop_detected", "invalid_request_error", "FAILED_PRECONDITION",
	"40 9", "5.02", "50 0", "12:50:03", "400", "Größe 7 µs → 8",
	"The rate of calls is over its limit.", "The limit of 8 tools is reached.",
}

func TestCalm(t *testing.T) {
	for _, text := range hotTexts {
		for _, text := range []string{text, strings.ToUpper(text), "haltd: " + text + "."} {
			if Calm(text) {
				t.Errorf("%q is calm", text)
			}
		}
	}
	for _, text := range calmTexts {
		if !Calm(text) {
			t.Errorf("%q is not calm", text)
		}
	}
}

func TestCalmMessage(t *testing.T) {
	tests := []struct {
		name      string
		sentences []string
		want      string
	}{
		{"nothing", nil, ""},
		{"all calm", []string{"One.", "Two."}, "One. Two."},
		{"a hot part", []string{"One.", "Agent retry-503 was stopped.", "Two."}, "One. Two."},
		{"a hot start", []string{"Timeout.", "Two."}, "Two."},
		{"empty parts", []string{"", "One.", " ", "\nTwo. ", ""}, "One. Two."},
		{"hot only together", []string{"It spent 7 tokens", "of a limit.", "Two."}, "It spent 7 tokens Two."},
		{"hot only across the space", []string{"Try", "again", "never."}, "Try never."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := CalmMessage(tt.sentences...); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzCalmMessage(f *testing.F) {
	for i, text := range slices.Concat(hotTexts, calmTexts) {
		half := len(text) / 2
		f.Add(text[:half], text[half:], hotTexts[i%len(hotTexts)])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		message := CalmMessage(a, b, c)
		if !Calm(message) {
			t.Fatalf("%q is not calm", message)
		}
		if a = strings.TrimSpace(a); Calm(a) && !strings.HasPrefix(message, a) {
			t.Fatalf("%q lost its calm start %q", message, a)
		}
	})
}
