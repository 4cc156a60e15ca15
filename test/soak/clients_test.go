package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// perSession is how many calls a session makes, each with another model: so
// session and model, which haltd records, tell the number of a call.
const perSession = 50

// perAgent is how many calls an agent makes. Agents are many, so that each
// meets few crashes: a crash charges a lease, and much of that would hide what
// a ledger forgot.
const perAgent = 10 * perSession

// largeAgent sends what is large, which takes a budget of its own.
const largeAgent = "soak-large"

func (c *call) agent() string {
	if c.manner == isLarge {
		return largeAgent
	}
	return fmt.Sprintf("soak-%d", c.number/perAgent)
}

func sessionOf(number int) string { return fmt.Sprintf("soak-session-%d", number/perSession) }

func modelOf(number int) string { return fmt.Sprintf("soak-%d", number%perSession) }

// manner is what a client does with its call.
type manner string

const (
	waits   manner = "waits for the whole reply"
	leaves  manner = "leaves within the reply"
	stalls  manner = "stalls within its own body"
	isLarge manner = "sends 30 MB"
)

// call is one call as its client has seen it.
type call struct {
	number int
	manner manner
	script fakellm.Script
	from   time.Time
	to     time.Time
	status int
	reason string // X-Haltd-Reason
	said   string // the beginning of the reply
	whole  bool   // the reply came to its end
	err    error
}

// mayFail reports a call that is to end badly by plan, at one end or the other.
func (c *call) mayFail() bool {
	return c.manner == leaves || c.manner == stalls || c.script.Cut != nil || c.script.Body != "" || c.script.InBandError != ""
}

type calls struct {
	mu  sync.Mutex
	all []call
}

func (c *calls) add(one call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

// work makes one call after the other.
func (s *run) work(r *rand.Rand) {
	for s.sleep(time.Duration(r.Int64N(int64(rest)))) {
		c := call{number: int(s.next.Add(1)) - 1, manner: waits, from: time.Now()}
		format, stream := r.IntN(4), r.IntN(2) == 0
		c.script = replyOf(r)
		switch n := r.IntN(400); {
		case n < 20:
			c.manner = leaves
		case n < 30:
			c.manner = stalls
		case n < 31 && !s.light.Load():
			c.manner = isLarge
		}
		s.make(&c, format, stream, r)
		c.to = time.Now()
		s.calls.add(c)
	}
}

// replyOf plans what the provider does: mostly its work, and all that goes
// wrong there at times.
func replyOf(r *rand.Rand) fakellm.Script {
	s := fakellm.Script{
		Text:   strings.Repeat(passage, 1+r.IntN(40)),
		Usage:  &haltd.Usage{Input: 1 + r.Int64N(3000), Output: 1 + r.Int64N(1000)},
		Chunks: 1 + r.IntN(10),
	}
	switch n := r.IntN(100); {
	case n < 4:
		s.Cut = &fakellm.Cut{Chunks: r.IntN(5)}
	case n < 7:
		s.Cut = &fakellm.Cut{Bytes: 1 + r.IntN(400), How: fakellm.CutReset}
	case n < 9:
		s.Body = `{"choices": [{"message": {"content": "half a`
	case n < 11:
		s = fakellm.Script{Status: []int{429, 500, 503}[r.IntN(3)], Error: "not now"}
	case n < 12:
		s.InBandError = "The server is overloaded"
	case n < 15:
		s.Delay = fakellm.Delay(time.Duration(r.IntN(1500)) * time.Millisecond)
	case n < 20:
		s.ChunkDelay = fakellm.Delay(time.Duration(r.IntN(50)) * time.Millisecond)
	case n < 25:
		s.Encoding = []string{"gzip", "br", "zstd"}[r.IntN(3)]
	}
	return s
}

// make makes a call and notes what came of it.
func (s *run) make(c *call, format int, stream bool, r *rand.Rand) {
	ctx, cancel := limited(c.manner)
	defer cancel()
	more := strings.Repeat("Tell me more. ", r.IntN(60))
	if c.manner == isLarge {
		more = strings.Repeat("x", 30<<20)
	}
	path, body := request(c.number, format, stream, more)
	sent := io.Reader(strings.NewReader(body))
	if c.manner == stalls {
		var stop func()
		sent, stop = stalling(body, time.Duration(r.IntN(1000))*time.Millisecond)
		defer stop()
	}
	req, err := s.request(ctx, c.agent(), path, sent, c.number, c.script)
	if err != nil {
		c.err = err
		return
	}
	req.Header.Set("X-Session-Id", sessionOf(c.number))
	if c.manner == stalls {
		req.ContentLength = int64(len(body))
	}
	res, err := s.client.Do(req)
	if err != nil {
		c.err = err
		return
	}
	defer res.Body.Close()
	c.status, c.reason = res.StatusCode, res.Header.Get("X-Haltd-Reason")
	if c.manner == leaves {
		_, c.err = io.ReadFull(res.Body, make([]byte, 1+r.IntN(200)))
		return
	}
	begin, err := io.ReadAll(io.LimitReader(res.Body, 300))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	c.said, c.err, c.whole = string(begin), err, err == nil
}

// request is a call of an agent that the provider answers as scripted.
func (s *run) request(ctx context.Context, agent, path string, body io.Reader, number int, script fakellm.Script) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.node.Gateway+"/agents/"+agent+path, body)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(script)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set(numberHeader, fmt.Sprint(number))
	req.Header.Set(harness.ScriptHeader, string(text))
	return req, nil
}

