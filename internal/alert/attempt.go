package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

const (
	// The tries of a delivery go from a moment's hiccup to the outage of
	// half a day: after 1 s, 5 s, 25 s and so on, five hours in all.
	mostAttempts = 8
	firstPause   = time.Second
	pauseGrows   = 5

	longestPause = 24 * time.Hour // that a receiver can ask for
	answersBytes = 4 << 10        // of all tries that are kept
)

// attempt tries a delivery once and writes how it ended. A try that ended
// because haltd stops has not ended: it is made again.
func (s *Service) attempt(ctx context.Context, c haltd.Channel, known bool, d haltd.Delivery) try {
	switch {
	case !known:
		s.giveUp(&d, "The channel does not exist any more")
	case !c.Enabled:
		s.giveUp(&d, "The channel is off")
	default:
		answer, retry, err := s.send(ctx, c, s.message(d.Notice))
		if err != nil && ctx.Err() != nil {
			// Saved as it was, it is due again for whoever comes next.
			return try{d, s.save(context.WithoutCancel(ctx), d) == nil}
		}
		d.Attempts++
		s.judge(ctx, c, &d, answer, retry, err)
	}
	s.deps.Metrics.AlertDelivery(kindOf(c), result(d))
	s.logFailure(ctx, d)
	// What has been sent is written even when haltd stops just now.
	return try{d, s.save(context.WithoutCancel(ctx), d) == nil}
}

// save writes a delivery that has not been deleted meanwhile.
func (s *Service) save(ctx context.Context, d haltd.Delivery) error {
	if err := s.deps.Outbox.SaveDelivery(ctx, d); err != nil && haltd.ErrorCode(err) != haltd.CodeNotFound {
		return fmt.Errorf("save delivery %s: %w", d.ID, err)
	}
	return nil
}

// judge decides what becomes of a delivery after a try.
func (s *Service) judge(ctx context.Context, c haltd.Channel, d *haltd.Delivery, answer string, retry bool, err error) {
	d.UpdatedAt = s.deps.Clock()
	d.Answers = withAnswer(d.Answers, answer)
	switch {
	case err == nil:
		d.Status = haltd.DeliveryDelivered
	case !retry || d.Attempts >= mostAttempts:
		d.Status = haltd.DeliveryDead
	default:
		d.NextAt = d.UpdatedAt.Add(s.pause(d.Attempts, err))
	}
	if !errors.Is(err, outbound.ErrGone) {
		return
	}
	if err := s.disable(context.WithoutCancel(ctx), c, fmt.Sprintf("The receiver wants no more messages (%s)", answer)); err != nil {
		s.deps.Logger.ErrorContext(ctx, "a channel whose receiver is gone stays on", "channel", c.ID, "error", err)
	}
}

// pause is the time to the next try: longer each time, a little different for
// each delivery, and never shorter than the receiver asks for.
func (s *Service) pause(attempts int, err error) time.Duration {
	pause := firstPause
	for range attempts - 1 {
		pause *= pauseGrows
	}
	pause = time.Duration(float64(pause) * (0.8 + 0.4*s.deps.Random()))
	var wait *outbound.WaitError
	if errors.As(err, &wait) {
		pause = max(pause, min(wait.After, longestPause))
	}
	return pause
}

func (s *Service) giveUp(d *haltd.Delivery, why string) {
	d.UpdatedAt, d.Status, d.Answers = s.deps.Clock(), haltd.DeliveryDead, withAnswer(d.Answers, why)
}

// withAnswer puts the newest answer before the earlier ones, of which the
// oldest are forgotten when there are too many.
func withAnswer(earlier []string, newest string) []string {
	all := append([]string{newest}, earlier...)
	bytes := 0
	for i, answer := range all {
		if bytes += len(answer); bytes > answersBytes {
			return all[:i]
		}
	}
	return all
}

// kindOf bounds the label of a metric.
func kindOf(c haltd.Channel) string {
	if c.Kind == "" {
		return "unknown"
	}
	return string(c.Kind)
}

func result(d haltd.Delivery) string {
	switch d.Status {
	case haltd.DeliveryDelivered:
		return "delivered"
	case haltd.DeliveryDead:
		return "dead"
	}
	return "failed"
}

// logFailure says in the log that a delivery failed, where it did.
func (s *Service) logFailure(ctx context.Context, d haltd.Delivery) {
	newest := d.LastAnswer()
	switch d.Status {
	case haltd.DeliveryDead:
		s.deps.Logger.ErrorContext(ctx, "an alert was given up", "agent", d.Notice.Agent, "channel", d.Channel, "count", d.Attempts, "error", newest)
	case haltd.DeliveryPending:
		s.deps.Logger.WarnContext(ctx, "an alert was not delivered and is tried again", "agent", d.Notice.Agent, "channel", d.Channel, "count", d.Attempts, "error", newest)
	}
}

// Deliveries are what the outbox knows, newest first.
func (s *Service) Deliveries(ctx context.Context, q haltd.DeliveryQuery) ([]haltd.Delivery, string, error) {
	return s.deps.Outbox.Deliveries(ctx, q)
}

// Retry makes a dead delivery pending again, with all its tries before it.
func (s *Service) Retry(ctx context.Context, id string) (haltd.Delivery, error) {
	d, err := s.changeDead(ctx, id, haltd.DeliveryPending)
	if err == nil {
		s.Wake()
	}
	return d, err
}

// Dismiss takes a dead delivery off the list of those that wait for somebody,
// for example because its channel is no more.
func (s *Service) Dismiss(ctx context.Context, id string) (haltd.Delivery, error) {
	return s.changeDead(ctx, id, haltd.DeliveryDismissed)
}

func (s *Service) changeDead(ctx context.Context, id string, to haltd.DeliveryStatus) (haltd.Delivery, error) {
	d, err := s.dead(ctx, id)
	if err != nil {
		return haltd.Delivery{}, err
	}
	now := s.deps.Clock()
	d.Status, d.NextAt, d.UpdatedAt = to, now, now
	if to == haltd.DeliveryPending {
		d.Attempts = 0
	}
	return d, s.save(ctx, d)
}

// dead finds a dead delivery.
func (s *Service) dead(ctx context.Context, id string) (haltd.Delivery, error) {
	for cursor := ""; ; {
		page, next, err := s.deps.Outbox.Deliveries(ctx, haltd.DeliveryQuery{
			Status: haltd.DeliveryDead, Page: haltd.Page{Limit: pageSize, Cursor: cursor},
		})
		if err != nil {
			return haltd.Delivery{}, fmt.Errorf("find delivery: %w", err)
		}
		for _, d := range page {
			if d.ID == id {
				return d, nil
			}
		}
		if cursor = next; next == "" {
			return haltd.Delivery{}, haltd.Errorf(haltd.CodeNotFound, "There is no delivery %s that was given up", outbound.Line(id, 100)).
				WithFix("GET /v1/deliveries?status=dead lists those that were given up.")
		}
	}
}
