package alert

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

const (
	// pollEvery is how often the stores are asked when nobody wakes the
	// worker: that is when tries are due again.
	pollEvery = time.Second

	lanes        = 16 // tries at the same time
	channelLanes = 2  // of them to one channel, so that a slow one leaves room

	lastMoment = time.Second // for the tries that are on their way at the end

	// tryLease is how long a delivery that is tried is nobody else's: longer
	// than any try takes.
	tryLease = 5 * time.Minute
)

// Wake makes Run look at the outbox now. It is called after a commit with
// notices and does not wait.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, and returns when no try is on its way. A try may
// take lastMoment longer, for its receiver may have the message already; what
// is cut then is sent again by the next Run.
func (s *Service) Run(ctx context.Context) {
	s.tellOff(ctx)
	tries, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	w := newWorker(tries, s)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastMoment, cut) })()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		w.round(ctx)
		select {
		case <-ctx.Done():
			w.running.Wait()
			return
		case <-s.wake:
		case <-ticker.C:
		case t := <-w.ended:
			w.end(t)
		}
	}
}

// tellOff says at the start which channels haltd itself has switched off: who
// reads the log may not look at the dashboard.
func (s *Service) tellOff(ctx context.Context) {
	channels, err := s.all(ctx)
	if err != nil {
		return // the first round tells
	}
	for _, c := range channels {
		if c.Disabled != "" {
			s.deps.Logger.WarnContext(ctx, "a channel gets no alerts", "channel", c.ID, "reason", c.Disabled)
		}
	}
}

// worker is the state of one Run. Only its own goroutine touches it.
type worker struct {
	*Service
	tries   context.Context // ends a moment after Run's own
	running sync.WaitGroup
	ended   chan try
	busy    map[string]bool           // deliveries on their way, by id
	load    map[string]int            // of them, by channel
	unsaved map[string]haltd.Delivery // ended, but the store did not take it
	failing bool                      // the stores were at fault in the last round
}

// try is one attempt that has ended.
type try struct {
	delivery haltd.Delivery
	saved    bool
}

func newWorker(tries context.Context, s *Service) *worker {
	return &worker{
		Service: s, tries: tries, ended: make(chan try, lanes),
		busy: map[string]bool{}, load: map[string]int{}, unsaved: map[string]haltd.Delivery{},
	}
}

// round does what can be done now. Faults of the stores are told once, until
// a round succeeds.
func (w *worker) round(ctx context.Context) {
	err := w.saveUnsaved(ctx)
	if err == nil {
		err = w.dispatch(ctx)
	}
	if err == nil {
		err = w.startDue(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil && !w.failing {
		w.deps.Logger.ErrorContext(ctx, "alerts wait: the outbox cannot be used", "error", err)
	}
	w.failing = err != nil
}

// saveUnsaved writes how tries ended that could not be written then. Until
// that is done they are not tried again: a receiver would get them again and
// again.
func (w *worker) saveUnsaved(ctx context.Context) error {
	for id, d := range w.unsaved {
		if err := w.save(ctx, d); err != nil {
			return err
		}
		delete(w.unsaved, id)
		delete(w.busy, id)
	}
	return nil
}

// startDue starts tries as far as there are lanes, of channels that have one
// free.
func (w *worker) startDue(ctx context.Context) error {
	free := lanes - w.loaded()
	if free <= 0 {
		return nil
	}
	due, err := w.deps.Outbox.Claim(ctx, haltd.Claim{Now: w.deps.Clock(), Lease: tryLease, Limit: free, Busy: w.load, Lanes: channelLanes})
	if err != nil {
		return fmt.Errorf("claim due deliveries: %w", err)
	}
	return w.start(ctx, due)
}

func (w *worker) loaded() int {
	sum := 0
	for _, n := range w.load {
		sum += n
	}
	return sum
}

func (w *worker) start(ctx context.Context, due []haltd.Delivery) error {
	if len(due) == 0 {
		return nil
	}
	channels, err := w.all(ctx)
	if err != nil {
		for _, d := range due { // written as they are, they are due again
			w.busy[d.ID], w.unsaved[d.ID] = true, d
		}
		return err
	}
	byID := map[string]haltd.Channel{}
	for _, c := range channels {
		byID[c.ID] = c
	}
	for _, d := range due {
		if w.busy[d.ID] {
			continue // how it ended is not written yet
		}
		w.busy[d.ID] = true
		w.load[d.Channel]++
		c, known := byID[d.Channel]
		w.running.Go(func() { w.ended <- w.attempt(w.tries, c, known, d) })
	}
	return nil
}

// end frees the lane of a try.
func (w *worker) end(t try) {
	if w.load[t.delivery.Channel]--; w.load[t.delivery.Channel] == 0 {
		delete(w.load, t.delivery.Channel)
	}
	if t.saved {
		delete(w.busy, t.delivery.ID)
	} else {
		w.unsaved[t.delivery.ID] = t.delivery
	}
}
