package alert

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// A person who gets more than stormSize notices on one topic within stormSpan
// reads none of them. What is more is held for stormHold and told together.
const (
	stormSize = 10
	stormSpan = time.Minute
	stormHold = time.Minute

	mostAgents = 50 // that a notice about many names
)

// storms are the notices that are held, by topic, the oldest first.
type storms map[haltd.IncidentKind][]haltd.Notice

func (s storms) size() (n int) {
	for _, list := range s {
		n += len(list)
	}
	return n
}

// storms reports a notice that would be one too many for a channel. The end of
// something, and what stands for many already, never is.
func (r *router) storms(n haltd.Notice, deliveries []haltd.Delivery) bool {
	if n.Recovery || n.Together > 0 {
		return false
	}
	return slices.ContainsFunc(deliveries, func(d haltd.Delivery) bool {
		within := 0
		for _, at := range r.recent[subject{channel: d.Channel, topic: n.Topic}] {
			if n.Time.Sub(at) < stormSpan { // by its own time: what is held stays held
				within++
			}
		}
		return within >= stormSize
	})
}

// tellTogether makes one notice of those on a topic that have been held long
// enough. It is written before they are let go: a crash in between tells twice,
// but forgets nothing.
func (s *Service) tellTogether(ctx context.Context, held storms) error {
	now := s.deps.Clock()
	for _, list := range held {
		if now.Sub(list[0].Time) < stormHold {
			continue
		}
		if err := s.deps.Tell(ctx, together(list, now)); err != nil {
			return fmt.Errorf("tell of many incidents: %w", err)
		}
		for _, n := range list {
			if err := s.deps.Outbox.Dispatch(ctx, n.ID, nil); err != nil {
				return fmt.Errorf("dispatch notice %s: %w", n.ID, err)
			}
		}
	}
	return nil
}

func together(list []haltd.Notice, now time.Time) haltd.Notice {
	var agents []string
	for _, n := range list {
		if n.Agent != "" && !slices.Contains(agents, n.Agent) {
			agents = append(agents, n.Agent)
		}
	}
	named := agents[:min(len(agents), 5)]
	sentence := fmt.Sprintf("%d further alerts on %s since %s", len(list), strings.ReplaceAll(string(list[0].Topic), "_", " "), list[0].Time.UTC().Format("15:04 UTC"))
	if len(named) > 0 {
		sentence += ", of " + strings.Join(named, ", ")
	}
	if more := len(agents) - len(named); more > 0 {
		sentence += fmt.Sprintf(" and %d other agents", more)
	}
	return haltd.Notice{
		ID: haltd.NewName("msg_"), Time: now, Topic: list[0].Topic, Action: list[0].Action, Sentence: sentence + ".",
		Together: len(list), Agents: agents[:min(len(agents), mostAgents)],
	}
}

// SendNow sends a notice past the outbox, for when the outbox itself is what
// fails: a few tries, and no record of them. Channels and rules that cannot be
// read are done without.
func (s *Service) SendNow(ctx context.Context, n haltd.Notice) {
	channels, err := s.all(ctx)
	if err != nil {
		s.mu.Lock()
		channels = slices.Clone(s.fixed)
		s.mu.Unlock()
	}
	rules, err := s.AlertRules(ctx)
	if err != nil {
		rules = nil
	}
	s.price(ctx, &n)
	for _, c := range channels {
		selected := slices.ContainsFunc(inForce(rules), func(r haltd.AlertRule) bool { return matches(r, n) && selects(r, c.ID) })
		if !c.Enabled || !selected {
			continue
		}
		pause := firstPause
		for range 4 {
			_, retry, err := s.send(ctx, c, s.message(n))
			if err == nil {
				s.deps.Metrics.AlertDelivery(string(c.Kind), "delivered")
				break
			}
			s.deps.Metrics.AlertDelivery(string(c.Kind), "failed")
			s.deps.Logger.Warn("an alert did not arrive", "channel", c.ID, "error", err)
			if !retry {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause *= pauseGrows
		}
	}
}
