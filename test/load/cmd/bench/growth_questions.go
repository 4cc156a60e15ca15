package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// The limits of -growth -check.
const (
	mostAgentsMB  = 300 // after a million agents and sessions
	mostStreamsMB = 400 // with mostStreams open
	mostStreams   = 10_000
	mostRatio     = 1.3 // of the 100th call over the 10th
)

// ofBodies asks how a call's cost grows with its body.
func (g *growth) ofBodies(ctx context.Context) (*question, error) {
	targets, stop, err := g.start(ctx, nil, baseline, "haltd")
	defer stop()
	if err != nil {
		return nil, err
	}
	m := medians{}
	r := &run{busySpan: g.o.busySpan}
	for _, size := range g.sizes {
		for _, k := range []kind{oneShot, growing} {
			if k == growing && size == g.sizes[0] {
				continue // an agent's tools alone are larger
			}
			l, err := newLoad(k, size, false, 0)
			if err != nil {
				return nil, err
			}
			for range g.times {
				for _, t := range targets {
					s, err := r.sample(ctx, t, cell{Kind: k, BodyBytes: size, Concurrency: aside}, l)
					if err != nil {
						return nil, err
					}
					m.add(fmt.Sprintf("%s, %s", t.name, k), float64(size>>10), s.CPU)
				}
			}
		}
	}
	return &question{
		Title: "What a call costs, by the size of its body",
		Text: "One-shot calls and growing conversations with JSON replies at 16 connections, the same calls through the ReverseProxy " +
			"and through haltd. Both axes are logarithmic.",
		Axis: "request body, KB", Log: true,
		Charts: []chart{{Title: "processor time of a call", Unit: "µs", Log: true, Lines: []series{
			m.line("haltd, one-shot"), m.line("reverseproxy, one-shot"), m.line("haltd, growing"), m.line("reverseproxy, growing"),
		}}},
	}, complete(ctx, targets[1])
}

// around is how many calls before and after the one in question are measured with
// it: the processor's time is told in hundredths of a second.
const around = 4

// ofCalls asks what the n-th call of one conversation costs.
func (g *growth) ofCalls(ctx context.Context) (*question, error) {
	targets, stop, err := g.start(ctx, nil, baseline, "haltd")
	defer stop()
	if err != nil {
		return nil, err
	}
	l, err := newLoad(stepping, 1100*(slices.Max(g.calls)+2*around), false, 0)
	if err != nil {
		return nil, err
	}
	m := medians{}
	const own = "haltd less reverseproxy"
	for time := range min(g.times, pool/g.conversations) {
		sent := 0 // calls of each conversation, to haltd
		for _, n := range g.calls {
			cost := map[string]float64{}
			for _, t := range targets {
				from, to := n-around, n+around // calls before and with the measured ones
				rounds := func(first int) func(i int) exchange {
					return func(i int) exchange {
						number := time*g.conversations + i%g.conversations
						return exchange{l, int64(number + 1), 0, l.conversations[number], first + i/g.conversations, nil}
					}
				}
				if t.gateway != nil { // which must have seen the whole conversation
					if err := t.send(ctx, (from-1-sent)*g.conversations, rounds(sent)); err != nil {
						return nil, err
					}
					sent = to
				}
				if cost[t.name], err = spent(ctx, t, (to-from+1)*g.conversations, rounds(from-1)); err != nil {
					return nil, err
				}
				m.add(t.name, float64(n), cost[t.name])
			}
			m.add(own, float64(n), cost["haltd"]-cost[baseline])
		}
	}
	q := &question{
		Title: "What the n-th call of one conversation costs",
		Text: fmt.Sprintf("%d conversations at once, each a round of 1 KB longer with every call: the 100th call sends 110 KB or so. "+
			"Each figure is a mean of the %d calls around the n-th. What passing the bytes costs is what the ReverseProxy takes for the same calls.", g.conversations, 2*around+1),
		Axis:   "call of the conversation",
		Charts: []chart{{Title: "processor time of a call", Unit: "µs", Lines: []series{m.line("haltd"), m.line(baseline), m.line(own)}}},
	}
	tenth, _ := m.line(own).value(10)
	hundredth, _ := m.line(own).value(100)
	q.Bounds = []bound{{"The 100th call over the 10th, but for the bytes that pass", hundredth / max(tenth, 1), mostRatio, "times"}}
	return q, complete(ctx, targets[1])
}

// mostBudgets is how many agents with budgets are seen: the first call of each opens
// its accounts.
const mostBudgets = 10_000

