package replay

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Report is what a replay found.
type Report struct {
	Runs   int       `json:"runs"`
	Steps  int       `json:"steps"`
	Warned int       `json:"warned"`
	Killed int       `json:"killed"`
	Tokens int64     `json:"tokens"`
	Saved  int64     `json:"tokens_saved"`
	Fired  []Outcome `json:"fired"`
	// Ladders is what each ladder would have done; none with a preset.
	Ladders []LadderCount `json:"ladders,omitempty"`
	Quality *Quality      `json:"quality,omitempty"` // with labels only
	Note    string        `json:"note,omitempty"`    // what the figures are worth
}

// Quality compares verdicts with labels.
type Quality struct {
	All         Score `json:"all"`
	NoInterCode Score `json:"without_intercode"` // that family is most of the stuck runs
	// Read are the runs with a reader's label alone.
	Read     Score            `json:"read"`
	Sources  map[string]Score `json:"sources"`
	LeaveOut map[string]Score `json:"leave_one_source_out"`
}

func reportOf(outcomes []Outcome, labels map[string]Label) *Report {
	r := &Report{Runs: len(outcomes), Fired: []Outcome{}}
	for _, o := range outcomes {
		r.Steps += o.Steps
		r.Tokens += o.Tokens
		r.Saved += o.Saved
		if o.WarnStep == nil {
			continue
		}
		r.Warned++
		if o.KillStep != nil {
			r.Killed++
		}
		r.Fired = append(r.Fired, o)
	}
	if len(labels) > 0 {
		r.Quality = qualityOf(outcomes, labels)
	}
	return r
}

func qualityOf(outcomes []Outcome, labels map[string]Label) *Quality {
	q := &Quality{
		All:         ScoreOf(outcomes, labels, nil),
		NoInterCode: ScoreOf(outcomes, labels, func(l Label) bool { return !strings.HasPrefix(l.Source, "intercode") }),
		Read:        ScoreOf(outcomes, labels, func(l Label) bool { return l.Read }),
		Sources:     map[string]Score{},
		LeaveOut:    map[string]Score{},
	}
	for _, o := range outcomes {
		if _, ok := q.Sources[o.Source]; ok {
			continue
		}
		q.Sources[o.Source] = ScoreOf(outcomes, labels, func(l Label) bool { return l.Source == o.Source })
		q.LeaveOut[o.Source] = ScoreOf(outcomes, labels, func(l Label) bool { return l.Source != o.Source })
	}
	return q
}

// print writes the report for a person.
func (r *Report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if r.Quality == nil {
		fmt.Fprintln(t, "RUN\tWARNED AT\tKILLED AT\tBY\tTOKENS SAVED")
		for _, o := range r.Fired {
			by := o.WarnBy
			if o.KillStep != nil {
				by = o.KillBy
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\n", o.Run, step(o.WarnStep), step(o.KillStep), by, o.Saved)
		}
		fmt.Fprintln(t)
	} else {
		r.Quality.print(t)
	}
	if len(r.Ladders) > 0 {
		printLadders(t, r.Ladders)
	}
	fmt.Fprintf(t, "%d runs, %d calls: %d warned, %d killed; %d of %d tokens saved.\n", r.Runs, r.Steps, r.Warned, r.Killed, r.Saved, r.Tokens)
	if r.Note != "" {
		fmt.Fprintln(t, r.Note)
	}
	return t.Flush()
}

func step(s *int) string {
	if s == nil {
		return "-"
	}
	return strconv.Itoa(*s)
}

// groups are the columns of the table, in this order.
var groups = [...]string{"stuck", "healthy", "wasteful", "recovered", "capped_chat", "failed_norep"}

func (q *Quality) print(w io.Writer) {
	fmt.Fprint(w, "KILLED (WARNED) OF\t")
	for _, g := range groups {
		fmt.Fprintf(w, "%s\t", g)
	}
	fmt.Fprintln(w, "delay\tto stop\twarned first\tsaved")
	row(w, "all", q.All)
	row(w, "without intercode", q.NoInterCode)
	row(w, "read by a person", q.Read)
	fmt.Fprintln(w, "\nby source")
	for _, name := range sortedNames(q.Sources) {
		row(w, name, q.Sources[name])
	}
	fmt.Fprintln(w, "\nleaving one source out")
	for _, name := range sortedNames(q.LeaveOut) {
		row(w, "− "+name, q.LeaveOut[name])
	}
	fmt.Fprintln(w)
}

func row(w io.Writer, name string, s Score) {
	fmt.Fprintf(w, "%s\t", name)
	for _, g := range groups {
		c, ok := s.Groups[g]
		if !ok {
			fmt.Fprint(w, "-\t")
			continue
		}
		fmt.Fprintf(w, "%.3f (%.3f) of %d\t", share(c.Killed, c.Runs), share(c.Warned, c.Runs), c.Runs)
	}
	fmt.Fprintf(w, "%.1f\t%.1f\t%.2f\t%.2f\n", s.Delay, s.Distance, s.WarnedFirst, s.Saved)
}

func sortedNames(m map[string]Score) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
