package wire

// wholeElements is an array that ends early, as far as its elements are whole:
// what a stream of documents in one array has said when it was cut. Where none
// is whole, and for what is no array, it is b itself, which else it overwrites.
func wholeElements(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return b
	}
	depth, end, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 1 {
				end = i + 1
			}
		}
	}
	if end == 0 {
		return b
	}
	return append(b[:end], ']')
}
