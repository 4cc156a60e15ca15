package wire

import "strings"

// Segments are the parts of a clean path in lower case, so that no spelling
// of a path slips past Match. An ending slash adds none.
func Segments(path string) []string {
	return strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' })
}
