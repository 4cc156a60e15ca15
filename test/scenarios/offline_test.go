package scenarios

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/replay"
)

// TestDefaultsOffline feeds the corpus to the detectors without a gateway:
// what a format cannot say (an error mark, an id) is there, and every case
// has the same shape.
func TestDefaultsOffline(t *testing.T) {
	fired, quiet, scored := 0, 0, 0
	for _, c := range Corpus() {
		p := &play{Case: &c, agent: c.Name}
		p.requests, p.before = c.Requests()
		told := p.judge()
		ok := t.Run(c.Name, func(t *testing.T) { p.checkWant(t, told) })
		if w := told[detect.Warn]; !c.Want.Fires() && w != nil && w.uncorroborated() {
			scored++
		}
		switch {
		case ok && c.Want.Fires():
			fired++
		case ok:
			quiet++
		}
	}
	for _, c := range MustFire() {
		if c.Missed != "" {
			fired--
			t.Logf("blind spot: %s: %s", c.Name, c.Missed)
		}
	}
	t.Logf("%d of %d that must fire do, %d of %d that must not do not", fired, len(MustFire()), quiet, len(MustNotFire()))
	t.Logf("similarity warns of %d that must not fire, uncorroborated", scored)
}

// judge runs the detectors with default settings and tells the first verdict
// of each level.
func (p *play) judge() map[detect.Level]*verdict {
	set := detect.DefaultSettings()
	cache, sessions := detect.NewCache(1<<20), map[string]*detect.Session{}
	var window detect.Window
	told := map[detect.Level]*verdict{}
	for i := range p.requests {
		r := &p.requests[i]
		if r.Count {
			continue
		}
		name := r.Session
		if p.Unnamed {
			name = callOf(p.Case, r).FirstUser()
		}
		if sessions[name] == nil {
			sessions[name] = &detect.Session{}
		}
		now := curtain.Add(r.At)
		call := callOf(p.Case, r)
		st := detect.State{Cache: cache, Window: &window, Session: sessions[name], SessionID: sessionID(p.Case, name)}
		v := detect.Judge(set, st, call, now)
		p.tellOf(told, r, v.Signals)
		entry := detect.Admit(set, st, v, now)
		p.tellOf(told, r, detect.Observe(set, st, entry, call, replyOf(r.Turn), now))
	}
	return told
}

// tellOf keeps what fired at a request, the strictest signal first.
func (p *play) tellOf(told map[detect.Level]*verdict, r *Request, signals []detect.Signal) {
	if len(signals) > 0 {
		tell(told, &verdict{Level: signals[0].Level, Sentence: signals[0].Sentence(p.agent), Signals: signals, call: r.Number})
	}
}

// callOf is a request as the gateway reads it.
func callOf(c *Case, r *Request) *haltd.Call {
	entries := r.History
	if c.Chained {
		entries = r.New
	}
	system := fnv.New64a()
	system.Write([]byte(c.System))
	call := &haltd.Call{Model: model, System: system.Sum64(), Tools: c.Tools()}
	for _, e := range entries {
		if e.Turn != nil && !e.Results {
			call.Rounds = append(call.Rounds, haltd.Round{Text: e.Turn.Text, Calls: e.Turn.Calls})
			continue
		}
		if len(call.Rounds) == 0 && e.Results { // the provider keeps the turn itself
			call.Rounds = append(call.Rounds, haltd.Round{})
		}
		n := len(call.Rounds)
		switch {
		case e.Results:
			call.Rounds[n-1].Results = e.Turn.Results
		case n == 0:
			call.Opening = append(call.Opening, *e.Message)
		default:
			call.Rounds[n-1].Inputs = append(call.Rounds[n-1].Inputs, *e.Message)
		}
	}
	return call
}

func replyOf(t *Turn) *haltd.Reply {
	r := &haltd.Reply{Model: model, Text: t.Text, Calls: t.Calls, Complete: true}
	if t.Usage != nil {
		r.Usage, r.Counted = *t.Usage, true
	}
	return r
}

// TestPresetsOffline shows on the same corpus what other systems' rules do.
func TestPresetsOffline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	cases := Corpus()
	if err := os.WriteFile(path, trace(t, cases), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"agentgazer", "fairvisor", "agentwatch"} {
		newJudge, err := replay.NewJudge(preset, detect.DefaultSettings())
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := replay.Replay(t.Context(), []string{path}, newJudge, nil)
		if err != nil {
			t.Fatalf("%s: %v", preset, err)
		}
		killed := map[bool]int{} // by whether the case must fire
		for _, o := range outcomes {
			i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == o.Run })
			if o.KillStep != nil {
				killed[cases[i].Want.Fires()]++
			}
		}
		t.Logf("%s kills %d of the %d that must fire and %d of the %d that must not", preset, killed[true], len(MustFire()), killed[false], len(MustNotFire()))
		if preset == "agentgazer" && killed[false] < 15 {
			t.Errorf("agentgazer kills %d of the healthy cases, want 15 at least: the corpus is too easy", killed[false])
		}
	}
}

// trace writes cases as a recording of their calls.
func trace(t *testing.T, cases []Case) []byte {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	chat := dialects[0]
	for i := range cases {
		c := &cases[i]
		requests, _ := c.Requests()
		for _, r := range requests {
			if r.Count {
				continue
			}
			thread := r.Session
			if c.Unnamed {
				thread = callOf(c, &r).FirstUser()
			}
			l := letter{dialect: chat, system: c.System, entries: r.History}
			step := object{
				"run": c.Name, "step": r.Number, "model": model, "thread": thread, "keep": 0, "messages_delta": l.chat()["messages"],
				"response_text": r.Turn.Text, "t": float64(r.At) / float64(time.Second),
			}
			for _, tc := range r.Turn.Calls {
				step["tool_calls"] = append(list(step["tool_calls"]), object{"name": tc.Name, "arguments": arguments(&tc)})
			}
			if r.Turn.Usage != nil {
				step["prompt_tokens"] = r.Turn.Usage.Input
			}
			if err := out.Encode(step); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Bytes()
}

// sessionID is 0 for sessions that haltd only guesses, as the gateway has it.
func sessionID(c *Case, name string) uint64 {
	if c.Unnamed {
		return 0
	}
	return xxhash.Sum64String(name)
}
