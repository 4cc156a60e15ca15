package config

import (
	"strings"

	"github.com/haltd/haltd"
)

// suggest says what the writer of an unknown name may have meant.
func suggest(name string, known []string) string {
	if best := haltd.Nearest(name, known); best != "" {
		return "did you mean " + best + "?"
	}
	return "expected one of " + strings.Join(known, ", ")
}
