package replay

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/policy"
)

// judge is one way to judge a run: haltd's own, or the rule of one detector alone.
type judge interface {
	// step judges the request of a step, then takes its reply, and returns
	// what fired.
	step(s *Step, t *thread) ([]haltd.Signal, error)
}

// NewJudge is haltd's own judge with the given settings. A preset is the rule of
// one detector alone, as the document that it comes from has it.
func NewJudge(preset string, set detection.Settings) (func() judge, error) {
	switch haltd.Detector(preset) {
	case "":
		return func() judge { return &own{set: set, cache: detection.NewCache(cacheWords)} }, nil
	case haltd.DetectorSimilarity:
		return func() judge { return &similarityRule{} }, nil
	case haltd.DetectorExact:
		return func() judge { return &exactRule{counters: map[policy.Fingerprint]policy.LoopCounter{}} }, nil
	case haltd.DetectorGrowth:
		return func() judge { return &growthRule{tokens: map[string][]int64{}} }, nil
	}
	return nil, haltd.Errorf(haltd.CodeInvalid, "preset %q is unknown", preset).WithFix("Use similarity, exact or growth.")
}

// JudgeWith is haltd's own judge with weights that may be others for each
// run, where weights are tried out.
func JudgeWith(set detection.Settings, pick func(run, source string) *detection.Model) func() judge {
	return func() judge { return &own{set: set, cache: detection.NewCache(cacheWords), pick: pick} }
}

// cacheWords is enough for the rounds of one run.
const cacheWords = 1 << 20

// own is haltd's judge with the kill switch on: the run is the agent, each
// thread a session.
type own struct {
	set    detection.Settings
	cache  *detection.Cache
	window detection.Window
	pick   func(run, source string) *detection.Model // the weights to judge a run with; nil for the binary's
	sample func(*Step, *detection.Features, bool)    // told the features at each step; nil for none
}

func (o *own) step(s *Step, t *thread) ([]haltd.Signal, error) {
	call, err := t.next(s)
	if err != nil {
		return nil, err
	}
	if o.pick != nil {
		o.set.Model = o.pick(s.Run, s.Source)
	}
	at := s.at()
	st := detection.State{Window: &o.window, Session: &t.session, SessionID: xxhash.Sum64String(s.Thread)}
	v := detection.Judge(o.set, st, detection.Read(o.cache, call, t.session.Pending()), at)
	entry := detection.Admit(o.set, st, v, at)
	detection.Observe(o.set, st, entry, detection.Source{Model: call.Model, System: call.System}, detection.ReadReply(t.reply(s), len(call.Rounds) == 0), t.answered(s))
	if o.sample != nil {
		if x, bounded, ok := t.session.Features(st, v.Parts); ok {
			o.sample(s, &x, bounded)
		}
	}
	return v.Signals, nil
}

// similarityRule scores the last 20 calls with SimHash and kills when the score
// exceeds 10. The prompt is the last user message, also when a request ends
// with tool results.
type similarityRule struct{ window detection.Window }

func (r *similarityRule) step(s *Step, t *thread) ([]haltd.Signal, error) {
	call, err := t.next(s)
	if err != nil {
		return nil, err
	}
	set := detection.DefaultSettings()
	prompt := detection.Prompt{Hash: detection.SimHash(lastUserText(call))}
	parts, matches := r.window.Score(prompt, set.WindowSize, s.at())
	if score := parts.Score(); score > set.Threshold {
		return []haltd.Signal{{
			Detector: haltd.DetectorSimilarity, Level: haltd.LevelKill, Score: score, Threshold: set.Threshold,
			Parts: &parts, Matches: matches, Window: r.window.Len() + 1,
		}}, nil
	}
	r.window.Attach(r.window.Add(prompt, set.WindowSize, s.at()), detection.ReadReply(t.reply(s), false), t.answered(s))
	return nil, nil
}

func lastUserText(call *haltd.Call) string {
	for i := len(call.Rounds) - 1; i >= 0; i-- {
		if text, ok := lastUserOf(call.Rounds[i].Inputs); ok {
			return text
		}
	}
	text, _ := lastUserOf(call.Opening)
	return text
}

func lastUserOf(ms []haltd.Message) (string, bool) {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == haltd.RoleUser {
			return ms[i].Text, true
		}
	}
	return "", false
}

// unkeyed is for fingerprints that nobody could forge: there is nobody.
var unkeyed = policy.NewFingerprintKey(nil)

// exactRule rejects the fourth identical request within 60 seconds.
type exactRule struct {
	counters map[policy.Fingerprint]policy.LoopCounter
}

func (e *exactRule) step(s *Step, t *thread) ([]haltd.Signal, error) {
	if _, err := t.next(s); err != nil {
		return nil, err
	}
	block := policy.LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 4, Action: policy.LoopReject}
	var body xxhash.Digest
	body.Reset()
	for _, m := range t.messages {
		body.Write(m)
	}
	r := policy.Identity{
		Agent: s.Run, Policy: "exact", Method: "POST", Path: "/v1/chat/completions",
		BodyHash: body.Sum(nil), Descriptors: map[string]string{"thread": s.Thread},
	}
	print := r.Fingerprint(unkeyed)
	c := e.counters[print].Hit(s.at(), block.Window())
	e.counters[print] = c
	if !block.Decide(c.Count).Detected {
		return nil, nil
	}
	return []haltd.Signal{{Detector: haltd.DetectorExact, Level: haltd.LevelKill, Count: c.Count, Threshold: float64(block.Threshold)}}, nil
}

// growthRule alerts when the last three ratios of prompt tokens are all more
// than 1.4, once a session. It never blocks.
type growthRule struct{ tokens map[string][]int64 }

func (g *growthRule) step(s *Step, t *thread) ([]haltd.Signal, error) {
	ts := append(g.tokens[s.Thread], s.PromptTokens)
	g.tokens[s.Thread] = ts
	if len(ts) < 4 {
		return nil, nil
	}
	for i := len(ts) - 3; i < len(ts); i++ {
		if 10*ts[i] <= 14*ts[i-1] {
			return nil, nil
		}
	}
	return []haltd.Signal{{
		Detector: haltd.DetectorGrowth, Level: haltd.LevelWarn, Session: strings.TrimSpace(s.Run + " " + s.Thread),
		Tokens: ts[max(0, len(ts)-5):], Count: len(ts), Threshold: 1.4,
	}}, nil
}
