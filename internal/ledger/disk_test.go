package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// saved names a share on the disk.
type saved struct {
	agent  string
	period haltd.Period
	start  int64
	node   string
}

// disk is a store in memory that can fail. Nodes that are not alive have
// crashed.
type disk struct {
	mu     sync.Mutex
	rows   map[saved]haltd.Share
	alive  string
	nodes  int
	record haltd.Spending // what the record knows
	fail   error
	saves  int
}

func newDisk() *disk { return &disk{rows: map[saved]haltd.Share{}} }

// ledger sums up the shares of all nodes. The caller has locked the disk.
func (d *disk) ledger(agent string, p haltd.Period, start time.Time) haltd.Ledger {
	l := haltd.Ledger{Agent: agent, Period: p, Start: start}
	for key, s := range d.rows {
		if key.agent == agent && key.period == p && key.start == start.UnixMicro() {
			l.Spent, l.Held = l.Spent.Add(s.Spent), l.Held.Add(s.Held)
		}
	}
	return l
}

func (d *disk) Ledgers(_ context.Context, agent string, since time.Time) (ls []haltd.Ledger, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.rows {
		if s.Agent == agent && !s.Start.Before(since) {
			ls = append(ls, d.ledger(agent, s.Period, s.Start))
		}
	}
	return ls, nil
}

func (d *disk) OpenLedger(_ context.Context, node string, l haltd.Ledger) (all haltd.Ledger, mine haltd.Share, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all = d.ledger(l.Agent, l.Period, l.Start)
	rest := l.Spent.Sub(all.Spent).Sub(all.Held)
	more := haltd.Spending{Cost: max(rest.Cost, 0), Tokens: max(rest.Tokens, 0)}
	if more != (haltd.Spending{}) {
		base := saved{l.Agent, l.Period, l.Start.UnixMicro(), ""}
		d.rows[base] = haltd.Share{Agent: l.Agent, Period: l.Period, Start: l.Start, Spent: d.rows[base].Spent.Add(more)}
	}
	all.Spent = all.Spent.Add(more)
	return all, d.rows[saved{l.Agent, l.Period, l.Start.UnixMicro(), node}], nil
}

func (d *disk) SaveShares(_ context.Context, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, false, d.fail
	}
	fits = true
	for _, s := range shares {
		before := d.rows[saved{s.Agent, s.Period, s.Start.UnixMicro(), node}]
		l := d.ledger(s.Agent, s.Period, s.Start)
		total := l.Spent.Add(l.Held).Sub(before.Spent).Sub(before.Held).Add(s.Spent).Add(s.Held)
		over := s.Limit.Tokens > 0 && total.Tokens > s.Limit.Tokens || s.Limit.Cost > 0 && total.Cost > s.Limit.Cost
		fits = fits && (!over || s.Alone)
		after = append(after, l)
	}
	if !fits {
		return after, false, nil
	}
	after = nil
	d.saves++
	for _, s := range shares {
		d.rows[saved{s.Agent, s.Period, s.Start.UnixMicro(), node}] = s
		after = append(after, d.ledger(s.Agent, s.Period, s.Start))
	}
	return after, true, nil
}

func (d *disk) ChargeHeld(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, s := range d.rows {
		if key.node != d.alive && key.node != "" {
			base := saved{key.agent, key.period, key.start, ""}
			d.rows[base] = haltd.Share{Agent: s.Agent, Period: s.Period, Start: s.Start, Spent: d.rows[base].Spent.Add(s.Spent).Add(s.Held)}
			delete(d.rows, key)
		}
	}
	return nil
}

// join is the id of a new node, all others having ended.
func (d *disk) join() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nodes++
	d.alive = fmt.Sprint("node", d.nodes)
	return d.alive
}

func (d *disk) writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saves
}

func (d *disk) Spent(context.Context, string, time.Time) (haltd.Spending, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.record, nil
}

func (d *disk) setFail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

// charged is what a crash now would charge for a period.
func (d *disk) charged(p haltd.Period, start time.Time) haltd.Spending {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.ledger("bot", p, start)
	return l.Spent.Add(l.Held)
}
