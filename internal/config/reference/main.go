// Command reference writes into the sample file and the documentation what the
// declarations of settings say. It rewrites what stands between the marks
// "settings: NAME" and "settings end" and leaves the rest alone; `make
// reference` runs it in the root of the repository.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

func main() {
	log.SetFlags(0)
	if err := write("."); err != nil {
		log.Fatal(err)
	}
}

// files are those that hold generated parts, by their names below the root.
var files = []string{"haltd.example.yaml", filepath.Join("docs", "configuration.md")}

// parts are what is generated, by the names in the marks.
func parts() map[string]string {
	return map[string]string{
		"sample of a policy":          sample[haltd.Policy]("  "),
		"sample of loop_detection":    commented(sample[policy.LoopDetection]("    ")),
		"reference of a policy":       reference[haltd.Policy]("defaults"),
		"reference of loop_detection": "\n" + table(settings[policy.LoopDetection](), "") + "\n",
	}
}

func write(root string) error {
	for _, name := range files {
		path := filepath.Join(root, name)
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := fill(string(old), parts())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var marked = regexp.MustCompile(`(?ms)^([ #]*(?:<!-- )?settings: ([^\n]*?)(?: -->)?)\n.*?^([ #]*(?:<!-- )?settings end(?: -->)?)$`)

// fill writes the parts between their marks.
func fill(text string, parts map[string]string) (string, error) {
	var err error
	found := 0
	text = marked.ReplaceAllStringFunc(text, func(old string) string {
		m := marked.FindStringSubmatch(old)
		part, ok := parts[m[2]]
		if !ok {
			err = fmt.Errorf("the mark %q names no part", m[2])
			return old
		}
		found++
		return m[1] + "\n" + part + m[3]
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("no mark found")
	}
	return text, err
}

func settings[P any]() (all []haltd.Setting) {
	for _, section := range haltd.SettingsOf[P]() {
		all = append(all, section.Settings...)
	}
	return all
}

// sample is the settings of P as the file has them, each with its default and
// under its words.
func sample[P any](indent string) string {
	var b strings.Builder
	var open []string // the groups that the line before stands in
	for _, section := range haltd.SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			steps := strings.Split(s.Path, ".")
			groups, name := steps[:len(steps)-1], steps[len(steps)-1]
			for depth, group := range groups {
				if depth < len(open) && open[depth] == group {
					continue
				}
				open = open[:min(depth, len(open))]
				at := indent + strings.Repeat("  ", depth)
				if depth == 0 {
					comment(&b, at, section.Help)
				}
				fmt.Fprintf(&b, "%s%s:\n", at, group)
				open = append(open, group)
			}
			open = groups
			at := indent + strings.Repeat("  ", len(groups))
			comment(&b, at, explained(s))
			fmt.Fprintf(&b, "%s%s: %s\n", at, name, value(s))
		}
	}
	return b.String()
}

// value is what the sample shows: the default, or an example where a setting
// has to be given.
func value(s *haltd.Setting) string {
	if s.Example != "" {
		return s.Example
	}
	return s.Text(s.Default)
}

// explained is what there is to say of a setting.
func explained(s *haltd.Setting) string {
	text := s.Help
	if limits := s.Limits(); limits != "" {
		text += " Takes " + limits + "."
	}
	return text
}

// comment writes text as lines that fit a terminal.
func comment(b *strings.Builder, indent, text string) {
	const width = 88
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width {
			fmt.Fprintln(b, line)
			line = indent + "#"
		}
		line += " " + word
	}
	if line != indent+"#" {
		fmt.Fprintln(b, line)
	}
}

// commented is a part of the sample that is off as long as it is a comment.
func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  # " + strings.TrimPrefix(line, "  "))
	}
	return b.String()
}

// reference is a heading and a table for each section of P.
func reference[P any](prefix string) string {
	var b strings.Builder
	for _, section := range haltd.SettingsOf[P]() {
		fmt.Fprintf(&b, "\n### %s.%s\n\n", prefix, section.Name)
		if section.Settings[0].Path != section.Name {
			fmt.Fprintf(&b, "%s\n\n", section.Help)
		}
		b.WriteString(table(section.Settings, section.Name+"."))
	}
	b.WriteString("\n")
	return b.String()
}

// table has a line for each setting, named by what follows the prefix.
func table(settings []haltd.Setting, prefix string) string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	for i := range settings {
		s := &settings[i]
		preset := "`" + s.Text(s.Default) + "`"
		if s.Example != "" {
			preset = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimPrefix(s.Path, prefix), preset, explained(s))
	}
	return b.String()
}
