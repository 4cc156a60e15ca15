package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// growthLimit is how long all questions may take together, on a machine that others
// use as well. Alone they take half of it.
const growthLimit = 20 * time.Minute

// question is one of how a cost grows, and its answer.
type question struct {
	Name   string  `json:"name"` // of its picture, cost-NAME.svg
	Title  string  `json:"title"`
	Text   string  `json:"-"`    // how it is measured
	Axis   string  `json:"axis"` // over what it grows
	Log    bool    `json:"-"`    // of that axis
	Charts []chart `json:"charts"`
	Bounds []bound `json:"bounds,omitempty"`
}

// bound is a limit that -check holds.
type bound struct {
	Words string  `json:"words"` // what is bounded
	Value float64 `json:"value"`
	Most  float64 `json:"most"`
	Unit  string  `json:"unit,omitempty"`
}

// growth asks the questions: up to which numbers, and how often where a figure is a
// median.
type growth struct {
	o                              *options
	dir                            string
	times                          int
	sizes, calls                   []int
	agents, streams, events        []int
	visits, conversations, streamB int
}

func newGrowth(o *options, dir string) *growth {
	g := &growth{
		o: o, dir: dir, times: o.rounds,
		sizes:   []int{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1000 << 10},
		calls:   []int{10, 25, 50, 100, 200},
		agents:  []int{1, 1000, 10_000, 100_000, 1_000_000},
		streams: []int{100, 1000, mostStreams},
		events:  []int{0, 100_000, 1_000_000},
		visits:  4000, conversations: 16, streamB: 10 << 10,
	}
	if o.quick {
		g.agents, g.streams, g.events, g.visits = g.agents[:3], g.streams[:2], g.events[:2], 1000
	}
	return g
}

// measureGrowth answers all questions and publishes what it found.
func (o *options) measureGrowth(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "haltd-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	limit, cancel := context.WithTimeoutCause(ctx, growthLimit, fmt.Errorf("it takes longer than %v: the machine is busy", growthLimit))
	defer cancel()
	g := newGrowth(o, dir)
	all, err := g.askAll(limit)
	if err != nil {
		if cause := context.Cause(limit); cause != nil {
			return errors.Join(cause, err)
		}
		return err
	}
	if o.json != "" {
		b, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			err = os.WriteFile(o.json, append(b, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	if o.docs != "" {
		if err := writeGrowth(o.docs, all); err != nil {
			return err
		}
	}
	if o.check {
		return checkGrowth(all)
	}
	return nil
}

func (g *growth) askAll(ctx context.Context) (all []*question, err error) {
	for _, ask := range []struct {
		name   string
		answer func(context.Context) (*question, error)
	}{{"bodies", g.ofBodies}, {"calls", g.ofCalls}, {"agents", g.ofAgents}, {"streams", g.ofStreams}, {"events", g.ofEvents}} {
		if !strings.HasPrefix(ask.name, g.o.only) {
			continue
		}
		began := time.Now()
		q, err := ask.answer(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ask.name, err)
		}
		q.Name = ask.name
		all = append(all, q)
		fmt.Printf("%s\n\n%s\n", q.Title, q.table())
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", ask.name, time.Since(began).Seconds())
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no question begins with %q", g.o.only)
	}
	return all, nil
}

// start runs targets for one question alone; what fill does to the folder is done
// before. The targets are in the order of their names.
func (g *growth) start(ctx context.Context, fill func(dir string) error, names ...string) (targets []*target, stop func(), err error) {
	dir, err := os.MkdirTemp(g.dir, "")
	if err == nil && fill != nil {
		err = fill(dir)
	}
	if err != nil {
		return nil, func() {}, err
	}
	o := *g.o
	o.targets = names
	return o.start(ctx, dir)
}

// complete holds haltd against what was sent to it: one event each, and nothing to
// say about any.
func complete(ctx context.Context, t *target) error {
	h, err := newHaltdReport(ctx, t, &run{})
	if err != nil {
		return err
	}
	return (&report{Haltd: h}).complete()
}

// spent is the processor time of one call of n, in µs; what the target does after the
// last reply is part of it.
func spent(ctx context.Context, t *target, n int, next func(i int) exchange) (float64, error) {
	if _, err := t.process.settle(ctx); err != nil {
		return 0, err
	}
	before, err := t.process.exactCPU()
	if err == nil {
		err = t.send(ctx, n, next)
	}
	if err == nil {
		_, err = t.process.settle(ctx)
	}
	if err != nil {
		return 0, err
	}
	after, err := t.process.exactCPU()
	return float64((after - before).Nanoseconds()) / 1000 / float64(n), err
}

// exactCPU is cpu in nanoseconds instead of hundredths of a second: a few calls can be
// told from others. The kernel names the clock of a process by its id.
func (p *process) exactCPU() (sum time.Duration, err error) {
	for _, pid := range p.pids {
		const schedulerClock = 2
		var at unix.Timespec
		if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &at); err != nil {
			return 0, fmt.Errorf("read the processor time of %s: %w", p.name, err)
		}
		sum += time.Duration(at.Nano())
	}
	return sum, nil
}

// resident is the memory of a target that rests, in MB.
func resident(ctx context.Context, t *target) (float64, error) {
	if _, err := t.process.settle(ctx); err != nil {
		return 0, err
	}
	now, _, err := t.process.memory()
	return megabytes(now), err
}

// medians are lines whose points are medians.
type medians map[string]map[float64][]float64

func (m medians) add(name string, at, value float64) {
	if m[name] == nil {
		m[name] = map[float64][]float64{}
	}
	m[name][at] = append(m[name][at], value)
}

func (m medians) line(name string) series {
	s := series{Name: name}
	for _, at := range slices.Sorted(maps.Keys(m[name])) {
		s.Points = append(s.Points, point{at, spreadOf(m[name][at]).Median})
	}
	return s
}

// allowFiles lets this program and those it starts have as many files open as the
// machine grants, and says how many that are. A program that has set its limit hands
// it on.
func allowFiles() (int, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("read how many files may be open: %w", err)
	}
	const enough = 1 << 16
	if more := (syscall.Rlimit{Cur: enough, Max: max(enough, r.Max)}); syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil {
		return enough, nil
	}
	r.Cur = r.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("allow %d files: %w", r.Max, err)
	}
	return int(r.Max), nil
}

