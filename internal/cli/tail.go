package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/haltd/haltd"
)

const (
	// silence is how long a stream may say nothing, three heartbeats, before
	// it counts as dead.
	silence = 45 * time.Second
	// longestEvent bounds what one event may take in memory.
	longestEvent = 16 << 20
)

// EventsTailCmd shows the newest events and then those that happen.
type EventsTailCmd struct {
	Agent    string   `help:"Only events of this agent."`
	Session  string   `help:"Only events of this session."`
	Type     []string `help:"Only events of these types, for example llm_call or error."`
	Last     int      `short:"n" name:"last" default:"10" help:"How many past events to show first, 0 to 1000."`
	NoFollow bool     `help:"Stop after the past events."`
}

// Run prints a line for each event: columns for people, JSON for programs.
func (c *EventsTailCmd) Run(env *Env) error {
	if c.Last < 0 || c.Last > 1000 {
		return haltd.Errorf(codeUsage, "-n %d is not between 0 and 1000", c.Last).WithFix("For more, use GET /v1/events/export.")
	}
	api, err := env.connect()
	if err != nil {
		return err
	}
	t := &tail{env: env, api: api, filter: c.filter(), pause: pause}
	if err := t.head(); err != nil {
		return err
	}
	if err := t.past(c.Last); err != nil || c.NoFollow {
		return ended(env.Context, err)
	}
	return ended(env.Context, t.follow())
}

// ended takes an interrupt for what it is: the way a tail is meant to end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (c *EventsTailCmd) filter() url.Values {
	q := url.Values{}
	if c.Agent != "" {
		q.Set("agent", c.Agent)
	}
	if c.Session != "" {
		q.Set("session", c.Session)
	}
	if len(c.Type) > 0 {
		q["type"] = c.Type
	}
	return q
}

// tail is one run of the command.
type tail struct {
	env    *Env
	api    *client
	filter url.Values
	last   string // id of the newest event shown; "" before the first
	pause  func(context.Context, time.Duration)
}

func (t *tail) head() error {
	if t.env.JSON {
		return nil
	}
	_, err := fmt.Fprintln(t.env.Stdout, t.env.paint(eventHead(), faint))
	return err
}

// past shows the newest n events, oldest first. The stream continues after
// them; where there is none, it begins at the very first.
func (t *tail) past(n int) error {
	if n == 0 {
		return nil
	}
	t.last = haltd.EventID(0).String()
	query := url.Values{"limit": {strconv.Itoa(n)}}
	for name, values := range t.filter {
		query[name] = values
	}
	var list struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := t.api.call(t.env.Context, http.MethodGet, "/v1/events", query, nil, &list); err != nil {
		return err
	}
	for i := len(list.Events) - 1; i >= 0; i-- {
		if err := t.show(list.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// show prints one event and remembers it as the newest.
func (t *tail) show(raw []byte) error {
	var e haltd.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	t.last = e.ID.String()
	line := string(raw)
	if !t.env.JSON {
		line = t.env.eventLine(&e)
	}
	_, err := fmt.Fprintln(t.env.Stdout, line)
	return err
}

// follow stays with the stream. It comes back after every break that time
// can mend, and says so once per break.
func (t *tail) follow() error {
	ctx := t.env.Context
	connected, reported := false, false
	for attempt := 0; ; attempt++ {
		err := t.stream(func() {
			if reported {
				fmt.Fprintf(t.env.Stderr, "haltd at %s is back.\n", t.api.base)
			}
			connected, reported, attempt = true, false, 0
		})
		if ctx.Err() != nil {
			return nil
		}
		var broken streamBroken
		if !errors.As(err, &broken) && (!connected || haltd.ErrorCode(err) != codeUnreachable) {
			return err
		}
		if !reported {
			fmt.Fprintf(t.env.Stderr, "haltd at %s is gone; waiting for it. Press Ctrl-C to end.\n", t.api.base)
			reported = true
		}
		t.pause(ctx, min(time.Second<<min(attempt, 4), 10*time.Second))
	}
}

// streamBroken is the end of a stream that had begun.
type streamBroken struct{ error }

// stream opens the event stream after the last event shown and prints what
// arrives until it ends.
func (t *tail) stream(opened func()) error {
	ctx, cancel := context.WithCancel(t.env.Context)
	defer cancel()
	header := http.Header{}
	if t.last != "" {
		header.Set("Last-Event-ID", t.last)
	}
	// The watch ends a connection that is dead without saying so.
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	resp, err := t.api.open(ctx, http.MethodGet, "/v1/events/stream", t.filter, nil, header)
	if err != nil {
		if t.env.Context.Err() == nil && ctx.Err() != nil {
			return t.api.unreachable(errors.New("no answer in " + silence.String()))
		}
		return err
	}
	defer resp.Body.Close()
	opened()
	alive := readerFunc(func(b []byte) (int, error) {
		n, err := resp.Body.Read(b)
		watch.Reset(silence)
		return n, err
	})
	return t.readMessages(alive)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// readMessages reads the stream as the admin API writes it: one line each
// for the name and the data of a message, and an empty line after them.
func (t *tail) readMessages(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	name, id, data := "", "", []byte(nil)
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(field) {
		case "event":
			name = string(value)
		case "id":
			id = string(value)
		case "data":
			data = bytes.Clone(value)
		case "":
			if err := t.receive(name, data); err != nil {
				return err
			}
			if id != "" {
				t.last = id // says where to go on also where nodes share the record
			}
			name, id, data = "", "", nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("read event stream: %w", lines.Err())
	}
	return streamBroken{fmt.Errorf("read event stream: %w", cmp.Or(lines.Err(), io.ErrUnexpectedEOF))}
}

func (t *tail) receive(name string, data []byte) error {
	switch name {
	case "event":
		return t.show(data)
	case "lagged":
		_, err := io.WriteString(t.env.Stderr, "Some events were left out; GET /v1/events has them.\n")
		return err
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
