package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

func call(n int, agent string) haltd.Event {
	return haltd.Event{ID: haltd.EventID(n), Time: noon, Type: haltd.EventCall, Agent: agent, Session: "s", Model: "gpt-5", Status: 200}
}

func ids(t *testing.T, lines string) []haltd.EventID {
	t.Helper()
	var ids []haltd.EventID
	for line := range strings.Lines(lines) {
		var e haltd.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

func TestTailShowsTheLastEventsOldestFirst(t *testing.T) {
	term := newTerminal(t, newNode(call(4, "a"), call(3, "b"), call(2, "a"), call(1, "a")).serve(t).URL)
	term.JSON = true
	if err := (&EventsTailCmd{Agent: "a", Last: 2, NoFollow: true}).Run(term.Env); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]haltd.EventID{2, 4}, ids(t, term.out.String())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTailAlignsItsColumns(t *testing.T) {
	e := call(1, "billing-bot")
	e.Session = "visitor-0123456789abcdef"
	e.Tokens = haltd.Usage{Input: 12_345, Output: 67}
	e.Cost, e.Latency = haltd.Dollar/80, haltd.Duration(812*time.Millisecond)
	e.ToolCalls, e.Retry, e.Estimated = []string{"read", "write"}, true, true
	refused := haltd.Event{ID: 2, Time: noon, Type: haltd.EventError, Agent: "x", Status: 400, Error: "malformed_body"}

	term := newTerminal(t, newNode(refused, e).serve(t).URL)
	if err := (&EventsTailCmd{Last: 10, NoFollow: true}).Run(term.Env); err != nil {
		t.Fatal(err)
	}
	clock := noon.Local().Format(time.TimeOnly)
	want := "TIME      AGENT                 SESSION           MODEL                     STATUS      TOKENS IN/OUT       COST   LATENCY  TOOLS             FLAGS\n" +
		clock + "  billing-bot           visitor-0123456…  gpt-5                     200          12.3k/67 tok    $0.0125    812 ms  read,write        retry estimated\n" +
		clock + "  x                     -                 -                         400               0/0 tok         $0      0 ms  -                 error:malformed_body\n"
	if diff := cmp.Diff(want, term.out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestTailKeepsHostileTextFromTheTerminal(t *testing.T) {
	e := call(1, "a\x1b[2Jb")
	e.Session, e.Model, e.Error = "\x1b]0;x\a", "\u202egpt", "\u009b31m\r\n"
	e.ToolCalls = []string{"\x7f"}
	term := newTerminal(t, newNode(e).serve(t).URL)
	if err := (&EventsTailCmd{Last: 1, NoFollow: true}).Run(term.Env); err != nil {
		t.Fatal(err)
	}
	got := term.out.String()
	if strings.Count(got, "\n") != 2 || strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), unsafeRune) {
		t.Errorf("output %q can drive a terminal", got)
	}
	if !strings.Contains(got, `a\x1b[2Jb`) {
		t.Errorf("output %q does not show what the name was", got)
	}
}

func TestTailColoursOnlyWhenAsked(t *testing.T) {
	e := call(1, "a")
	e.Blocked, e.Status = true, 400
	for _, color := range []bool{false, true} {
		term := newTerminal(t, newNode(e).serve(t).URL)
		term.Color = color
		if err := (&EventsTailCmd{Last: 1, NoFollow: true}).Run(term.Env); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(term.out.String(), "\x1b[31m"); got != color {
			t.Errorf("colour %v: red in the output = %v", color, got)
		}
	}
}

func TestTailRefusesTooMany(t *testing.T) {
	if err := (&EventsTailCmd{Last: 1001}).Run(newTerminal(t, "").Env); ExitCode(err) != ExitUsage {
		t.Errorf("error = %v (exit %d), want exit 2", err, ExitCode(err))
	}
}

func TestTailNamesAnUnknownType(t *testing.T) {
	term := newTerminal(t, newNode().serve(t).URL)
	err := (&EventsTailCmd{Last: 1, Type: []string{"eror"}}).Run(term.Env)
	if err == nil || !strings.Contains(err.Error(), "Did you mean error?") {
		t.Errorf("error = %v, want a suggestion", err)
	}
}

// followed runs a tail whose output is read line by line.
func followed(t *testing.T, term *terminal, c *EventsTailCmd) (lines *bufio.Scanner, end func() error) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	term.Context, term.Stdout, term.JSON = ctx, w, true
	done := make(chan error, 1)
	api, err := term.connect()
	if err != nil {
		t.Fatal(err)
	}
	run := &tail{env: term.Env, api: api, filter: c.filter(), pause: func(context.Context, time.Duration) {}}
	go func() {
		err := run.past(c.Last)
		if err == nil {
			err = run.follow()
		}
		w.CloseWithError(io.EOF)
		done <- ended(ctx, err)
	}()
	return bufio.NewScanner(r), func() error {
		cancel()
		r.Close()
		return <-done
	}
}

func nextID(t *testing.T, lines *bufio.Scanner) haltd.EventID {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("the tail ended: %v", lines.Err())
	}
	return ids(t, lines.Text())[0]
}

