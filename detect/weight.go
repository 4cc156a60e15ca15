package detect

// Weight is about how many words of eight bytes a session holds, for callers
// that bound the memory of many.
func (s *Session) Weight() int {
	n := len(s.openingWords)/2 + len(s.pending.lines)
	for _, r := range s.past {
		n += r.weight()
	}
	return n
}

// weight is about how many words of eight bytes the features of a round take.
func (f *features) weight() int {
	return (len(f.does)+len(f.items)+len(f.says)+len(f.claims)+len(f.tells)+len(f.facts))/2 + 16
}
