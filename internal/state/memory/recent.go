package memory

import "sync"

// recent is a map that forgets: it keeps at least the last `keep` entries
// written or read and at most twice as many, in two generations, or fewer
// where they weigh more than allowed. It costs a map access and needs no list,
// which is what the request path can afford.
type recent[K comparable, V any] struct {
	keep   int
	weight int // what a generation may weigh; 0 for no limit

	mu   sync.Mutex
	new  map[K]V
	old  map[K]V
	load int // what the new generation weighs
}

func newRecent[K comparable, V any](keep int) *recent[K, V] {
	return &recent[K, V]{keep: keep, new: make(map[K]V)}
}

func (r *recent[K, V]) get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.new[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	if ok {
		r.put(k, v)
	}
	return v, ok
}

func (r *recent[K, V]) set(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(k, v)
}

// getOrSet is the value of k, made where there is none. joined says that it
// has just come into the new generation, where nothing of its weight counts
// yet.
func (r *recent[K, V]) getOrSet(k K, make func() V) (v V, joined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.new[k]; ok {
		return v, false
	}
	v, ok := r.old[k]
	if !ok {
		v = make()
	}
	r.put(k, v)
	return v, true
}

// weigh adds to the weight of the new generation. When it has become too
// heavy, the generation before it is let go.
func (r *recent[K, V]) weigh(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load += n; r.weight > 0 && r.load > r.weight {
		r.turn()
	}
}

func (r *recent[K, V]) put(k K, v V) {
	if len(r.new) >= r.keep {
		r.turn()
	}
	r.new[k] = v
}

func (r *recent[K, V]) turn() {
	r.old, r.new, r.load = r.new, make(map[K]V), 0
}
