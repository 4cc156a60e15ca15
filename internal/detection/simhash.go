package detection

import (
	"math"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SimHash is a 64-bit locality-sensitive hash of a text in which case, white space
// and the values of numbers, dates and ids do not matter: the more different pairs
// of neighbouring words two texts share, the fewer bits differ. Of a long text
// passages from all over it vote. It takes time linear in the length. The hash of a
// text without words is 0, which is similar to nothing.
func SimHash(text string) uint64 {
	v := votes{word: hashSeed}
	if len(text) <= readWhole || !v.sample(text) {
		v.read(text, 0, len(text))
	}
	return v.majority()
}

// readWhole is the length up to which all words of a text vote.
const readWhole = 16 << 10

// A sample is taken at letters that are rare in most languages, and neither in
// a number, a clock nor an id: where such a letter stands does not depend on
// what is masked, and it is found without a look at the bytes between. The
// words from each on are a passage, and enough of them vote for the whole.
const (
	rareLetters  = "qQjJkKvVwWyYgGpPmM"
	passageWords = 4
	passageBytes = 256
	passages     = 96  // that vote, about, where each has something to say
	enoughVotes  = 256 // of different pairs
	leastVotes   = 192 // fewer may be the form of a listing alone

	// leastPassages is of how many of all passages those that vote are a part at least:
	// fewer may be a preamble in front of a text in another script.
	leastPassages = 192
)

// sample lets passages of a long text vote. It is false, and nothing has voted,
// where they have too little to say, as in a script without these letters, or
// are most of the text. How many vote at a letter follows what those before had to
// say, without a step: of a text which is edited a little nearly the same vote.
func (v *votes) sample(text string) bool {
	most := len(text) / 2 // bytes to read
	met, wanted := 0, passages
	for i := 0; i < len(rareLetters) && most > 0 && (wanted > 0 || met < leastPassages); i += 2 {
		small, capital := rareLetters[i:i+1], rareLetters[i+1:i+2]
		smalls, capitals := strings.Count(text, small), strings.Count(text, capital)
		met += smalls + capitals
		last := lastPassage(wanted, smalls+capitals)
		if smalls > 0 && wanted > 0 {
			most = v.passages(text, small[0], last, most)
		}
		if capitals > 0 && wanted > 0 {
			most = v.passages(text, capital[0], last, most)
		}
		if wanted -= smalls + capitals; wanted <= 0 {
			wanted = max(0, enoughVotes-v.all()) * 2 / passageWords // many passages said the same
		}
	}
	if most > 0 && met >= leastPassages && v.all() >= leastVotes {
		return true
	}
	*v = votes{word: hashSeed}
	return false
}

// all is how many pairs have voted.
func (v *votes) all() int { return int(v.total) + v.pending }

// lastPassage is the highest hash of its words with which a passage votes where so many
// of all at a letter are to: that does not depend on what is masked.
func lastPassage(wanted, all int) uint64 {
	if all <= wanted {
		return math.MaxUint64
	}
	return math.MaxUint64 / uint64(all) * uint64(wanted)
}

// passages lets those passages at a letter vote that do not come after the last one,
// and says how many of the bytes are left that it may read.
func (v *votes) passages(text string, letter byte, last uint64, most int) int {
	behind := 0         // the first word of the passage before
	var read [64]uint64 // first words of passages: in a listing, those of one letter are often alike
	for i := 0; most > 0; i++ {
		n := strings.IndexByte(text[i:], letter)
		if n < 0 {
			break
		}
		i += n
		words := firstWords(text[i:])
		if words > last {
			continue
		}
		before := &read[words%uint64(len(read))]
		if *before == words {
			continue
		}
		*before = words
		start, least := i, max(behind, i-passageBytes/4)
		for start > least && kinds[text[start-1]] != boundary {
			start--
		}
		v.before = 0
		end := start + v.read(text[start:min(len(text), start+passageBytes)], 0, passageWords)
		v.endWord()
		most -= end - start
		for i+1 < len(text) && i+1 < max(end, start+passageBytes) && kinds[text[i+1]] != boundary {
			i++ // one passage for each word
		}
		behind = i + 1
	}
	return most
}

// read lets at most so many words vote from start on, and says where they end.
func (v *votes) read(text string, start, words int) int {
	i := start
	for i < len(text) && words > 0 {
		switch b := text[i]; kinds[b] {
		case asciiLetter:
			if i+8 < len(text) && text[i+8] == '-' && !v.begun() && isHex(b) && uuidAt(text, i) {
				i = v.number(text, i)
				continue
			}
			i = v.letters(text, i)
		case digit:
			i = v.number(text, i)
		case highByte:
			i = v.rune(text, i)
		default:
			if v.begun() {
				words--
				v.endWord()
			}
			i++
		}
	}
	return i
}

// firstWords is a hash of how the first two words of a text begin, as far as they
// are letters and no id.
func firstWords(text string) uint64 {
	first, i := leadingLetters(text)
	for i < min(len(text), passageBytes) && kinds[text[i]] == boundary {
		i++
	}
	if i+8 < len(text) && text[i+8] == '-' && uuidAt(text, i) {
		return mix(mix(first) ^ idHash)
	}
	second, _ := leadingLetters(text[i:])
	return mix(mix(first) ^ second)
}

// leadingLetters are the letters of ASCII that a text begins with, eight at most, as
// small ones, and how many they are.
func leadingLetters(text string) (block uint64, n int) {
	if len(text) < 8 {
		for n < len(text) && kinds[text[n]] == asciiLetter {
			block |= uint64(text[n]|0x20) << (8 * n)
			n++
		}
		return block, n
	}
	w := load(text)
	small := w | 0x20*eachByte
	other := w ^ '_'*eachByte
	underscore := ^((other&^highBits + ^uint64(highBits)) | other | ^uint64(highBits))
	is := letterBits(small) | underscore
	n = bits.TrailingZeros64(^is&highBits) / 8
	return small & (1<<(8*n) - 1), n
}

// letters adds the letters of ASCII at i to the word, and says where they end.
func (v *votes) letters(text string, i int) int {
	for v.filled == 0 {
		block, n := leadingLetters(text[i:])
		i += n
		if v.block, v.filled = block, n; n < 8 {
			return i
		}
		v.endBlock()
	}
	// The word goes on behind something that nobody sees.
	for i < len(text) && kinds[text[i]] == asciiLetter {
		v.block |= uint64(text[i]|0x20) << (8 * v.filled)
		if v.filled++; v.filled == 8 {
			v.endBlock()
		}
		i++
	}
	return i
}

// begun reports that there is a word.
func (v *votes) begun() bool { return v.word != hashSeed || v.filled > 0 }

// endBlock adds the letters that were read last to the word.
func (v *votes) endBlock() {
	v.add(v.block)
	v.block, v.filled = 0, 0
}

// add adds a part to the word.
func (v *votes) add(part uint64) {
	v.word = (v.word ^ part) * blockPrime
	v.word ^= v.word >> 32
}

const blockPrime = 0xe9846af9b1a615d5

// similarBelow is the Hamming distance below which two texts are similar.
const similarBelow = 3

// distance is the number of bits in which two hashes differ.
func distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// similar reports whether two texts are near-equal. What is empty or unread
// (0) is similar to nothing.
func similar(a, b uint64) bool {
	return a != 0 && b != 0 && distance(a, b) < similarBelow
}

// lanes spreads the bits of a byte over the bytes of a word, so that eight
// counters are incremented by one addition.
var lanes = func() (t [256]uint64) {
	for b := range t {
		for bit := range 8 {
			t[b] |= uint64(b>>bit&1) << (8 * bit)
		}
	}
	return t
}()

// kinds tells what a byte is to the hash. Capitals fall on small letters by
// one bit.
var kinds = func() (t [256]byteKind) {
	for c := range t {
		switch b := byte(c); {
		case b >= utf8.RuneSelf:
			t[c] = highByte
		case isDigit(b):
			t[c] = digit
		case b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z':
			t[c] = asciiLetter
		}
	}
	return t
}()

type byteKind uint8

const (
	boundary byteKind = iota
	asciiLetter
	digit
	highByte
)

// votes counts, for each of the 64 bits, how many features set it. It also
// holds the word that is being read and the one before.
type votes struct {
	word, before uint64
	block        uint64    // the last letters of word, which are not in its hash yet
	filled       int       // how many they are
	packed       [8]uint64 // eight counters of eight bits each
	pending      int       // features in packed
	counts       [64]int32
	total        int32
	voted        [votedSlots]uint64 // pairs that have voted lately
}

// votedSlots is how many pairs of words are remembered: those that make the
// form of a listing, not its content, come in every line.
const votedSlots = 256

func (v *votes) vote(h uint64) {
	p := &v.packed
	p[0] += lanes[byte(h)]
	p[1] += lanes[byte(h>>8)]
	p[2] += lanes[byte(h>>16)]
	p[3] += lanes[byte(h>>24)]
	p[4] += lanes[byte(h>>32)]
	p[5] += lanes[byte(h>>40)]
	p[6] += lanes[byte(h>>48)]
	p[7] += lanes[byte(h>>56)]
	v.pending++
	if v.pending == 255 {
		v.flush()
	}
}

func (v *votes) flush() {
	for i := range v.packed {
		for bit := range 8 {
			v.counts[8*i+bit] += int32(byte(v.packed[i] >> (8 * bit)))
		}
		v.packed[i] = 0
	}
	v.total += int32(v.pending)
	v.pending = 0
}

// endWord lets the word that was read vote together with the one before it;
// the first votes alone.
func (v *votes) endWord() {
	if v.filled > 0 {
		v.endBlock()
	}
	if v.word == hashSeed {
		return
	}
	if h := mix(v.word ^ v.before); v.voted[h%votedSlots] != h {
		v.voted[h%votedSlots] = h // a pair votes once, however often it comes
		v.vote(h)
	}
	v.before, v.word = bits.RotateLeft64(v.word, 31), hashSeed
}

// What stands in a word for the parts that do not count.
const (
	numberHash    = 0x4e554d
	timestampHash = 0x5453
	idHash        = 0x4944
)

// number reads the UUID, the timestamp or the number at i.
func (v *votes) number(text string, i int) int {
	if !v.begun() {
		if uuidAt(text, i) {
			v.add(idHash)
			return i + uuidLen
		}
		if end := timestamp(text, i); end > 0 {
			v.add(timestampHash)
			return end
		}
	}
	v.endBlock()
	v.add(numberHash)
	return numberEnd(text, i)
}

// wide is the first character of the scripts that put no spaces between
// words (CJK and what follows): there each character is a word.
const wide = 0x2e80

// rune reads a character beyond ASCII.
func (v *votes) rune(text string, i int) int {
	r, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case unicode.IsSpace(r):
		v.endWord()
	case unicode.Is(unicode.Cf, r): // nobody sees it
	case r >= wide:
		v.endWord()
		v.add(uint64(r))
		v.endWord()
	default:
		v.endBlock()
		v.add(uint64(unicode.ToLower(r)))
	}
	return i + n
}

// majority has the bits that more than half of the features set; 0 where
// there are none.
func (v *votes) majority() (h uint64) {
	v.endWord()
	v.flush()
	if v.total == 0 {
		return 0
	}
	for bit, n := range v.counts {
		if 2*n > v.total {
			h |= 1 << bit
		}
	}
	return max(h, 1)
}
