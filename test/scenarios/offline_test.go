//go:build !race

// What is judged in one goroutine, ten times faster without the race detector;
// make test runs it so.

package scenarios

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/replay"
	"github.com/haltd/haltd/internal/wire/openai"
)

// TestDefaultsOffline feeds the corpus to the detectors without a gateway:
// what a format cannot say (an error mark, an id) is there, and every case
// has the same shape.
func TestDefaultsOffline(t *testing.T) {
	t.Parallel()
	fired, quiet, scored := 0, 0, 0
	for _, c := range Corpus() {
		p := &play{Case: &c, agent: c.Name}
		p.requests, p.before = c.Requests()
		told := p.judge()
		ok := t.Run(c.Name, func(t *testing.T) { p.checkWant(t, told) })
		if w := told[haltd.LevelWarn]; !c.Want.Fires() && w != nil && w.uncorroborated() {
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
func (p *play) judge() map[haltd.Level]*judgedCall {
	set := detection.DefaultSettings()
	cache, sessions := detection.NewCache(1<<20), map[string]*detection.Session{}
	var window detection.Window
	told := map[haltd.Level]*judgedCall{}
	for i := range p.requests {
		r := &p.requests[i]
		if r.Count {
			continue
		}
		name := p.thread(r)
		if sessions[name] == nil {
			sessions[name] = &detection.Session{}
		}
		now := curtain.Add(r.At)
		call := callOf(p.Case, r)
		st := detection.State{Window: &window, Session: sessions[name], SessionID: sessionID(p.Case, name)}
		v := detection.Judge(set, st, detection.Read(cache, call, sessions[name].Pending()), now)
		p.tellOf(told, r, v.Signals)
		entry := detection.Admit(set, st, v, now)
		p.tellOf(told, r, detection.Observe(set, st, entry, detection.Source{Model: call.Model, System: call.System}, detection.ReadReply(replyOf(r.Turn), true), now))
	}
	return told
}

// tellOf keeps what fired at a request, the strictest signal first.
func (p *play) tellOf(told map[haltd.Level]*judgedCall, r *Request, signals []haltd.Signal) {
	if len(signals) > 0 {
		tell(told, &judgedCall{haltd.Verdict{Level: signals[0].Level, Sentence: signals[0].Sentence(p.agent), Signals: signals}, r.Number})
	}
}

// callOf is a request as the gateway reads it: written as a body of chat
// completions, and read as such.
func callOf(c *Case, r *Request) *haltd.Call {
	l := letter{dialect: dialects[0], system: c.System, user: c.user(r), tools: c.Tools(), entries: r.History}
	if c.Chained {
		l.entries = r.New
	}
	body, err := json.Marshal(l.chat())
	if err != nil {
		panic(err) // a case always encodes
	}
	call, err := openai.Chat{}.ReadCall("/v1/chat/completions", body, nil)
	if err != nil {
		panic(err)
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

// TestPresetsOffline shows on the same corpus what the rule of one detector alone does.
func TestPresetsOffline(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	cases := Corpus()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := WriteTrace(f, cases); err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"similarity", "exact", "growth"} {
		newJudge, err := replay.NewJudge(preset, detection.DefaultSettings())
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
		if preset == "similarity" && killed[false] < 15 {
			t.Errorf("similarity alone kills %d of the healthy cases, want 15 at least: the corpus is too easy", killed[false])
		}
	}
}

// sessionID is 0 for sessions that haltd only guesses, as the gateway has it.
func sessionID(c *Case, name string) uint64 {
	if c.Unnamed {
		return 0
	}
	return xxhash.Sum64String(name)
}
