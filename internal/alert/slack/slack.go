// Package slack brings messages to a Slack incoming webhook, or to a server
// that takes the same. It sends one request and keeps nothing.
package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/haltd/haltd/internal/alert/outbound"
)

// Settings of a channel. The address is the secret.
type Settings struct {
	URL string `json:"url"`

	address *url.URL
}

// Parse reads and checks settings.
func Parse(raw json.RawMessage) (*Settings, error) {
	s := &Settings{}
	if err := outbound.Decode(raw, s); err != nil {
		return nil, err
	}
	var err error
	s.address, err = outbound.ParseURL("url", s.URL)
	return s, err
}

// Host is the name or address that the channel calls.
func (s *Settings) Host() string { return s.address.Hostname() }

// Redacted are the settings as people may see them.
func (s *Settings) Redacted() any { return Settings{URL: outbound.ShortURL(s.address)} }

// Sender calls the channel through a network.
func (s *Settings) Sender(n *outbound.Network) outbound.Sender { return &sender{s, n} }

type sender struct {
	*Settings
	network *outbound.Network
}

// Send tries again later what Slack did not read. Its other refusals (the
// webhook was removed, the conversation archived) stay what they are.
func (s *sender) Send(ctx context.Context, m outbound.Message) (answer string, retry bool, err error) {
	body, err := encode(m)
	if err != nil {
		return "", false, err
	}
	resp, err := s.network.Post(ctx, s.address, nil, body, m.SentAt)
	switch {
	case err != nil:
		return "", !outbound.Forbidden(err), err
	case resp.OK():
		return resp.Text, false, nil
	}
	refused := resp.Status >= 400 && resp.Status <= 499 &&
		resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusRequestTimeout
	return resp.Text, !refused, resp.Err()
}

// encode leaves < and > as they are: they were escaped in Slack's own way.
func encode(m outbound.Message) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(render(m)); err != nil {
		return nil, fmt.Errorf("write the message for Slack: %w", err)
	}
	return b.Bytes(), nil
}
