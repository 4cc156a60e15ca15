package haltd

import "time"

// Traced is what a collector of traces is told of a call besides its event.
type Traced struct {
	// Parent and State are the traceparent and tracestate of the client; empty
	// where it sent none that is valid.
	Parent, State string

	Began             time.Time
	Judging, Judged   time.Time // zero where nobody judged it
	Ended             time.Time
	Decision          string // allow, or what haltd did
	Operation, Server string // chat and the like; the host of the upstream
	ErrorType         string // what went wrong, in one word; "" where nothing did
}

// TraceID is the trace that a traceparent header of W3C names; "" where it is
// none.
func TraceID(traceparent string) string {
	const version, trace, span, flags = 2, 32, 16, 2
	const whole = version + 1 + trace + 1 + span + 1 + flags
	if len(traceparent) < whole || traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-' {
		return ""
	}
	v := traceparent[:version]
	if !isHex(v) || v == "ff" || v == "00" && len(traceparent) != whole || len(traceparent) > whole && traceparent[whole] != '-' {
		return ""
	}
	id, parent := traceparent[3:35], traceparent[36:52]
	if !isHex(id) || !isHex(parent) || !isHex(traceparent[53:55]) || isZero(id) || isZero(parent) {
		return ""
	}
	return id
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

func isZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}
