// Package recent is a cache that forgets what was not used for long.
package recent

import "sync"

// Cache evicts the least recently used entries. It has two generations and keeps at least the last `keep` entries written or read and
// at most twice as many, or fewer where they weigh too much. It needs no list:
// each access costs a map access, which the request path can afford.
type Cache[K comparable, V any] struct {
	// MaxWeight is that of a generation; 0 for no limit.
	MaxWeight int

	keep int

	mu     sync.Mutex
	new    map[K]V
	old    map[K]V
	weight int // of the new generation
}

// New makes one that keeps the last entries, so many.
func New[K comparable, V any](keep int) *Cache[K, V] {
	return &Cache[K, V]{keep: keep, new: make(map[K]V)}
}

// Get is the value of k, which is used with it.
func (r *Cache[K, V]) Get(k K) (V, bool) {
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

// Peek is Get for who does not use the entry.
func (r *Cache[K, V]) Peek(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.new[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	return v, ok
}

// Take is Get that removes the entry.
func (r *Cache[K, V]) Take(k K) (V, bool) {
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

// Set keeps a value.
func (r *Cache[K, V]) Set(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(k, v)
}

// Update changes the value of k, which is zero where there is none.
func (r *Cache[K, V]) Update(k K, f func(V) V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.new[k]
	if !ok {
		v = r.old[k]
	}
	r.put(k, f(v))
}

// GetOrSet is the value of k, made where there is none. joined says that it
// has just come into the new generation, where nothing of its weight counts
// yet.
func (r *Cache[K, V]) GetOrSet(k K, make func() V) (v V, joined bool) {
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

// AddWeight adds to the weight of the new generation. When it has become too
// heavy, the old generation is evicted.
func (r *Cache[K, V]) AddWeight(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.weight += n; r.MaxWeight > 0 && r.weight > r.MaxWeight {
		r.rotate()
	}
}

func (r *Cache[K, V]) put(k K, v V) {
	if len(r.new) >= r.keep {
		r.rotate()
	}
	r.new[k] = v
}

// rotate evicts the old generation and starts a new one.
func (r *Cache[K, V]) rotate() {
	r.old, r.new, r.weight = r.new, make(map[K]V), 0
}

// Len is how many entries are held; one that is in both generations counts twice.
func (r *Cache[K, V]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.new) + len(r.old)
}

// All yields what Len counts.
func (r *Cache[K, V]) All(yield func(K, V) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, generation := range []map[K]V{r.new, r.old} {
		for k, v := range generation {
			if !yield(k, v) {
				return
			}
		}
	}
}