// ofAgents asks what a call costs after so many agents, each with one session.
func (g *growth) ofAgents(ctx context.Context) (*question, error) {
	l, err := newLoad(visiting, 512, false, 0)
	if err != nil {
		return nil, err
	}
	l.agents = int64(slices.Max(g.agents)) + 1 // each session has one of its own
	m := medians{}
	for _, a := range []struct {
		target, budgets string
		most            int
	}{{"haltd", "budgets", mostBudgets}, {withoutBudgets, "no budgets", slices.Max(g.agents)}} {
		if err := g.seeAgents(ctx, a.target, a.budgets, a.most, l, m); err != nil {
			return nil, err
		}
	}
	q := &question{
		Title: "What a call and the memory cost, by the agents seen",
		Text: fmt.Sprintf("Calls of 512 bytes, the first of each agent, in a session of its own, and then calls of agents that were seen before, "+
			"in the sessions that they have, from all over those. With hard budgets by day and month the first call of an agent opens its accounts; "+
			"such agents are measured up to %s.", figure(mostBudgets)),
		Axis: "agents and sessions seen", Log: true,
		Charts: []chart{
			{Title: "processor time of a call", Unit: "µs", Lines: []series{m.line("new, no budgets"), m.line("seen, no budgets"), m.line("new, budgets"), m.line("seen, budgets")}},
			{Title: "resident memory", Unit: "MB", Lines: []series{m.line("no budgets"), m.line("budgets")}, Limit: mostAgentsMB},
		},
	}
	largest := slices.Max(g.agents)
	mb, _ := m.line("no budgets").value(float64(largest))
	q.Bounds = []bound{{fmt.Sprintf("Resident memory after %s agents and sessions", figure(float64(largest))), mb, mostAgentsMB, "MB"}}
	return q, nil
}

// seeAgents measures one haltd whose agents call for the first time, up to so many,
// and now and then again.
func (g *growth) seeAgents(ctx context.Context, name, budgets string, most int, l *load, m medians) error {
	targets, stop, err := g.start(ctx, nil, name)
	defer stop()
	if err != nil {
		return err
	}
	t, seen := targets[0], 0
	// visit has agents call, each time with a text that nobody sent before.
	visit := func(agent func(i int) int) func(i int) exchange {
		begun := int(t.sent)
		return func(i int) exchange {
			return exchange{l, int64(agent(i) + 1), int64(begun + i), l.conversations[(begun+i)%pool], 0, nil}
		}
	}
	next := func(i int) int { return seen + i }
	for _, n := range g.agents {
		if n > most {
			break
		}
		measured := min(g.visits, (n-seen)/2)
		if err := t.send(ctx, n-seen-measured, visit(next)); err != nil {
			return err
		}
		if seen = n - measured; measured > 0 {
			cost, err := spent(ctx, t, measured, visit(next))
			if err != nil {
				return err
			}
			m.add("new, "+budgets, float64(n), cost)
		}
		seen = n
		const prime = 7919 // the visits come from all over
		cost, err := spent(ctx, t, g.visits, visit(func(i int) int { return i * prime % n }))
		if err != nil {
			return err
		}
		m.add("seen, "+budgets, float64(n), cost)
		mb, err := resident(ctx, t)
		if err != nil {
			return err
		}
		m.add(budgets, float64(n), mb)
		fmt.Fprintf(os.Stderr, "agents, %s: %d seen, %.0f MB, a call of one seen before %.0f µs\n", budgets, n, mb, cost)
	}
	return complete(ctx, t)
}

// spareFiles is how many a process needs beside those of its streams.
const spareFiles = 100

// ofStreams asks what memory open streams take.
func (g *growth) ofStreams(ctx context.Context) (*question, error) {
	files, err := allowFiles()
	if err != nil {
		return nil, err
	}
	targets, stop, err := g.start(ctx, nil, baseline, "haltd")
	defer stop()
	if err != nil {
		return nil, err
	}
	l, err := newLoad(growing, g.streamB, true, 0)
	if err != nil {
		return nil, err
	}
	l.answers = openKind + l.answers
	m, most := medians{}, 0
	for _, t := range targets {
		var open []*connection
		shut := func() {
			for _, c := range open {
				c.close()
			}
		}
		for _, n := range g.streams {
			n = min(n, (files-spareFiles)/2) // a proxy has two connections for each
			from := len(open)
			more, err := t.openStreams(ctx, n-from, func(i int) exchange {
				c := l.conversations[(from+i)%pool]
				return exchange{l, int64(from + i + 1), 0, c, len(c.turns) / 2, nil}
			})
			if open = append(open, more...); err != nil {
				shut()
				return nil, err
			}
			mb, err := resident(ctx, t)
			if err != nil {
				shut()
				return nil, err
			}
			m.add(t.name, float64(n), mb)
			most = max(most, n)
		}
		shut()
	}
	mb, _ := m.line("haltd").value(float64(most))
	limit := float64(mostStreamsMB) * float64(most) / mostStreams
	q := &question{
		Title:  "What memory open streams take",
		Text:   fmt.Sprintf("Streams of growing conversations with bodies of %d KB, each in a session of its own; the upstream sends half of its reply and no more.", g.streamB>>10),
		Axis:   "open streams",
		Charts: []chart{{Title: "resident memory", Unit: "MB", Lines: []series{m.line("haltd"), m.line(baseline)}, Limit: limit}},
		Bounds: []bound{{fmt.Sprintf("Resident memory with %s streams open", figure(float64(most))), mb, limit, "MB"}},
	}
	if most < mostStreams {
		q.Text += fmt.Sprintf(" A stream takes two files, one to the client and one to the upstream: this machine grants no more than %s.", figure(float64(most)))
	}
	return q, complete(ctx, targets[1])
}

