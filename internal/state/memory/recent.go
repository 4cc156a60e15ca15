package memory

import "sync"

// recent is a cache that evicts the least recently used entries. It has two
// generations and keeps at least the last `keep` entries written or read and
// at most twice as many, or fewer where they weigh too much. It needs no list:
// each access costs a map access, which the request path can afford.
type recent[K comparable, V any] struct {
	keep      int
	maxWeight int // of a generation; 0 for no limit

	mu     sync.Mutex
	new    map[K]V
	old    map[K]V
	weight int // of the new generation
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

// peek is get for who does not use the entry.
func (r *recent[K, V]) peek(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.new[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	return v, ok
}

// take is get that removes the entry.
func (r *recent[K, V]) take(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.new[k]
	if !ok {
		v, ok = r.old[k]
	}
	delete(r.new, k)
	delete(r.old, k)
	return v, ok
}

func (r *recent[K, V]) set(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(k, v)
}

// update changes the value of k, which is zero where there is none.
func (r *recent[K, V]) update(k K, f func(V) V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.new[k]
	if !ok {
		v = r.old[k]
	}
	r.put(k, f(v))
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

// addWeight adds to the weight of the new generation. When it has become too
// heavy, the old generation is evicted.
func (r *recent[K, V]) addWeight(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.weight += n; r.maxWeight > 0 && r.weight > r.maxWeight {
		r.rotate()
	}
}

func (r *recent[K, V]) put(k K, v V) {
	if len(r.new) >= r.keep {
		r.rotate()
	}
	r.new[k] = v
}

// rotate evicts the old generation and starts a new one.
func (r *recent[K, V]) rotate() {
	r.old, r.new, r.weight = r.new, make(map[K]V), 0
}