// most is the maximum that every call names.
const most = 1500

// request is the path and the body of a call, in one of the four formats.
func request(number, format int, stream bool, more string) (path, body string) {
	question, model := fmt.Sprintf("Question %d: what does the record say? %s", number, more), modelOf(number)
	switch format {
	case 0:
		usage := ""
		if stream {
			usage = `,"stream_options":{"include_usage":true}`
		}
		return "/v1/chat/completions", fmt.Sprintf(`{"model":%q,"max_tokens":%d,"stream":%v%s,"messages":[{"role":"user","content":%q}]}`, model, most, stream, usage, question)
	case 1:
		return "/v1/responses", fmt.Sprintf(`{"model":%q,"max_output_tokens":%d,"stream":%v,"input":%q}`, model, most, stream, question)
	case 2:
		return "/v1/messages", fmt.Sprintf(`{"model":%q,"max_tokens":%d,"stream":%v,"messages":[{"role":"user","content":%q}]}`, model, most, stream, question)
	}
	verb := "generateContent"
	if stream {
		verb = "streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/" + model + ":" + verb,
		fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":%q}]}],"generationConfig":{"maxOutputTokens":%d}}`, question, most)
}

// stalling sends half of a body and then nothing until stop, or until the
// pause is over, when it breaks off.
func stalling(body string, pause time.Duration) (io.Reader, func()) {
	end := make(chan struct{})
	half := strings.NewReader(body[:len(body)/2])
	return readerFunc(func(p []byte) (int, error) {
		if half.Len() > 0 {
			return half.Read(p)
		}
		select {
		case <-time.After(pause):
		case <-end:
		}
		return 0, net.ErrClosed
	}), sync.OnceFunc(func() { close(end) })
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// loops are the agents that ran in circles.
type loops struct {
	mu     sync.Mutex
	begun  int
	killed []string // agents
	calls  map[string][]int
}

// loop lets one agent after the other run in circles until it is killed.
func (s *run) loop(r *rand.Rand) {
	// Fewer than ten a minute: of more, haltd tells together.
	for s.sleep(time.Duration(6500+r.IntN(1500)) * time.Millisecond) {
		s.loops.mu.Lock()
		agent := fmt.Sprintf("loop-%d", s.loops.begun)
		s.loops.begun++
		s.loops.mu.Unlock()
		for !s.switchOn(agent) {
			if !s.sleep(100 * time.Millisecond) {
				s.loops.mu.Lock()
				s.loops.begun--
				s.loops.mu.Unlock()
				return
			}
		}
		s.runInCircles(agent)
	}
}

func (s *run) switchOn(agent string) bool {
	status, _, err := s.node.Ask(context.Background(), http.MethodPatch, "/v1/agents/"+agent+"/kill-switch", map[string]bool{"enabled": true})
	return err == nil && status == http.StatusOK
}

// runInCircles asks the same thing again and again. What haltd remembers of
// it may be lost in a crash, so that it takes longer than usual.
func (s *run) runInCircles(agent string) {
	const body = `{"model":"soak-loop","max_tokens":100,"messages":[{"role":"user","content":"What is the state of the order?"}]}`
	script := fakellm.Script{Text: "The order is on its way.", Usage: &haltd.Usage{Input: 20, Output: 10}}
	for range 300 {
		number := -1 - int(s.next.Add(1)) // none of the others
		ctx, cancel := limited(waits)
		req, err := s.request(ctx, agent, "/v1/chat/completions", bytes.NewReader([]byte(body)), number, script)
		if err != nil {
			panic(err) // a constant above
		}
		s.loops.mu.Lock()
		if s.loops.calls == nil {
			s.loops.calls = map[string][]int{}
		}
		s.loops.calls[agent] = append(s.loops.calls[agent], number)
		s.loops.mu.Unlock()
		res, err := s.client.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // a crash may cut it
			res.Body.Close()
		}
		cancel()
		if err == nil && res.Header.Get("X-Haltd-Incident") != "" && s.isKilled(agent) {
			s.loops.mu.Lock()
			s.loops.killed = append(s.loops.killed, agent)
			s.loops.mu.Unlock()
			return
		}
		time.Sleep(20 * time.Millisecond) // a crash takes a while to be over
	}
}

// isKilled asks until haltd says whether an agent is killed.
func (s *run) isKilled(agent string) bool {
	for range 600 {
		var a struct {
			DeactivatedBy *haltd.DeactivatedBy `json:"deactivated_by"`
		}
		if s.node.Read(context.Background(), http.MethodGet, "/v1/agents/"+agent, nil, &a) == nil {
			return a.DeactivatedBy != nil && *a.DeactivatedBy == haltd.ByKillSwitch
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}
