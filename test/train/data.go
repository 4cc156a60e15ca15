package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/replay"
	"github.com/haltd/haltd/test/scenarios"
)

// run is one labelled run and what stall saw at each of its steps.
type run struct {
	name, source string
	label        replay.Label
	family       string // of a made-up behaviour
	threads      map[string][]sample
	weight       float64
}

type sample struct {
	step    int
	x       detection.Features
	bounded bool // see detection.BoundedRounds
}

// group names sources that share a harness or an environment: they are left
// out together, so that nothing is judged by its own likes.
func group(source string) string {
	for prefix, g := range map[string]string{
		"intercode": "intercode", "tau": "tau", "trail": "trail", "mast-ag2": "ag2", "mast-hyperagent": "hyperagent", "mast-openmanus": "openmanus",
		"swe-agent": "swe-agent", "terminal-bench": "mini-swe", "mini-swe": "mini-swe", "balrog": "balrog",
	} {
		if strings.HasPrefix(source, prefix) {
			return g
		}
	}
	return source
}

// madeFolds is in how many parts the made-up families are left out.
const madeFolds = 5

// fold is what is left out together with a run.
func (r *run) fold() string {
	if r.family == "" {
		return group(r.source)
	}
	h := fnv.New32a()
	h.Write([]byte(r.family))
	return fmt.Sprintf("made-up %d", h.Sum32()%madeFolds)
}

// data is all that is learned from.
type data struct {
	paths  []string // of the traces, made-up behaviours last
	labels map[string]replay.Label
	family map[string]string // of the made-up runs
	runs   []*run            // that have samples, by name
}

func load(ctx context.Context, traces, labels, scratch string, draws int) (*data, error) {
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(traces, n))
		}
		return paths
	}
	d := &data{family: map[string]string{}}
	d.paths = in("open.mit.steps.jsonl.gz", "open.other.steps.jsonl.gz", "open2.steps.jsonl.gz", "open3.steps.jsonl.gz")
	var err error
	files := append(in("open.mit.runs.jsonl.gz", "open.other.runs.jsonl.gz", "open2.runs.jsonl.gz", "open3.runs.jsonl.gz",
		"open.read.jsonl", "open2.read.jsonl", "open3.read.jsonl"), labels)
	if d.labels, err = replay.LoadLabels(files); err != nil {
		return nil, err
	}
	if err = d.makeUp(scratch, draws); err != nil {
		return nil, err
	}
	return d, d.sample(ctx)
}

// makeUp draws the made-up behaviours and labels them.
func (d *data) makeUp(scratch string, draws int) (err error) {
	path := filepath.Join(scratch, "made.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("keeping the made-up behaviours: %w", err)
	}
	defer f.Close()
	d.paths = append(d.paths, path)
	for _, fam := range scenarios.Families() {
		for n := range draws {
			c := fam.Draw(n)
			before, err := scenarios.WriteTrace(f, []scenarios.Case{c})
			if err != nil {
				return err
			}
			l := replay.Label{Run: c.Name, Source: "made-up", Group: "healthy", Read: true, Confidence: 1}
			if fam.Stuck {
				onset, stop := before[0]+1, before[0]+fam.After()
				l.Group, l.Onset, l.Stop = "stuck", &onset, &stop
			}
			d.labels[c.Name], d.family[c.Name] = l, fam.Name
		}
	}
	return nil
}

// sample reads the features of every labelled run.
func (d *data) sample(ctx context.Context) error {
	var mu sync.Mutex
	byName := map[string]*run{}
	err := replay.Samples(ctx, d.paths, func(s replay.Sample) {
		mu.Lock()
		defer mu.Unlock()
		l, ok := d.labels[s.Run]
		if !ok {
			return
		}
		r := byName[s.Run]
		if r == nil {
			r = &run{name: s.Run, source: s.Source, label: l, family: d.family[s.Run], threads: map[string][]sample{}}
			byName[s.Run] = r
		}
		r.threads[s.Thread] = append(r.threads[s.Thread], sample{s.Step, s.Features, s.Bounded})
	})
	if err != nil {
		return err
	}
	for _, r := range byName {
		d.runs = append(d.runs, r)
	}
	slices.SortFunc(d.runs, func(a, b *run) int { return strings.Compare(a.name, b.name) })
	return nil
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
