package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// peer is another gateway between agents and providers, and how requests to it
// differ from all others. It writes replies anew and keeps headers that it does
// not know to itself, so that its replies cannot be compared byte for byte.
type peer struct {
	headers string // whole lines, which its requests have besides
}

// checkRewritten says whether a body is a whole reply of the upstream, in the
// peer's own words: one of its ids, and how it finishes.
func checkRewritten(body []byte, works, stream bool) error {
	finish := map[bool]string{false: "stop", true: "tool_calls"}[works]
	if stream {
		return checkEvents(body, finish)
	}
	var reply struct {
		ID      string
		Choices []struct {
			FinishReason string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return fmt.Errorf("a reply is no JSON: %w", err)
	}
	if !strings.HasPrefix(reply.ID, replyID) || len(reply.Choices) != 1 || reply.Choices[0].FinishReason != finish {
		return fmt.Errorf("a reply is not one of the upstream's: %.300s", body)
	}
	return nil
}

// checkEvents wants the pieces of the text one by one: a peer that put them
// together would have less to do.
func checkEvents(body []byte, finish string) error {
	switch n := bytes.Count(body, []byte(replyID)); {
	case n < streamWrites-2: // one that says nothing, and the usage, may be missing
		return fmt.Errorf("a stream has %d pieces of %d: %.300s", n, streamWrites, body)
	case !bytes.Contains(body, []byte(`"finish_reason":"`+finish+`"`)):
		return fmt.Errorf("a stream does not say how it finishes: %.300s", body)
	case !bytes.HasSuffix(bytes.TrimSpace(body), []byte("data: [DONE]")):
		return fmt.Errorf("a stream of %d bytes has no end", len(body))
	}
	return nil
}

// install runs a command that puts a peer into a folder of the user's cache. It
// runs each time: npm and go know what is there already.
func install(name string, command func(dir string) (*exec.Cmd, error)) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for %s: %w", name, err)
	}
	dir = filepath.Join(cache, "haltd-bench", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a place for %s: %w", name, err)
	}
	fmt.Fprintf(os.Stderr, "installing %s, which takes minutes the first time\n", name)
	cmd, err := command(dir)
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s: %w\n%s", name, err, out)
	}
	return dir, nil
}

// peersTable is how many times the processor time of haltd a call takes through
// each peer, for a document.
func (rep *report) peersTable() string {
	if len(rep.peers) == 0 {
		return ""
	}
	own := map[cell][]sample{}
	for _, r := range rep.Rows {
		if r.Target == "haltd" {
			own[r.cell] = r.Rounds
		}
	}
	var b strings.Builder
	b.WriteString("\nProcessor time of a call over that of haltd:\n\n| calls | reply | body | load | target | CPU / haltd |\n|---|---|---|---|---|---|\n")
	for _, r := range rep.Rows {
		if slices.Contains(rep.peers, r.Target) {
			fmt.Fprintf(&b, "| %s | %s | %d KB | %s | %s | %s |\n", r.Kind, r.reply(), r.BodyBytes>>10, r.load(), r.Target, ratio(r.Rounds, own[r.cell]))
		}
	}
	return b.String()
}
