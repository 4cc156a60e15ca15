package detection

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// codec writes values into bytes, or reads them back. Each type says its
// fields once, for both: what is written and what is read cannot differ.
// Writing leaves the values alone, which others may read.
// Numbers that are mostly small are varints, digests and floats are fixed.
type codec struct {
	b       []byte // what was written, or what is left to read
	reading bool
	bad     bool     // what is read makes no sense; all that follows is zero
	words   []uint32 // memory for the lists that are read, taken once for all
}

// errState is the error of bytes that another version, or nobody, wrote.
var errState = errors.New("state of another version, or no state at all")

// stateVersion is that of the encoding. Together with the version of the
// features it says who can read a state: anybody else starts empty.
const stateVersion = 29

func (c *codec) header() {
	version, features := uint64(stateVersion), uint64(FeaturesVersion)
	c.uvarint(&version)
	c.uvarint(&features)
	c.bad = c.bad || version != stateVersion || features != FeaturesVersion
}

// end is the error of a reader: all must have been read, and no more.
func (c *codec) end() error {
	if c.bad || len(c.b) > 0 {
		return errState
	}
	return nil
}

// next takes n bytes that are read; nil where there are not so many.
func (c *codec) next(n int) []byte {
	if c.bad || n < 0 || n > len(c.b) {
		c.bad = true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *codec) uvarint(v *uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad = true
	}
	*v = 0
	if c.next(n) != nil {
		*v = x
	}
}

// count is the length of a list. Each of its elements takes at least so many
// bytes, so that bytes which lie cannot ask for more memory than they take.
func (c *codec) count(n *int, least int) {
	v := uint64(*n)
	c.uvarint(&v)
	if c.reading && v > uint64(len(c.b)/least) {
		c.bad, v = true, 0
	}
	*n = int(v)
}

func (c *codec) int(v *int) {
	x := int64(*v)
	c.int64(&x)
	if c.reading {
		*v = int(x)
	}
}

func (c *codec) int64(v *int64) {
	zigzag := uint64(*v<<1) ^ uint64(*v>>63)
	c.uvarint(&zigzag)
	if c.reading {
		*v = int64(zigzag>>1) ^ -int64(zigzag&1)
	}
}

func (c *codec) uint64(v *uint64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, *v)
		return
	}
	*v = 0
	if b := c.next(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

func (c *codec) uint32(v *uint32) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint32(c.b, *v)
		return
	}
	*v = 0
	if b := c.next(4); b != nil {
		*v = binary.LittleEndian.Uint32(b)
	}
}

func (c *codec) float64(v *float64) {
	bits := math.Float64bits(*v)
	c.uint64(&bits)
	if c.reading {
		*v = math.Float64frombits(bits)
	}
}

func (c *codec) float32(v *float32) {
	bits := math.Float32bits(*v)
	c.uint32(&bits)
	if c.reading {
		*v = math.Float32frombits(bits)
	}
}

func (c *codec) byte(v *uint8) {
	if !c.reading {
		c.b = append(c.b, *v)
		return
	}
	*v = 0
	if b := c.next(1); b != nil {
		*v = b[0]
	}
}

// bools packs up to 64 of them.
func (c *codec) bools(vs ...*bool) {
	var bits uint64
	for i, v := range vs {
		if *v {
			bits |= 1 << i
		}
	}
	c.uvarint(&bits)
	for i, v := range vs {
		if c.reading {
			*v = bits&(1<<i) != 0
		}
	}
}

func (c *codec) string(v *string) {
	n := len(*v)
	c.count(&n, 1)
	if !c.reading {
		c.b = append(c.b, *v...)
		return
	}
	*v = string(c.next(n))
}

// time keeps nanoseconds, and whether there is a time at all.
func (c *codec) time(v *time.Time) {
	known, ns := !v.IsZero(), v.UnixNano()
	c.bools(&known)
	if known {
		c.int64(&ns)
	}
	if !c.reading {
		return
	}
	*v = time.Time{}
	if known {
		*v = time.Unix(0, ns).UTC()
	}
}

func (c *codec) duration(v *time.Duration) { c.int64((*int64)(v)) }

// list32 and list64 are lists of digests, which do not compress.
func (c *codec) list32(v *[]uint32) {
	n := len(*v)
	c.count(&n, 4)
	if !c.reading {
		at := len(c.b)
		c.b = slices.Grow(c.b, 4*n)[:at+4*n]
		for i, b := 0, c.b[at:]; i < n; i++ {
			binary.LittleEndian.PutUint32(b[4*i:], (*v)[i])
		}
		return
	}
	*v = nil
	if b := c.next(4 * n); n > 0 && b != nil {
		if n > len(c.words) {
			c.words = make([]uint32, n+len(c.b)/4)
		}
		list := c.words[:n:n]
		c.words = c.words[n:]
		for i := range list {
			list[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		*v = list
	}
}

func (c *codec) list64(v *[]uint64) {
	list(c, v, 8, (*codec).uint64)
}

// list is a list whose elements take at least so many bytes each.
func list[T any](c *codec, v *[]T, least int, each func(*codec, *T)) {
	n := len(*v)
	c.count(&n, least)
	if c.reading {
		*v = nil
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		each(c, &(*v)[i])
	}
}
