package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/detection"
)

// Command is `haltd replay`, as kong reads it.
type Command struct {
	Steps    []string `arg:"" name:"steps" type:"existingfile" help:"Traces or exports of haltd's own events, JSON lines, plain or packed by gzip; - is standard input."`
	Labels   []string `type:"existingfile" sep:"," placeholder:"FILE" help:"Files of labels, by rule or by reading; a reader's label wins. Adds recall, false kills and delay."`
	Verdicts string   `placeholder:"FILE" help:"Write one JSON line per run: when it would have been warned and killed, and by what."`
	Explain  string   `placeholder:"RUN" help:"Draw one run as rounds, or one session of an export as calls, with what fired where."`
	Preset   string   `enum:",similarity,exact,growth" default:"" help:"Judge by the rule of one detector alone, to the letter of the document that it comes from: similarity, exact or growth."`
}

// Env is the world around the command.
type Env struct {
	Stdin      io.Reader // for the file -
	Stdout     io.Writer
	Stderr     io.Writer
	Progress   bool // show how far it is, on Stderr
	ConfigPath string
	Getenv     func(string) (string, bool)
	JSON       bool
}

// Replay does what the command says.
func (c *Command) Replay(ctx context.Context, env Env) error {
	set, err := settings(env)
	if err != nil {
		return err
	}
	clear, err := c.spool(env.Stdin)
	defer clear()
	if err != nil {
		return err
	}
	in, err := c.files()
	if err != nil {
		return err
	}
	sessions, err := loadExports(in.exports)
	if err != nil {
		return err
	}
	if c.Explain != "" {
		if explainSession(env.Stdout, sessions, c.Explain, set) {
			return nil
		}
		return explain(env.Stdout, in.steps, c.Explain, set)
	}
	newJudge, err := NewJudge(c.Preset, set)
	if err != nil {
		return err
	}
	labels, err := LoadLabels(in.labels)
	if err != nil {
		return err
	}
	progress, done := progressOn(env)
	all, err := replayAll(ctx, in.steps, newJudge, progress)
	done()
	if err != nil {
		return err
	}
	all = append(all, replayExports(sessions, set)...)
	outcomes := outcomesOf(all)
	if c.Verdicts != "" {
		if err := writeFirings(c.Verdicts, outcomes); err != nil {
			return err
		}
	}
	report := reportOf(outcomes, labels)
	if c.Preset == "" {
		report.Ladders = countLadders(all)
	}
	if len(in.exports) > 0 {
		report.Note = exportNote
	}
	if env.JSON {
		e := json.NewEncoder(env.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	return report.print(env.Stdout)
}

// spool puts what standard input holds into a file, because files are read
// more than once. clear removes it.
func (c *Command) spool(stdin io.Reader) (clear func(), err error) {
	clear = func() {}
	at := slices.Index(c.Steps, "-")
	if at < 0 {
		return clear, nil
	}
	f, err := os.CreateTemp("", "haltd-replay-stdin-*")
	if err != nil {
		return clear, fmt.Errorf("keeping standard input: %w", err)
	}
	clear = func() { _ = os.Remove(f.Name()) } // a temporary folder is cleared anyway
	c.Steps = slices.Clone(c.Steps)
	c.Steps[at] = f.Name()
	if _, err = io.Copy(f, stdin); err != nil {
		err = fmt.Errorf("reading standard input: %w", err)
	}
	return clear, errors.Join(err, f.Close())
}

// input is the files of a command, by what they hold.
type input struct{ steps, exports, labels []string }

// files tells the files apart: several label files after one --labels are
// arguments to the command line, but what they hold says what they are.
func (c *Command) files() (in input, err error) {
	in.labels = c.Labels
	for _, path := range c.Steps {
		k, err := kindOf(path)
		switch {
		case err != nil:
			return in, err
		case k == labelLines:
			in.labels = append(in.labels, path)
		case k == eventLines:
			in.exports = append(in.exports, path)
		default:
			in.steps = append(in.steps, path)
		}
	}
	for _, path := range slices.Concat(c.Steps, c.Labels) {
		if sameFile(path, c.Verdicts) {
			return in, haltd.Errorf(haltd.CodeInvalid, "the verdicts would be written over %s", path).WithFix("Name another file with --verdicts.")
		}
	}
	switch {
	case len(in.steps)+len(in.exports) == 0:
		return in, haltd.Errorf(haltd.CodeInvalid, "there are labels but no steps to judge").WithFix("Name a file of steps, too.")
	case len(in.exports) > 0 && c.Preset != "":
		return in, haltd.Errorf(haltd.CodeInvalid, "preset %q needs the texts of the calls, and %s is an export, which holds none", c.Preset, in.exports[0]).
			WithFix("Leave out --preset, or name a trace.")
	}
	return in, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// settings are those of the configuration, or the defaults with the kill
// switch on when there is none.
func settings(env Env) (detection.Settings, error) {
	if env.ConfigPath == "" {
		return detection.DefaultSettings(), nil
	}
	cfg, err := config.Load(env.ConfigPath, env.Getenv)
	if err != nil {
		return detection.Settings{}, err
	}
	return detection.SettingsOf(&cfg.Defaults.Policy), nil
}

// progressEvery keeps the progress line from costing more than the work.
const progressEvery = 1000

func progressOn(env Env) (progress func(int), done func()) {
	if !env.Progress {
		return nil, func() {}
	}
	return func(steps int) {
			if steps%progressEvery == 0 {
				fmt.Fprintf(env.Stderr, "\r%d steps judged", steps)
			}
		}, func() {
			fmt.Fprint(env.Stderr, "\r\x1b[K")
		}
}

func writeFirings(path string, outcomes []Outcome) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return haltd.Errorf(haltd.CodeInvalid, "the verdicts cannot be written: %v", err).WithFix("Name a file in a folder that exists.")
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	b := bufio.NewWriter(f)
	e := json.NewEncoder(b)
	for i := range outcomes {
		if err := e.Encode(outcomes[i].Firing); err != nil {
			return fmt.Errorf("writing when %s fired: %w", outcomes[i].Run, err)
		}
	}
	return b.Flush()
}