// firstPages is how often the first page of the record is read.
const firstPages = 21

// ofEvents asks what a call and the first page of the record cost where it is long.
func (g *growth) ofEvents(ctx context.Context) (*question, error) {
	l, err := newLoad(oneShot, 1<<10, false, 0)
	if err != nil {
		return nil, err
	}
	m := medians{}
	var all []*target // one for each length of the record, so that they take turns
	for _, n := range g.events {
		targets, stop, err := g.start(ctx, func(dir string) error { return fillRecord(ctx, dir, n) }, "haltd")
		defer stop()
		if err != nil {
			return nil, err
		}
		all = append(all, targets[0])
	}
	for i, t := range all {
		if _, err := t.process.settle(ctx); err != nil {
			return nil, err
		}
		for range firstPages {
			began := time.Now()
			if _, _, err := t.gateway.EventPage(ctx, "limit=100", ""); err != nil {
				return nil, err
			}
			m.add("first page", float64(g.events[i]), milliseconds(time.Since(began)))
		}
	}
	r := &run{busySpan: g.o.busySpan}
	for range g.times {
		for i, t := range all {
			s, err := r.sample(ctx, t, cell{Kind: oneShot, BodyBytes: 1 << 10, Concurrency: aside}, l)
			if err != nil {
				return nil, err
			}
			m.add("one-shot", float64(g.events[i]), s.CPU)
		}
	}
	q := &question{
		Title: "What a call and the first page of events cost, by the length of the record",
		Text: fmt.Sprintf("One-shot calls of 1 KB at 16 connections, and `GET /v1/events?limit=100` (the median of %d), at haltds that began with so many events "+
			"of twenty agents over a week.", firstPages),
		Axis: "events in the store",
		Charts: []chart{
			{Title: "processor time of a call", Unit: "µs", Lines: []series{m.line("one-shot")}},
			{Title: "time of a page", Unit: "ms", Lines: []series{m.line("first page")}},
		},
	}
	for _, t := range all {
		if err := complete(ctx, t); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// fillRecord writes a record for a haltd that has not started: n calls of a week that
// ended before the day that haltd's totals are of.
func fillRecord(ctx context.Context, dir string, n int) error {
	store, err := sqlite.Open(ctx, filepath.Join(dir, "data", "haltd.db"))
	if err != nil {
		return fmt.Errorf("make a record: %w", err)
	}
	defer store.Close()
	const batch, week = 5000, 7 * 24 * time.Hour
	var ids haltd.EventIDs
	began := time.Now().Add(-week - 48*time.Hour)
	for from := 0; from < n; from += batch {
		events := make([]haltd.Event, min(batch, n-from))
		for i := range events {
			number := from + i
			at := began.Add(time.Duration(float64(week) * float64(number) / float64(n)))
			events[i] = haltd.Event{
				ID: ids.Next(at), Time: at, Type: haltd.EventCall,
				Agent: fmt.Sprintf("bench-%02d", number%agents), Session: fmt.Sprintf("recorded-%d", number/50), Client: "openai-python",
				Provider: "openai", Format: "openai-chat", Path: "/v1/chat/completions", Model: "gpt-4.1-mini",
				Status: 200, Tokens: haltd.Usage{Input: 212, Output: 97}, Cost: 100,
				Latency: haltd.Duration(time.Second), FirstByte: haltd.Duration(300 * time.Millisecond), Finish: "stop",
				PromptHash: fmt.Sprintf("%016x", number), PromptLen: 1024, ReplyHash: fmt.Sprintf("%016x", -number&0xffffffff), ReplyLen: 430,
			}
		}
		if err := store.AppendEvents(ctx, events); err != nil {
			return fmt.Errorf("write a record: %w", err)
		}
	}
	return nil
}
