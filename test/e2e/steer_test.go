package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// TestSteer is the rung that tells the model what it repeats.
func TestSteer(t *testing.T) {
	t.Parallel()
	s := newStage(t, "excerpts: on\nagents: {from-file: {kill_switch: {enabled: true, stall: [warn, steer, halt, kill]}}}\n")
	t.Run("Twice, then the next rung", func(t *testing.T) { inEveryDialect(t, s, steeredTwice) })
	t.Run("An agent that recovers", func(t *testing.T) { inEveryDialect(t, s, steeredAndRecovers) })
	t.Run("Ladders in file and command line", func(t *testing.T) { ladders(t, s) })
	t.Run("In shadow every rung is told", func(t *testing.T) { shadowLadder(t, s) })
	t.Run("In shadow an agent recovers", func(t *testing.T) { shadowRecovers(t, s) })
	t.Run("Where no note fits, the next rung", func(t *testing.T) { steeredNowhere(t, s) })
	t.Run("A compressed body is encoded again", func(t *testing.T) { steeredCompressed(t, s) })
}

// named is an agent that calls in a dialect under a name of its own.
func (a *agent) named(d *dialect, name string) (*dialect, *agent) {
	own, b := *d, *a
	b.id = name + "-" + d.client
	own.header = map[string]string{"X-Agent-Id": b.id, agentMark: b.id}
	own.session = "X-Session-Id"
	return &own, &b
}

// lastBody is the newest request of the agent that reached the provider.
func (a *agent) lastBody() string {
	requests := a.llm.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if requests[i].Header.Get(agentMark) == a.id {
			return string(requests[i].Body)
		}
	}
	return ""
}

const noted = "[Note by haltd"

// untilSteered grows a conversation until a note is added to it.
func (a *agent) untilSteered(d *dialect, session string, stream bool) (steps []step, sent string) {
	a.t.Helper()
	steps = []step{{user: "Read the settings, please."}}
	for range 30 {
		steps = append(steps, sameRead(0))
		text, _ := json.Marshal(d.body(steps, stream))
		a.passes(a.converse(d, session, stream, steps))
		if strings.Contains(a.lastBody(), noted) {
			return steps, string(text)
		}
		if got := a.lastBody(); got != string(text) {
			a.t.Fatalf("a request that is not steered was changed:\n%s\nwant\n%s", got, text)
		}
	}
	a.t.Fatal("no note after 30 rounds")
	return nil, ""
}

// onlyNoted wants what was sent with one note in it, after that many bytes, and
// nothing else changed.
func onlyNoted(t *testing.T, sent, got string, after int) {
	t.Helper()
	at, added := 0, len(got)-len(sent)
	for at < min(len(sent), len(got)) && sent[at] == got[at] {
		at++
	}
	if added <= 0 || at < after || sent[at:] != got[at+added:] || strings.Count(got[at:at+added], noted) != 1 || !json.Valid([]byte(got)) {
		t.Errorf("want one note behind the newest result and nothing else changed:\n%s\nin place of\n%s", got, sent)
	}
}

