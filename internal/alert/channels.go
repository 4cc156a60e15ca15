package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/email"
	"github.com/haltd/haltd/internal/alert/outbound"
	"github.com/haltd/haltd/internal/alert/webhook"
)

// all are the channels with their secrets: the environment's and the file's,
// then the API's.
func (s *Service) all(ctx context.Context) ([]haltd.Channel, error) {
	stored, err := s.deps.Channels.Channels(ctx)
	if err != nil {
		return nil, fmt.Errorf("read channels: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	channels := slices.Clone(s.fixed)
	for i := range channels {
		if why, ok := s.off[channels[i].ID]; ok {
			channels[i].Enabled, channels[i].Disabled = false, why
		}
	}
	return append(channels, stored...), nil
}

func (s *Service) channel(ctx context.Context, id string) (haltd.Channel, error) {
	channels, err := s.all(ctx)
	if err != nil {
		return haltd.Channel{}, err
	}
	for _, c := range channels {
		if c.ID == id {
			return c, nil
		}
	}
	return haltd.Channel{}, haltd.Errorf(haltd.CodeNotFound, "There is no channel %s", outbound.Line(id, 100))
}

// ListChannels are all channels, their settings redacted.
func (s *Service) ListChannels(ctx context.Context) ([]haltd.Channel, error) {
	channels, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	for i := range channels {
		if channels[i], err = redacted(channels[i]); err != nil {
			return nil, err
		}
	}
	return channels, nil
}

// redacted shows settings that cannot be read, because another version wrote
// them, as none at all.
func redacted(c haltd.Channel) (haltd.Channel, error) {
	var shown any = struct{}{}
	if settings, err := parse(c.Kind, c.Settings); err == nil {
		shown = settings.Redacted()
	}
	var err error
	c.Settings, err = json.Marshal(shown)
	return c, err
}

// SaveChannel makes a channel, or changes the one that has its id. A change
// takes from c the name, whether it is enabled, and the settings that are in
// it; settings that are left out, or that are sent back as they were shown,
// stay. The settings in the answer are redacted, but for a webhook's secret
// that haltd made: it is shown this once.
func (s *Service) SaveChannel(ctx context.Context, c haltd.Channel) (haltd.Channel, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	if c.Name = outbound.Line(c.Name, 100); c.Name == "" {
		return haltd.Channel{}, haltd.Errorf(haltd.CodeInvalid, "is missing").In("name").WithFix("Say what you call the channel.")
	}
	made, err := s.prepare(ctx, &c)
	if err != nil {
		return haltd.Channel{}, err
	}
	if err := s.checkName(ctx, c); err != nil {
		return haltd.Channel{}, err
	}
	c.UpdatedAt = s.deps.Clock()
	if err := s.deps.Channels.SaveChannel(ctx, c); err != nil {
		return haltd.Channel{}, fmt.Errorf("save channel: %w", err)
	}
	shown, err := redacted(c)
	if err == nil && made != "" {
		shown.Settings, err = merge(shown.Settings, map[string]any{"secret": made})
	}
	return shown, err
}

// prepare completes a channel that is to be saved. It answers the secret that
// it made.
func (s *Service) prepare(ctx context.Context, c *haltd.Channel) (made string, err error) {
	if c.ID == "" {
		c.ID, c.Source, c.CreatedAt, c.Disabled = haltd.NewName("chn_"), fromAPI, s.deps.Clock(), ""
		return enter(c)
	}
	stored, err := s.ofAPI(ctx, c.ID)
	if err != nil {
		return "", err
	}
	if before, unread := parse(stored.Kind, stored.Settings); unread == nil {
		stored.Settings, err = change(stored, before, c.Settings)
	} else {
		stored.Settings, stored.Disabled = c.Settings, ""
		made, err = enter(&stored)
	}
	if err != nil {
		return "", err
	}
	stored.Name = c.Name
	if c.Enabled != stored.Enabled {
		stored.Enabled, stored.Disabled = c.Enabled, ""
	}
	*c = stored
	return made, nil
}

// enter completes a channel whose settings are all given: a new one, or one
// whose settings can no longer be read, because their key is lost or another
// version wrote them.
func enter(c *haltd.Channel) (made string, err error) {
	if len(c.Settings) == 0 {
		return "", haltd.Errorf(haltd.CodeInvalid, "are missing, and there are none that can be read").In("settings").
			WithFix("Enter all settings of the channel, or delete it.")
	}
	if c.Kind == haltd.ChannelWebhook {
		if c.Settings, made, err = withSecret(c.Settings); err != nil {
			return "", err
		}
	}
	return made, ParseSettings(c.Kind, c.Settings)
}

// ofAPI is a channel that the API may change.
func (s *Service) ofAPI(ctx context.Context, id string) (haltd.Channel, error) {
	c, err := s.channel(ctx, id)
	switch {
	case err != nil:
		return haltd.Channel{}, err
	case c.Source == fromEnvironment:
		return haltd.Channel{}, haltd.Errorf(haltd.CodeInvalid, "channel %s comes from the environment", id).WithFix("Change or unset SLACK_WEBHOOK_URL and restart haltd.")
	case c.Source == fromFile:
		return haltd.Channel{}, haltd.Errorf(haltd.CodeInvalid, "channel %s comes from the configuration file", id).WithFix("Change it under alerts.channels and reload haltd.")
	}
	return c, nil
}

func (s *Service) checkName(ctx context.Context, c haltd.Channel) error {
	channels, err := s.all(ctx)
	if err != nil {
		return err
	}
	for _, other := range channels {
		if other.ID != c.ID && strings.EqualFold(other.Name, c.Name) {
			return haltd.Errorf(haltd.CodeExists, "there is a channel %q already", c.Name).In("name").WithFix("Choose another name.")
		}
	}
	return nil
}

// withSecret adds a new secret to the settings of a webhook without one.
func withSecret(raw json.RawMessage) (settings json.RawMessage, made string, err error) {
	var given struct{ Secret string }
	if json.Unmarshal(raw, &given) != nil || given.Secret != "" {
		return raw, "", nil // parsing says what is wrong
	}
	made = webhook.NewSecret()
	settings, err = merge(raw, map[string]any{"secret": made})
	return settings, made, err
}

// change is the settings of a channel with those that are given.
func change(c haltd.Channel, before outbound.Settings, given json.RawMessage) (json.RawMessage, error) {
	if len(given) == 0 {
		return c.Settings, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(given, &fields); err != nil {
		return nil, haltd.Errorf(haltd.CodeInvalid, "is not an object").In("settings").WithFix("Send the settings that change, by name.")
	}
	dropShown(fields, before)
	settings, err := merge(c.Settings, fields)
	if err != nil {
		return nil, err
	}
	after, err := parse(c.Kind, settings)
	if err != nil {
		return nil, err
	}
	return settings, checkPassword(before, after, fields)
}

// dropShown leaves out of a change the secrets that a form sends back as they
// were shown, or empty. A password goes away together with its user name.
func dropShown(fields map[string]any, before outbound.Settings) {
	b, err := json.Marshal(before.Redacted())
	var shown map[string]any
	if err != nil || json.Unmarshal(b, &shown) != nil {
		return
	}
	for _, name := range []string{"url", "secret", "password"} {
		given, ok := fields[name]
		removed := name == "password" && fields["username"] == ""
		if ok && (given == shown[name] || given == nil || given == "") && !removed {
			delete(fields, name)
		}
	}
}

// checkPassword keeps a stored password from being sent to another server
// than the one it was given for.
func checkPassword(before, after outbound.Settings, given map[string]any) error {
	was, ok := before.(*email.Settings)
	is, stays := after.(*email.Settings)
	if _, sent := given["password"]; !ok || !stays || sent || is.Password == "" || is.SameServer(was) {
		return nil
	}
	return haltd.Errorf(haltd.CodeInvalid, "has to be given again for another mail server").In("password").
		WithFix("Send it together with host, port and tls.")
}

// merge replaces fields of an object.
func merge(raw json.RawMessage, fields map[string]any) (json.RawMessage, error) {
	object := map[string]any{}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	for name, value := range fields {
		object[name] = value
	}
	b, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return b, nil
}

// DeleteChannel forgets a channel that no alert rule names.
func (s *Service) DeleteChannel(ctx context.Context, id string) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	if _, err := s.ofAPI(ctx, id); err != nil {
		return err
	}
	rules, err := s.AlertRules(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if slices.Contains(r.Channels, id) {
			return haltd.Errorf(haltd.CodeInvalid, "channel %s is used by the alert rule %q", id, r.Name).
				WithFix("Take it out of the rule, or delete the rule, first.")
		}
	}
	return s.deps.Channels.DeleteChannel(ctx, id)
}

// disable switches off a channel whose receiver is gone.
func (s *Service) disable(ctx context.Context, c haltd.Channel, why string) error {
	if c.Source != fromAPI {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.off[c.ID] = why
		return nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	stored, err := s.ofAPI(ctx, c.ID)
	if err != nil || string(stored.Settings) != string(c.Settings) {
		return err // somebody changed it meanwhile
	}
	stored.Enabled, stored.Disabled, stored.UpdatedAt = false, why, s.deps.Clock()
	return s.deps.Channels.SaveChannel(ctx, stored)
}
