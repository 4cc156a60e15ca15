package soak

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// ledger is what the soak comes to: lines that each hold or do not.
type ledger struct{ lines []line }

type line struct {
	what, want, got string
	holds           bool
}

func (l *ledger) add(what string, holds bool, want, got any) {
	l.lines = append(l.lines, line{what, fmt.Sprint(want), fmt.Sprint(got), holds})
}

func (l *ledger) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LINE\tEXPECTED\tFOUND\t")
	for _, x := range l.lines {
		mark := "ok"
		if !x.holds {
			mark = "DOES NOT HOLD"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.what, x.want, x.got, mark)
	}
	w.Flush()
	return b.String()
}

func (l *ledger) broken() (all []string) {
	for _, x := range l.lines {
		if !x.holds {
			all = append(all, fmt.Sprintf("%s: expected %s, found %s", x.what, x.want, x.got))
		}
	}
	return all
}

// lostWithin is what a crash may take of the record, besides what was on its
// way.
const lostWithin = time.Second

// Bounds of a haltd that is at rest, and at its height.
const (
	moreGoroutines = 40
	mostMemory     = 768 << 20
)

func (s *run) balance(t *testing.T, idle, end vitals) *ledger {
	t.Helper()
	l := &ledger{}
	s.countFaults(l)
	s.balanceCalls(l)
	events := s.eventsByCall(t, l)
	s.balanceEvents(l, events)
	s.balanceMoney(t, l, events)
	s.balanceKills(t, l)
	l.add("goroutines at rest", end.goroutines <= idle.goroutines+moreGoroutines, fmt.Sprintf("≤ %d", idle.goroutines+moreGoroutines), end.goroutines)
	l.add("memory, MiB", end.memory < mostMemory, fmt.Sprintf("< %d", mostMemory>>20), end.memory>>20)
	l.add("events dropped", s.dropped+end.dropped == 0, 0, s.dropped+end.dropped)
	return l
}

func (s *run) countFaults(l *ledger) {
	count := map[faultKind]int{}
	for _, f := range s.faults {
		count[f.kind]++
	}
	for _, kind := range []faultKind{crash, readOnly, fullDisk} {
		l.add("faults: "+string(kind), true, "-", count[kind])
	}
}

// crashes is how often haltd was ended by force between two times.
func (s *run) crashes(from, to time.Time) (n int) {
	for _, f := range s.faults {
		if f.kind != fullDisk && !to.Before(f.began) && !from.After(f.end) {
			n++
		}
	}
	return n
}

// balanceCalls looks for calls that ended badly though nothing was wrong.
func (s *run) balanceCalls(l *ledger) {
	whole, planned, excused := 0, 0, 0
	var unplanned []string
	for i := range s.calls.all {
		c := &s.calls.all[i]
		refused := c.reason != "" && c.status >= 400
		switch {
		case c.mayFail():
			planned++
		case c.whole && !refused:
			whole++
		case s.excused(c.from, c.to, crash, readOnly), refused && s.excused(c.from, c.to, fullDisk):
			excused++
		case refused && c.manner == isLarge && c.status == http.StatusServiceUnavailable:
			planned++ // no room for its body just now
		default:
			unplanned = append(unplanned, fmt.Sprintf("call %d: %d %s %v", c.number, c.status, cmp.Or(c.said, c.reason), c.err))
		}
	}
	l.add("calls made", len(s.calls.all) > 0, "> 0", len(s.calls.all))
	l.add("  answered in full", whole > 0, "> 0", whole)
	l.add("  cut, left or stalled by plan", true, "-", planned)
	l.add("  lost to a crash or a full disk", true, "-", excused)
	l.add("  lost to nothing", len(unplanned) == 0, 0, few(unplanned))
}

// few is how many there are, and the first of them.
func few(all []string) string {
	if len(all) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, such as %s", len(all), all[0])
}

// eventsByCall reads the whole record.
func (s *run) eventsByCall(t *testing.T, l *ledger) map[int]haltd.Event {
	t.Helper()
	found := map[int]haltd.Event{}
	twice := 0
	for _, e := range s.node.AllEvents(t, "limit=1000") {
		number, ok := numberOf(&e)
		if !ok || e.Type != haltd.EventCall && e.Type != haltd.EventError && e.Type != haltd.EventBlocked {
			continue
		}
		if _, known := found[number]; known {
			twice++
		}
		found[number] = e
	}
	l.add("events of calls", len(found) > 0, "> 0", len(found))
	l.add("  recorded twice", twice == 0, 0, twice)
	return found
}