// table is what was measured, for a document.
func (q *question) table() string {
	var b strings.Builder
	places := map[float64]bool{}
	head, rule := "| "+q.Axis, "|---"
	for _, c := range q.Charts {
		for _, l := range c.Lines {
			head += fmt.Sprintf(" | %s, %s", l.Name, c.Unit)
			rule += "|---"
			for _, p := range l.Points {
				places[p.At] = true
			}
		}
	}
	b.WriteString(head + " |\n" + rule + "|\n")
	for _, at := range slices.Sorted(maps.Keys(places)) {
		b.WriteString("| " + figure(at))
		for _, c := range q.Charts {
			for _, l := range c.Lines {
				cell := "–"
				if v, ok := l.value(at); ok {
					cell = rounded(v)
				}
				b.WriteString(" | " + cell)
			}
		}
		b.WriteString(" |\n")
	}
	for i, bound := range q.Bounds {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(bound.String() + "\n")
	}
	return b.String()
}

// rounded leaves away what measuring cannot tell.
func rounded(v float64) string {
	if v >= 100 {
		return figure(float64(int64(v + 0.5)))
	}
	return figure(v)
}

func (b bound) String() string {
	verdict := "holds"
	if b.Value > b.Most {
		verdict = "**does not hold**"
	}
	unit := ""
	if b.Unit != "" {
		unit = " " + b.Unit
	}
	return fmt.Sprintf("%s: %s%s; at most %s%s: %s.", b.Words, rounded(b.Value), unit, figure(b.Most), unit, verdict)
}

// checkGrowth says which bounds do not hold.
func checkGrowth(all []*question) error {
	var errs []error
	for _, q := range all {
		for _, b := range q.Bounds {
			if b.Value > b.Most {
				errs = append(errs, errors.New(strings.ReplaceAll(b.String(), "*", "")))
			}
		}
	}
	return errors.Join(errs...)
}

// growthLines are those between which a document has the answer to a question.
func growthLines(name string) (begin, end string) {
	return "<!-- " + name + ", written by make bench -->\n", "<!-- end of " + name + " -->\n"
}

// writeGrowth puts the tables into a document and draws the pictures beside it.
func writeGrowth(path string, all []*question) error {
	for _, q := range all {
		picture := filepath.Join("images", "cost-"+q.Name+".svg")
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), picture), []byte(q.svg()), 0o644); err != nil {
			return fmt.Errorf("draw a picture: %w", err)
		}
		begin, end := growthLines(q.Name)
		text := fmt.Sprintf("### %[1]s\n\n%[2]s\n\n![%[1]s](%[3]s)\n\n%[4]s", q.Title, fill(q.Text), filepath.ToSlash(picture), q.table())
		if err := writeBetween(path, begin, end, text); err != nil {
			return err
		}
	}
	return nil
}

// fill breaks a text into lines of a document.
func fill(text string) string {
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(word); {
		case length == 0:
			length = n
		case length+1+n > 80:
			b.WriteByte('\n')
			length = n
		default:
			b.WriteByte(' ')
			length += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}