func TestTailFollowsAndEndsWithoutError(t *testing.T) {
	n := newNode(call(1, "a"))
	lines, end := followed(t, newTerminal(t, n.serve(t).URL), &EventsTailCmd{Last: 5, Agent: "a"})
	if got := nextID(t, lines); got != 1 {
		t.Errorf("first event = %d, want 1", got)
	}
	<-n.joined
	n.happen(call(2, "b"))
	n.happen(call(3, "a"))
	if got := nextID(t, lines); got != 3 {
		t.Errorf("next event = %d, want 3", got)
	}
	if err := end(); err != nil {
		t.Errorf("an interrupted tail ended with %v", err)
	}
}

func TestTailComesBackAfterABreakAndMissesNothing(t *testing.T) {
	n := newNode()
	target, err := url.Parse(n.serve(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	// In front of haltd stands something that can break the connection.
	var cut atomic.Pointer[context.CancelFunc]
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		cut.Store(&cancel)
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer front.Close()

	term := newTerminal(t, front.URL)
	lines, end := followed(t, term, &EventsTailCmd{Last: 5})
	<-n.joined
	n.happen(call(1, "a"))
	if got := nextID(t, lines); got != 1 {
		t.Errorf("first event = %d, want 1", got)
	}
	n.mu.Lock()
	n.events = append([]haltd.Event{call(2, "a")}, n.events...) // happens while the line is dead
	(*cut.Load())()
	n.mu.Unlock()
	if got := nextID(t, lines); got != 2 {
		t.Errorf("event after the break = %d, want 2", got)
	}
	if err := end(); err != nil {
		t.Errorf("the tail ended with %v", err)
	}
	if !strings.Contains(term.err.String(), "is gone; waiting for it") {
		t.Errorf("stderr = %q, want word of the break", term.err.String())
	}
}

func TestTailGivesUpWhenNobodyEverAnswered(t *testing.T) {
	err := (&EventsTailCmd{Last: 0}).Run(newTerminal(t, harness.Refusing(t)).Env)
	if ExitCode(err) != ExitUnreachable {
		t.Errorf("error = %v (exit %d), want exit 3", err, ExitCode(err))
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":          "plain",
		"größe 漢字":       "größe 漢字",
		"a\x1b[31mb":     `a\x1b[31mb`,
		"a\nb\tc":        `a\x0ab\x09c`,
		"\u009b2J":       `\x9b2J`,
		"\u202e\u2066":   `\u202e\u2066`,
		"bad\xffutf8":    `bad\xffutf8`,
		"ok \ufffd mark": "ok \ufffd mark",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"run-7.a:b@c/d": "run-7.a:b@c/d",
		"":              "''",
		"a b":           "'a b'",
		"a;rm|sh":       "'a;rm|sh'",
		"$(id)`id`":     "'$(id)`id`'",
		"it's":          `'it'\''s'`,
		"größe":         "'größe'",
		"a\nb":          `'a\x0ab'`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{amount(999), "999"}, {amount(1500), "1.5k"}, {amount(2_340_000), "2.3M"},
		{cost(0), "$0"}, {cost(1000), "<$0.0001"}, {cost(haltd.Dollar / 4), "$0.2500"}, {cost(12 * haltd.Dollar), "$12.00"},
		{latency(haltd.Duration(9 * time.Millisecond)), "9 ms"}, {latency(haltd.Duration(1250 * time.Millisecond)), "1.2 s"},
		{latency(haltd.Duration(90 * time.Second)), "1.5 min"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
