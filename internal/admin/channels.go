package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/haltd/haltd"
)

// Alerts is where notices go and what became of them. What breaks a rule is
// CodeInvalid and names the field, a name that is taken CodeExists, an unknown
// id CodeNotFound.
type Alerts interface {
	AlertChannels
	AlertRules
	AlertDeliveries
}

// AlertChannels are the channels, of whatever source. Their settings are
// handed out redacted.
type AlertChannels interface {
	ListChannels(ctx context.Context) ([]haltd.Channel, error)
	// SaveChannel makes a channel, or changes the one with its id: settings
	// that are left out stay. A secret that haltd made for a new channel is
	// in the answer, this once.
	SaveChannel(ctx context.Context, c haltd.Channel) (haltd.Channel, error)
	DeleteChannel(ctx context.Context, id string) error
	// Test sends a test message and tells what the receiver answered.
	Test(ctx context.Context, id string) (answer string, delivered bool, err error)
}

type channelsOutput struct {
	Body struct {
		Channels []haltd.Channel `json:"channels"`
	}
}

type channelInput struct {
	ID string `path:"id" doc:"Id of the channel."`
}

type deleteChannelInput struct {
	Actor
	ID string `path:"id" doc:"Id of the channel."`
}

type createChannelInput struct {
	Actor
	Body struct {
		Name     string          `json:"name" minLength:"1" maxLength:"100" doc:"What you call the channel."`
		Kind     string          `json:"kind" enum:"slack,webhook,email"`
		Enabled  *bool           `json:"enabled,omitempty" doc:"True when left out."`
		Settings json.RawMessage `json:"settings" doc:"slack: url. webhook: url, secret (haltd makes one when it is left out and shows it this once). email: host, port, tls (starttls, implicit or none), username, password, from, to."`
	}
}

// patchChannelInput leaves as it is what is absent or null, single settings
// included.
type patchChannelInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the channel."`
	Body struct {
		Name     *string         `json:"name,omitempty" minLength:"1" maxLength:"100"`
		Enabled  *bool           `json:"enabled,omitempty"`
		Settings json.RawMessage `json:"settings,omitempty" doc:"The settings that change; secrets that are left out stay."`
	}
}

type channelOutput struct{ Body haltd.Channel }

type testChannelOutput struct {
	Body struct {
		Delivered bool   `json:"delivered"`
		Answer    string `json:"answer" doc:"What the receiver said, or why it was not reached."`
	}
}

// registerAlerts adds what is about telling people.
func (s *server) registerAlerts() {
	s.registerChannels()
	s.registerAlertRules()
	s.registerDeliveries()
}

func (s *server) registerChannels() {
	register(s, operation(http.MethodGet, "/v1/channels", "list-channels", "Channels that notices go to, without their secrets"),
		func(ctx context.Context, _ *noInput) (*channelsOutput, error) {
			channels, err := s.deps.Alerts.ListChannels(ctx)
			out := &channelsOutput{}
			out.Body.Channels = make([]haltd.Channel, len(channels))
			for i := range channels {
				out.Body.Channels[i] = channelInUTC(channels[i])
			}
			return out, err
		})
	register(s, operation(http.MethodGet, "/v1/channels/{id}", "get-channel", "One channel"),
		func(ctx context.Context, in *channelInput) (*channelOutput, error) {
			c, err := s.channel(ctx, in.ID)
			return &channelOutput{channelInUTC(c)}, err
		})
	create := operation(http.MethodPost, "/v1/channels", "create-channel", "Make a channel")
	create.DefaultStatus = http.StatusCreated
	register(s, create, s.createChannel)
	register(s, operation(http.MethodPatch, "/v1/channels/{id}", "patch-channel", "Change a channel"), s.patchChannel)
	register(s, operation(http.MethodDelete, "/v1/channels/{id}", "delete-channel", "Delete a channel"),
		func(ctx context.Context, in *deleteChannelInput) (*struct{}, error) {
			c, err := s.channel(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			err = s.deps.Alerts.DeleteChannel(ctx, in.ID)
			s.note(in.by(), haltd.ChangeChannelDeleted, "", c.Name, err)
			return nil, err
		})
	register(s, operation(http.MethodPost, "/v1/channels/{id}/test", "test-channel", "Send a test message to a channel"),
		func(ctx context.Context, in *channelInput) (*testChannelOutput, error) {
			out := &testChannelOutput{}
			var err error
			out.Body.Answer, out.Body.Delivered, err = s.deps.Alerts.Test(ctx, in.ID)
			return out, err
		})
}

func (s *server) createChannel(ctx context.Context, in *createChannelInput) (*channelOutput, error) {
	b := &in.Body
	c, err := s.deps.Alerts.SaveChannel(ctx, haltd.Channel{
		Name: b.Name, Kind: haltd.ChannelKind(b.Kind), Enabled: b.Enabled == nil || *b.Enabled, Settings: b.Settings,
	})
	s.note(in.by(), haltd.ChangeChannelSaved, "", c.Name, err)
	return &channelOutput{channelInUTC(c)}, err
}

func (s *server) patchChannel(ctx context.Context, in *patchChannelInput) (*channelOutput, error) {
	c, err := s.channel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	replace(&c.Name, b.Name)
	replace(&c.Enabled, b.Enabled)
	c.Settings = b.Settings
	c, err = s.deps.Alerts.SaveChannel(ctx, c)
	s.note(in.by(), haltd.ChangeChannelSaved, "", c.Name, err)
	return &channelOutput{channelInUTC(c)}, err
}

func (s *server) channel(ctx context.Context, id string) (haltd.Channel, error) {
	channels, err := s.deps.Alerts.ListChannels(ctx)
	if err != nil {
		return haltd.Channel{}, err
	}
	i := slices.IndexFunc(channels, func(c haltd.Channel) bool { return c.ID == id })
	if i < 0 {
		return haltd.Channel{}, haltd.Errorf(haltd.CodeNotFound, "There is no channel %s", id)
	}
	return channels[i], nil
}

func channelInUTC(c haltd.Channel) haltd.Channel {
	c.CreatedAt, c.UpdatedAt = c.CreatedAt.UTC(), c.UpdatedAt.UTC()
	return c
}
