package gateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// hasher digests requests with a secret that all nodes share. It is a MAC as
// fast as the memory (AES-GMAC): nobody who does not know the key can make two
// bodies with one digest. Nonces come again, which is safe because no digest
// ever leaves haltd.
type hasher struct{ aead cipher.AEAD }

// bodyDigest is the digest of a body.
type bodyDigest [16]byte

// newHasher makes a hasher from a secret of any length.
func newHasher(secret []byte) hasher {
	key := sha256.Sum256(append([]byte("bodies\x00"), secret...))
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		panic(err) // the length of the key is right
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // and that of the block
	}
	return hasher{aead}
}

var zeroNonce [12]byte

// noBody stands for the body of what has none.
var noBody bodyDigest

// pieceSize is how much of a body one link of its digest stands for.
const pieceSize = 4 << 10

// body digests a body into d, and appends the digests of all it has of its
// first bytes in whole pieces: each is the nonce of the next.
func (h hasher) body(d *bodyDigest, pieces []bodyDigest, body []byte) []bodyDigest {
	*d = bodyDigest{}
	var nonce pieceNonce
	first := len(pieces)
	pieces = slices.Grow(pieces, len(body)/pieceSize)
	for len(body) >= pieceSize {
		h.piece(d, &nonce, body[:pieceSize])
		pieces = append(pieces, *d)
		body = body[pieceSize:]
	}
	if len(body) > 0 || len(pieces) == first {
		h.piece(d, &nonce, body)
	}
	return pieces
}

// pieceNonce is memory for the nonce of a piece; pieces of a body share it.
type pieceNonce [12]byte

// piece digests a piece of a body into d, which is the digest of what stands
// before it.
func (h hasher) piece(d *bodyDigest, nonce *pieceNonce, piece []byte) {
	copy(nonce[:], d[:])
	h.aead.Seal(d[:0], nonce[:], nil, piece)
}

// prefix digests the first bytes of a body, of whose whole pieces the digests are
// there.
func (h hasher) prefix(pieces []bodyDigest, body []byte, end int) (d bodyDigest) {
	n := end / pieceSize
	if n > 0 {
		d = pieces[n-1]
	}
	if rest := body[n*pieceSize : end]; len(rest) > 0 || n == 0 {
		h.piece(&d, new(pieceNonce), rest)
	}
	return d
}

// requestNames holds memory in which requests are named.
var requestNames = sync.Pool{New: func() any { return new([]byte) }}

// request names a request of an agent, so that its retry is known: an agent
// cannot make another request look like its own.
func (h hasher) request(agent, path string, body *bodyDigest) uint64 {
	buf := requestNames.Get().(*[]byte)
	defer requestNames.Put(buf)
	b := binary.AppendUvarint((*buf)[:0], uint64(len(agent)))
	b = append(b, agent...)
	b = append(b, path...)
	b = append(b, body[:]...)
	n := len(b)
	*buf = slices.Grow(b, len(body))
	return binary.BigEndian.Uint64(h.aead.Seal((*buf)[n:n], zeroNonce[:], nil, (*buf)[:n]))
}
