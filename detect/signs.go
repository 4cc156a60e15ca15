package detect

import "strings"

// signs are phrases that a text is searched for, all of them in one pass.
type signs struct {
	pairs   [pairs / 64]uint64 // a bit for each pair of bytes that a phrase begins with
	phrases [128][]string      // by seven bits of their first byte
}

// pairs is how many pairs of ASCII characters there are. Bytes beyond ASCII
// share their places, which costs a comparison now and then.
const pairs = 128 * 128

func pair(a, b byte) int { return int(a&127)<<7 | int(b&127) }

// signsOf makes a search for phrases of two bytes or more, in small letters.
func signsOf(phrases ...string) *signs {
	s := &signs{}
	for _, p := range phrases {
		k := pair(p[0], p[1])
		s.pairs[k>>6] |= 1 << (k & 63)
		s.phrases[p[0]&127] = append(s.phrases[p[0]&127], p)
	}
	return s
}

// in reports whether one of the phrases stands in a text of small letters.
func (s *signs) in(low string) bool {
	for i := 1; i < len(low); i++ {
		k := pair(low[i-1], low[i])
		if s.pairs[k>>6]&(1<<(k&63)) == 0 {
			continue
		}
		for _, p := range s.phrases[low[i-1]&127] {
			if strings.HasPrefix(low[i-1:], p) {
				return true
			}
		}
	}
	return false
}
