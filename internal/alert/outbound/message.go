// Package outbound is the way from haltd to a receiver, shared by the
// channel adapters: the message, what an adapter is, and a network that
// refuses to reach into the operator's own. It knows no channel and keeps
// nothing.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

// Message is a notice with what is added for its readers.
type Message struct {
	haltd.Notice
	Title  string    // a few plain words
	Next   string    // what it means for the reader; may be empty
	URL    string    // of the incident's page, or of the list of many; may be empty
	Test   bool      // somebody tries the channel; nothing has happened
	SentAt time.Time // when this try began
}

// Spent says what it cost so far, for people; "" where nobody knows it.
func (m *Message) Spent() string {
	if m.CostOf == "" {
		return ""
	}
	if m.Cost > 0 && m.Cost < haltd.Dollar/100 {
		return "less than $0.01 " + m.CostOf
	}
	return fmt.Sprintf("$%.2f %s", m.Cost.Dollars(), m.CostOf)
}

// Link says where URL leads.
func (m *Message) Link() string {
	if m.Incident == "" {
		return "Open incidents"
	}
	return "Open incident"
}

// Settings are what a channel of one kind is set up with. They hold secrets.
type Settings interface {
	// Host is the name or address that the channel calls.
	Host() string
	// Redacted are the settings as people may see them.
	Redacted() any
	// Sender calls the channel through a network.
	Sender(*Network) Sender
}

// Sender brings messages to one channel.
type Sender interface {
	// Send tries once. The answer is the receiver's, fit for people; it may
	// come with an error. Retry says that a later try can end otherwise.
	// An error can be a *WaitError, or wrap ErrGone. Neither the answer nor
	// an error holds a secret of the channel.
	Send(ctx context.Context, m Message) (answer string, retry bool, err error)
}

// ErrGone is a receiver's word that it never wants to be called again.
var ErrGone = errors.New("the receiver wants no more messages")

// WaitError is a failure after which the receiver asks for some rest.
type WaitError struct {
	After time.Duration
	Err   error
}

func (e *WaitError) Error() string { return e.Err.Error() }
func (e *WaitError) Unwrap() error { return e.Err }
