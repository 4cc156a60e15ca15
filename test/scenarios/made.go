package scenarios

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Family is one made-up behaviour: a kind of conversation whose words, tools,
// lengths and pauses are drawn anew for every case. Detection is held to rates
// over many draws, so that no single wording decides.
type Family struct {
	Name  string
	Stuck bool // a reader would stop it some rounds after loop()
	Make  func(w *words) Case
}

// Families are all made-up behaviours, the healthy ones first.
func Families() []Family { return append(madeHealthy(), madeStuck()...) }

// Draw makes the n-th case of a family. The same n gives the same case.
func (f Family) Draw(n int) Case {
	h := fnv.New64a()
	h.Write([]byte(f.Name))
	w := &words{rand.New(rand.NewPCG(h.Sum64(), uint64(n)))}
	c := f.Make(w)
	c.Name = fmt.Sprintf("%s-%d", f.Name, n)
	c.Evidence = "made up"
	if f.Stuck {
		c.Want = kill(0)
	} else {
		c.Want = mayWarn
	}
	return c
}

// After is how many rounds after loop() a reader would stop a stuck case.
func (f Family) After() int {
	if n, ok := readLate[f.Name]; ok {
		return n
	}
	return 5
}

// words draws at random.
type words struct{ *rand.Rand }

// between is a number from lo to hi, both included.
func (w *words) between(lo, hi int) int { return lo + w.IntN(hi-lo+1) }

// chance is true in p of 100 draws.
func (w *words) chance(p int) bool { return w.IntN(100) < p }

// pick is one of the items.
func pick[T any](w *words, items ...T) T { return items[w.IntN(len(items))] }

// some are n different items in random order, or all where there are fewer.
func some[T any](w *words, n int, items []T) []T {
	out := append([]T(nil), items...)
	w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

var (
	onsets = strings.Fields("b br c ch cl d dr f fl g gr h j k kl l m n p pl pr qu r s sh sk st t th tr v w z")
	vowels = strings.Fields("a e i o u ai ea ie oa ou")
	codas  = append(strings.Fields("b ck d ft g l ld lm m n nd ng nt p r rd rk rm rn s sk sp st t x"), "", "", "")
)

// word is an invented word of one to three syllables that no other text has
// by accident.
func (w *words) word() string {
	var b strings.Builder
	for range w.between(2, 3) {
		b.WriteString(pick(w, onsets...))
		b.WriteString(pick(w, vowels...))
		b.WriteString(pick(w, codas...))
	}
	return b.String()
}

// name is an invented word that begins with a capital.
func (w *words) name() string {
	s := w.word()
	return strings.ToUpper(s[:1]) + s[1:]
}

// several are n different invented words.
func (w *words) several(n int) []string {
	seen := map[string]bool{}
	var out []string
	for len(out) < n {
		if s := w.word(); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// hex is n random hexadecimal digits.
func (w *words) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[w.IntN(16)]
	}
	return string(b)
}
