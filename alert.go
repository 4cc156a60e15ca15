package haltd

import (
	"context"
	"encoding/json"
	"time"
)

// Notice is something that must reach a person. It is written in the
// transaction of what it reports and stays until every delivery has ended.
type Notice struct {
	ID   string    `json:"id"` // the same at every receiver and every try
	Time time.Time `json:"time"`
	// Topic is what an alert rule matches: the kind of an incident, or of
	// the incident that a recovery ends.
	Topic IncidentKind `json:"topic"`
	// Recovery says that something is over: resumed, or a new period.
	Recovery bool   `json:"recovery"`
	Agent    string `json:"agent"`
	Session  string `json:"session,omitempty"`
	Incident string `json:"incident,omitempty"`
	// Action and Scope are those of the incident.
	Action   Action `json:"action"`
	Scope    Scope  `json:"scope,omitempty"`
	Sentence string `json:"sentence"`
	// Tokens are the recent prompt tokens, for growth.
	Tokens []int64 `json:"tokens,omitempty"`
	// Cost is what that which the notice is about has cost when it was
	// dispatched, and CostOf says what that is; empty before.
	Cost   Money  `json:"cost_usd,omitempty"`
	CostOf string `json:"cost_of,omitempty"`
	// Together is how many notices this one stands for, and Agents whom they
	// are about, in a storm.
	Together int      `json:"together,omitempty"`
	Agents   []string `json:"agents,omitempty"`
}

// The topics of notices that are about no incident, or about one that stopped
// nobody.
const (
	TopicShadow   IncidentKind = "shadow"   // the kill switch would have stopped somebody
	TopicUpstream IncidentKind = "upstream" // an upstream fails again and again
	TopicBypass   IncidentKind = "bypass"
	TopicStore    IncidentKind = "store" // the record cannot be written
)

// Channel is a place where notices go.
type Channel struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Kind    ChannelKind `json:"kind"`
	Enabled bool        `json:"enabled"`
	// Disabled says why haltd itself switched the channel off.
	Disabled string `json:"disabled,omitempty"`
	// Source is "api", "file" or "environment"; only the API's can be
	// changed by the API.
	Source string `json:"source"`
	// Settings are those of the kind; they hold secrets and are shown
	// redacted.
	Settings  json.RawMessage `json:"settings"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// ChannelKind names an adapter.
type ChannelKind string

// The kinds of channels.
const (
	ChannelSlack   ChannelKind = "slack"
	ChannelWebhook ChannelKind = "webhook"
	ChannelEmail   ChannelKind = "email"
)

// AlertRule says which notices go to which channels.
type AlertRule struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Enabled  bool           `json:"enabled"`
	Topics   []IncidentKind `json:"topics"`   // empty: all
	Agents   []string       `json:"agents"`   // empty: all
	Channels []string       `json:"channels"` // ids; empty: all
	// Cooldown is how long after a notice about an agent and topic further
	// ones are left out, in seconds.
	Cooldown  int       `json:"cooldown_seconds" minimum:"0" maximum:"604800"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Delivery is one notice on its way to one channel.
type Delivery struct {
	ID        string         `json:"id"`
	Notice    Notice         `json:"notice"`
	Channel   string         `json:"channel"` // id
	Status    DeliveryStatus `json:"status"`
	Attempts  int            `json:"attempts"`
	NextAt    time.Time      `json:"next_at"`
	Answers   []string       `json:"answers,omitempty"` // of the receiver, or how a try failed: one of each try, the newest first
	UpdatedAt time.Time      `json:"updated_at"`
}

// LastAnswer is that of the newest try; "" where there was none.
func (d *Delivery) LastAnswer() string {
	if len(d.Answers) == 0 {
		return ""
	}
	return d.Answers[0]
}

// DeliveryStatus is how far a delivery has come.
type DeliveryStatus string

// The states of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryDead      DeliveryStatus = "dead"      // given up; can be tried again by hand
	DeliveryDismissed DeliveryStatus = "dismissed" // given up, and nobody wants it tried again
)

// AlertStatus is whether somebody would hear of an incident.
type AlertStatus struct {
	// Configured says that some notice would reach an enabled channel.
	Configured bool `json:"configured"`
	Channels   int  `json:"channels"` // enabled
	Dead       int  `json:"dead"`     // deliveries given up, counted up to a thousand
}

// DeliveryQuery selects deliveries, newest first; zero fields select all.
type DeliveryQuery struct {
	Status   DeliveryStatus
	Channel  string
	Incident string
	Page
}

// Claim asks for deliveries to try.
type Claim struct {
	Now   time.Time
	Lease time.Duration // a delivery that is not saved by then is due again
	Limit int
	// Busy is how many deliveries of each channel the caller is trying, and
	// Lanes how many of one channel it tries at most.
	Busy  map[string]int
	Lanes int
}

// OutboxStore keeps notices and their deliveries.
type OutboxStore interface {
	// Notices are those that have not been turned into deliveries, oldest
	// first.
	Notices(ctx context.Context, limit int) ([]Notice, error)
	// Dispatch turns a notice into deliveries, in one transaction; none is
	// fine. From then on the notice is as the deliveries have it. A notice that has been turned already is left alone.
	Dispatch(ctx context.Context, notice string, deliveries []Delivery) error
	// Claim hands out pending deliveries whose time has come, the longest due
	// first, and to nobody else until their lease ends, by the clock of the
	// store: who has one tries it and saves how that ended.
	Claim(ctx context.Context, q Claim) ([]Delivery, error)
	// SaveDelivery writes how a try ended, and ends its lease.
	SaveDelivery(ctx context.Context, d Delivery) error
	Deliveries(ctx context.Context, q DeliveryQuery) (ds []Delivery, next string, err error)
}

// ChannelStore keeps the channels that the API made, their settings sealed. A
// store that nodes share is handed the key from outside; without it saving is
// CodeUnavailable, and what is there is off and says why. An unknown id is
// CodeNotFound.
type ChannelStore interface {
	Channels(ctx context.Context) ([]Channel, error)
	SaveChannel(ctx context.Context, c Channel) error // made, or replaced by id
	DeleteChannel(ctx context.Context, id string) error
}

// AlertRuleStore keeps the alert rules that the API made. An unknown id is
// CodeNotFound.
type AlertRuleStore interface {
	AlertRules(ctx context.Context) ([]AlertRule, error)
	SaveAlertRule(ctx context.Context, r AlertRule) error // made, or replaced by id
	DeleteAlertRule(ctx context.Context, id string) error
}