// numberOf is the number of the call that an event is about.
func numberOf(e *haltd.Event) (int, bool) {
	session, errSession := strconv.Atoi(strings.TrimPrefix(e.Session, "soak-session-"))
	model, errModel := strconv.Atoi(strings.TrimPrefix(e.Model, "soak-"))
	return session*perSession + model, errSession == nil && errModel == nil
}

// balanceEvents looks for calls that the provider has seen and the record has
// not.
func (s *run) balanceEvents(l *ledger, events map[int]haltd.Event) {
	lost := 0
	var missing []string
	for i := range s.calls.all {
		c := &s.calls.all[i]
		got := s.provider.of(c.number)
		if _, recorded := events[c.number]; recorded || got.times == 0 {
			continue
		}
		if s.excused(c.from, c.to.Add(lostWithin), crash, readOnly) {
			lost++
			continue
		}
		missing = append(missing, fmt.Sprintf("call %d (%v), which ended at %s%s", c.number, c.manner, c.to.Format("15:04:05.000"), s.nextFault(c.to)))
	}
	l.add("  lost within a second before a crash", true, "-", lost)
	l.add("  missing", len(missing) == 0, 0, few(missing))
}

// nextFault says how long after a time something failed.
func (s *run) nextFault(at time.Time) string {
	for _, f := range s.faults {
		if f.end.After(at) {
			return fmt.Sprintf(", %v before a %s", f.began.Sub(at).Round(time.Millisecond), f.kind)
		}
	}
	return ""
}

// account is what an agent owes by the provider's books.
type account struct {
	least, most haltd.Money
	from, to    time.Time // of its calls
}

// balanceMoney compares what haltd says was spent with the provider's books:
// to the billionth where a reply was whole at both ends, as a bound where it
// was not.
func (s *run) balanceMoney(t *testing.T, l *ledger, events map[int]haltd.Event) {
	t.Helper()
	var exact, recorded, broken, brokenLeast haltd.Money
	accounts := map[string]account{}
	var wrong, under []string
	for i := range s.calls.all {
		c := &s.calls.all[i]
		got, a := s.provider.of(c.number), accounts[c.agent()]
		if a.from.IsZero() || c.from.Before(a.from) {
			a.from = c.from
		}
		if c.to.After(a.to) {
			a.to = c.to
		}
		accounts[c.agent()] = a
		if c.script.Usage == nil || got.times == 0 {
			continue
		}
		full := cost(*c.script.Usage)
		e, known := events[c.number]
		whole := got.whole && got.times == 1 && c.whole && !c.mayFail()
		switch {
		case whole && known:
			exact += full
			recorded += e.Cost
			if e.Cost != full {
				wrong = append(wrong, fmt.Sprintf("call %d: $%v for $%v", c.number, e.Cost, full))
			}
		case !whole && known && c.status == http.StatusOK:
			least := generated(c, got)
			broken, brokenLeast = broken+e.Cost, brokenLeast+least
			if e.Cost >= least {
				break
			}
			under = append(under, fmt.Sprintf("call %d, which %s, error %q: $%v of $%v at least", c.number, c.manner, e.Error, e.Cost, least))
		}
		if a.most += full; whole {
			a.least += full
		}
		if !whole || !known {
			a.most += haltd.Money(got.times) * reserved(c)
		}
		accounts[c.agent()] = a
	}
	l.add("money of whole replies", recorded == exact, "$"+exact.String(), "$"+recorded.String())
	l.add("  calls with another amount", len(wrong) == 0, 0, few(wrong))
	l.add("money of replies that broke off", broken >= brokenLeast, "≥ $"+brokenLeast.String(), "$"+broken.String())
	l.add("  calls that cost less than was generated", len(under) == 0, 0, few(under))
	s.balanceLedgers(t, l, accounts)
}

