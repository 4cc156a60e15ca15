package demo

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"
)

// files is the world that the agents work in.
//
//go:embed files
var files embed.FS

const (
	readFile  = "read_file"
	errorMark = "Error: "
)

type fileArguments struct {
	Path string `json:"path"`
}

// agent uses a tool as real agents do: it sends the whole conversation with
// every call, runs what the model asks for and adds the result.
type agent struct {
	name   string
	system string
	stream bool
	rest   atomic.Int64 // nanoseconds between two calls

	gateway string
	client  *http.Client
	// seen is told of each tool call and what came of it.
	seen func(agent, path, result string)
}

// stopped is haltd's answer to an agent that may not call.
type stopped struct {
	status   int
	incident string
	message  string
}

func (s *stopped) Error() string { return fmt.Sprintf("HTTP %d: %s", s.status, s.message) }

// work calls until the task is done. The error is *stopped when haltd
// answered instead of the provider.
func (a *agent) work(ctx context.Context, session, task string) error {
	messages := []message{{Role: "system", Content: a.system}, {Role: "user", Content: task}}
	for {
		reply, err := a.call(ctx, session, messages)
		if err != nil {
			return err
		}
		messages = append(messages, reply)
		for _, c := range reply.ToolCalls {
			messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: a.use(c)})
		}
		if err := pause(ctx, time.Duration(a.rest.Load())); err != nil || len(reply.ToolCalls) == 0 {
			return err
		}
	}
}

// use runs the tool. There is only one.
func (a *agent) use(c toolCall) string {
	var arguments fileArguments
	if err := json.Unmarshal([]byte(c.Function.Arguments), &arguments); err != nil || c.Function.Name != readFile {
		return errorMark + "there is no such tool"
	}
	result := ""
	text, err := fs.ReadFile(files, path.Join("files", arguments.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		result = errorMark + arguments.Path + ": no such file or directory"
	case err != nil:
		result = errorMark + arguments.Path + " cannot be read"
	default:
		result = string(text)
	}
	a.seen(a.name, arguments.Path, result)
	return result
}

func (a *agent) call(ctx context.Context, session string, messages []message) (message, error) {
	request := chatRequest{Model: model, Messages: messages, Tools: tools, Stream: a.stream}
	if a.stream {
		request.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return message{}, fmt.Errorf("write the call of %s: %w", a.name, err)
	}
	url := a.gateway + "/agents/" + a.name + "/openai/v1/chat/completions"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return message{}, fmt.Errorf("make the call of %s: %w", a.name, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer no-key-needed")
	r.Header.Set("X-Session-Id", session)
	res, err := a.client.Do(r)
	if err != nil {
		return message{}, fmt.Errorf("call as %s: %w", a.name, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode != http.StatusOK:
		return message{}, refusal(res)
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"):
		return readStream(res.Body)
	}
	return readWhole(res.Body)
}

func refusal(res *http.Response) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(&body); err != nil {
		return fmt.Errorf("read the answer with status %d: %w", res.StatusCode, err)
	}
	if res.Header.Get("X-Haltd-Reason") == "" {
		return fmt.Errorf("the provider answered with status %d: %s", res.StatusCode, body.Error.Message)
	}
	return &stopped{status: res.StatusCode, incident: res.Header.Get("X-Haltd-Incident"), message: body.Error.Message}
}

// pause waits, or fails when ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
