package policy

// This file is the detector of identical requests: the loop_detection block of a
// policy, the fingerprint of a request, and what to do at a count. Whoever judges
// keeps the counters.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// LoopAction is what exact does to a request that repeats.
type LoopAction string

// The actions of a loop_detection block.
const (
	LoopReject   LoopAction = "reject"
	LoopThrottle LoopAction = "throttle"
	LoopWarn     LoopAction = "warn"
)

// LoopDetection is the loop_detection block of a policy; setting.go of package
// haltd says what the tags mean.
type LoopDetection struct {
	Enabled       bool       `json:"enabled" example:"true" doc:"Whether identical requests are counted; it has to be given."`
	WindowSeconds int        `json:"window_seconds" example:"60" minimum:"1" maximum:"31536000" unit:"s" doc:"For how long a request is remembered; every identical one starts the time again. Needed when enabled."`
	Threshold     int        `json:"threshold_identical_requests" example:"4" minimum:"2" doc:"At which count the action is taken. Needed when enabled."`
	Action        LoopAction `json:"action,omitempty" preset:"reject" enum:"reject,throttle,warn" doc:"reject answers 429; throttle forwards after a delay that grows by 100 ms with each repetition, 30 s at most; warn only tells."`
	Similarity    string     `json:"similarity,omitempty" preset:"exact" enum:"exact" doc:"Near-equal requests are what the similarity detector is for."`
}

// Checked is the block with its defaults filled in. A block that breaks rules
// is the error of haltd.CheckSettings. One that is off needs no numbers.
func (l LoopDetection) Checked() (LoopDetection, error) {
	filled := haltd.FillSettings(l)
	probe := filled
	if !l.Enabled {
		probe.WindowSeconds, probe.Threshold = 1, 2
	}
	return filled, haltd.CheckSettings(&probe)
}

// Window is how long a fingerprint is remembered after its newest hit.
func (l LoopDetection) Window() time.Duration { return time.Duration(l.WindowSeconds) * time.Second }

// Identity is what makes two requests identical.
type Identity struct {
	Agent, Policy string
	Method, Path  string
	Query         string // raw; the order of its parameters does not matter
	BodyHash      []byte // empty when the body is unknown
	Descriptors   map[string]string
}

// Fingerprint identifies a request. Agent and policy are part of it, and it
// is keyed, so that nobody can make a request that counts as another's.
type Fingerprint [16]byte

func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// FingerprintKey keys fingerprints. What a keyed hash needs is made once and used
// for many of them.
type FingerprintKey struct{ hashes sync.Pool }

// keyedHash is a hash with memory for what it hashes.
type keyedHash struct {
	hash.Hash
	memory []byte
}

// NewFingerprintKey makes a key from a secret of any length.
func NewFingerprintKey(secret []byte) *FingerprintKey {
	k := &FingerprintKey{}
	k.hashes.New = func() any {
		return &keyedHash{Hash: hmac.New(sha256.New, secret), memory: make([]byte, 0, 512)}
	}
	return k
}

// Fingerprint hashes the canonical form of a request with a secret key.
func (id *Identity) Fingerprint(key *FingerprintKey) (f Fingerprint) {
	h := key.hashes.Get().(*keyedHash)
	defer key.hashes.Put(h)
	b := h.memory[:0]
	for _, part := range [...]string{id.Agent, id.Policy, strings.ToUpper(id.Method), id.Path} {
		b = appendSized(b, part)
	}
	b = appendList(b, sortedQuery(id.Query))
	b = appendSized(b, string(id.BodyHash))
	b = appendList(b, sortedDescriptors(id.Descriptors))
	h.Reset()
	h.Write(b)
	copy(f[:], h.Sum(b[:0]))
	return f
}

// appendSized is appendPart with a length of eight bytes, which fingerprints have
// had from the first.
func appendSized(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendList(b []byte, list []string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(list)))
	for _, s := range list {
		b = appendSized(b, s)
	}
	return b
}

// sortedQuery decodes and sorts the parameters. What cannot be decoded stays
// as it was sent.
func sortedQuery(raw string) []string {
	if raw == "" {
		return nil
	}
	pairs := strings.Split(raw, "&")
	for i, p := range pairs {
		if d, err := url.QueryUnescape(p); err == nil {
			pairs[i] = d
		}
	}
	slices.Sort(pairs)
	return pairs
}

func sortedDescriptors(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for k, v := range m {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return list
}

// Hit counts a request under its fingerprint. Shadow policies count apart.
func (p *RequestPolicy) Hit(id Identity, key *FingerprintKey) Hit {
	id.Policy = p.ID
	prefix := "ld:"
	if p.Shadow {
		prefix = "shadow:loop:"
	}
	var memory [128]byte
	f := id.Fingerprint(key)
	b := append(append(append(memory[:0], prefix...), p.ID...), ':')
	return Hit{Key: string(hex.AppendEncode(b, f[:])), Window: p.Loop.Window()}
}

// LoopCounter counts identical requests. Every hit refreshes the window.
type LoopCounter struct {
	Count   int
	Expires time.Time
}

// Hit is the counter after one more request.
func (c LoopCounter) Hit(now time.Time, window time.Duration) LoopCounter {
	if !now.Before(c.Expires) {
		c.Count = 0
	}
	return LoopCounter{Count: c.Count + 1, Expires: now.Add(window)}
}

// LoopDecision is what exact says to a request.
type LoopDecision struct {
	Detected   bool
	Action     LoopAction
	Delay      time.Duration // throttle
	RetryAfter time.Duration // reject
}

// Throttling waits longer with every repetition, up to a cap that clients
// still bear.
const (
	throttleStep = 100 * time.Millisecond
	throttleCap  = 30 * time.Second
)

// Decide says what happens to the request that brought the counter to count.
// A count of zero or less means that the counter failed: the request passes.
func (l LoopDetection) Decide(count int) LoopDecision {
	if !l.Enabled || count <= 0 || count < l.Threshold {
		return LoopDecision{}
	}
	d := LoopDecision{Detected: true, Action: l.Action}
	switch l.Action {
	case LoopThrottle:
		d.Delay = throttleCap
		if count < int(throttleCap/throttleStep) {
			d.Delay = time.Duration(count) * throttleStep
		}
	case LoopReject:
		d.RetryAfter = l.Window()
	}
	return d
}
