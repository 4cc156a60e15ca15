package gateway

import "sync"

// buffers hold the bodies of requests and the texts that are read from them.
// Conversations are long: memory of their size for every request would keep
// the garbage collector busy.
var buffers sync.Pool

// The sizes of buffers that are used again.
const leastBuffer, mostBuffer = 2 << 10, 1 << 20

// newBuffer is a buffer of n bytes, whose content is yet to be written.
func newBuffer(n int) []byte {
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return make([]byte, n, max(n, leastBuffer, min(n+n/4, mostBuffer))) // the next may be a little longer
}

// reuse takes a buffer back that nobody reads any more.
func reuse(b []byte) {
	if cap(b) < leastBuffer || cap(b) > mostBuffer {
		return
	}
	if spoil {
		clear(b[:cap(b)])
	}
	buffers.Put(&b)
}

// spoil makes it show when somebody reads a buffer after all. Tests set it.
var spoil bool
