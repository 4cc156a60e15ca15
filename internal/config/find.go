package config

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"
)

// Place is how to reach a haltd that runs with a configuration.
type Place struct {
	Listen  string // of the admin listener
	TLS     TLS    // of the admin listener
	Token   Secret // empty where haltd keeps one of its own in DataDir
	DataDir string
}

// Find reads how to reach a running haltd, and nothing else. A file that is
// broken, as it may be in an emergency, is read as far as it can be; what
// cannot be read of these keys is as the environment or the defaults have it.
// The error is that of Load, and the place is good also when there is one.
func Find(path string, env func(string) (string, bool)) (Place, error) {
	data, unread := readConfig(path)
	c, d := decode(path, data, env)
	var problems error
	if len(d.problems) > 0 {
		problems = d.joined()
	}
	if rootOf(data) == nil {
		c, _ = decode(path, sections(data, true), env)
	}
	p, usual := Place{c.Admin.Listen, c.Admin.TLS, c.Admin.Token, c.DataDir}, defaults()
	if !isAddress(p.Listen) {
		p.Listen = usual.Admin.Listen
	}
	if p.DataDir == "" {
		p.DataDir = usual.DataDir
	}
	return p, errors.Join(unread, problems)
}

// rootOf is what a YAML document holds; nil for nothing and for what is none.
func rootOf(data []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// wholeSections are the sections of a file that are YAML by themselves; the
// lines of others are empty, so that all keep their numbers.
func wholeSections(data []byte) []byte { return sections(data, false) }

// longestSection bounds the work on a section that is broken itself.
const longestSection = 200

// sections leaves of each section what is YAML: all of it, or with partly set
// all lines up to the one that is not. A section begins at a line that is not
// indented.
func sections(data []byte, partly bool) []byte {
	var kept []byte
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) && !beginsSection(lines[end]) {
			end++
		}
		whole := end
		for end > i && rootOf(bytes.Join(lines[i:end], nil)) == nil {
			if end--; !partly || end-i > longestSection {
				end = i
			}
		}
		kept = append(kept, bytes.Join(lines[i:end], nil)...)
		kept = append(kept, bytes.Repeat([]byte("\n"), whole-end)...)
		i = whole
	}
	return kept
}

func beginsSection(line []byte) bool {
	return len(bytes.TrimSpace(line)) > 0 && !bytes.ContainsAny(line[:1], " \t#-]}")
}
