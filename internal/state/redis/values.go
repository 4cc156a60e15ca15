package redis

import "sync"

// mostValueBytes is how much of what was read is kept, as encoded.
const mostValueBytes = 64 << 20

// values keeps what this node has read or written last, by key and version: a
// value that nobody else has changed is not sent and decoded again. It has two
// generations, of which the older one is dropped when the newer one is full.
type values struct {
	mu       sync.Mutex
	new, old map[string]kept
	bytes    int // of the newer one
}

// kept is a decoded value. It belongs to whoever takes it.
type kept struct {
	version string
	value   any // *detection.WindowMemory or *detection.SessionMemory
	bytes   int
}

func newValues() *values { return &values{new: map[string]kept{}} }

// take is the value of a key; nobody else has it until it is put back.
func (v *values) take(key string) kept {
	v.mu.Lock()
	defer v.mu.Unlock()
	if k, ok := v.new[key]; ok {
		delete(v.new, key)
		v.bytes -= k.bytes
		return k
	}
	k := v.old[key]
	delete(v.old, key)
	return k
}

func (v *values) put(key string, k kept) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if before, ok := v.new[key]; ok {
		v.bytes -= before.bytes
	}
	if v.bytes += k.bytes; v.bytes > mostValueBytes/2 {
		v.old, v.new, v.bytes = v.new, map[string]kept{}, k.bytes
	}
	v.new[key] = k
}
