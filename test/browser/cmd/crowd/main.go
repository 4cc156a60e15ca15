// Command crowd makes the record of 400 agents with 250 calls each and 100
// incidents of every detector and family, in the data directory that its
// argument names. It is a program of its own so that it can be built without
// the race detector, which would make it take a minute.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

const (
	agents = 400
	events = 100_000
	batch  = 5000
	apart  = 800 * time.Millisecond
	each   = 25_000 // events until all agents begin new sessions
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crowd DIR")
		os.Exit(2)
	}
	if err := record(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crowd:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, dataDir string) error {
	store, err := sqlite.Open(ctx, filepath.Join(dataDir, "haltd.db"))
	if err != nil {
		return err
	}
	var ids haltd.EventIDs
	began := time.Now().Add(-events * apart)
	for first := 0; first < events; first += batch {
		some := make([]haltd.Event, batch)
		for i := range some {
			some[i] = event(first+i, began)
			some[i].ID = ids.Next(some[i].Time)
		}
		if err := store.AppendEvents(ctx, some); err != nil {
			return err
		}
	}
	for n := range incidents {
		change := raised(n, began)
		change.Events[0].ID = ids.Next(change.Events[0].Time)
		change.Incident.Event = change.Events[0].ID
		if err := store.Commit(ctx, change); err != nil {
			return err
		}
	}
	return store.Close()
}

func agentName(i int) string { return fmt.Sprintf("agent-%04d", i%agents) }

func sessionName(i int) string { return fmt.Sprintf("session-%04d-%d", i%agents, i/each) }

func at(i int, began time.Time) time.Time { return began.Add(time.Duration(i) * apart) }

var tools = []string{"find_payment", "run_sql", "search_kb", ""}

func event(i int, began time.Time) haltd.Event {
	e := haltd.Event{
		Time: at(i, began), Type: haltd.EventCall, Client: "openai-python", Agent: agentName(i), Session: sessionName(i),
		Provider: "openai", Model: "gpt-4.1-mini", Path: "/v1/chat/completions", Status: http.StatusOK, Finish: "stop",
		// Agents differ in what they cost.
		Tokens: haltd.Usage{Input: 1200, Output: 80}, Cost: haltd.Money(600_000 + 1000*(i%agents)), Latency: haltd.Duration(900 * time.Millisecond),
	}
	if tool := tools[i/agents%len(tools)]; tool != "" {
		e.ToolCalls, e.Finish = []string{tool}, "tool_calls"
	}
	return e
}
