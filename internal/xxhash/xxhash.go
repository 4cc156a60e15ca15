// Package xxhash is the 64-bit xxHash with seed 0, in plain Go. Package
// detection uses it so that a program which imports detect needs no other
// module; the gateway, which reads whole bodies, takes the one in assembly. Both
// give the same digests, which is what a test holds them to.
package xxhash

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 uint64 = 11400714785074694791
	prime2 uint64 = 14029467366897019727
	prime3 uint64 = 1609587929392839161
	prime4 uint64 = 9650029242287828579
	prime5 uint64 = 2870177450012600261

	block = 32 // bytes that the four lanes take at once
)

// lanes are the four accumulators.
type lanes [4]uint64

// begin is their state before the first byte.
func begin() lanes {
	const none = uint64(0)
	p := prime1
	return lanes{p + prime2, prime2, none, none - p}
}

// take feeds all whole blocks and returns what is left.
func (v *lanes) take(b []byte) []byte {
	v1, v2, v3, v4 := v[0], v[1], v[2], v[3]
	for len(b) >= block {
		v1 = round(v1, binary.LittleEndian.Uint64(b[0:8:len(b)]))
		v2 = round(v2, binary.LittleEndian.Uint64(b[8:16:len(b)]))
		v3 = round(v3, binary.LittleEndian.Uint64(b[16:24:len(b)]))
		v4 = round(v4, binary.LittleEndian.Uint64(b[24:32:len(b)]))
		b = b[block:len(b):len(b)]
	}
	v[0], v[1], v[2], v[3] = v1, v2, v3, v4
	return b
}

// sum joins the lanes with the rest, which is shorter than a block.
func (v *lanes) sum(length uint64, rest []byte) uint64 {
	if length < block {
		return finish(prime5+length, rest)
	}
	h := bits.RotateLeft64(v[0], 1) + bits.RotateLeft64(v[1], 7) + bits.RotateLeft64(v[2], 12) + bits.RotateLeft64(v[3], 18)
	h = (h^round(0, v[0]))*prime1 + prime4
	h = (h^round(0, v[1]))*prime1 + prime4
	h = (h^round(0, v[2]))*prime1 + prime4
	h = (h^round(0, v[3]))*prime1 + prime4
	return finish(h+length, rest)
}

// finish takes what is left over, and mixes.
func finish(h uint64, rest []byte) uint64 {
	for ; len(rest) >= 8; rest = rest[8:len(rest):len(rest)] {
		h ^= round(0, binary.LittleEndian.Uint64(rest[:8:len(rest)]))
		h = bits.RotateLeft64(h, 27)*prime1 + prime4
	}
	if len(rest) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(rest[:4:len(rest)])) * prime1
		h = bits.RotateLeft64(h, 23)*prime2 + prime3
		rest = rest[4:len(rest):len(rest)]
	}
	for ; len(rest) > 0; rest = rest[1:len(rest):len(rest)] {
		h ^= uint64(rest[0]) * prime5
		h = bits.RotateLeft64(h, 11) * prime1
	}
	h ^= h >> 33
	h *= prime2
	h ^= h >> 29
	h *= prime3
	return h ^ h>>32
}

func round(acc, input uint64) uint64 {
	return bits.RotateLeft64(acc+input*prime2, 31) * prime1
}

// Sum64 is the digest of some bytes.
func Sum64(b []byte) uint64 {
	n := uint64(len(b))
	if n < block {
		return finish(prime5+n, b)
	}
	v := begin()
	return v.sum(n, v.take(b))
}

// Sum64String is the digest of a text.
func Sum64String(s string) uint64 { return Sum64([]byte(s)) }

// Digest takes a text in pieces. Reset it before its first use.
type Digest struct {
	lanes  lanes
	length uint64
	kept   [block]byte // what does not fill a block yet
	n      int
}

// Reset begins anew.
func (d *Digest) Reset() { *d = Digest{lanes: begin()} }

// Write takes the next bytes; it never fails.
func (d *Digest) Write(b []byte) (int, error) {
	n := len(b)
	d.length += uint64(n)
	if d.n > 0 || n < block {
		took := copy(d.kept[d.n:], b)
		d.n, b = d.n+took, b[took:]
		if d.n < block {
			return n, nil
		}
		d.lanes.take(d.kept[:])
	}
	d.n = copy(d.kept[:], d.lanes.take(b))
	return n, nil
}

// WriteString takes the next part of a text; it never fails.
func (d *Digest) WriteString(s string) (int, error) { return d.Write([]byte(s)) }

// Sum64 is the digest of all that was written.
func (d *Digest) Sum64() uint64 { return d.lanes.sum(d.length, d.kept[:d.n]) }
