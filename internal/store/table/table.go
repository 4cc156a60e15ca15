// Package table is what the stores have in common, whatever they keep their rows
// in: what a batch of events adds up to, how the parts of a row that no query
// filters by are encoded, how a row is read, what a change is refused for, where a
// page of a listing begins. It asks no database.
package table

import (
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// Micros is how times are stored.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// FromMicros reads what Micros wrote.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// Texts are the files of a folder, in the order of their names.
func Texts(files fs.FS, folder string) ([]string, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(entries))
	for i, e := range entries {
		text, err := fs.ReadFile(files, path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}

// Lines is how a list of short texts is stored, a line each: what a text has of
// line ends becomes spaces.
func Lines(list []string) string {
	lines := make([]string, len(list))
	for i, text := range list {
		lines[i] = strings.ReplaceAll(text, "\n", " ")
	}
	return strings.Join(lines, "\n")
}

// FromLines reads what Lines wrote.
func FromLines(lines string) []string {
	if lines == "" {
		return nil
	}
	return strings.Split(lines, "\n")
}

// HourOf is the start of t's hour, as stored.
func HourOf(t time.Time) int64 { return Micros(t.UTC().Truncate(time.Hour)) }

// Unfit is the error of a value that no JSON can hold.
func Unfit(field string, err error) error {
	return haltd.Errorf(haltd.CodeInvalid, "cannot be kept as JSON: %v", err).In(field)
}
