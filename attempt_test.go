package haltd_test

import (
	"testing"

	. "github.com/haltd/haltd"
)

func TestRetry(t *testing.T) {
	const answered, refused, lost, timedOut = EndedAnswered, EndedRefused, EndedLost, EndedTimedOut
	for _, tt := range []struct {
		name            string
		before          []Ending
		unsaid, claimed bool // is the next one a retry, without a claim and with one
	}{
		{"a first request", nil, false, false},
		{"after a 2xx", []Ending{answered}, false, false},
		{"after a 429 or 5xx", []Ending{refused}, true, true},
		{"after many of them", []Ending{refused, refused, refused, refused, refused, refused, refused, refused}, true, true},
		{"after a lost connection", []Ending{lost}, true, true},
		{"after five", []Ending{lost, lost, lost, lost, lost}, true, true},
		{"after six", []Ending{lost, lost, lost, lost, lost, lost}, false, false},
		{"after many", []Ending{lost, lost, lost, lost, lost, lost, lost, lost, lost}, false, false},
		{"after a timeout", []Ending{timedOut}, false, true},
		{"after five of both", []Ending{timedOut, lost, timedOut, lost, timedOut}, false, true},
		{"after six of both", []Ending{timedOut, lost, timedOut, lost, timedOut, timedOut}, false, false},
		{"a word of the upstream begins anew", []Ending{lost, lost, lost, lost, lost, lost, refused, lost}, true, true},
		{"a 2xx begins anew", []Ending{lost, lost, lost, lost, lost, lost, answered, lost}, true, true},
	} {
		var a Attempt
		for _, e := range tt.before {
			a = a.Next(e)
		}
		if a.Retry(false) != tt.unsaid || a.Retry(true) != tt.claimed {
			t.Errorf("%s: retry %v, claimed %v; want %v and %v", tt.name, a.Retry(false), a.Retry(true), tt.unsaid, tt.claimed)
		}
	}
}
