package wire

import "strings"

// Segments are the parts of a clean path in lower case, so that no spelling
// of a path slips past Match. An ending slash adds none. What follows a
// semicolon is left out, as some servers do.
func Segments(path string) []string {
	segments := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' })
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return segments
}
