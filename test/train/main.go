// Command train fits the weights of stall to labelled runs and says how it
// judges runs of sources that it never saw. It is for maintainers: the product
// carries the file that it writes.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd/internal/detection"
)

func main() {
	if err := train(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(ctx context.Context) error {
	traces := flag.String("traces", "../shared/traces", "folder of the labelled runs")
	labels := flag.String("labels", "test/train/labels.jsonl", "labels made by reading, beside those of the traces")
	out := flag.String("out", "", "where the weights are written; nowhere when empty")
	docs := flag.String("docs", "", "document whose tables are written anew with the weights; none when empty")
	date := flag.String("date", "", "date that the weights carry")
	draws := flag.Int("draws", 6, "cases of each made-up family")
	ablate := flag.Bool("ablate", false, "leave out each sign in turn and say what it costs")
	verbose := flag.Bool("v", false, "name the runs that come out wrong")
	flag.Parse()
	scratch, err := os.MkdirTemp("", "haltd-train-*")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	d, err := load(ctx, *traces, *labels, scratch, *draws)
	if err != nil {
		return err
	}
	h := defaults()
	began := time.Now()
	folds := d.leaveOut(h, nil)
	fmt.Printf("%d runs, %d folds fitted in %v\n", len(d.runs), len(folds), time.Since(began).Round(time.Second))
	at := d.lines(folds)
	outcomes, err := d.judge(ctx, folds, at)
	if err != nil {
		return err
	}
	judged := d.report(outcomes, *verbose)
	if *ablate {
		d.ablate(h, folds)
	}
	if *out == "" {
		return nil
	}
	m := published(fit(d.runs, h, nil), at)
	m.Date, m.Figures = *date, judged.figures()
	if err := writeJSON(*out, m); err != nil || *docs == "" {
		return err
	}
	return writeDocs(*docs, judged, m)
}

// leaveOut fits one model for each fold, on all others, going on from the
// models given, if any.
func (d *data) leaveOut(h hyper, from map[string]*linear) map[string]*linear {
	parts := map[string][]*run{}
	for _, r := range d.runs {
		parts[r.fold()] = append(parts[r.fold()], r)
	}
	models := make(map[string]*linear, len(parts))
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan struct{}, 2)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		free <- struct{}{}
		var rest []*run
		for _, r := range d.runs {
			if r.fold() != name {
				own := *r
				rest = append(rest, &own)
			}
		}
		wg.Go(func() {
			m := fit(rest, h, from[name])
			mu.Lock()
			models[name] = m
			mu.Unlock()
			<-free
		})
	}
	wg.Wait()
	return models
}

// bounds are the log-odds at which stall warns and kills.
type bounds struct{ warn, kill float64 }

// kills reports whether a run is killed: the step before must have reached
// the warn line, or the last steps have been near the kill line.
func (at bounds) kills(m *linear, r *run) bool {
	return m.peak(r, at.kill-at.warn) >= at.kill || m.lasts(r, at)
}

// The rates of false alarms that the lines are chosen for: kills and warnings
// of healthy runs whose sources the weights never saw, kills of made-up ones,
// and kills of runs that are wasteful, which a warning would do for.
const falseKills, falseWarnings, falseMadeUp, falseWasteful = .002, .009, .02, .17

func (d *data) lines(folds map[string]*linear) bounds {
	var warns []float64
	for _, r := range d.runs {
		if r.isSure("healthy") && r.family == "" {
			warns = append(warns, folds[r.fold()].peak(r, math.MaxFloat64))
		}
	}
	at := bounds{warn: quantile(warns, falseWarnings)}
	const step = .02
	for at.kill = at.warn + .3; !d.holds(folds, at); at.kill += step {
	}
	return at
}

// holds reports whether lines keep to the rates of false kills.
func (d *data) holds(folds map[string]*linear, at bounds) bool {
	var healthy, madeUp, wasteful rate
	for _, r := range d.runs {
		killed := at.kills(folds[r.fold()], r)
		switch {
		case r.isSure("healthy") && r.family == "":
			healthy.add(killed)
		case r.isSure("healthy"):
			madeUp.add(killed)
		case r.isSure("wasteful"):
			wasteful.add(killed)
		}
	}
	return healthy.share() <= falseKills && madeUp.share() <= falseMadeUp && wasteful.share() <= falseWasteful
}

