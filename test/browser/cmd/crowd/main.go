// Command crowd makes the record of a thousand agents with a hundred calls
// each, in the data directory that its argument names. It is a program of its
// own so that it can be built without the race detector, which would make it
// take a minute.
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
	agents = 1000
	events = 100_000
	batch  = 5000
	apart  = 800 * time.Millisecond
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
	return store.Close()
}

func event(i int, began time.Time) haltd.Event {
	agent := i % agents
	return haltd.Event{
		Time: began.Add(time.Duration(i) * apart), Type: haltd.EventCall, Client: "openai-python",
		Agent: fmt.Sprintf("agent-%04d", agent), Session: fmt.Sprintf("session-%04d-%d", agent, i/25_000),
		Provider: "openai", Model: "gpt-4.1-mini", Path: "/v1/chat/completions", Status: http.StatusOK, Finish: "stop",
		Tokens: haltd.Usage{Input: 1200, Output: 80}, Cost: 600_000, Latency: haltd.Duration(900 * time.Millisecond),
	}
}
