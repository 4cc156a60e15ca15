package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// teller says what happens as it happens: in words for a person, or at the
// kill in one JSON object for a program.
type teller struct {
	out   io.Writer
	json  bool
	clock haltd.Clock
	began time.Time

	mu    sync.Mutex
	quiet bool // the kill was told; the rest is for the dashboard
}

func newTeller(env Env) *teller {
	return &teller{out: env.Stdout, json: env.JSON, clock: env.Clock, began: env.Clock()}
}

// say writes a line with the time since the beginning. The caller holds mu.
func (t *teller) say(format string, args ...any) {
	if !t.json {
		fmt.Fprintf(t.out, "  %4.1f s  %s\n", t.clock().Sub(t.began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// add writes more under the last line. The caller holds mu.
func (t *teller) add(format string, args ...any) {
	if !t.json {
		fmt.Fprintf(t.out, "          %s\n", fmt.Sprintf(format, args...))
	}
}

func (t *teller) opens(s *stage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		return
	}
	fmt.Fprint(t.out, "\n  A real haltd, four small agents and a made-up provider. No key, no network.\n\n")
	t.say("haltd is running: gateway %s, dashboard %s", s.app.GatewayURL(), s.app.AdminURL())
	t.say("%s and %s start to work; all their calls go through haltd", healthyName, loopingName)
	t.add("%s needs a file that does not exist, and its model does not give up", loopingName)
	t.add("so do %s and %s, which are told before they are stopped: stall: [warn, steer, kill]", heedingName, deafName)
}

// sees is told of each tool call and its result.
func (t *teller) sees(agent, path, result string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.quiet {
		return
	}
	what := "a page of notes"
	if strings.HasPrefix(result, errorMark) {
		what = "no such file"
	}
	t.say("%-14s  %s %s → %s", agent, readFile, path, what)
}

func (t *teller) killed(answer *stopped, o Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quiet = true
	t.say("haltd notices the loop: %s", o.Sentence)
	t.say("haltd kills %s, %.1f s after its first call; this call does not reach the provider", o.Agent, time.Duration(o.KilledAfter).Seconds())
	t.add("%s is answered %v", o.Agent, answer)
}

// notes is told of each note that haltd adds to a call.
func (t *teller) notes(heeds bool, note string) {
	name := deafName
	if heeds {
		name = heedingName
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say("haltd steers %s; its model reads at the end of the call: %s", name, note)
}

// steered tells what came of the notes to an agent.
func (t *teller) steered(s Steered) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Recovered {
		t.say("%s recovered: it left out the file and ended its task", s.Agent)
		return
	}
	t.say("%s did not recover, and haltd killed it", s.Agent)
}

// ends tells a person nothing of the link: with the demo it ends, too.
func (t *teller) ends(o Outcome) error {
	return t.conclude(o, fmt.Sprintf(`
  This is incident %s. Without --exit, the demo goes on and its page can be opened.

`, o.Incident))
}

func (t *teller) goesOn(s *stage, o Outcome) error {
	return t.conclude(o, fmt.Sprintf(`
  See the incident; this link signs you in, once, within ten minutes:

    %s

  Or in another terminal:

    haltd --config %s incidents show %s

  The healthy agent goes on; press Ctrl-C to end.

`, o.Link, s.config, o.Incident))
}

func (t *teller) conclude(o Outcome, words string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.json {
		_, err := io.WriteString(t.out, words)
		return err
	}
	e := json.NewEncoder(t.out)
	e.SetEscapeHTML(false)
	return e.Encode(o)
}
