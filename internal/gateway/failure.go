package gateway

import "strconv"

// failure is how an exchange failed, in one word: one of these, or an error code.
type failure string

const (
	clientLeft   failure = "client_left"
	upstreamCut  failure = "upstream_cut"
	upstreamIdle failure = "upstream_idle"
	operatorCut  failure = "operator_cut"
	budgetCut    failure = "budget_cut" // a stream, because the money is gone
	inStream     failure = "in_stream"  // the provider says so in its stream
)

// fail notes how the exchange failed, in place of what was noted before; "" is
// not at all.
func (x *exchange) fail(how failure) { x.failure, x.event.Error = how, string(how) }

// breakOff notes a failure after which the client's connection is cut: half a
// reply must not look whole.
func (x *exchange) breakOff(how failure) {
	x.broken = true
	x.fail(how)
}

// failInStream notes what the provider says in its stream.
func (x *exchange) failInStream(message string) {
	x.fail(inStream)
	x.event.Error += ": " + truncate(message, 200)
}

// errorType is what went wrong, in one word for a collector; "" where nothing did.
func (x *exchange) errorType() string {
	e := &x.event
	switch {
	case e.BlockReason != "":
		return string(e.BlockReason)
	case x.failure != "":
		return string(x.failure)
	case e.Status >= 400:
		return strconv.Itoa(e.Status)
	}
	return ""
}