// balanceLedgers compares the ledgers of the agents with what they owe.
func (s *run) balanceLedgers(t *testing.T, l *ledger, accounts map[string]account) {
	t.Helper()
	var least, most, all haltd.Money
	var under, over []string
	for agent, a := range accounts {
		spent := s.spent(t, agent)
		crashes := haltd.Money(s.crashes(a.from, a.to))
		if a.most += crashes * lease; agent == largeAgent {
			a.most += crashes * largeBudget / budget * lease
		}
		told := fmt.Sprintf("%s: $%v, expected $%v to $%v", agent, spent, a.least, a.most)
		if spent < a.least {
			under = append(under, told)
		}
		if spent > a.most {
			over = append(over, told)
		}
		if agent != largeAgent {
			least, most, all = least+a.least, most+a.most, all+spent
		}
	}
	l.add(fmt.Sprintf("ledgers of %d agents", len(accounts)), least <= all && all <= most, fmt.Sprintf("$%v to $%v", least, most), "$"+all.String())
	l.add("  that count too little", len(under) == 0, 0, few(under))
	l.add("  that count too much", len(over) == 0, 0, few(over))
}

// generated is what the provider has done at least for a reply that broke off.
// What a client that leaves has not read, and what a reset takes away, haltd
// need not have seen: then it is just more than nothing.
func generated(c *call, got served) haltd.Money {
	if c.script.Cut == nil || c.script.Cut.How != fakellm.CutEOF || c.manner != waits {
		return 1
	}
	// A cut may come after the end, when the provider has told its count.
	return min(cost(*c.script.Usage), cost(haltd.Usage{Output: perWord * int64(got.words)}))
}

// reserved is more than is held back for a call, whose prompt cannot have more
// tokens than bytes.
func reserved(c *call) haltd.Money {
	prompt := int64(4 << 10)
	if c.manner == isLarge {
		prompt = 31 << 20
	}
	return cost(haltd.Usage{Input: prompt, Output: 2 * most})
}

// spent is what an agent has spent this month, as its ledger says.
func (s *run) spent(t *testing.T, agent string) haltd.Money {
	t.Helper()
	status, body, err := s.node.Ask(t.Context(), http.MethodGet, "/v1/agents/"+agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status == http.StatusNotFound {
		return 0 // it had no call in a short run
	}
	for _, p := range decode[struct{ Spending []haltd.PeriodSpending }](t, body).Spending {
		if p.Period == haltd.Monthly {
			return p.Spent.Cost
		}
	}
	t.Fatalf("%s has no month: %s", agent, body)
	return 0
}

// balanceKills looks for every loop that was stopped: still stopped after all
// crashes, with one incident, of which somebody was told.
func (s *run) balanceKills(t *testing.T, l *ledger) {
	t.Helper()
	stopped, incidents, told, twice := 0, 0, 0, 0
	var underCounted []string
	for _, agent := range s.loops.killed {
		if s.isKilled(agent) {
			stopped++
		}
		var page struct{ Incidents []haltd.Incident }
		s.node.Must(t, http.MethodGet, "/v1/incidents?kind=kill_switch&shadow=false&agent="+agent, nil, &page)
		kills := 0
		for _, i := range page.Incidents {
			if i.Action == haltd.Kill {
				kills++
				switch s.notices.messages(i.ID) {
				case 0:
				case 1:
					told++
				default:
					told++
					twice++
				}
			}
		}
		incidents += kills
	}
	for agent, numbers := range s.loops.calls {
		var owed haltd.Money
		for _, number := range numbers {
			if got := s.provider.of(number); got.whole {
				owed += cost(haltd.Usage{Input: 20, Output: 10})
			}
		}
		if spent := s.spent(t, agent); spent < owed {
			underCounted = append(underCounted, fmt.Sprintf("%s: $%v of $%v", agent, spent, owed))
		}
	}
	n := s.loops.begun
	l.add("loops", n > 0, "> 0", n)
	l.add("  killed", len(s.loops.killed) == n, n, len(s.loops.killed))
	l.add("  still killed", stopped == n, n, stopped)
	l.add("  incidents", incidents == n, n, incidents)
	l.add("  notices received", told == n, n, told)
	l.add("  notices under two ids", twice == 0, 0, twice)
	l.add("  ledgers that count too little", len(underCounted) == 0, 0, few(underCounted))
}
