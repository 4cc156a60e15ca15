package control

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// recoverEvery is how often spent budgets are checked for a new period.
const recoverEvery = 15 * time.Second

func (c *Control) recoverPeriodically(ctx context.Context) {
	tick := time.NewTicker(recoverEvery)
	defer tick.Stop()
	for { // at once: a period may have ended while haltd did not run
		if c.leads(ctx) {
			if err := c.RecoverBudgets(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("spent budgets not checked", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// RecoverBudgets closes the incidents of budgets whose period is over. A hard
// budget stopped its agent, so its end is notified too. The store says which
// incidents are open, so that a restart misses none.
func (c *Control) RecoverBudgets(ctx context.Context) error {
	for _, kind := range []haltd.IncidentKind{haltd.IncidentBudgetSoft, haltd.IncidentBudgetHard} {
		q := haltd.IncidentQuery{Kind: kind, Status: haltd.IncidentOpen, Page: haltd.Page{Limit: 1000}}
		for {
			open, next, err := c.incidents.Incidents(ctx, q)
			if err != nil {
				return err
			}
			for i := range open {
				if err := c.recoverBudget(ctx, &open[i]); err != nil {
					return err
				}
			}
			if q.Cursor = next; next == "" {
				break
			}
		}
	}
	return nil
}

func (c *Control) recoverBudget(ctx context.Context, i *haltd.Incident) error {
	now, period := c.now(), periodOf(i)
	if period == "" || now.Before(policy.PeriodEnd(period, zone(i.Settings.TimeZone), i.Time)) {
		return nil
	}
	unlock, err := c.lock(ctx, incidentLock+i.ID)
	if err != nil {
		return fmt.Errorf("close incident %s: %w", i.ID, err)
	}
	defer unlock()
	// A person may have decided since it was listed: that stays.
	if now, err := c.incidents.Incident(ctx, i.ID); err != nil || now.Status != haltd.IncidentOpen {
		return err
	}
	sentence := fmt.Sprintf("A new %s has begun: %s may spend its budget again.", period, i.Agent)
	change := haltd.Change{
		Closing: &haltd.Closing{ID: i.ID, Status: haltd.IncidentResumed, By: "haltd", Note: sentence, At: now},
		Events: []haltd.Event{audit(now, haltd.Target{Agent: i.Agent}, haltd.Audit{
			Change: haltd.ChangeIncidentClosed, By: "haltd", Why: sentence, Incident: i.ID, Status: haltd.IncidentResumed,
		})},
	}
	if i.Kind == haltd.IncidentBudgetHard {
		n := NoticeOf(i)
		n.Time, n.Recovery, n.Sentence = now, true, sentence
		change.Notices = []haltd.Notice{n}
	}
	return c.commit(ctx, change, nil)
}

// periodOf is the period whose budget was spent, as the verdict names it.
func periodOf(i *haltd.Incident) haltd.Period {
	if f := i.Verdict.Budget(); f != nil {
		return f.Period
	}
	return ""
}
