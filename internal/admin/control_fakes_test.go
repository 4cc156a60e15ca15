package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/haltd/haltd"
)

// fakeControl keeps in memory who may call and notes who changed what.
type fakeControl struct {
	standings map[haltd.Target]haltd.Standing
	overrides map[string]haltd.PolicyOverride
	rules     []haltd.Rule
	bypass    haltd.Bypass
	said      []string // "verb by: why" of every change
	grace     time.Duration
	now       bool
	deleted   []string
	ingested  []haltd.Ingest
	incidents *fakeIncidents
}

func newFakeControl(i *fakeIncidents) *fakeControl {
	return &fakeControl{standings: map[haltd.Target]haltd.Standing{}, overrides: map[string]haltd.PolicyOverride{}, incidents: i}
}

func (f *fakeControl) note(verb, by, why string) { f.said = append(f.said, verb+" by "+by+": "+why) }

func (f *fakeControl) Activate(_ context.Context, t haltd.Target, grace time.Duration, by, why string) (haltd.Standing, error) {
	f.note("activate", by, why)
	f.grace = grace
	s := haltd.Standing{Agent: t.Agent, Session: t.Session, Active: true, By: by, Why: why, At: noon.In(east), ActivatedAt: noon}
	if grace > 0 {
		s.GraceUntil = noon.Add(grace)
	}
	f.standings[t] = s
	return s, nil
}

func (f *fakeControl) Deactivate(_ context.Context, t haltd.Target, now bool, by, why string) (haltd.Standing, error) {
	f.note("deactivate", by, why)
	f.now = now
	manual := haltd.ByManual
	s := haltd.Standing{Agent: t.Agent, Session: t.Session, DeactivatedBy: &manual, By: by, Why: why, At: noon}
	f.standings[t] = s
	return s, nil
}

func (f *fakeControl) Policy(agent string) (haltd.Policy, haltd.PolicyOverride) {
	own := f.overrides[agent]
	return own.Over(filePolicy()), own
}

// filePolicy is what the file says of every agent.
func filePolicy() haltd.Policy {
	p := haltd.DefaultPolicy()
	p.Budgets.Month.HardUSD = 100 * haltd.Dollar
	return p
}

func (f *fakeControl) Override(_ context.Context, agent, by string, change func(*haltd.PolicyOverride) error) (haltd.Policy, error) {
	own := f.overrides[agent]
	if err := change(&own); err != nil {
		return haltd.Policy{}, err
	}
	p := own.Over(filePolicy())
	if err := p.Check(); err != nil {
		return haltd.Policy{}, err
	}
	f.note("override "+agent, by, "")
	f.overrides[agent] = own
	return p, nil
}

func (f *fakeControl) Reopen(ctx context.Context, id, by string) (haltd.Incident, error) {
	return f.Decide(ctx, id, haltd.IncidentOpen, by, "")
}

func (f *fakeControl) Remark(ctx context.Context, r haltd.Remark) (haltd.Incident, error) {
	f.note(fmt.Sprintf("remark seen=%v", r.Seen), r.By, r.Text)
	return f.incidents.Incident(ctx, r.Incident)
}

func (f *fakeControl) Decide(_ context.Context, id string, status haltd.IncidentStatus, by, note string) (haltd.Incident, error) {
	f.note("decide "+string(status), by, note)
	for i := range f.incidents.incidents {
		if inc := &f.incidents.incidents[i]; inc.ID == id {
			inc.Status, inc.ClosedBy, inc.Note, inc.ClosedAt = status, by, note, &noon
			return *inc, nil
		}
	}
	return haltd.Incident{}, haltd.Errorf(haltd.CodeNotFound, "There is no incident %s", id)
}

func (f *fakeControl) Standing(t haltd.Target) (haltd.Standing, bool) {
	if s, ok := f.standings[t]; ok {
		return s, true
	}
	return haltd.Standing{Agent: t.Agent, Session: t.Session, Active: true}, false
}

func (f *fakeControl) Stopped(session string) []string {
	var agents []string
	for t, s := range f.standings {
		if t.Session == session && !s.Active {
			agents = append(agents, t.Agent)
		}
	}
	slices.Sort(agents)
	return agents
}

func (f *fakeControl) Rules() []haltd.Rule { return f.rules }

func (f *fakeControl) SaveRule(_ context.Context, r haltd.Rule, by string) (haltd.Rule, error) {
	f.note("save "+r.Name, by, "")
	r.UpdatedAt = noon
	if r.ID == "" {
		r.ID, r.CreatedAt = "rul_one", noon
		f.rules = append(f.rules, r)
		return r, nil
	}
	i := slices.IndexFunc(f.rules, func(old haltd.Rule) bool { return old.ID == r.ID })
	f.rules[i] = r
	return r, nil
}

