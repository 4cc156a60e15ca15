package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

const (
	noticeBatch = 1000
	pageSize    = 1000
)

// dispatch turns all new notices into deliveries.
func (s *Service) dispatch(ctx context.Context) error {
	if s.deps.Leads != nil && !s.deps.Leads(ctx) {
		return nil
	}
	for {
		notices, err := s.deps.Outbox.Notices(ctx, noticeBatch)
		if err != nil {
			return fmt.Errorf("read notices: %w", err)
		}
		if len(notices) == 0 {
			return nil
		}
		r, err := s.router(ctx)
		if err != nil {
			return err
		}
		held := storms{}
		for _, n := range notices {
			if err := s.dispatchOne(ctx, r, n, held); err != nil {
				return err
			}
		}
		if err := s.tellTogether(ctx, held); err != nil || len(notices) < noticeBatch || held.size() == len(notices) {
			return err
		}
	}
}

// dispatchOne turns a notice into deliveries, unless it is one of a storm: then
// it is held.
func (s *Service) dispatchOne(ctx context.Context, r *router, n haltd.Notice, held storms) error {
	notified, err := s.notified(ctx, n)
	if err != nil {
		return err
	}
	now := s.deps.Clock()
	var deliveries []haltd.Delivery
	for _, channel := range r.route(n) {
		if slices.Contains(notified, channel) {
			continue
		}
		if len(deliveries) == 0 {
			s.price(ctx, &n)
		}
		deliveries = append(deliveries, haltd.Delivery{
			ID: haltd.NewName("dlv_"), Notice: n, Channel: channel,
			Status: haltd.DeliveryPending, NextAt: now, UpdatedAt: now,
		})
	}
	if s.deps.Tell != nil && r.storms(n, deliveries) {
		held[n.Topic] = append(held[n.Topic], n)
		return nil
	}
	if err := s.deps.Outbox.Dispatch(ctx, n.ID, deliveries); err != nil {
		return fmt.Errorf("dispatch notice %s: %w", n.ID, err)
	}
	for _, d := range deliveries {
		r.note(d)
	}
	return nil
}

// notified are the channels that have heard of the notice's incident, or of its
// end, by another notice: each is told once.
func (s *Service) notified(ctx context.Context, n haltd.Notice) ([]string, error) {
	if n.Incident == "" {
		return nil, nil
	}
	earlier, _, err := s.deps.Outbox.Deliveries(ctx, haltd.DeliveryQuery{Incident: n.Incident, Page: haltd.Page{Limit: pageSize}})
	if err != nil {
		return nil, fmt.Errorf("read deliveries of incident %s: %w", n.Incident, err)
	}
	var channels []string
	for _, d := range earlier {
		if d.Notice.Recovery == n.Recovery {
			channels = append(channels, d.Channel)
		}
	}
	return channels, nil
}

// router decides where notices go.
type router struct {
	channels []string // ids of the enabled ones
	rules    []haltd.AlertRule
	last     map[subject]time.Time   // of the newest notice
	recent   map[subject][]time.Time // of those of all agents; without an agent
}

// subject is what a cooldown is about.
type subject struct {
	channel, agent string
	topic          haltd.IncidentKind
}

func (s *Service) router(ctx context.Context) (*router, error) {
	channels, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := s.AlertRules(ctx)
	if err != nil {
		return nil, err
	}
	r := &router{rules: inForce(rules), last: map[subject]time.Time{}, recent: map[subject][]time.Time{}}
	for _, c := range channels {
		if c.Enabled {
			r.channels = append(r.channels, c.ID)
		}
	}
	return r, s.remember(ctx, r)
}

// remember notes the deliveries that a cooldown may count from. They come
// newest first, but only roughly so by the time of their notices: it reads on
// until a whole page is too old.
func (s *Service) remember(ctx context.Context, r *router) error {
	longest := int(stormSpan / time.Second)
	for _, rule := range r.rules {
		longest = max(longest, rule.Cooldown)
	}
	since := s.deps.Clock().Add(-2 * time.Duration(longest) * time.Second)
	cursor, recent := "", true
	for recent {
		page, next, err := s.deps.Outbox.Deliveries(ctx, haltd.DeliveryQuery{Page: haltd.Page{Limit: pageSize, Cursor: cursor}})
		if err != nil {
			return fmt.Errorf("read deliveries for cooldowns: %w", err)
		}
		recent = false
		for _, d := range page {
			r.note(d)
			recent = recent || d.Notice.Time.After(since)
		}
		cursor, recent = next, recent && next != ""
	}
	return nil
}

// note keeps when a channel was told about a subject.
func (r *router) note(d haltd.Delivery) {
	about := subject{d.Channel, d.Notice.Agent, d.Notice.Topic}
	reached := d.Status != haltd.DeliveryDead && d.Status != haltd.DeliveryDismissed
	if !d.Notice.Recovery && reached {
		all := subject{channel: d.Channel, topic: d.Notice.Topic}
		r.recent[all] = append(r.recent[all], d.Notice.Time)
	}
	if !d.Notice.Recovery && reached && d.Notice.Time.After(r.last[about]) {
		r.last[about] = d.Notice.Time
	}
}

// route names the channels of a notice: those that a rule selects and that
// have not just been told. The end of something is always told.
func (r *router) route(n haltd.Notice) []string {
	return slices.DeleteFunc(slices.Clone(r.channels), func(channel string) bool {
		return !slices.ContainsFunc(r.rules, func(rule haltd.AlertRule) bool {
			return matches(rule, n) && selects(rule, channel) && (n.Recovery || !r.cooling(rule, channel, n))
		})
	})
}

func (r *router) cooling(rule haltd.AlertRule, channel string, n haltd.Notice) bool {
	last, ok := r.last[subject{channel, n.Agent, n.Topic}]
	return ok && rule.Cooldown > 0 && n.Time.Before(last.Add(time.Duration(rule.Cooldown)*time.Second))
}
