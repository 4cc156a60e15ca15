package config

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

// problem is one line of the error that Load returns.
type problem struct {
	line int
	key  string
	text string
}

// problem notes what is wrong with the value of key, wherever it came from.
// A key that could not be read is not blamed for its value as well.
func (d *decoder) problem(key, format string, args ...any) {
	if !d.failed(key) {
		d.problems = append(d.problems, problem{d.line(key), key, d.where(key) + fmt.Sprintf(format, args...)})
	}
}

func (d *decoder) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p problem) bool { return p.key == key })
}

// unread reports whether key, or a part of it, or what it is a part of, could
// not be read, so that nothing can be said about its value.
func (d *decoder) unread(key string) bool {
	return slices.ContainsFunc(d.problems, func(p problem) bool { return within(p.key, key) || within(key, p.key) })
}

// within reports whether key is section or stands somewhere in it.
func within(key, section string) bool {
	rest, ok := strings.CutPrefix(key, section)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// faults are the *haltd.Error values that a check joined: the field of each,
// and what is wrong with it.
func faults(err error) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, e := range leaves(err) {
			field, text := "", e.Error()
			if fault := (*haltd.Error)(nil); errors.As(e, &fault) {
				bare := *fault
				bare.Field = ""
				field, text = fault.Field, bare.Error()
			}
			if !yield(field, text) {
				return
			}
		}
	}
}

func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}

// problemAt notes a problem in a line of the file.
func (d *decoder) problemAt(line int, key, format string, args ...any) {
	text := fmt.Sprintf("%s:%d: ", d.file, line)
	if key != "" {
		text += key + ": "
	}
	d.problems = append(d.problems, problem{line, key, text + fmt.Sprintf(format, args...)})
}

func (d *decoder) warn(key, format string, args ...any) {
	d.warnings = append(d.warnings, d.where(key)+fmt.Sprintf(format, args...))
}

func (d *decoder) notice(key, format string, args ...any) {
	d.notices = append(d.notices, d.where(key)+fmt.Sprintf(format, args...))
}

// line is where the file sets key, or else the section that key would stand
// in; 0 for neither.
func (d *decoder) line(key string) int {
	for key != "" && d.lines[key] == 0 {
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
	return d.lines[key]
}

// where leads a message: file, line and key, or the variable in the place of
// file and line.
func (d *decoder) where(key string) string {
	switch line := d.line(key); {
	case d.origins[key] != "":
		return fmt.Sprintf("%s: %s: ", d.origins[key], key)
	case line > 0:
		return fmt.Sprintf("%s:%d: %s: ", d.file, line, key)
	case d.file != "":
		return fmt.Sprintf("%s: %s: ", d.file, key)
	}
	return key + ": "
}

// isSet reports whether the file or the environment gave key a value.
func (d *decoder) isSet(key string) bool { return d.lines[key] > 0 || d.origins[key] != "" }

func (d *decoder) joined() error {
	slices.SortStableFunc(d.problems, func(a, b problem) int { return a.line - b.line })
	errs := make([]error, len(d.problems))
	for i, p := range d.problems {
		errs[i] = haltd.Errorf(haltd.CodeInvalid, "%s", p.text)
	}
	return errors.Join(errs...)
}
