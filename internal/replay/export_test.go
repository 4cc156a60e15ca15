package replay

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/store/sqlite"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// exported writes events to a store and takes them out again by the admin API,
// as an operator does.
func exported(t *testing.T, format string, events []haltd.Event) string {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var ids haltd.EventIDs
	for i := range events {
		events[i].ID = ids.Next(events[i].Time)
	}
	if err := store.AppendEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	api := admin.New(admin.Options{Events: store, Access: admin.Access{Token: "secret-of-the-test"}, Clock: func() time.Time { return noon }})
	r := httptest.NewRequest("GET", "http://localhost/v1/events/export?format="+format, nil)
	r.Header.Set("Authorization", "Bearer secret-of-the-test")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("export answers %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// recording makes the events of one session, a call a minute.
type recording struct {
	t              *testing.T
	agent, session string
	events         []haltd.Event
	unmet          string // of the next call
}

func (r *recording) event(kind haltd.EventType, verdict haltd.Verdict) haltd.Event {
	e := haltd.Event{
		Type: kind, Time: noon.Add(time.Duration(len(r.events)) * time.Minute), Agent: r.agent, Session: r.session,
		Client: "other", Provider: "openai", Format: "openai-chat", Path: "/v1/chat/completions", Model: "m", Status: 200,
		Score: verdict.Parts.Score(),
	}
	verdict.Score = e.Score
	e.Verdict = &verdict
	return e
}

// call records a call with what the detectors said to it.
func (r *recording) call(input int64, parts haltd.ScoreParts, level haltd.Level, findings ...haltd.Finding) *recording {
	e := r.event(haltd.EventCall, haltd.Verdict{Level: level, Parts: parts, Unmet: r.unmet, Findings: findings})
	r.unmet = ""
	e.Tokens = haltd.Usage{Input: input, Output: 10}
	r.events = append(r.events, e)
	return r
}

// lacks says what the score of the next call lacks to be corroborated.
func (r *recording) lacks(unmet string) *recording {
	r.unmet = unmet
	return r
}

// warning records an event that tells of the last call, with its evidence.
func (r *recording) warning(parts haltd.ScoreParts, signals ...haltd.Signal) *recording {
	e := r.event(haltd.EventWarning, haltd.Verdict{Level: signals[0].Level, Parts: parts, Signals: signals})
	e.Time = r.events[len(r.events)-1].Time.Add(time.Millisecond)
	r.events = append(r.events, e)
	return r
}

func finds(check haltd.Detector, action haltd.Action) haltd.Finding {
	return haltd.Finding{Check: haltd.Check(check), Action: action, Reason: haltd.ReasonLoop, Sentence: "recorded by " + string(check)}
}

// verdictsOf replays an export and returns what it says of each session.
func verdictsOf(t *testing.T, events []haltd.Event, config string) []Firing {
	t.Helper()
	env := Env{}
	if config != "" {
		env.ConfigPath = write(t, "haltd.yaml", "defaults:\n  kill_switch: {enabled: true, "+config+"}\n")
	}
	out := filepath.Join(t.TempDir(), "verdicts.jsonl")
	replayed(t, Command{Steps: []string{write(t, "export.jsonl", exported(t, "jsonl", events))}, Verdicts: out}, env)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var all []Firing
	for line := range bytes.Lines(data) {
		var v Firing
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

var (
	none  haltd.ScoreParts
	alike = haltd.ScoreParts{Prompts: 3, Responses: 3, ToolCalls: 2} // 12.0
	lone  = haltd.ScoreParts{Prompts: 12}                            // 12.0, and nothing beside it
)

func TestExportIsJudgedByItsScores(t *testing.T) {
	const (
		sentence  = "bot repeats itself: 4 similar prompts, 4 similar replies and the same tool call 3 times."
		ofPrompts = "bot repeats itself: 13 similar prompts."
	)
	two := 2
	for _, c := range []struct {
		name, config string
		record       func(*recording)
		want         Firing
	}{
		{"nothing", "", func(r *recording) { r.call(100, none, haltd.LevelPass).call(100, none, haltd.LevelPass) }, Firing{}},
		{"a kill by similarity", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelKill, finds(haltd.DetectorSimilarity, haltd.Kill))
		}, Firing{WarnStep: &two, WarnBy: "similarity", KillStep: &two, KillBy: "similarity", Reason: sentence}},
		{"a kill that a policy only warned of", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelKill, finds(haltd.DetectorSimilarity, haltd.Warn))
		}, Firing{WarnStep: &two, WarnBy: "similarity", KillStep: &two, KillBy: "similarity", Reason: sentence}},
		{"vetoed when it was recorded", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).lacks("news").call(100, alike, haltd.LevelWarn, finds(haltd.DetectorSimilarity, haltd.Warn))
		}, Firing{WarnStep: &two, WarnBy: "similarity", Reason: sentence}},
		{"the work went on when it was recorded", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).lacks(detection.Advancing).call(100, alike, haltd.LevelPass)
		}, Firing{}},
		{"no second signal", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).lacks("a signal").call(100, lone, haltd.LevelPass)
		},
			Firing{WarnStep: &two, WarnBy: "similarity", Reason: ofPrompts}},
		{"no second signal asked for", "require_corroboration: false", func(r *recording) {
			r.call(100, none, haltd.LevelPass).lacks("a signal").call(100, lone, haltd.LevelPass)
		},
			Firing{WarnStep: &two, WarnBy: "similarity", KillStep: &two, KillBy: "similarity", Reason: ofPrompts}},
		{"a threshold above the score", "threshold: 12", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelKill, finds(haltd.DetectorSimilarity, haltd.Kill))
		}, Firing{}},
		{"a threshold that was higher then", "", func(r *recording) { r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelPass) },
			Firing{WarnStep: &two, WarnBy: "similarity", KillStep: &two, KillBy: "similarity", Reason: sentence}},
		{"the same with a veto", "", func(r *recording) { r.call(100, none, haltd.LevelPass).lacks("news").call(100, alike, haltd.LevelPass) },
			Firing{WarnStep: &two, WarnBy: "similarity", Reason: sentence}},
		{"the same with a stall beside it", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelWarn, finds(haltd.DetectorStall, haltd.Warn))
		}, Firing{WarnStep: &two, WarnBy: "similarity", KillStep: &two, KillBy: "similarity", Reason: sentence}},
		{"a stateless agent", "stateless: true", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, alike, haltd.LevelKill, finds(haltd.DetectorSimilarity, haltd.Kill))
		}, Firing{}},
		{"a stall as it was recorded", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, none, haltd.LevelKill, finds(haltd.DetectorStall, haltd.Reject))
		}, Firing{WarnStep: &two, WarnBy: "stall", KillStep: &two, KillBy: "stall", Reason: "recorded by stall"}},
		{"a stall with its evidence", "", func(r *recording) {
			r.call(100, none, haltd.LevelPass).call(100, none, haltd.LevelWarn, finds(haltd.DetectorStall, haltd.Warn)).
				warning(none, haltd.Signal{Detector: haltd.DetectorStall, Family: haltd.FamilyRepeat, Level: haltd.LevelWarn, Tools: []string{"read"}, Count: 3, Outcome: "error"})
		}, Firing{WarnStep: &two, WarnBy: "stall/repeat", Reason: "bot called read 3 times with the same arguments and got the same error."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recording{t: t, agent: "bot", session: "s"}
			c.record(r)
			c.want.Run = "bot/s"
			if diff := cmp.Diff([]Firing{c.want}, verdictsOf(t, r.events, c.config)); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExportGrowthIsComputedAnew(t *testing.T) {
	r := &recording{t: t, agent: "bot", session: "s"}
	for _, n := range []int64{1000, 1400, 1960, 2744, 3842} {
		r.call(n, none, haltd.LevelPass)
	}
	four := 4
	want := Firing{Run: "bot/s", WarnStep: &four, WarnBy: "growth", Reason: "Prompt tokens of s grew 1.4 times or more, 3 calls in a row."}
	if diff := cmp.Diff([]Firing{want}, verdictsOf(t, r.events, "")); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	r.events[3].Estimated = true
	if got := verdictsOf(t, r.events, "")[0]; got.WarnStep == nil || *got.WarnStep != 5 {
		t.Errorf("with an estimate as its fourth count, the session is told of as %+v, want call 5", got)
	}
}

func TestExportReport(t *testing.T) {
	stuck := &recording{t: t, agent: "bot", session: "one"}
	stuck.call(100, none, haltd.LevelPass).call(200, none, haltd.LevelPass).call(300, alike, haltd.LevelKill, finds(haltd.DetectorSimilarity, haltd.Kill)).call(400, none, haltd.LevelPass)
	other := &recording{t: t, agent: "bot", session: "two"}
	other.call(50, none, haltd.LevelPass)
	killed := other.event(haltd.EventKillSwitch, haltd.Verdict{Level: haltd.LevelKill, Signals: []haltd.Signal{{Detector: haltd.DetectorStall, Family: haltd.FamilyCycle, Level: haltd.LevelKill, Tools: []string{"a", "b"}}}})
	killed.Blocked, killed.BlockReason, killed.Status = true, haltd.ReasonLoop, 400
	passed := other.event(haltd.EventPass, haltd.Verdict{})
	passed.Format = ""
	other.events = append(other.events, killed, passed)

	path := write(t, "export.jsonl.gz", exported(t, "jsonl", append(stuck.events, other.events...)))
	var got Report
	text := replayed(t, Command{Steps: []string{path, path}}, Env{JSON: true})
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	two, three := 2, 3
	want := Report{
		Runs: 2, Steps: 6, Warned: 2, Killed: 2, Tokens: 1100, Saved: 720, Note: exportNote,
		Fired: []Outcome{
			{Firing{"bot/one", &three, "similarity", &three, "similarity", "bot repeats itself: 4 similar prompts, 4 similar replies and the same tool call 3 times."}, "export", 4, 1040, 720},
			{Firing{"bot/two", &two, "stall/cycle", &two, "stall/cycle", "bot repeats a, b and nothing changes."}, "export", 2, 60, 0},
		},
		Ladders: []LadderCount{
			{Ladder: haltd.LadderOf(haltd.Warn), Warned: 2},
			{Ladder: haltd.LadderOf(haltd.Kill), Warned: 2, Killed: 2},
			{Ladder: haltd.LadderOf(haltd.Halt, haltd.Kill), Warned: 2, Halted: 2},
			{Ladder: haltd.LadderOf(haltd.Steer, haltd.Kill), Warned: 2, Steered: 2, Recovered: 2},
			{Ladder: haltd.LadderOf(haltd.Steer, haltd.Halt, haltd.Kill), Warned: 2, Steered: 2, Recovered: 2},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an export that is named twice (-want +got):\n%s", diff)
	}
	table := replayed(t, Command{Steps: []string{path}}, Env{})
	for _, part := range []string{"bot/one  3          3          similarity", "An export holds no texts."} {
		if !strings.Contains(table, part) {
			t.Errorf("the table lacks %q:\n%s", part, table)
		}
	}
	drawing := replayed(t, Command{Steps: []string{path}, Explain: "one"}, Env{})
	for _, part := range []string{
		"bot/one\ncall 1  2026-03-01T12:00:00.000Z      110 tokens  score  0.0\n",
		"call 3  2026-03-01T12:02:00.000Z      310 tokens  score 12.0: prompts 3 × 1.0, responses 3 × 2.0, tool calls 2 × 1.5\n  KILL  bot repeats itself",
	} {
		if !strings.Contains(drawing, part) {
			t.Errorf("the drawing lacks %q:\n%s", part, drawing)
		}
	}
	if strings.Contains(drawing, "bot/two") {
		t.Errorf("the drawing of one session shows another:\n%s", drawing)
	}
}

func TestExportsThatCannotBeReplayed(t *testing.T) {
	r := (&recording{t: t, agent: "bot", session: "s"}).call(100, none, haltd.LevelPass)
	lines := write(t, "e.jsonl", exported(t, "jsonl", r.events))
	for _, c := range []struct {
		name    string
		command Command
		code    string
		say     string
	}{
		{"a table", Command{Steps: []string{write(t, "e.csv", exported(t, "csv", r.events))}}, haltd.CodeInvalid, "is a table"},
		{"by a preset", Command{Steps: []string{lines}, Preset: "similarity"}, haltd.CodeInvalid, "needs the texts"},
		{"a session that is not there", Command{Steps: []string{lines}, Explain: "other"}, haltd.CodeNotFound, `no run "other"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.command.Replay(t.Context(), Env{Stdout: &bytes.Buffer{}})
			if haltd.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want %s that says %q", err, c.code, c.say)
			}
		})
	}
}
