// Package webhook brings messages to any receiver over HTTP, signed as
// Standard Webhooks describes (https://www.standardwebhooks.com). It sends
// one request and keeps nothing.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

const secretPrefix = "whsec_"

// Settings of a channel. The rest of the address after the host counts as a
// secret too: many receivers keep one there.
type Settings struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`

	address *url.URL
	key     []byte
}

// Parse reads and checks settings.
func Parse(raw json.RawMessage) (*Settings, error) {
	s := &Settings{}
	if err := outbound.Decode(raw, s); err != nil {
		return nil, err
	}
	var err error
	if s.address, err = outbound.ParseURL("url", s.URL); err != nil {
		return nil, err
	}
	if s.Secret == "" {
		return nil, haltd.Errorf(haltd.CodeInvalid, "is missing").In("secret").
			WithFix("Give the text that starts with whsec_ and that the receiver checks signatures with.")
	}
	encoded, ok := strings.CutPrefix(s.Secret, secretPrefix)
	s.key, err = base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(s.key) < 24 || len(s.key) > 64 {
		return nil, haltd.Errorf(haltd.CodeInvalid, "is not a Standard Webhooks secret").In("secret").
			WithFix("It is whsec_ and 24 to 64 random bytes in base64.")
	}
	return s, nil
}

// NewSecret makes a secret for a channel that has none.
func NewSecret() string {
	var key [32]byte
	rand.Read(key[:])
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// Host is the name or address that the channel calls.
func (s *Settings) Host() string { return s.address.Hostname() }

// Redacted are the settings as people may see them.
func (s *Settings) Redacted() any {
	return Settings{URL: outbound.ShortURL(s.address), Secret: secretPrefix + "…"}
}

// Sender calls the channel through a network.
func (s *Settings) Sender(n *outbound.Network) outbound.Sender { return &sender{s, n} }

type sender struct {
	*Settings
	network *outbound.Network
}

// Send tries again later after every refusal but 410, as the specification
// asks.
func (s *sender) Send(ctx context.Context, m outbound.Message) (answer string, retry bool, err error) {
	body, err := json.Marshal(event(m))
	if err != nil {
		return "", false, fmt.Errorf("write the message for the webhook: %w", err)
	}
	resp, err := s.network.Post(ctx, s.address, s.sign(m.ID, m.SentAt, body), body, m.SentAt,
		s.Secret, strings.TrimPrefix(s.Secret, secretPrefix))
	switch {
	case err != nil:
		return "", !outbound.Forbidden(err), err
	case resp.OK():
		return resp.Text, false, nil
	case resp.Status == http.StatusGone:
		return resp.Text, false, outbound.ErrGone
	}
	return resp.Text, true, resp.Err()
}

// sign makes the three headers. The identity of a message is its notice's,
// so that a receiver can tell a second try from a second message.
func (s *sender) sign(id string, at time.Time, body []byte) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	h := http.Header{}
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", timestamp)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return h
}

// Event is the body: a type, a time and what happened.
type Event struct {
	Type      string    `json:"type"` // alert.TOPIC, alert.TOPIC.recovered or alert.test
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is the notice, with words and a link for people.
type Data struct {
	haltd.Notice
	Title string `json:"title"`
	Next  string `json:"next,omitempty"` // what it means, and what to do
	URL   string `json:"url,omitempty"`
}

func event(m outbound.Message) Event {
	kind := "alert." + string(m.Topic)
	switch {
	case m.Test:
		kind = "alert.test"
	case m.Recovery:
		kind += ".recovered"
	}
	m.Time = m.Time.UTC()
	return Event{Type: kind, Timestamp: m.Time, Data: Data{Notice: m.Notice, Title: m.Title, Next: m.Next, URL: m.URL}}
}