func (f *fakeControl) DeleteRule(_ context.Context, id, by string) error {
	f.note("delete "+id, by, "")
	before := len(f.rules)
	if f.rules = slices.DeleteFunc(f.rules, func(r haltd.Rule) bool { return r.ID == id }); len(f.rules) == before {
		return haltd.Errorf(haltd.CodeNotFound, "There is no rule %s", id)
	}
	return nil
}

func (f *fakeControl) Bypass() haltd.Bypass { return f.bypass }

func (f *fakeControl) SetBypass(_ context.Context, on bool, by, why string) (haltd.Bypass, error) {
	f.bypass = haltd.Bypass{On: on, By: by, Why: why, At: noon}
	return f.bypass, nil
}

func (f *fakeControl) KeySpending(context.Context, haltd.Key) ([]haltd.PeriodSpending, error) {
	return nil, nil
}

func (f *fakeControl) Ledgers(context.Context, string, time.Time) ([]haltd.Ledger, error) {
	return nil, nil
}

func (f *fakeControl) Spending(_ context.Context, agent string) ([]haltd.PeriodSpending, error) {
	policy, _ := f.Policy(agent)
	return []haltd.PeriodSpending{{
		Period: haltd.Monthly, Start: noon.AddDate(0, 0, -1).In(east), Resets: noon, Spent: haltd.Spending{Cost: haltd.Dollar, Tokens: 9},
		Budget: policy.Budgets.Month,
	}}, nil
}

func (f *fakeControl) Ingest(_ context.Context, in haltd.Ingest) (haltd.IngestAnswer, error) {
	f.ingested = append(f.ingested, in)
	return haltd.IngestAnswer{Action: haltd.Warn, Reason: haltd.ReasonGrowth, Active: true, Event: 7}, nil
}

func (f *fakeControl) Known(agent string) bool {
	s, _ := f.Standing(haltd.Target{Agent: agent})
	_, own := f.Policy(agent)
	return !s.Active || !own.IsZero()
}

func (f *fakeControl) Window(_ context.Context, agent, session string) (haltd.WindowView, error) {
	return haltd.WindowView{Size: 20, Threshold: 10, Entries: []haltd.WindowEntry{
		{Time: noon.In(east), PromptHash: session, Tools: agent},
	}}, nil
}

func (f *fakeControl) Delete(_ context.Context, agent, by string) error {
	f.note("forget", by, "")
	if agent != "billing-bot" {
		return haltd.Errorf(haltd.CodeNotFound, "There is no agent %s", agent)
	}
	f.deleted = append(f.deleted, agent)
	return nil
}

// fakeIncidents keeps incidents in memory.
type fakeIncidents struct {
	incidents []haltd.Incident
	asked     haltd.IncidentQuery
	scores    []haltd.ScorePoint
	peaks     []haltd.ScorePoint
	peaksFrom time.Time
}

func (f *fakeIncidents) Incidents(_ context.Context, q haltd.IncidentQuery) ([]haltd.Incident, string, error) {
	f.asked = q
	at, _ := strconv.Atoi(q.Cursor)
	rest := f.incidents[min(at, len(f.incidents)):]
	if q.Limit > 0 && len(rest) > q.Limit {
		return rest[:q.Limit], strconv.Itoa(at + q.Limit), nil
	}
	return rest, "", nil
}

func (f *fakeIncidents) Incident(_ context.Context, id string) (haltd.Incident, error) {
	for _, i := range f.incidents {
		if i.ID == id {
			return i, nil
		}
	}
	return haltd.Incident{}, haltd.Errorf(haltd.CodeNotFound, "There is no incident %s", id)
}

func (f *fakeIncidents) IncidentCounts(_ context.Context, q haltd.IncidentQuery) ([]haltd.IncidentCount, error) {
	f.asked = q
	return []haltd.IncidentCount{{Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill, Count: int64(len(f.incidents))}}, nil
}

func (f *fakeIncidents) Scores(context.Context, string, string) ([]haltd.ScorePoint, error) {
	return f.scores, nil
}

func (f *fakeIncidents) Peaks(_ context.Context, q haltd.PeakQuery) ([]haltd.ScorePoint, error) {
	f.peaksFrom = q.Since
	var found []haltd.ScorePoint
	for _, p := range f.peaks {
		if p.Agent == q.Agent && p.Fires(q.Threshold, q.Corroborated) && len(found) < q.Limit {
			found = append(found, p)
		}
	}
	return found, nil
}
