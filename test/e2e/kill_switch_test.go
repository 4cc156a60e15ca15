package e2e

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/test/fakellm"
)

// literal is the rule of the documents as it is written there: the score
// alone decides. What stall thinks of it does not matter here.
const literal = `"require_corroboration":false,"stall":"warn"`

// watching has a score but no threshold that it could reach.
const watching = literal + `,"threshold":1000`

// comparing is what both documents of the kill switch demand of hashes,
// normalisation and scores, in the same words.
var comparing = []requirement{
	{"SimHash Algorithm", []scenario{
		{"Similar texts produce similar hashes", similarTexts},
		{"Different texts produce different hashes", differentTexts},
	}},
	{"Prompt Normalization", []scenario{
		{"Normalize numbers", sameAfterNormalising("Where is order #12345?", "Where is order #7?")},
		{"Normalize timestamps", sameAfterNormalising("The build of 2024-01-15T10:30:00Z failed.", "The build of 2025-12-31T23:59:59+02:00 failed.")},
		{"Normalize UUIDs", sameAfterNormalising("Load 550e8400-e29b-41d4-a716-446655440000 now.", "Load 9b2f1c00-0000-4000-8000-00000000abcd now.")},
		{"Normalize whitespace", sameAfterNormalising("Go on   with\r\n\r\nthe  task\tplease.", "go on with the task please.")},
		{"Extract user message", lastUserMessage},
	}},
	{"Loop Detection Scoring", []scenario{
		{"Score calculation", scoreCalculation},
		{"Prompt similarity check", promptSimilarity},
		{"Response similarity check", responseSimilarity},
		{"Tool call repetition check", toolRepetition},
	}},
}

// memory is what both documents demand of the window.
var memory = []scenario{
	{"Sliding window storage", windowStorage},
	{"Window overflow", windowOverflow},
	{"Response hash capture", responseHash},
}

// switching is what both documents demand of the settings; they differ in
// what happens beyond the threshold.
var switching = []scenario{
	{"Enable kill switch", enableKillSwitch},
	{"Disable kill switch", disableKillSwitch},
	{"Configure window size", configureWindowSize},
}

func similarTexts(t *testing.T, s *stage) {
	for i, pair := range [][2]string{
		{"Order 12345 of 2024-01-15T10:30:00Z has 3 items and costs 17.50 euros.", "Order 7 of 2026-02-01T00:00:00Z has 120 items and costs 9 euros."},
		{"Retry 1: the job did not finish.", "Retry 2: the job did not finish."},
	} {
		if d := s.agent(t, fmt.Sprint(i)).distance(pair[0], pair[1]); d >= 3 {
			t.Errorf("%q: distance %d, want less than 3", pair, d)
		}
	}
}

func differentTexts(t *testing.T, s *stage) {
	for i, pair := range [][2]string{
		{"Summarise the quarterly report for the board.", "Which trains leave Vienna for Venice tonight?"},
		{"Fix the failing test in the parser.", "Write a poem about the autumn sea."},
	} {
		if d := s.agent(t, fmt.Sprint(i)).distance(pair[0], pair[1]); d <= 5 {
			t.Errorf("%q: distance %d, want more than 5", pair, d)
		}
	}
}

func sameAfterNormalising(first, second string) func(*testing.T, *stage) {
	return func(t *testing.T, s *stage) {
		if d := s.agent(t).distance(first, second); d != 0 {
			t.Errorf("%q and %q: distance %d, want none", first, second, d)
		}
	}
}

func lastUserMessage(t *testing.T, s *stage) {
	a := s.agent(t)
	a.ask("And in Graz?", "cold")
	a.send(request{messages: []message{user("How is the weather in Linz?"), assistant("It rains."), user("And in Graz?")}, reply: fakellm.Script{Text: "warm"}})
	a.send(request{messages: []message{user("How is the weather in Linz?"), assistant("It rains."), user("Then book a table for the evening.")}, reply: fakellm.Script{Text: "done"}})
	h := a.prompts()
	if d := bits.OnesCount64(h[0] ^ h[1]); d != 0 {
		t.Errorf("the same last message after another history: distance %d, want none", d)
	}
	if d := bits.OnesCount64(h[1] ^ h[2]); d <= 5 {
		t.Errorf("another last message after the same history: distance %d, want more than 5", d)
	}
}

