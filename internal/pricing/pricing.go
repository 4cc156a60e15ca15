// Package pricing says what a call cost. It holds the embedded price table,
// finds the price of a model by its name and multiplies exactly. It does no
// I/O and knows nothing of budgets: what a price leads to is decided
// elsewhere.
package pricing

import (
	_ "embed"
	"math/bits"
	"strings"
	"sync"

	"github.com/haltd/haltd"
)

// Price is what a million tokens of a model cost. All four are prices: where
// a provider has none of its own for its cache, they equal Input. See Flat.
type Price struct {
	Input      haltd.Money `yaml:"input"`
	Output     haltd.Money `yaml:"output"`
	CacheRead  haltd.Money `yaml:"cache_read"`
	CacheWrite haltd.Money `yaml:"cache_write"`
	// MaxOutput is how many tokens a reply of the model can have; 0 where
	// nobody says.
	MaxOutput int64 `yaml:"max_output"`

	hidesThoughts bool
}

// Flat is a price that does not tell cached input from other input.
func Flat(input, output haltd.Money) Price {
	return Price{Input: input, Output: output, CacheRead: input, CacheWrite: input}
}

// Table prices calls. It is safe for concurrent use.
type Table struct {
	overrides names
	patterns  []pattern // the most specific first
	newer     *List     // that somebody loaded; nil for none
	def       Price

	mu   sync.RWMutex
	seen map[call]found // answers of lookups, bounded by maxSeen
}

type call struct{ provider, model string }

type found struct {
	price Price
	known bool
}

const (
	// maxName bounds the work that a hostile model name can cause; no real
	// name comes near it.
	maxName = 256
	// maxSeen bounds the memory that many different names can take.
	maxSeen = 4096
)

// New makes a table from the embedded prices. Those of newer, which may be nil,
// win over them, and overrides over both; a key is a model name, or a pattern
// where * stands for any text, either with or without the provider in front
// ("lab/*"). def prices what nobody knows.
func New(overrides map[string]Price, newer *List, def Price) *Table {
	t := &Table{overrides: names{}, newer: newer, def: def, seen: map[call]found{}}
	for key, price := range overrides {
		key = strings.ToLower(key)
		if strings.Contains(key, "*") {
			t.patterns = append(t.patterns, pattern{key, price})
		} else {
			t.overrides[canonical(key)] = price
		}
	}
	sortPatterns(t.patterns)
	return t
}

// Cost is the price of u, rounded up to the next billionth of a dollar.
// known is false when the model is in no table and the default price was
// used.
func (t *Table) Cost(provider, model string, u haltd.Usage) (cost haltd.Money, known bool) {
	f := t.lookup(provider, model)
	return f.price.of(u), f.known
}

// MaxOutput is how many tokens a reply of the model can have; 0 where nobody
// says.
func (t *Table) MaxOutput(provider, model string) int64 {
	return t.lookup(provider, model).price.MaxOutput
}

// HidesThoughts reports whether a reply of the model may have cost more than it
// shows.
func (t *Table) HidesThoughts(provider, model string) bool {
	return t.lookup(provider, model).price.hidesThoughts
}

func (t *Table) lookup(provider, model string) found {
	if len(model) > maxName || len(provider) > maxName {
		return found{t.def, false}
	}
	key := call{provider, model}
	t.mu.RLock()
	f, ok := t.seen[key]
	t.mu.RUnlock()
	if ok {
		return f
	}
	f = t.find(strings.ToLower(provider), strings.ToLower(model))
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.seen) >= maxSeen {
		clear(t.seen)
	}
	// The clone keeps a cached name from holding a whole request body alive.
	t.seen[call{strings.Clone(provider), strings.Clone(model)}] = f
	return f
}

func (t *Table) find(provider, model string) found {
	f := t.findPrice(provider, model)
	known, _ := t.listed(provider, model)
	f.price.hidesThoughts = known.hidesThoughts
	if f.price.MaxOutput == 0 { // who has a price of his own need not know the rest
		f.price.MaxOutput = known.MaxOutput
	}
	return f
}

