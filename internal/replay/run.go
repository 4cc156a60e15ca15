package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/economics"
)

// Firing is when the judge would have warned of one run and killed it, and by
// what. Steps are numbered as in the trace, the calls of a recorded session
// from 1; nil means that it did not fire.
type Firing struct {
	Run      string `json:"run"`
	WarnStep *int   `json:"warn_step"`
	WarnBy   string `json:"warn_by"`
	KillStep *int   `json:"kill_step"`
	KillBy   string `json:"kill_by"`
	Reason   string `json:"reason"`
}

// Outcome is when a run fired together with what the run cost and what stopping it
// would have saved.
type Outcome struct {
	Firing
	Source string `json:"source"`
	Steps  int    `json:"steps"`
	Tokens int64  `json:"tokens"`
	Saved  int64  `json:"tokens_saved"` // those of the steps from the kill on
}

// thread is one agent inside a run.
type thread struct {
	conversation
	session detection.Session
}

// run is one run while it is replayed.
type run struct {
	followed
	judge   judge
	threads map[string]*thread
	use     economics.Run
}

// Replay judges every run of the given files. Progress, when it is not nil,
// is told the number of steps judged so far, from one goroutine at a time.
func Replay(ctx context.Context, paths []string, newJudge func() judge, progress func(steps int)) ([]Outcome, error) {
	all, err := replayAll(ctx, paths, newJudge, progress)
	return outcomesOf(all), err
}

func replayAll(ctx context.Context, paths []string, newJudge func() judge, progress func(steps int)) ([]followed, error) {
	workers := runtime.GOMAXPROCS(0)
	lines := make([]chan []byte, workers)
	results := make([][]*run, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range workers {
		lines[i] = make(chan []byte, 64)
		wg.Go(func() {
			if results[i], errs[i] = replayLines(lines[i], newJudge); errs[i] != nil {
				cancel()
			}
		})
	}
	err := feed(ctx, paths, lines, progress)
	for i := range lines {
		close(lines[i])
	}
	wg.Wait()
	for _, e := range errs {
		if e != nil {
			return nil, e
		}
	}
	if err != nil {
		return nil, err
	}
	var all []followed
	for _, rs := range results {
		for _, r := range rs {
			r.Tokens, r.Saved = r.use.Tokens, r.use.Saved
			all = append(all, r.followed)
		}
	}
	slices.SortFunc(all, func(a, b followed) int { return strings.Compare(a.Run, b.Run) })
	return all, nil
}

// feed sends each line to the worker that has its run.
func feed(ctx context.Context, paths []string, lines []chan []byte, progress func(int)) error {
	seed := maphash.MakeSeed()
	steps := 0
	for _, path := range paths {
		err := eachLine(path, func(line []byte) error {
			run, err := runOf(line)
			if err != nil {
				return err
			}
			w := maphash.String(seed, run) % uint64(len(lines))
			select {
			case lines[w] <- slices.Clone(line):
			case <-ctx.Done():
				return ctx.Err()
			}
			steps++
			if progress != nil {
				progress(steps)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runOf is the run that a line belongs to. Where the field is the first of
// the line, as in the traces, the line is not read twice.
func runOf(line []byte) (string, error) {
	for _, start := range [...]string{`{"run": "`, `{"run":"`} {
		rest, ok := bytes.CutPrefix(line, []byte(start))
		if !ok {
			continue
		}
		if end := bytes.IndexByte(rest, '"'); end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
			return string(rest[:end]), nil
		}
	}
	var s struct{ Run string }
	if err := json.Unmarshal(line, &s); err != nil {
		return "", fmt.Errorf("reading a step: %w", err)
	}
	return s.Run, nil
}

func replayLines(lines <-chan []byte, newJudge func() judge) ([]*run, error) {
	byID := map[string]*run{}
	var order []*run
	var failed error
	for line := range lines {
		if failed != nil {
			continue // drain, so that feed is not stuck
		}
		var s Step
		if err := json.Unmarshal(line, &s); err != nil {
			failed = fmt.Errorf("reading a step: %w", err)
			continue
		}
		r := byID[s.Run]
		if r == nil {
			r = &run{judge: newJudge(), threads: map[string]*thread{}}
			r.Run, r.Source = s.Run, s.Source
			byID[s.Run] = r
			order = append(order, r)
		}
		if err := r.step(&s); err != nil {
			failed = fmt.Errorf("run %s step %d: %w", s.Run, s.Step, err)
		}
	}
	return order, failed
}

func (r *run) step(s *Step) error {
	tokens := s.PromptTokens + s.CompletionTokens
	r.Steps++
	if r.KillStep != nil && (!r.climbs() || r.after.ends() || s.Thread != r.after.thread) {
		r.use.Add(tokens, true)
		return nil
	}
	t := r.threads[s.Thread]
	if t == nil {
		t = &thread{}
		r.threads[s.Thread] = t
	}
	signals, err := r.judge.step(s, t)
	if err != nil {
		return err
	}
	killed := r.KillStep != nil
	for i := range signals {
		r.take(s.Step, &signals[i], signals[i].Sentence(r.Run))
	}
	switch {
	case killed:
		r.after.look(signals)
	case r.KillStep != nil:
		r.after = aftermath{thread: s.Thread, certain: 1}
	}
	r.use.Add(tokens, r.KillStep != nil)
	return nil
}

// climbs reports whether the judge has ladders, and looks on after a kill.
func (r *run) climbs() bool {
	o, ok := r.judge.(*own)
	return ok && o.sample == nil && o.pick == nil
}

// take notes a signal to a step, unless one of its level came before.
func (f *Firing) take(step int, sig *haltd.Signal, sentence string) {
	by := string(sig.Detector)
	if sig.Family != "" {
		by += "/" + string(sig.Family)
	}
	if f.WarnStep == nil && sig.Level >= haltd.LevelWarn {
		f.WarnStep, f.WarnBy = &step, by
		f.Reason = sentence
	}
	if f.KillStep == nil && sig.Level >= haltd.LevelKill {
		f.KillStep, f.KillBy = &step, by
		f.Reason = sentence
	}
}
