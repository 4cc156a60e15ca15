package wire

import "strconv"

// Denied is what a client is told when its request is not forwarded.
type Denied struct {
	Status     int
	Code       string // haltd's reason, also block_reason where Blocked
	Message    string
	Incident   string // "" without one
	Blocked    bool   // policy or a detector stopped it: the body says block_reason
	RetryAfter int    // seconds; 0 for none: the body says retry_after_seconds
}

// AppendBlock appends the members that tell a program why it was blocked,
// each with a comma before it, and nothing unless d is Blocked. They stand
// both in the provider's error object, which is what SDKs hand out, and at
// the top of the body, where callers without one look.
func (d Denied) AppendBlock(dst []byte) []byte {
	if !d.Blocked {
		return dst
	}
	dst = AppendQuoted(append(dst, `,"block_reason":`...), d.Code)
	if d.RetryAfter > 0 {
		dst = strconv.AppendInt(append(dst, `,"retry_after_seconds":`...), int64(d.RetryAfter), 10)
	}
	if d.Incident != "" {
		dst = AppendQuoted(append(dst, `,"incident":`...), d.Incident)
	}
	return dst
}