func steeredTwice(t *testing.T, a *agent, d *dialect) {
	d, a = a.named(d, "steer-twice")
	metered := a.meter(t)
	a.with(`"stall":["warn","steer","kill"]`)
	steps, sent := a.untilSteered(d, "one", true)
	got := a.lastBody()
	// Nothing before the newest result has changed.
	end := strings.LastIndex(sent, "ENOENT")
	onlyNoted(t, sent, got, end)
	if !strings.Contains(got, "called read_file") || !strings.Contains(got, "same error") {
		t.Errorf("the note does not say what was repeated and what came of it:\n%s", got[end:])
	}
	placed := map[string]string{
		"openai-chat": `"content":"ENOENT: no such file or directory\n\n[Note`, "openai-responses": `"output":"ENOENT: no such file or directory\n\n[Note`,
		"anthropic-messages": `,{"type":"text","text":"[Note`, "gemini-generate": `,"haltd_note":"[Note`,
	}[d.name]
	if !strings.Contains(got, placed) {
		t.Errorf("the note is in another place than %s:\n%s", placed, got[end-200:])
	}
	i := a.incidents(1, "kind=steer")[0]
	if i.Action != haltd.Steer || i.Status != haltd.IncidentOpen {
		t.Fatalf("incident %s %s, want an open steer", i.Action, i.Status)
	}
	steps = append(steps, sameRead(0))
	text, _ := json.Marshal(d.body(steps, false))
	a.passes(a.converse(d, "one", false, steps))
	onlyNoted(t, string(text), a.lastBody(), strings.LastIndex(string(text), "ENOENT"))
	for _, e := range a.has(haltd.EventSteer, 2) {
		if v := verdictOf(t, e); v.Action != haltd.Steer || len(v.Findings) == 0 || !strings.HasPrefix(v.Findings[0].Note, noted) {
			t.Errorf("the event of a steer says %+v", v)
		}
	}
	steps = append(steps, sameRead(0))
	killed := a.converse(d, "one", false, steps)
	a.stopped(killed, "loop_detected")
	stop := a.incident(killed.header.Get("X-Haltd-Incident"))
	if stop.Action != haltd.Kill || len(stop.Verdict.Rungs) != 3 || stop.Verdict.Rungs[0].Action != haltd.Steer || stop.Verdict.Rungs[2].Action != haltd.Kill {
		t.Errorf("stopped by %s after %+v, want two steers and a kill", stop.Action, stop.Verdict.Rungs)
	}
	a.Eventually(t, "closing the incident of the steer", func() bool {
		i = a.incident(i.ID)
		return i.Status == haltd.IncidentUnmoved && strings.Contains(i.Note, stop.ID)
	})
	a.counts(rungCounts{Steered: 1, Stopped: 1, Killed: 1})
	metered(map[string]float64{"warn": 1, "steer": 2, "kill": 1, "unmoved": 1})
}

func steeredAndRecovers(t *testing.T, a *agent, d *dialect) {
	d, a = a.named(d, "steer-recovers")
	metered := a.meter(t)
	a.with(`"stall":["warn","steer","kill"]`)
	steps, _ := a.untilSteered(d, "one", false)
	for i, given := range []string{"settings.json notes.md", `{"port": 8080, "host": "db.internal"}`, "listening on 8080, connected to db.internal", "all 14 tests pass"} {
		steps = append(steps, step{tool: []string{"list_files", "open_json", "start", "test"}[i], args: fmt.Sprintf(`{"target":"part-%d"}`, i), given: given})
		a.passes(a.converse(d, "one", false, steps))
		if strings.Contains(a.lastBody(), noted) {
			t.Errorf("a note after new round %d", i)
		}
	}
	a.Eventually(t, "closing the incident as recovered", func() bool {
		return a.incidents(1, "kind=steer")[0].Status == haltd.IncidentRecovered
	})
	if !a.view().Active {
		t.Error("the agent was stopped")
	}
	a.counts(rungCounts{Steered: 1, Recovered: 1})
	metered(map[string]float64{"warn": 1, "steer": 1, "recovered": 1})
}

// meter answers a check of what the metrics have counted since, by action and
// by outcome.
func (s *stage) meter(t *testing.T) func(want map[string]float64) {
	t.Helper()
	read := func() map[string]float64 {
		m := map[string]float64{}
		for _, action := range []string{"warn", "steer", "reject", "halt", "kill"} {
			m[action] = s.metric(t, `haltd_rungs_total\{action="`+action+`",reason="stall"\}`)
		}
		for _, outcome := range []haltd.IncidentStatus{haltd.IncidentRecovered, haltd.IncidentUnmoved, haltd.IncidentContinued} {
			m[string(outcome)] = s.metric(t, `haltd_rung_outcomes_total\{outcome="`+string(outcome)+`"\}`)
		}
		return m
	}
	before := read()
	return func(want map[string]float64) {
		t.Helper()
		for what, n := range read() {
			if n -= before[what]; n != want[what] {
				t.Errorf("the metrics count %s %v times, want %v", what, n, want[what])
			}
		}
	}
}

// rungCounts is how often each rung was taken, and what came of it.
type rungCounts struct{ Steered, Recovered, Stopped, Halted, Continued, Killed int }

// counts wants these of the agent in the last hour.
func (a *agent) counts(want rungCounts) {
	a.t.Helper()
	var got rungCounts
	a.Must(a.t, http.MethodGet, "/v1/stats/rungs?since=1h&agent="+a.id, nil, &got)
	if got != want {
		a.t.Errorf("%s: counted %+v, want %+v", a.id, got, want)
	}
}

