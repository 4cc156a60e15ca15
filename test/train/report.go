package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/replay"
)

// judge replays every run through haltd's own judge, each with the weights
// that never saw its source or its family.
func (d *data) judge(ctx context.Context, folds map[string]*linear, at bounds) (map[string]replay.Outcome, error) {
	models := map[string]*detection.Model{}
	for name, m := range folds {
		model, err := detection.Fitted(published(m, at))
		if err != nil {
			return nil, err
		}
		models[name] = model
	}
	all, err := replay.Replay(ctx, d.paths, replay.JudgeWith(detection.DefaultSettings(), func(name, source string) *detection.Model {
		return models[(&run{name: name, source: source, family: d.family[name]}).fold()]
	}), nil)
	if err != nil {
		return nil, err
	}
	outcomes := map[string]replay.Outcome{}
	for _, o := range all {
		outcomes[o.Run] = o
	}
	return outcomes, nil
}

// tally counts runs of one group.
type tally struct{ runs, killed, warned int }

func (t *tally) String() string {
	if t == nil || t.runs == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.3f) of %d", float64(t.killed)/float64(t.runs), float64(t.warned)/float64(t.runs), t.runs)
}

// groups are the columns of the report.
var groups = [...]string{"stuck", "wasteful", "healthy", "capped_chat"}

// table counts the runs of each row by group.
type table map[string]map[string]*tally

// report says how runs of each kind come out.
func (d *data) report(outcomes map[string]replay.Outcome, verbose bool) table {
	all := table{}
	for _, r := range d.all() {
		o := outcomes[r.name]
		killed, warned := o.KillStep != nil, o.WarnStep != nil
		for _, row := range r.rows() {
			if all[row] == nil {
				all[row] = map[string]*tally{}
			}
			t := all[row][r.label.Group]
			if t == nil {
				t = &tally{}
				all[row][r.label.Group] = t
			}
			t.runs++
			t.killed += count(killed)
			t.warned += count(warned)
		}
		if wrong := killed != (r.label.Group == "stuck"); verbose && wrong && slices.Contains(groups[:3], r.label.Group) {
			fmt.Printf("  %-8s killed=%-5v warned=%-5v %.2f %s %s\n", r.label.Group, killed, warned, r.label.Confidence, r.source, r.name)
		}
	}
	fmt.Printf("%-40s %-24s %-24s %-24s %s\n", "killed (warned), never seen in training", groups[0], groups[1], groups[2], groups[3])
	for _, row := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%-40s", row)
		for _, g := range groups {
			fmt.Printf(" %-24s", all[row][g])
		}
		fmt.Println()
	}
	return all
}

// figures are the rows that are no single source or family, as the weights carry
// them.
func (t table) figures() map[string]string {
	figures := map[string]string{}
	for row, byGroup := range t {
		for _, g := range groups {
			if byGroup[g] != nil && !isDetail(row) {
				figures[row+", "+g] = byGroup[g].String()
			}
		}
	}
	return figures
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isDetail reports a row of one source or family.
func isDetail(row string) bool {
	return len(row) > 7 && (row[:7] == "source " || row[:7] == "made up") && row != "made up, all"
}

// all are the labelled runs, also those that carry no rounds.
func (d *data) all() (rs []*run) {
	for _, name := range slices.Sorted(maps.Keys(d.labels)) {
		l := d.labels[name]
		if l.Group != "" {
			rs = append(rs, &run{name: name, source: l.Source, label: l, family: d.family[name]})
		}
	}
	return rs
}
