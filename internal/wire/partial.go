package wire

import (
	"slices"

	"github.com/haltd/haltd"
)

// readCut reads what a document has said that ends early. It counts nothing: a
// count may have been cut, too. A stream of documents in one array counts as far
// as they are whole.
func readCut(f ReplyFormat, b []byte) (*haltd.Reply, bool) {
	stream := b[0] == '['
	reply, err := f.ReadReply(closed(b, stream))
	if err != nil || !stream && reply.Text == "" && len(reply.Calls) == 0 {
		return nil, false
	}
	if reply.Complete = false; !stream {
		reply.Usage, reply.Counted = haltd.Usage{}, false
	}
	return reply, true
}

// closed is a document that ends early, as far as it goes: what has begun is
// closed, and a member without a value is left out; of an array of documents, those
// are left that are whole. One of which nothing can be saved comes back as it is.
// It overwrites b.
func closed(b []byte, documents bool) []byte {
	var (
		open   []byte // the brackets that close what is open
		end    int    // where all values before are whole
		inside int    // how many were open there
		value  bool   // what stands here is the value of a member
		quoted bool
		escape int // where the newest begins
	)
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			escape = i
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			open, value = append(open, c+2), false // the closing ones follow two places behind
		case c == ':':
			value = true
		case (c == ']' || c == '}') && len(open) > 0:
			if open, value = open[:len(open)-1], false; !documents || len(open) == 1 {
				end, inside = i+1, len(open)
			}
		case c == ',' && !documents:
			end, inside, value = i, len(open), false
		}
	}
	if len(open) == 0 {
		return b
	}
	if quoted && !documents && (value || open[len(open)-1] == ']') {
		if n := len(b) - escape; b[escape] == '\\' && (n < 2 || b[escape+1] == 'u' && n < 6) {
			b = b[:escape]
		}
		b, end, inside = append(b, '"'), len(b)+1, len(open)
	}
	if end == 0 {
		return b
	}
	slices.Reverse(open[:inside])
	return append(b[:end], open[:inside]...)
}
