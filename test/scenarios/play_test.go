package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// actors is how many calls are made at once.
const actors = 8

// play is one case in one format, as an agent of its own.
type play struct {
	*Case
	*dialect
	stream   bool
	agent    string
	tools    []string
	requests []Request
	before   int // calls before the loop
	restart  int // index of the first request after the restart; 0 for none

	begin    time.Time
	next     int
	previous string // id of the newest reply
	err      error  // why it could not be played to its end
}

func newPlay(c *Case, d *dialect, stream bool) *play {
	p := &play{Case: c, dialect: d, stream: stream, tools: c.Tools()}
	manner := "json"
	if stream {
		manner = "sse"
	}
	p.agent = strings.Join([]string{c.Name, d.format, manner}, ".")
	p.requests, p.before = c.Requests()
	return p
}

// due is when the next request is sent.
func (p *play) due() time.Time { return p.begin.Add(p.requests[p.next].At) }

func (p *play) done() bool { return p.next >= len(p.requests) || p.err != nil }

// perform plays to the end, each call at its time. All plays that restart
// begin early enough to be in their middle when the time of the restart has
// come; the others begin after it.
func (s *stage) perform(plays []*play) {
	var longest time.Duration
	for _, p := range plays {
		if p.restart > 0 {
			longest = max(longest, p.requests[p.restart].At)
		}
	}
	restart := curtain.Add(longest)
	for _, p := range plays {
		p.begin = restart
		if p.restart > 0 {
			p.begin = restart.Add(-p.requests[p.restart].At)
		}
	}
	waiting := slices.Clone(plays)
	for restarted := false; ; {
		waiting = slices.DeleteFunc(waiting, (*play).done)
		if len(waiting) == 0 {
			return
		}
		at := slices.MinFunc(waiting, func(a, b *play) int { return a.due().Compare(b.due()) }).due()
		s.moveTo(at)
		if !restarted && !at.Before(restart) {
			restarted = true
			s.restart()
		}
		s.callAll(waiting, at)
	}
}

// callAll makes the calls that are due.
func (s *stage) callAll(plays []*play, at time.Time) {
	var wg sync.WaitGroup
	free := make(chan struct{}, actors)
	for _, p := range plays {
		if !p.due().Equal(at) {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			if err := p.call(s); err != nil {
				p.err = fmt.Errorf("request %d: %w", p.next+1, err)
			}
			p.next++
			<-free
		})
	}
	wg.Wait()
}

// call makes the next call, again and again where its transport fails.
func (p *play) call(s *stage) error {
	r := &p.requests[p.next]
	l := letter{dialect: p.dialect, system: p.System, user: p.user(r), tools: p.tools, stream: p.stream && !r.Count, entries: r.History}
	if p.Chained {
		l.entries, l.previous = r.New, p.previous
	}
	path, body := p.path(p.stream), l.dialect.body(&l)
	if r.Count {
		path = p.counting
		delete(body, "stream")
		delete(body, "max_tokens")
	}
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	retries := 0
	if r.Turn != nil {
		for _, f := range r.Turn.Faults {
			if err := p.fail(s, r, path, b, f, retries); err != nil {
				return err
			}
			if retries++; !f.Marked {
				retries = 0
			}
		}
	}
	return p.succeed(s, r, path, b, retries)
}

func (p *play) fail(s *stage, r *Request, path string, body []byte, f Fault, retries int) error {
	script := fakellm.Script{Status: f.Status, Error: "The service is busy."}
	if f.Status == 0 {
		script = p.script(r.Turn, len(body))
		script.Cut = &fakellm.Cut{Bytes: 40}
	}
	status, _, err := p.send(s, r, path, body, script, retries)
	if f.Status == 0 && err == nil {
		return errors.New("the reply arrived although the connection was cut")
	}
	if f.Status != 0 && (err != nil || status != f.Status) {
		return fmt.Errorf("status %d (%v), want the provider's own %d", status, err, f.Status)
	}
	return nil
}

var responseID = regexp.MustCompile(`"id":\s*"(resp_[0-9a-f]+)"`)

func (p *play) succeed(s *stage, r *Request, path string, body []byte, retries int) error {
	status, reply, err := p.send(s, r, path, body, p.script(r.Turn, len(body)), retries)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("status %d: %s", status, reply)
	}
	if m := responseID.FindSubmatch(reply); m != nil {
		p.previous = string(m[1])
	}
	return nil
}

// standing is how many tokens the instructions and tool definitions of a real
// agent take, which those of a case do not.
const standing = 6000

// script is a turn as the provider gives it to a request of some size.
func (p *play) script(t *Turn, size int) fakellm.Script {
	var script fakellm.Script
	if t == nil {
		return script
	}
	script.Text, script.Usage, script.Chunks = t.Text, t.Usage, 3
	if t.Usage == nil {
		script.Usage = &haltd.Usage{Input: standing + int64(size)/4, Output: 60}
	}
	for _, c := range t.Calls {
		id := ""
		if p.idPrefix != "" {
			id = p.idPrefix + c.ID
		}
		script.ToolCalls = append(script.ToolCalls, fakellm.ToolCall{ID: id, Name: c.Name, Arguments: string(arguments(&c))})
	}
	return script
}

func (p *play) send(s *stage, r *Request, path string, body []byte, script fakellm.Script, retries int) (int, []byte, error) {
	s.rehearse(p.agent, script)
	url := s.Gateway + "/agents/" + p.agent + "/" + p.provider + path
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-scenario")
	req.Header.Set("X-Stainless-Retry-Count", strconv.Itoa(retries))
	req.Header.Set(replyHeader, p.agent)
	if !p.Unnamed {
		req.Header.Set("X-Session-Id", p.agent+"/"+r.Session)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	return res.StatusCode, reply, err
}

// calls are the events of calls that got their reply, by number.
func calls(events []haltd.Event) []*haltd.Event {
	var out []*haltd.Event
	for i := range events {
		if e := &events[i]; e.Type == haltd.EventCall && !e.Failed() {
			out = append(out, e)
		}
	}
	return out
}
