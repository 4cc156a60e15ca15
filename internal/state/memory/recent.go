package memory

import "sync"

// recent is a map that forgets: it keeps at least the last `keep` entries
// written or read and at most twice as many, in two generations. It costs a
// map access and needs no list, which is what the request path can afford.
type recent[K comparable, V any] struct {
	keep int

	mu  sync.Mutex
	new map[K]V
	old map[K]V
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

func (r *recent[K, V]) put(k K, v V) {
	if len(r.new) >= r.keep {
		r.old, r.new = r.new, make(map[K]V, r.keep/4)
	}
	r.new[k] = v
}