// rate counts of how many runs something is true.
type rate struct{ runs, hits int }

func (a *rate) add(hit bool) {
	a.runs++
	a.hits += count(hit)
}

func (a *rate) share() float64 { return float64(a.hits) / float64(max(1, a.runs)) }

// isSure reports a run of a group, as far as anybody is sure.
func (r *run) isSure(group string) bool {
	return r.label.Group == group && (!r.label.Read || r.label.Confidence >= .6)
}

// published scales the weights so that the lines stand at round numbers.
func published(m *linear, at bounds) *detection.Model {
	const warnAt, killAt = .75, .95
	scale := (logit(killAt) - logit(warnAt)) / (at.kill - at.warn)
	shift := logit(warnAt) - scale*at.warn
	out := &detection.Model{
		Version: detection.FeaturesVersion, WarnAt: warnAt, KillAt: killAt,
		Origin:  "fitted by make train to public agent runs, labelled by readers and by rule, and to made-up behaviours",
		Bias:    round(scale*m.bias + shift),
		Weights: map[string]float64{},
	}
	for i, f := range detection.Catalog() {
		if w := round(scale * m.w[i]); w != 0 {
			out.Weights[f.Name] = w
		}
	}
	return out
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// rows are the lines of the report that a run counts in.
func (r *run) rows() []string {
	if r.family != "" {
		return []string{"made up, all", "made up: " + r.family}
	}
	rows := []string{"all", "source " + group(r.source)}
	set := "open"
	switch group(r.source) {
	case "bashkit-eval", "iso-trae", "ljoukov-agent", "mbse-stateless":
		set = "open2"
	case "balrog", "claude-code", "cochise-pentest", "copilot-cli", "gaia-research", "opencode", "osworld-gui", "toolathlon", "web-convergence":
		set = "open3"
	}
	if strings.HasPrefix(r.source, "tau2") || r.source == "mini-swe-gemini3" {
		set = "open2"
	}
	if r.label.Read {
		rows = append(rows, set+" read")
		if r.label.Confidence >= .7 {
			rows = append(rows, set+" read, sure")
		}
	} else {
		rows = append(rows, set+" by rule")
	}
	return rows
}

// ablate leaves out each sign in turn. The fits go on from those with all
// signs: from there it is a short way to what the others make of the gap.
func (d *data) ablate(h hyper, folds map[string]*linear) {
	h.outer, h.inner = 1, 60
	recall, loss := d.held(d.leaveOut(h, folds))
	fmt.Printf("ablation: recall of stuck at the same rate of false kills, %.4f with all, and the loss, %.4f\n", recall, loss)
	catalog := detection.Catalog()
	seen := map[string]bool{}
	for _, f := range catalog {
		name := signName(f.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		without := h
		without.off = slices.Clone(h.off)
		for i, g := range catalog {
			if signName(g.Name) == name {
				without.off[i] = true
			}
		}
		r, l := d.held(d.leaveOut(without, folds))
		fmt.Printf("  without %-16s %+.4f %+.4f\n", name, r-recall, l-loss)
	}
}

// held is how the runs that a fold leaves out are judged, sources weighed
// alike: the share of the stuck that are killed at the stated rate of false
// kills, and the logistic loss of each run at its worst moment, which moves
// where no run crosses a line.
func (d *data) held(folds map[string]*linear) (recall, loss float64) {
	at := d.lines(folds)
	killed, stuck := map[string]float64{}, map[string]float64{}
	lost, all := map[string]float64{}, map[string]float64{}
	for _, r := range d.runs {
		if r.label.Read && r.label.Confidence < .6 {
			continue
		}
		m, fold := folds[r.fold()], r.fold()
		beyond := m.peak(r, at.kill-at.warn) - at.kill
		switch r.label.Group {
		case "stuck":
			stuck[fold]++
			if beyond >= 0 {
				killed[fold]++
			}
			beyond = -beyond
		case "healthy":
		default:
			continue
		}
		side := fold + "/" + r.label.Group
		all[side]++
		lost[side] += math.Log1p(math.Exp(min(beyond, 30)))
	}
	for _, f := range slices.Sorted(maps.Keys(stuck)) {
		recall += killed[f] / stuck[f] / float64(len(stuck))
	}
	for _, f := range slices.Sorted(maps.Keys(all)) {
		loss += lost[f] / all[f] / float64(len(all))
	}
	return recall, loss
}
