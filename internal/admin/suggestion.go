package admin

import (
	"strings"

	"github.com/haltd/haltd"
)

// suggestion says which of the known names was probably meant.
func suggestion(name string, known []string) string {
	if len(known) == 0 {
		return "This path takes no parameters."
	}
	best := haltd.Nearest(name, known)
	for _, k := range known {
		if best == "" && len(k) > 2 && strings.Contains(strings.ToLower(name), k) {
			best = k
		}
	}
	if best != "" {
		return "Did you mean " + best + "?"
	}
	return "Known are " + strings.Join(known, ", ") + "."
}
