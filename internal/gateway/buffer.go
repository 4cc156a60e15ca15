package gateway

import (
	"math/bits"
	"sync"
)

// buffers hold the bodies of requests and the texts that are read from them, one
// pool for each size from leastBuffer to mostBuffer, which double. Conversations
// are long: memory of their size for every request would keep the garbage
// collector busy.
var buffers [bufferSizes]sync.Pool

// holders are what a buffer is put into the pool with, while it is not there.
var holders = sync.Pool{New: func() any { return new([]byte) }}

// The sizes of buffers that are pooled.
const (
	leastBuffer = 2 << 10
	bufferSizes = 12
	mostBuffer  = leastBuffer << (bufferSizes - 1)
)

// acquireBuffer takes a buffer of n bytes from the pool. Its content is
// undefined.
func acquireBuffer(n int) []byte {
	if n > mostBuffer {
		return make([]byte, n)
	}
	size := bits.Len(uint(max(n, 1)-1) / leastBuffer)
	if h, ok := buffers[size].Get().(*[]byte); ok {
		b := *h
		*h = nil
		holders.Put(h)
		return b[:n]
	}
	return make([]byte, n, leastBuffer<<size)
}

// enlarge moves a buffer to one that has room for n bytes, unless it has.
func enlarge(b []byte, n int) []byte {
	if cap(b) >= n {
		return b
	}
	larger := append(acquireBuffer(n)[:0], b...)
	releaseBuffer(b)
	return larger
}

// releaseBuffer puts a buffer back that nobody reads any more.
func releaseBuffer(b []byte) {
	if cap(b) < leastBuffer || cap(b) > mostBuffer {
		return
	}
	if poison {
		clear(b[:cap(b)])
	}
	h := holders.Get().(*[]byte)
	*h = b
	buffers[bits.Len(uint(cap(b)/leastBuffer))-1].Put(h) // of which it has the size at least
}

// poison clears released buffers, so that a test notices who still reads one.
var poison bool
