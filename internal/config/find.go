package config

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Place is how to reach a haltd that runs with a configuration.
type Place struct {
	Listen  string // of the admin listener
	Token   Secret // empty where haltd keeps one of its own in DataDir
	DataDir string
}

// Find reads how to reach a running haltd, and nothing else. A file that is
// broken, as it may be in an emergency, is read as far as it can be; what
// cannot be read of these keys is as the environment or the defaults have it.
// The error is that of Load, and the place is good also when there is one.
func Find(path string, env func(string) (string, bool)) (Place, error) {
	if path == "" {
		c, err := read("", nil, env)
		if err == nil {
			return placeOf(c), nil
		}
		c, _ = decode("", nil, env)
		return placeOf(c), err
	}
	data, err := readFile(path, maxFile)
	if err != nil {
		c, _ := decode("", nil, env)
		return placeOf(c), unreadable(path, err)
	}
	c, d := decode(path, data, env)
	if len(d.problems) == 0 {
		return placeOf(c), nil
	}
	if !isYAML(data) {
		c, _ = decode(path, readable(data, "admin", "data_dir"), env)
	}
	return placeOf(c), d.joined()
}

func placeOf(c *Config) Place {
	p, usual := Place{c.Admin.Listen, c.Admin.Token, c.DataDir}, defaults()
	if !isAddress(p.Listen) {
		p.Listen = usual.Admin.Listen
	}
	if p.DataDir == "" {
		p.DataDir = usual.DataDir
	}
	return p
}

func isYAML(data []byte) bool { return yaml.Unmarshal(data, &yaml.Node{}) == nil }

// longestSection bounds the work on a section that is broken itself.
const longestSection = 100

// readable are the sections of these names, each up to the line that makes it
// no YAML. A section begins at a line that is not indented.
func readable(data []byte, names ...string) []byte {
	var kept []byte
	lines := bytes.SplitAfter(data, []byte("\n"))
	for _, name := range names {
		for i, line := range lines {
			if !bytes.HasPrefix(line, []byte(name+":")) {
				continue
			}
			end := i + 1
			for end < len(lines) && end-i < longestSection && (len(bytes.TrimSpace(lines[end])) == 0 || lines[end][0] == ' ' || lines[end][0] == '#') {
				end++
			}
			for ; end > i; end-- {
				if section := bytes.Join(lines[i:end], nil); isYAML(section) {
					kept = append(append(kept, section...), '\n')
					break
				}
			}
			break
		}
	}
	return kept
}
