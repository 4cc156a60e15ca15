// Package demo is `haltd demo`: a healthy agent, a looping one and two that are
// steered call a made-up provider through a real haltd, and the loop is killed
// while one watches. It starts haltd as the command does and speaks with it over
// HTTP only; it needs no key and no network, takes from the user's
// configuration nothing but where to listen, and leaves nothing behind.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// Command is `haltd demo`, as kong reads it.
type Command struct {
	Exit bool `help:"End after the kill instead of serving on."`
}

// Env is the world around the command.
type Env struct {
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) (string, bool)
	JSON    bool
	Version string
	Clock   haltd.Clock

	noted func(heeds bool, note string) // told of a note that haltd adds to a call
}

const (
	think       = 250 * time.Millisecond // of the provider
	rest        = 500 * time.Millisecond // of an agent, before the kill
	gentle      = 2 * time.Second        // of the healthy agent, afterwards
	killWithin  = 10 * time.Second
	answerLimit = 30 * time.Second
)

// Outcome is what the demo shows, for programs.
type Outcome struct {
	Gateway     string         `json:"gateway"`
	Admin       string         `json:"admin"`
	Link        string         `json:"link"` // signs in once and opens the incident
	Incident    string         `json:"incident"`
	Agent       string         `json:"agent"`
	Sentence    string         `json:"sentence"`
	KilledAfter haltd.Duration `json:"killed_after_ms"` // from its first call
	Steered     []Steered      `json:"steered"`         // who was told first, and what came of it
}

// Play runs the demo until the loop is killed, and with Exit not set goes on
// until ctx ends.
func (c *Command) Play(ctx context.Context, env Env) (err error) {
	t := newTeller(env)
	env.noted = t.notes
	s, err := raise(ctx, env, think)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	t.opens(s)

	client := &http.Client{Transport: &http.Transport{}, Timeout: answerLimit}
	defer client.CloseIdleConnections()
	healthy := newHealthy(s.app.GatewayURL(), client, rest, t.sees)
	var working sync.WaitGroup
	calling, stop := context.WithCancel(ctx)
	defer func() { stop(); working.Wait() }() // before haltd ends
	working.Go(func() { keepWorking(calling, healthy) })

	steered := make(chan []Steered, 1)
	working.Go(func() { steered <- steerScene(calling, s, client, brisk, t) })
	outcome, err := untilKilled(calling, s, client, t)
	if err != nil {
		return err
	}
	outcome.Steered = <-steered
	if c.Exit {
		return t.ends(outcome)
	}
	healthy.rest.Store(int64(gentle))
	if err := t.goesOn(s, outcome); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-s.ended:
	}
	return nil
}

// untilKilled lets the looping agent call until haltd stops it.
func untilKilled(ctx context.Context, s *stage, client *http.Client, t *teller) (Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, killWithin)
	defer cancel()
	began := t.clock()
	looping := newLooping(s.app.GatewayURL(), client, rest, t.sees)
	err := looping.work(limited, "october", loopingTask)
	after := t.clock().Sub(began)
	var answer *stopped
	switch {
	case errors.As(err, &answer) && answer.incident != "":
	case ctx.Err() != nil:
		return Outcome{}, haltd.Errorf(haltd.CodeUnavailable, "The demo was ended before the loop was killed")
	case limited.Err() != nil:
		return Outcome{}, haltd.Errorf(haltd.CodeInternal, "haltd did not kill the loop within %v", killWithin).
			WithFix("On a very busy machine, run the demo again.")
	case err != nil:
		return Outcome{}, fmt.Errorf("play the looping agent: %w", err)
	default:
		return Outcome{}, haltd.Errorf(haltd.CodeInternal, "The looping agent ended its task, which it cannot")
	}
	incident, err := s.incident(ctx, client, answer.incident)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{
		Gateway: s.app.GatewayURL(), Admin: s.app.AdminURL(), Link: s.app.SignInURL("/incidents/" + incident.ID),
		Incident: incident.ID, Agent: incident.Agent, Sentence: incident.Sentence, KilledAfter: haltd.Duration(after),
	}
	t.killed(answer, o)
	return o, nil
}

// keepWorking does one task after the other. A person may stop this agent,
// too, in the dashboard: then it asks again, so that it can be resumed.
func keepWorking(ctx context.Context, a *agent) {
	for n := 0; ctx.Err() == nil; n++ {
		session, task := healthyTask(n)
		if err := a.work(ctx, session, task); err != nil {
			_ = pause(ctx, gentle) // the loop sees that ctx has ended
		}
	}
}
