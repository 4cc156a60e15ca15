package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire/openai"
)

// Step is one LLM call of a recorded run, as the trace format writes it.
type Step struct {
	Run    string `json:"run"`
	Source string `json:"source"`
	Model  string `json:"model"`
	Step   int    `json:"step"`
	Thread string `json:"thread"`
	Keep   int    `json:"keep"`
	// Delta is messages in the manner of OpenAI chat, byte for byte.
	Delta    []json.RawMessage `json:"messages_delta"`
	Response string            `json:"response_text"`
	Calls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	PromptTokens     int64    `json:"prompt_tokens"`
	CompletionTokens int64    `json:"completion_tokens"`
	Estimated        bool     `json:"tokens_estimated"`
	T                *float64 `json:"t"`
}

// maxLine bounds one line of a trace: a request of 200,000 tokens with room
// to spare.
const maxLine = 64 << 20

// eachLine calls f with every non-empty line of a file, gzip or plain. The
// line is only valid during the call.
func eachLine(path string, f func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the trace: %w", err)
	}
	defer file.Close()
	buffered := bufio.NewReaderSize(file, 1<<18)
	var r io.Reader = buffered
	if start, _ := buffered.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
		defer z.Close()
		r = z
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<20), maxLine)
	// What comes with an error is the rest of a line that broke off.
	for n := 1; lines.Scan() && lines.Err() == nil; n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := f(lines.Bytes()); err != nil {
			return fmt.Errorf("%s line %d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// conversation rebuilds the requests of one thread.
type conversation struct {
	messages []json.RawMessage
	native   bool // tool calls have been seen as such
	body     []byte
	asked    time.Time // when the last step was
}

var errKeep = errors.New("field keep is more than the messages of the request before")

// next turns a step into the call that a gateway would have read: the request
// is written as a body of its format and read as the gateway reads it.
func (c *conversation) next(s *Step) (*haltd.Call, error) {
	if s.Keep > len(c.messages) || s.Keep < 0 {
		return nil, errKeep
	}
	c.messages = append(c.messages[:s.Keep:s.Keep], s.Delta...)
	model, err := json.Marshal(s.Model)
	if err != nil {
		return nil, fmt.Errorf("field model: %w", err)
	}
	c.body = append(append(append(c.body[:0], `{"model":`...), model...), `,"messages":[`...)
	for i, m := range c.messages {
		if i > 0 {
			c.body = append(c.body, ',')
		}
		c.body = append(c.body, m...)
	}
	c.body = append(c.body, "]}"...)
	call, err := openai.Chat{}.ReadCall("/v1/chat/completions", c.body, nil)
	if err != nil {
		return nil, err
	}
	call.PromptTokens = int(s.PromptTokens)
	for i := range call.Rounds {
		c.native = c.native || len(call.Rounds[i].Calls) > 0 || len(call.Rounds[i].Results) > 0
	}
	return call, nil
}

// reply is what the provider answered to a step. Parsed tool calls count only
// where they travelled as such: in a conversation with native tools, or
// beside a text that does not hold them.
func (c *conversation) reply(s *Step) *haltd.Reply {
	r := &haltd.Reply{
		Model: s.Model, Text: s.Response, Complete: true, Counted: !s.Estimated,
		Usage: haltd.Usage{Input: s.PromptTokens, Output: s.CompletionTokens},
	}
	for _, t := range s.Calls {
		if c.native || !holds(s.Response, t.Name, t.Arguments) {
			r.Calls = append(r.Calls, haltd.ToolCall{Name: t.Name, Arguments: string(t.Arguments)})
		}
	}
	return r
}

// holds reports a text in which an agent without native tools calls one: with its name
// as calls are written, or with all texts that it is called with.
func holds(text, name string, arguments json.RawMessage) bool {
	if text == "" {
		return false
	}
	if name == "" || isWritten(text, name) {
		return true
	}
	const least = 4 // bytes that are not there by chance
	values := map[string]any{}
	_ = json.Unmarshal(arguments, &values) // those of another form have a name alone
	found := false
	for _, v := range values {
		s, ok := v.(string)
		if ok && s != "" && !isWritten(text, s) {
			return false
		}
		found = found || ok && len(s) >= least
	}
	return found
}

// isWritten reports whether words stand in a text as in a call: at the begin of a line,
// behind a label or a sign, or before a sign; not as those of a sentence.
func isWritten(text, words string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		before, behind := text[:at+i], text[at+i+len(words):]
		if before == "" || !isProse(before[len(before)-1]) || strings.HasSuffix(before, ": ") || behind != "" && !isProse(behind[0]) {
			return true
		}
		at += i + len(words)
	}
}

// isProse reports a byte that may stand beside a word of a sentence.
func isProse(b byte) bool {
	return b == ' ' || b == '.' || b == ',' || b == '-' || b == '\'' || b == '?' || b == '!' || b == '_' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// answered is when the reply to a step was probably complete: models write some sixty
// tokens a second, after a moment. One that asked on sooner than that the last time had
// its answer by then, and is as fast again. Zero where the trace has no time.
func (c *conversation) answered(s *Step) time.Time {
	at := s.at()
	if at.IsZero() {
		return at
	}
	const first, perToken = time.Second, time.Second / 60
	took := first + time.Duration(s.CompletionTokens)*perToken
	if pace := at.Sub(c.asked); !c.asked.IsZero() && took > pace {
		took = max(0, pace/2)
	}
	c.asked = at
	return at.Add(took)
}

// epoch is where the clock of a run starts; traces know seconds only.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is the time of a step, zero where the trace has none.
func (s *Step) at() time.Time {
	if s.T == nil || math.IsNaN(*s.T) {
		return time.Time{}
	}
	return epoch.Add(time.Duration(*s.T * float64(time.Second)))
}