func scoreCalculation(t *testing.T, s *stage) {
	a := s.agent(t).with(watching)
	for range 5 {
		a.send(request{
			messages: []message{user("What is the state of the order?")},
			reply:    fakellm.Script{Text: "Let me look.", ToolCalls: []fakellm.ToolCall{{Name: "get_order", Arguments: `{"id":1}`}}},
		})
	}
	e := a.has(haltd.EventCall, 5)[0]
	v := verdictOf(t, e)
	// Four earlier prompts; the latest reply against the three before it.
	want := haltd.ScoreParts{Prompts: 4, Responses: 3, ToolCalls: 3}
	if diff := cmp.Diff(want, v.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if score := 4*1.0 + 3*2.0 + 3*1.5; e.Score != score || v.Score != score {
		t.Errorf("score %v in the event and %v in its verdict, want %v", e.Score, v.Score, score)
	}
}

func promptSimilarity(t *testing.T, s *stage) {
	a := s.agent(t).with(watching)
	a.ask("Is order 1 paid?", "Yes, by card on Monday.")
	a.ask("Which harbour is the largest in Europe?", "Rotterdam.")
	a.ask("Is order 22 paid?", "No; a reminder went out.")
	a.ask("Is order 333 paid?", "It was cancelled by its customer.")
	if got := verdictOf(t, a.has(haltd.EventCall, 4)[0]).Parts; got.Prompts != 2 || got.Responses != 0 || got.ToolCalls != 0 {
		t.Errorf("parts %+v, want the two prompts that differ in a number only", got)
	}
}

func responseSimilarity(t *testing.T, s *stage) {
	a := s.agent(t).with(watching)
	a.ask("Which harbour is the largest in Europe?", "I cannot find anything about it, attempt 1.")
	a.ask("Summarise the quarterly report.", "The turnover grew by a fifth.")
	a.ask("Who wrote the novel on the table?", "I cannot find anything about it, attempt 2.")
	a.ask("Write a poem about the autumn sea.", "done")
	if got := verdictOf(t, a.has(haltd.EventCall, 4)[0]).Parts; got.Responses != 1 || got.Prompts != 0 {
		t.Errorf("parts %+v, want the one reply that is like the latest", got)
	}
}

func toolRepetition(t *testing.T, s *stage) {
	a := s.agent(t).with(watching)
	for i, step := range []struct{ prompt, arguments string }{
		{"Which harbour is the largest in Europe?", `{"q":"harbour","limit":5}`},
		{"Summarise the quarterly report.", `{"q":"report","limit":5}`},
		{"Who wrote the novel on the table?", `{"limit": 5, "q": "harbour"}`},
	} {
		a.send(request{
			messages: []message{user(step.prompt)}, session: fmt.Sprint("s", i),
			reply: fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: "search", Arguments: step.arguments}}},
		})
	}
	// A declared tool is no tool call.
	declared := map[string]any{"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "search", "parameters": map[string]any{}}}}}
	a.send(request{messages: []message{user("Write a poem about the autumn sea.")}, session: "s4", extra: declared})
	if got := verdictOf(t, a.has(haltd.EventCall, 4)[0]).Parts; got.ToolCalls != 1 || got.Prompts != 0 || got.Responses != 0 {
		t.Errorf("parts %+v, want the one call with the same arguments in another order", got)
	}
}

func windowStorage(t *testing.T, s *stage) {
	a := s.agent(t)
	prompts := []string{"Summarise the quarterly report.", "Which trains leave tonight?", "Write a poem."}
	for i, p := range prompts {
		a.ask(p, "fine")
		entries := a.window().Entries
		if len(entries) != i+1 {
			t.Fatalf("%d entries after %d calls", len(entries), i+1)
		}
		if got := number(t, entries[i].PromptHash); got != detection.SimHash(p) {
			t.Errorf("the newest entry has the prompt hash %x, want that of %q", got, p)
		}
	}
}

func windowOverflow(t *testing.T, s *stage) {
	a := s.agent(t).with(watching + `,"window_size":3`)
	prompts := []string{"Summarise the quarterly report.", "Which trains leave tonight?", "Write a poem.", "Fix the parser.", "Book a table for six."}
	var want []uint64
	for _, p := range prompts {
		a.ask(p, "fine")
		want = append(want, detection.SimHash(p))
	}
	if diff := cmp.Diff(want[2:], a.prompts()); diff != "" {
		t.Errorf("prompts in a window of 3 after 5 calls (-want +got):\n%s", diff)
	}
}