func ladders(t *testing.T, s *stage) {
	a := s.agent(t)
	a.id = "from-file"
	if got := a.view().Policy.KillSwitch.Stall; got != haltd.LadderOf(haltd.Steer, haltd.Halt, haltd.Kill) {
		t.Errorf("the ladder of the file is %s", got)
	}
	if out, _, _ := s.CLI(t, "agents", "show", a.id); !strings.Contains(out, "[warn, steer, halt, kill]") || !strings.Contains(out, "kill_switch.similarity") {
		t.Errorf("agents show does not tell the ladder:\n%s", out)
	}
	for text, want := range map[string]haltd.Ladder{
		"[warn, steer, halt, kill]": haltd.LadderOf(haltd.Steer, haltd.Halt, haltd.Kill), "warn,steer,kill": haltd.LadderOf(haltd.Steer, haltd.Kill), "halt": haltd.LadderOf(haltd.Halt),
	} {
		s.run(t, "agents", "set", "ladder", "kill_switch.stall="+text, "kill_switch.similarity="+text)
		var got struct{ Policy haltd.Policy }
		s.Must(t, http.MethodGet, "/v1/agents/ladder", nil, &got)
		if k := got.Policy.KillSwitch; k.Stall != want || k.Similarity != want {
			t.Errorf("agents set %s sets %s and %s, want %s", text, k.Stall, k.Similarity, want)
		}
	}
	s.fails(t, 2, "kill_switch.stall", "agents", "set", "ladder", "kill_switch.stall=kill,warn")
	var shown struct {
		Stall      json.RawMessage `json:"stall"`
		Similarity json.RawMessage `json:"similarity"`
	}
	for body, want := range map[string]string{
		`{"stall":"kill"}`: `"kill"`, `{"stall":["warn","kill"]}`: `"kill"`, `{"stall":["warn"]}`: `"warn"`, `{"stall":["steer","kill"]}`: `["warn","steer","kill"]`,
	} {
		if status := s.API(t, "PATCH", "/v1/agents/ladder/kill-switch", json.RawMessage(body), &shown); status != 200 || string(shown.Stall) != want {
			t.Errorf("%s: %d %s, want %s", body, status, shown.Stall, want)
		}
	}
	for _, body := range []string{`{"stall":["kill","warn"]}`, `{"stall":["warn","throttle"]}`, `{"stall":[]}`, `{"stall":"block"}`} {
		var no refused
		if status := s.API(t, "PATCH", "/v1/agents/ladder/kill-switch", json.RawMessage(body), &no); status < 400 || !strings.Contains(no.Error.Message, "stall") {
			t.Errorf("%s: %d %+v, want it refused by name", body, status, no)
		}
	}
}

// shadowLadder climbs a whole ladder with the switch off: nothing is done, and
// each rung is told of once.
func shadowLadder(t *testing.T, s *stage) {
	d, a := s.agent(t).named(&dialects[0], "steer-shadow")
	metered := s.meter(t)
	a.with(`"enabled":false,"stall":["warn","steer","halt","kill"],"similarity":["warn","steer","halt","kill"]`)
	steps := []step{{user: "Read the settings, please."}}
	send := func(next step) {
		t.Helper()
		steps = append(steps, next)
		text, _ := json.Marshal(d.body(steps, false))
		a.passes(a.converse(d, "one", false, steps))
		if a.lastBody() != string(text) {
			t.Fatal("a request was changed in shadow")
		}
	}
	for range 12 {
		send(sameRead(0))
	}
	rungs := func(i haltd.Incident) (names string) {
		for _, r := range i.Verdict.Rungs {
			if names += " " + r.Action.String(); !r.Shadow {
				t.Errorf("a %s in shadow does not say so", r.Action)
			}
		}
		return names
	}
	if i := a.incidents(1, "shadow=true"); len(i) != 1 || i[0].Action != haltd.Halt || rungs(i[0]) != " steer steer halt" {
		t.Fatalf("%d shadow incidents, the newest %s after%s; want one halt after two steers", len(i), i[0].Action, rungs(i[0]))
	}
	// A halt would have kept it until its person writes.
	send(step{user: "There is none. Please look in the other folder instead."})
	for range 10 {
		send(sameRead(0))
	}
	if i := a.incidents(2, "shadow=true"); len(i) != 2 || i[0].Action != haltd.Kill || rungs(i[0]) != " steer steer halt kill" {
		t.Errorf("%d shadow incidents, the newest %s after%s; want a halt and then a kill", len(i), i[0].Action, rungs(i[0]))
	}
	for _, e := range append(a.has(haltd.EventSteer, 2), a.has(haltd.EventWarning, 3)...) {
		if !e.Shadow {
			t.Errorf("a %s in shadow does not say so", e.Type)
		}
	}
	a.counts(rungCounts{})
	metered(nil)
	var would rungCounts
	a.Must(t, http.MethodGet, "/v1/stats/rungs?since=1h&shadow=true&agent="+a.id, nil, &would)
	if want := (rungCounts{Steered: 1, Halted: 1, Killed: 1}); would != want {
		t.Errorf("would have done %+v, want %+v", would, want)
	}
}

