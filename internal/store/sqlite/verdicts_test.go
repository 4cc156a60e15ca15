package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// Rows as releases before typed verdicts wrote them: verdicts without a
// version, rounds with points instead of a certainty, audits in the place of a
// verdict, and what some later haltd may have written.
var oldRows = []struct {
	name, kind, detail string
	verdict            *haltd.Verdict
	audit              *haltd.Audit
}{
	{name: "a call", kind: "llm_call",
		detail:  `{"path":"/v1/messages","status":200,"score":4,"verdict":{"action":"allow","level":"pass","score":4,"parts":{"similar_prompts":2,"similar_responses":1,"repeated_tool_calls":0},"unmet":"no second signal with two matches or more"}}`,
		verdict: &haltd.Verdict{Score: 4, Parts: haltd.ScoreParts{Prompts: 2, Responses: 1}, Unmet: "no second signal with two matches or more"}},
	{name: "a kill by rounds with points", kind: "kill_switch",
		detail: `{"block_reason":"loop_detected","incident":"inc_a","verdict":` + oldKill + `}`, verdict: oldKillRead()},
	{name: "a budget whose period is only its name", kind: "alert",
		detail:  `{"verdict":{"version":1,"action":"block","check":"budget","findings":[{"check":"budget","action":"block","name":"month"},{"check":"rule","action":"warn","name":"day"}]}}`,
		verdict: &haltd.Verdict{Version: 1, Action: haltd.Block, Check: haltd.CheckBudget, Findings: []haltd.Finding{{Check: haltd.CheckBudget, Action: haltd.Block, Name: "month", Period: haltd.Monthly}, {Check: haltd.CheckRule, Action: haltd.Warn, Name: "day"}}}},
	{name: "nothing said", kind: "llm_call", detail: `{"status":200}`},
	{name: "null", kind: "llm_call", detail: `{"verdict":null}`},
	{name: "a person's change", kind: "policy_change",
		detail: `{"verdict":{"change":"activated","by":"ann","why":"it was a test","grace_until":"2026-03-01T12:30:00Z","incident":"inc_a"}}`,
		audit:  &haltd.Audit{Change: "activated", By: "ann", Why: "it was a test", GraceUntil: new(time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)), Incident: "inc_a"}},
	{name: "a changed policy", kind: "policy_change",
		detail: `{"verdict":{"change":"policy","by":"ann","override":{"kill_switch":{"enabled":true}}}}`,
		audit:  &haltd.Audit{Change: "policy", By: "ann", Override: new(haltd.MustOverride(`{"kill_switch": {"enabled": true}}`))}},
	{name: "a key", kind: "policy_change",
		detail: `{"verdict":{"change":"key_created","by":"ann","subject":"key_x"}}`,
		audit:  &haltd.Audit{Change: "key_created", By: "ann", Subject: "key_x"}},
	{name: "a change that this haltd cannot read", kind: "policy_change",
		detail: `{"verdict":{"change":"policy","by":"ann","override":{"kill_switch":7}}}`,
		audit:  &haltd.Audit{Change: "policy", By: "ann"}},
	{name: "an action that this haltd does not know", kind: "warning",
		detail:  `{"verdict":{"version":9,"action":"banish","level":"kill","sentence":"bot repeats itself."}}`,
		verdict: &haltd.Verdict{Sentence: "bot repeats itself."}},
	{name: "a version that this haltd does not know", kind: "warning",
		detail:  `{"verdict":{"version":2,"action":"kill","level":"kill","score":7,"sentence":"bot repeats itself."}}`,
		verdict: &haltd.Verdict{Sentence: "bot repeats itself."}},
	{name: "no verdict at all", kind: "warning", detail: `{"verdict":[1]}`},
}

const oldKill = `{"action":"kill","level":"kill","sentence":"bot called read 3 times.","score":0,"parts":{"similar_prompts":0,"similar_responses":0,"repeated_tool_calls":0},` +
	`"findings":[{"check":"stall","action":"kill","reason":"loop_detected","sentence":"bot called read 3 times."}],` +
	`"signals":[{"detector":"stall","family":"repeat","level":"kill","score":3,"threshold":3,"tools":["read"],"count":3,"outcome":"error",` +
	`"rounds":[{"index":1,"letter":"A","tool":"read","outcome":"error","act":"1f","result":"2e","points":1,"family":"repeat"}]}]}`

func oldKillRead() *haltd.Verdict {
	return &haltd.Verdict{
		Action: haltd.Kill, Level: haltd.LevelKill, Sentence: "bot called read 3 times.",
		Findings: []haltd.Finding{{Check: "stall", Action: haltd.Kill, Reason: haltd.ReasonLoop, Sentence: "bot called read 3 times."}},
		Signals: []haltd.Signal{{
			Detector: haltd.DetectorStall, Family: haltd.FamilyRepeat, Level: haltd.LevelKill, Score: 3, Threshold: 3, Tools: []string{"read"}, Count: 3, Outcome: "error",
			Rounds: []haltd.RoundEvidence{{Index: 1, Letter: "A", Tool: "read", Outcome: "error", Act: "1f", Result: "2e", Family: haltd.FamilyRepeat}},
		}},
	}
}

func TestOldEventsAreShown(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "haltd.db"))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, row := range oldRows {
		_, err := s.writer.conn.ExecContext(t.Context(), `INSERT INTO events (id, time, agent, session, type, client, provider, model, blocked, detail)
			VALUES (?, ?, 0, 0, ?, '', '', '', 0, ?)`, i+1, table.Micros(at), row.kind, row.detail)
		if err != nil {
			t.Fatal(err)
		}
	}
	events, err := s.Events(t.Context(), haltd.EventQuery{})
	if err != nil || len(events) != len(oldRows) {
		t.Fatalf("%d events, error %v; want all %d", len(events), err, len(oldRows))
	}
	for i, row := range oldRows {
		got := events[len(events)-1-i]
		if diff := cmp.Diff(row.verdict, got.Verdict); diff != "" {
			t.Errorf("%s: verdict (-want +got):\n%s", row.name, diff)
		}
		if diff := cmp.Diff(row.audit, got.Audit); diff != "" {
			t.Errorf("%s: audit (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestOldIncidentsAreShown(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "haltd.db"))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for id, verdict := range map[string]any{"inc_a": oldKill, "inc_b": nil, "inc_c": `{"action":"banish","sentence":"It was banished."}`} {
		_, err := s.writer.conn.ExecContext(t.Context(), `INSERT INTO incidents (id, time, kind, status, shadow, agent, session, verdict, body, closed_by, note)
			VALUES (?, ?, 'kill_switch', 'open', 0, 'bot', 's', ?, ?, '', '')`, id, table.Micros(at), verdict,
			`{"id":"`+id+`","time":"2026-03-01T12:00:00Z","kind":"kill_switch","status":"open","action":"kill","detector":"stall","verdict":null,"settings":{},"event":"evt_0000000000001","closed_at":null}`)
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]*haltd.Verdict{"inc_a": oldKillRead(), "inc_b": nil, "inc_c": {Sentence: "It was banished."}} {
		got, err := s.Incident(t.Context(), id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if diff := cmp.Diff(want, got.Verdict); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
		if got.Detector != "stall" || got.Action != haltd.Kill {
			t.Errorf("%s: %s by %s, want a kill by stall", id, got.Action, got.Detector)
		}
	}
}