// responseHash captures the text of a reply, from JSON and from a stream in
// ragged pieces alike, and never the envelope.
func responseHash(t *testing.T, s *stage) {
	const text = "The order 17 is on its way to Lübeck."
	a := s.agent(t)
	for _, r := range []request{
		{reply: fakellm.Script{Text: text}},
		{reply: fakellm.Script{Text: text}, stream: true},
		{reply: fakellm.Script{Text: text, ChunkSize: 3, WriteSize: 7}, stream: true},
		{reply: fakellm.Script{Text: text, Encoding: "gzip"}, stream: true},
	} {
		r.messages = []message{user("Where is it?")}
		a.send(r)
	}
	entries := a.window().Entries
	if len(entries) != 4 {
		t.Fatalf("%d entries, want 4", len(entries))
	}
	for i, e := range entries {
		if got := number(t, e.ResponseHash); got != detection.SimHash(text) {
			t.Errorf("reply %d has the hash %x, want that of its text", i, got)
		}
	}
}

func enableKillSwitch(t *testing.T, s *stage) {
	a := s.agent(t)
	if got, at := a.loop(8); at != 0 {
		t.Fatalf("before it is on: %d at call %d", got.status, at)
	}
	a.with("")
	if _, at := a.loop(10); at == 0 {
		t.Error("ten equal calls passed with the kill switch on")
	}
}

func disableKillSwitch(t *testing.T, s *stage) {
	a := s.agent(t)
	if got, at := a.loop(14); at != 0 {
		t.Errorf("call %d was answered %d %s", at, got.status, got.body)
	}
	if n := s.forwarded(a); n != 14 {
		t.Errorf("%d of 14 calls reached the provider", n)
	}
	if i := a.incidents(1)[0]; !i.Shadow {
		t.Errorf("incident %+v; want it to tell only what would have been done", i)
	}
	if v := a.view(); !v.Active || v.DeactivatedBy != nil || v.Policy.KillSwitch.Enabled {
		t.Errorf("agent %+v; want it active with the switch off", v)
	}
	a.with("")
	a.with(`"enabled":false`)
	if got, at := a.loop(10); at != 0 {
		t.Errorf("switched off again: call %d was answered %d", at, got.status)
	}
}

func configureWindowSize(t *testing.T, s *stage) {
	// In a window of n calls, the current one among them, n-1 prompts and
	// n-2 replies can match: a window of 4 reaches a score of 7, one of 3
	// ends at 4.
	for size, want := range map[int]int{4: 4, 3: 0} {
		a := s.agent(t, fmt.Sprint(size)).with(literal + fmt.Sprintf(`,"window_size":%d,"threshold":6.5`, size))
		if _, at := a.loop(10); at != want {
			t.Errorf("window_size %d: stopped at call %d, want %d", size, at, want)
		}
	}
}

// TestKillSwitchSettingsByAPI changes the switch of an agent that has not
// called yet, at once, and refuses what makes no sense.
func TestKillSwitchSettingsByAPI(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t).with(`"window_size":7,"threshold":2.5`)
	want := haltd.DefaultPolicy().KillSwitch
	want.Enabled, want.WindowSize, want.Threshold = true, 7, 2.5
	for range 2 {
		var got haltd.KillSwitch
		if s.API(t, "GET", "/v1/agents/"+a.id+"/kill-switch", nil, &got); got != want {
			t.Errorf("kill switch %+v, want %+v", got, want)
		}
		for _, tc := range []struct {
			patch string
			says  []string
		}{
			{`{"window_size":1}`, []string{"window_size", "2"}},
			{`{"window_size":1001}`, []string{"window_size", "1000"}},
			{`{"window_size":"many"}`, []string{"window_size", "integer"}},
			{`{"threshold":0}`, []string{"threshold", "0"}},
			{`{"threshold":-1}`, []string{"threshold", "0"}},
			{`{"threshold":10001}`, []string{"threshold", "10000"}},
			{`{"similarity":"throttle"}`, []string{"similarity", "kill", "reject", "warn"}},
			{`{"kill_scope":"world"}`, []string{"kill_scope", "agent", "session"}},
			{`{"retry_after_seconds":0}`, []string{"retry_after_seconds", "1"}},
			{`{"enabled":"yes"}`, []string{"enabled", "boolean"}},
			{`{"windw_size":20}`, []string{"windw_size", "window_size"}},
		} {
			var got refused
			status := s.API(t, "PATCH", "/v1/agents/"+a.id+"/kill-switch", json.RawMessage(tc.patch), &got)
			if status != http.StatusBadRequest {
				t.Errorf("%s: %d, want 400", tc.patch, status)
			}
			for _, word := range tc.says {
				if !strings.Contains(got.Error.Message+" "+got.Error.Fix, word) {
					t.Errorf("%s is refused with %+v, which does not say %q", tc.patch, got.Error, word)
				}
			}
		}
	}
}
