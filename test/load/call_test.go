package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// call is one LLM call of a test, known by its number.
type call struct {
	number int
	format string
	stream bool
}

var callFormats = [...]string{"openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"}

// perSession is how many calls a session makes. Each calls another model, so
// that session and model, which haltd records, tell the number of a call.
const perSession = 50

func (c call) agent() string { return fmt.Sprintf("load-agent-%d", c.number/perSession/10) }

func (c call) session() string { return fmt.Sprintf("load-session-%d", c.number/perSession) }

func (c call) model() string { return fmt.Sprintf("load-model-%d", c.number%perSession) }

// numberOf is the number of the call that an event is about, or -1.
func numberOf(e *haltd.Event) int {
	session, errSession := strconv.Atoi(strings.TrimPrefix(e.Session, "load-session-"))
	model, errModel := strconv.Atoi(strings.TrimPrefix(e.Model, "load-model-"))
	if errSession != nil || errModel != nil || session < 0 || model < 0 || model >= perSession {
		return -1
	}
	return session*perSession + model
}

// numberHeader tells the upstream which call it has before it.
const numberHeader = "X-Call-Number"

func (c call) request(ctx context.Context, gateway string) (*http.Request, error) {
	path, body := c.pathAndBody()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sk-load")
	r.Header.Set("X-Agent-Id", c.agent())
	r.Header.Set("X-Session-Id", c.session())
	r.Header.Set(numberHeader, strconv.Itoa(c.number))
	return r, nil
}

func (c call) pathAndBody() (path, body string) {
	question := fmt.Sprintf("Question %d: what does the record say? %s", c.number, strings.Repeat("Tell me more. ", c.number%40))
	switch c.format {
	case "openai-chat":
		return "/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%q}],"stream":%v%s}`,
			c.model(), question, c.stream, map[bool]string{true: `,"stream_options":{"include_usage":true}`}[c.stream])
	case "openai-responses":
		return "/v1/responses", fmt.Sprintf(`{"model":%q,"instructions":"Be brief.","input":%q,"stream":%v}`, c.model(), question, c.stream)
	case "anthropic-messages":
		return "/v1/messages", fmt.Sprintf(`{"model":%q,"max_tokens":500,"system":"Be brief.","messages":[{"role":"user","content":%q}],"stream":%v}`,
			c.model(), question, c.stream)
	case "gemini-generate":
		verb := "generateContent"
		if c.stream {
			verb = "streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/" + c.model() + ":" + verb, fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":%q}]}]}`, question)
	}
	panic("unknown format " + c.format)
}

// do makes the call and answers the digest of the whole reply.
func (c call) do(ctx context.Context, client *http.Client, gateway string) (digest, error) {
	res, err := c.send(ctx, client, gateway)
	if err != nil {
		return digest{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return digest{}, fmt.Errorf("call %d: read the reply: %w", c.number, err)
	}
	return digestOf(body), nil
}

// leave makes the call and goes away after the first bytes of the reply.
func (c call) leave(ctx context.Context, client *http.Client, gateway string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := c.send(ctx, client, gateway)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := res.Body.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("call %d: read the first byte: %w", c.number, err)
	}
	return nil
}

// statusError is an answer other than 200.
type statusError struct {
	number, status int
	body           []byte
}

func (e *statusError) Error() string {
	return fmt.Sprintf("call %d: status %d: %s", e.number, e.status, bytes.TrimSpace(e.body))
}

func (c call) send(ctx context.Context, client *http.Client, gateway string) (*http.Response, error) {
	r, err := c.request(ctx, gateway)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("call %d: %w", c.number, err)
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return nil, &statusError{c.number, res.StatusCode, body}
	}
	return res, nil
}

// digest stands for the bytes of a reply.
type digest [sha256.Size]byte

func digestOf(b []byte) digest { return sha256.Sum256(b) }