// shadowRecovers is steered in shadow and then brings news: there is no
// incident that could be closed.
func shadowRecovers(t *testing.T, s *stage) {
	d, a := s.agent(t).named(&dialects[0], "steer-shadow-recovers")
	a.with(`"enabled":false,"stall":["warn","steer","kill"],"similarity":"warn"`)
	steps := repeating("Read the settings, please.", 0)
	for i := range 10 {
		next := sameRead(0)
		if i > 5 {
			next = step{tool: "look", args: fmt.Sprintf(`{"shelf":"%d"}`, i), given: fmt.Sprintf("shelf %d holds %d books about %s", i, 7*i, strings.Repeat("x", i))}
		}
		steps = append(steps, next)
		a.passes(a.converse(d, "one", false, steps))
	}
	a.passes(a.converse(d, "one", false, append(steps, step{text: "I have found it."}, step{user: "Thank you. Now write it down."})))
	if n := len(a.has(haltd.EventSteer, 1)); n == 0 || len(a.incidents(0)) != 0 {
		t.Errorf("%d steers in shadow and %d incidents, want some and none", n, len(a.incidents(0)))
	}
	if strings.Contains(s.Log(), "cannot be closed") {
		t.Error("haltd tried to close an incident that there is not")
	}
}

func steeredCompressed(t *testing.T, s *stage) {
	d, a := s.agent(t).named(&dialects[0], "steer-gzip")
	a.with(`"stall":["steer","kill"]`)
	steps, _ := a.untilSteered(d, "plain", false)
	text, _ := json.Marshal(d.body(steps, false))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	header := a.headerOf(d, "packed")
	header["Content-Encoding"] = "gzip"
	if got := a.do(http.MethodPost, d.path(false), packed.String(), header); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	r, err := gzip.NewReader(strings.NewReader(a.lastBody()))
	if err != nil {
		if strings.Contains(a.lastBody(), noted) { // the provider has decoded it
			return
		}
		t.Fatal(err)
	}
	var plain bytes.Buffer
	plain.ReadFrom(r)
	if !strings.Contains(plain.String(), noted) {
		t.Error("no note in the body that was encoded again")
	}
}

// The output of a hosted shell has no place for a note: nobody is told that one
// was added, and the next rung is taken.
func steeredNowhere(t *testing.T, s *stage) {
	a := s.agent(t).with(`"stall":["warn","steer","kill"]`)
	input := `{"type":"message","role":"user","content":"Read the settings."}`
	var got answer
	for n := 1; n <= 12 && got.status != http.StatusBadRequest; n++ {
		input += fmt.Sprintf(`,{"type":"shell_call","call_id":"call_%d","action":{"commands":["cat /srv/settings.yaml"]}},
			{"type":"shell_call_output","call_id":"call_%d","output":[{"stdout":"","stderr":"cat: no such file","outcome":{"type":"exit","exit_code":1}}]}`, n, n)
		got = a.do(http.MethodPost, "/agents/"+a.id+"/openai/v1/responses", `{"model":"gpt-4.1-mini","input":[`+input+`]}`, map[string]string{"X-Session-Id": "shell"})
	}
	a.stopped(got, "loop_detected")
	if i := a.incident(got.header.Get("X-Haltd-Incident")); len(i.Verdict.Rungs) != 1 || i.Verdict.Rungs[0].Action != haltd.Kill {
		t.Errorf("rungs %+v, want a kill alone", i.Verdict.Rungs)
	}
	if steers := a.has(haltd.EventSteer, 0); len(steers) > 0 {
		t.Errorf("%d events of a steer that never was", len(steers))
	}
}
