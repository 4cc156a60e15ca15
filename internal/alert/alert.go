// Package alert brings notices to people: it decides by the alert rules which
// channels a notice goes to, and sends what is due, again and again where it
// must. All that has to survive is in the stores; the adapters below it (slack,
// webhook, email) send one message and keep nothing. It never touches the path
// of a request.
package alert

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/email"
	"github.com/haltd/haltd/internal/alert/outbound"
	"github.com/haltd/haltd/internal/alert/slack"
	"github.com/haltd/haltd/internal/alert/webhook"
)

// The sources of channels. Only those of the API can be changed by it.
const (
	fromAPI         = "api"
	fromFile        = "file"
	fromEnvironment = "environment"
)

// environmentSlack is the id of the channel that SLACK_WEBHOOK_URL makes.
const environmentSlack = "env-slack"

// Options are the neighbours of the service.
type Options struct {
	Outbox   haltd.OutboxStore
	Channels haltd.ChannelStore
	Rules    haltd.AlertRuleStore

	SlackURL    string                 // SLACK_WEBHOOK_URL; empty makes no channel
	IncidentURL func(id string) string // the page of an incident, or of all for ""; nil makes no links
	// Spent is what that which a notice is about has cost so far, and of what
	// that is; nil says nothing of it.
	Spent func(ctx context.Context, n haltd.Notice) (cost haltd.Money, of string, err error)
	// Tell writes a notice that stands for others; nil sends each by itself.
	Tell func(ctx context.Context, n haltd.Notice) error
	// Leads says whether this node turns notices into deliveries, for all; nil
	// where there is one. All nodes send.
	Leads   func(context.Context) bool
	Roots   *x509.CertPool // that receivers' certificates are checked against; nil for the system's
	Clock   haltd.Clock    // nil for the system's
	Random  func() float64 // in [0,1), for jitter; nil for a good one
	Metrics Metrics        // may be nil
	Logger  *slog.Logger   // may be nil
}

// Metrics counts the tries of deliveries by the kind of their channel and
// their result: delivered, failed or dead.
type Metrics interface{ AlertDelivery(channel, result string) }

type noMetrics struct{}

func (noMetrics) AlertDelivery(string, string) {}

// Service sends notices, and holds the channels and alert rules that say
// where. It is safe for concurrent use.
type Service struct {
	deps    Options
	tryTime time.Duration // of one try
	wake    chan struct{}

	saving sync.Mutex // holds a change of channels or rules together with its checks

	mu      sync.Mutex
	fixed   []haltd.Channel   // of the environment and the file
	off     map[string]string // why a fixed channel was switched off, by id
	network *outbound.Network
}

// New makes a service without channels of the file; see Configure. Run sends.
func New(o Options) (*Service, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.IncidentURL == nil {
		o.IncidentURL = func(string) string { return "" }
	}
	s := &Service{deps: o, tryTime: 10 * time.Second, wake: make(chan struct{}, 1)}
	return s, s.Configure(nil, nil)
}

// Configure replaces the channels of the file and the hosts, addresses and
// networks besides public ones that channels may reach. After an error
// nothing has changed.
func (s *Service) Configure(channels []haltd.Channel, allow []string) error {
	network, err := outbound.NewNetwork(allow, s.deps.Roots)
	if err != nil {
		return err
	}
	fixed := slices.Clone(channels)
	for i, c := range fixed {
		if _, err := parse(c.Kind, c.Settings); err != nil {
			return fmt.Errorf("alerts.channels: %s: %w", c.Name, err)
		}
		fixed[i].Source = fromFile
	}
	if s.deps.SlackURL != "" {
		c, err := slackOfEnvironment(s.deps.SlackURL)
		if err != nil {
			return err
		}
		fixed = append(fixed, c)
	}
	s.mu.Lock()
	s.fixed, s.network, s.off = fixed, network, map[string]string{}
	s.mu.Unlock()
	s.Wake()
	return nil
}

func slackOfEnvironment(address string) (haltd.Channel, error) {
	settings, err := json.Marshal(slack.Settings{URL: address})
	if err != nil {
		return haltd.Channel{}, fmt.Errorf("SLACK_WEBHOOK_URL: %w", err)
	}
	if err := ParseSettings(haltd.ChannelSlack, settings); err != nil {
		return haltd.Channel{}, haltd.Errorf(haltd.CodeInvalid, "is not the address of a receiver").In("SLACK_WEBHOOK_URL").
			WithFix("Set it to the address of an incoming webhook, which starts with https://hooks.slack.com/, or unset it.")
	}
	return haltd.Channel{
		ID: environmentSlack, Name: "Slack (SLACK_WEBHOOK_URL)", Kind: haltd.ChannelSlack, Enabled: true,
		Source: fromEnvironment, Settings: settings,
	}, nil
}

// ParseSettings checks the settings of a channel. An error is CodeInvalid and
// names the field.
func ParseSettings(kind haltd.ChannelKind, raw json.RawMessage) error {
	_, err := parse(kind, raw)
	return err
}

func parse(kind haltd.ChannelKind, raw json.RawMessage) (settings outbound.Settings, err error) {
	switch kind {
	case haltd.ChannelSlack:
		settings, err = slack.Parse(raw)
	case haltd.ChannelWebhook:
		settings, err = webhook.Parse(raw)
	case haltd.ChannelEmail:
		settings, err = email.Parse(raw)
	default:
		err = haltd.Errorf(haltd.CodeInvalid, "%q is not a kind of channel", kind).In("kind").WithFix("Use slack, webhook or email.")
	}
	if err != nil {
		return nil, err
	}
	return settings, nil
}

// send tries once to bring a message to a channel.
func (s *Service) send(ctx context.Context, c haltd.Channel, m outbound.Message) (answer string, retry bool, err error) {
	settings, err := parse(c.Kind, c.Settings)
	if err != nil {
		return cmp.Or(c.Disabled, err.Error()), false, err
	}
	s.mu.Lock()
	network := s.network
	s.mu.Unlock()
	if c.Source != fromAPI {
		// Whoever writes the file or the environment could allow it as well.
		network = network.Trusting(settings.Host())
	}
	ctx, cancel := context.WithTimeout(ctx, s.tryTime)
	defer cancel()
	m.SentAt = s.deps.Clock()
	answer, retry, err = settings.Sender(network).Send(ctx, m)
	if err != nil && answer == "" {
		answer = err.Error()
	}
	return answer, retry, err
}

// Test sends a test message to a channel, switched off or not, and tells what
// the receiver answered. Delivered is false when it did not take it.
func (s *Service) Test(ctx context.Context, id string) (answer string, delivered bool, err error) {
	c, err := s.channel(ctx, id)
	if err != nil {
		return "", false, err
	}
	answer, _, err = s.send(ctx, c, testMessage(s.deps.Clock()))
	if errors.Is(err, context.Canceled) {
		return "", false, err
	}
	return answer, err == nil, nil
}
