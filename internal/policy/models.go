package policy

import "strings"

// AllowsModel reports whether a list of models in lower case, in which * stands
// for any text, has one.
func AllowsModel(list []string, model string) bool {
	if model == "" {
		return false
	}
	model = strings.ToLower(model)
	for _, pattern := range list {
		if matchesPattern(model, pattern) {
			return true
		}
	}
	return false
}
