package haltd

// Ending is how a request ended, as far as the next identical one is concerned.
type Ending uint8

// The endings of a request.
const (
	// EndedAnswered is a whole 2xx reply, one that the client did not want to
	// hear to its end, or no forwarding at all: the next one is a new request.
	EndedAnswered Ending = iota
	// EndedRefused is a 429 or 5xx of the upstream.
	EndedRefused
	// EndedLost is every other failure: an upstream that cannot be reached or
	// cuts its reply short, an error inside the reply.
	EndedLost
	// EndedTimedOut is a client that left before a reply began.
	EndedTimedOut
)

// maxLost is how many retries in a row are retries without a word of the
// upstream that it has failed.
const maxLost = 5

// Attempt is what is known of a request when an identical one arrives. The zero
// value is that of a request that nobody has made before.
type Attempt struct {
	Ending Ending
	Lost   uint8 // how many in a row were lost or timed out
}

// Retry reports whether the next identical request is the transport's retry.
// claimed says that its client calls it so, which it must do after a timeout of
// its own: nothing else tells it from a client that hangs up and asks again.
func (a Attempt) Retry(claimed bool) bool {
	switch a.Ending {
	case EndedRefused:
		return true
	case EndedLost:
		return a.Lost <= maxLost
	case EndedTimedOut:
		return claimed && a.Lost <= maxLost
	}
	return false
}

// Next is the attempt after it, which ended so.
func (a Attempt) Next(e Ending) Attempt {
	next := Attempt{Ending: e}
	if e == EndedLost || e == EndedTimedOut {
		next.Lost = min(a.Lost, maxLost) + 1
	}
	return next
}

// PastReply is what is known of a reply that a later call may continue without
// sending its history again. The zero value is that of one that nobody knows.
type PastReply struct {
	Session string
	Tokens  int64 // of its prompt and of itself, which the provider counts again
}