func (t *Table) findPrice(provider, model string) found {
	if p, ok := t.overrides.find(provider, model); ok {
		return found{p, true}
	}
	for _, p := range t.patterns {
		if match(p.text, provider+"/"+model) || match(p.text, model) {
			return found{p.price, true}
		}
	}
	if isFree(provider, model) {
		return found{Price{}, true}
	}
	if p, ok := t.listed(provider, model); ok {
		return found{p, true}
	}
	return found{t.def, false}
}

// lists are the tables, the first to be asked first.
func (t *Table) lists() []*List {
	if t.newer == nil {
		return []*List{embedded()}
	}
	return []*List{t.newer, embedded()}
}

// listed finds a model in them. A table that is newer and knows the model by a
// shorter name does not hide one that knows it to the letter.
func (t *Table) listed(provider, model string) (Price, bool) {
	if t.newer == nil {
		return embedded().prices.find(provider, model)
	}
	for _, l := range t.lists() {
		if p, ok := l.prices.exact(provider, model); ok {
			return l.complete(p, provider, model), true
		}
	}
	for _, l := range t.lists() {
		if p, ok := l.prices.find(provider, model); ok {
			return l.complete(p, provider, model), true
		}
	}
	return Price{}, false
}

// complete takes over what a newer table does not say and the embedded one does.
func (l *List) complete(p Price, provider, model string) Price {
	if known, ok := embedded().prices.find(provider, model); ok && l != embedded() {
		p.hidesThoughts = p.hidesThoughts || known.hidesThoughts
		if p.MaxOutput == 0 {
			p.MaxOutput = known.MaxOutput
		}
	}
	return p
}

// isFree knows the calls that nobody is billed for: models on the operator's
// own machine, and OpenRouter's variants that say so in their name.
func isFree(provider, model string) bool {
	return provider == "ollama" || provider == "openrouter" && strings.HasSuffix(model, ":free")
}

// of prices the three parts of the input apart and rounds once, at the end.
func (p Price) of(u haltd.Usage) haltd.Money {
	read, write := max(u.CacheRead, 0), max(u.CacheWrite, 0)
	plain := max(u.Input-read-write, 0)
	var sum uint128
	sum.addProduct(p.Input, plain)
	sum.addProduct(p.CacheRead, read)
	sum.addProduct(p.CacheWrite, write)
	sum.addProduct(p.Output, max(u.Output, 0))
	return sum.perMillion()
}

// uint128 holds nano-dollars times tokens: a provider that reports absurd
// counts must not wrap a bill around to nothing.
type uint128 struct{ hi, lo uint64 }

func (s *uint128) addProduct(price haltd.Money, tokens int64) {
	hi, lo := bits.Mul64(uint64(max(price, 0)), uint64(tokens))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry) // four products of 63-bit numbers fit
}

// maxCost is the most that a call can cost, so that the sums of thousands of
// absurd ones fit into a record.
const maxCost = 1_000_000 * haltd.Dollar

func (s uint128) perMillion() haltd.Money {
	const million = 1_000_000
	if s.hi >= million {
		return maxCost
	}
	quotient, rest := bits.Div64(s.hi, s.lo, million)
	if quotient >= uint64(maxCost) {
		return maxCost
	}
	if rest > 0 {
		quotient++
	}
	return haltd.Money(quotient)
}

//go:embed prices.json
var pricesJSON []byte

// Source names where the embedded prices come from and the day on which those
// lists were read; the prices in them may be older.
func Source() (source, date string) {
	return embedded().Source, embedded().Date
}

// embedded is the table in the binary.
var embedded = sync.OnceValue(func() *List {
	list, err := ReadList(pricesJSON)
	if err != nil {
		panic(err) // part of the build; the tests read it too
	}
	return list
})
