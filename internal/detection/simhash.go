package detection

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
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
	passages     = 128 // that vote, about, where each has something to say
	enoughVotes  = 256 // of different pairs
	leastVotes   = 192 // fewer may be the form of a listing alone
	rarely       = 16  // a letter that stands more often than once in so many bytes is not rare
	manyPassages = 1 << 16
)

// sample lets passages of a long text vote. It is false, and nothing has voted,
// where they have too little to say, as in a script without these letters, or
// are most of the text. How many vote at a letter follows what those before had to
// say, without a step: of a text which is edited a little nearly the same vote.
func (v *votes) sample(text string) bool {
	if isInAnotherScript(text) {
		return false
	}
	most := len(text) / 2 // bytes to read
	chosen, wanted := 0, passages
	for i := 0; i < len(rareLetters) && most > 0 && wanted > 0; i += 2 {
		var c choice
		c.choose(text, rareLetters[i:i+2], wanted)
		most = v.passages(text, c.from[:c.n], most)
		chosen += c.n
		wanted = max(0, passages-chosen, (enoughVotes-v.all())*2/passageWords) // where many said the same
	}
	if most > 0 && v.all() >= leastVotes {
		return true
	}
	*v = votes{word: hashSeed}
	return false
}

// isInAnotherScript reports a text of which a few words are in Latin letters at most, such
// as those before a text in Chinese: they do not speak for it.
func isInAnotherScript(text string) bool {
	const looks = 256
	n := 0
	for i := range looks {
		n += int(text[i*(len(text)/looks)] >> 7)
	}
	return n > looks/2
}

// all is how many pairs have voted.
func (v *votes) all() int { return int(v.total) + v.pending }

// choice is of those passages at a letter that have the smallest hashes of how they begin,
// each once: which these are does not depend on what is masked, and hardly changes where a
// text is edited a little. In a listing many passages begin alike.
type choice struct {
	wanted int    // how many
	last   uint64 // the highest hash that may be among them
	n      int
	from   [2 * mostChosen]passage
	known  [2 * mostChosen]uint64 // most of their hashes
}

// mostChosen is how many passages are wanted at one letter at most.
const mostChosen = max(passages, enoughVotes*2/passageWords)

// passage is where one begins, and a hash of how.
type passage struct {
	hash uint64
	at   int
}

// choose chooses among the passages at a letter, small or capital, in the order of the text.
func (c *choice) choose(text, letter string, wanted int) {
	smalls, capitals := strings.Count(text, letter[:1]), strings.Count(text, letter[1:])
	if smalls+capitals > len(text)/rarely {
		return
	}
	// Of many, only those with small hashes are looked at, unless too many are the same.
	for _, last := range [...]uint64{lastPassage(2*wanted, smalls+capitals), math.MaxUint64} {
		c.wanted, c.last, c.n = wanted, last, 0
		if smalls > 0 {
			c.among(text, letter[0])
		}
		if capitals > 0 {
			c.among(text, letter[1])
		}
		if c.n > wanted {
			c.narrow()
		}
		if c.n == wanted || last == math.MaxUint64 || smalls+capitals > manyPassages {
			break
		}
		clear(c.known[:])
	}
	inOrder := func(x, y passage) int { return x.at - y.at }
	if all := c.from[:c.n]; !slices.IsSortedFunc(all, inOrder) {
		slices.SortFunc(all, inOrder)
	}
}

// lastPassage is the highest hash of about so many passages of all.
func lastPassage(wanted, all int) uint64 {
	if all <= wanted {
		return math.MaxUint64
	}
	return math.MaxUint64 / uint64(all) * uint64(wanted)
}

// among looks at the passages at a letter.
func (c *choice) among(text string, letter byte) {
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], letter)
		if n < 0 {
			return
		}
		i += n
		hash := firstWords(text[i:])
		if hash > c.last {
			continue
		}
		known := &c.known[hash%uint64(len(c.known))]
		if *known == hash {
			continue
		}
		*known = hash
		if c.n == len(c.from) {
			c.narrow()
		}
		c.from[c.n] = passage{hash, i}
		c.n++
	}
}

// narrow leaves those that are chosen so far.
func (c *choice) narrow() {
	all := c.from[:c.n]
	slices.SortFunc(all, func(x, y passage) int {
		if x.hash == y.hash {
			return x.at - y.at
		}
		return cmp.Compare(x.hash, y.hash)
	})
	all = slices.CompactFunc(all, func(x, y passage) bool { return x.hash == y.hash })
	if c.n = min(len(all), c.wanted); c.n == c.wanted {
		c.last = all[c.n-1].hash
	}
}

// passages lets passages vote, and says how many of the bytes are left that it may read.
func (v *votes) passages(text string, all []passage, most int) int {
	behind := 0 // the first word of the passage before
	for _, p := range all {
		i := p.at
		if i < behind || most <= 0 {
			continue // one passage for each word
		}
		start, least := i, max(behind, i-passageBytes/4)
		for start > least && kinds[text[start-1]] != boundary {
			start--
		}
		v.before = 0
		end := start + v.read(text[start:min(len(text), start+passageBytes)], 0, passageWords)
		v.endWord()
		most -= end - start
		for i+1 < len(text) && i+1 < max(end, start+passageBytes) && kinds[text[i+1]] != boundary {
			i++
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
