package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/haltd/haltd"
)

const incidents = 100

// kind is one of the ways in which an incident comes about.
type kind struct {
	signal haltd.Signal
	kind   haltd.IncidentKind
	action haltd.Action
	reason haltd.Reason
}

func stall(f haltd.Family, outcome string, count int, tools ...string) kind {
	return kind{haltd.Signal{Detector: haltd.DetectorStall, Family: f, Tools: tools, Count: count, Outcome: outcome},
		haltd.IncidentKillSwitch, haltd.Kill, haltd.ReasonLoop}
}

// kinds are all detectors and families, and what is raised without one.
var kinds = []kind{
	stall(haltd.FamilyRepeat, "error", 9, "find_payment"),
	stall(haltd.FamilyCycle, "result", 6, "get_ticket", "search_kb", "update_ticket"),
	stall(haltd.FamilyFutile, "error", 10, "run_sql"),
	stall(haltd.FamilyChatter, "", 12),
	stall(haltd.FamilyRefusal, "error", 8, "apply"),
	stall(haltd.FamilyWaiting, "result", 20, "get_status"),
	{haltd.Signal{Detector: haltd.DetectorSimilarity, Parts: &haltd.ScoreParts{Prompts: 4, Responses: 1, ToolCalls: 4}, Window: 20},
		haltd.IncidentKillSwitch, haltd.Reject, haltd.ReasonLoop},
	{haltd.Signal{Detector: haltd.DetectorSimilarity, Family: haltd.FamilyStreak, Count: 36, Window: 20},
		haltd.IncidentKillSwitch, haltd.Kill, haltd.ReasonLoop},
	{haltd.Signal{Detector: haltd.DetectorExact, Count: 40}, haltd.IncidentKillSwitch, haltd.Reject, haltd.ReasonLoop},
	{haltd.Signal{Detector: haltd.DetectorGrowth, Tokens: []int64{1000, 1400, 1960, 2744}}, haltd.IncidentGrowth, haltd.Warn, haltd.ReasonGrowth},
	{haltd.Signal{}, haltd.IncidentBudgetSoft, haltd.Warn, haltd.ReasonSoft},
	{haltd.Signal{}, haltd.IncidentBudgetHard, haltd.Block, haltd.ReasonBudget},
	{haltd.Signal{}, haltd.IncidentSession, haltd.Block, haltd.ReasonSession},
	{stall(haltd.FamilyRepeat, "error", 5, "find_payment").signal, haltd.IncidentSteer, haltd.Steer, haltd.ReasonLoop},
	{stall(haltd.FamilyRepeat, "error", 7, "find_payment").signal, haltd.IncidentKillSwitch, haltd.Halt, haltd.ReasonLoop},
}

// raised is the change that raises the nth incident. Every fifth is a shadow;
// of the older half all are decided, so that what is open is the newer half.
func raised(n int, began time.Time) haltd.Change {
	k := kinds[n%len(kinds)]
	call := events - 1 - (incidents-n)*501 // the last call before it, each of another agent
	i := &haltd.Incident{
		ID: haltd.NewName("inc_"), Time: at(call, began).Add(apart / 2), Kind: k.kind, Status: haltd.IncidentOpen, Action: k.action,
		Scope: haltd.ScopeAgent, Agent: agentName(call), Session: sessionName(call), Client: "openai-python", Provider: "openai", Model: "gpt-4.1-mini",
		Reason: k.reason, Detector: haltd.Check(k.signal.Detector), Settings: haltd.DefaultPolicy(),
	}
	i.Shadow = n%5 == 4 && k.kind == haltd.IncidentKillSwitch
	i.Settings.KillSwitch.Enabled = !i.Shadow
	i.Settings.Budgets.Day.HardUSD = 60 * haltd.Dollar
	i.Settings.TimeZone = zoneInTheEvening(time.Now())
	i.Verdict = verdict(k, i, call, began)
	i.Sentence = i.Verdict.Sentence
	if n < incidents/2 {
		i.Status, i.ClosedBy = []haltd.IncidentStatus{haltd.IncidentKept, haltd.IncidentResumed, haltd.IncidentFalsePositive}[n%3], "ann"
		decided := i.Time.Add(5 * time.Minute)
		i.ClosedAt = &decided
	}
	change := haltd.Change{Incident: i, Events: []haltd.Event{{
		Time: i.Time, Type: haltd.EventKillSwitch, Agent: i.Agent, Session: i.Session, Client: i.Client, Provider: i.Provider, Model: i.Model,
		Blocked: k.action.Stops() && !i.Shadow, BlockReason: k.reason, Incident: i.ID, Shadow: i.Shadow, Verdict: i.Verdict,
	}}}
	if change.Events[0].Blocked {
		change.Events[0].Status = http.StatusBadRequest
		if k.action == haltd.Reject {
			change.Events[0].Status = http.StatusTooManyRequests
		}
	}
	switch {
	case k.kind != haltd.IncidentKillSwitch || k.action == haltd.Reject:
		change.Events[0].Type = haltd.EventWarning
	case k.action == haltd.Halt:
		change.Events[0].Type, i.Scope = haltd.EventHalt, haltd.ScopeSession
	}
	if stopped := i.Status == haltd.IncidentOpen && k.action == haltd.Kill && !i.Shadow; stopped {
		by := haltd.ByKillSwitch
		change.Standing = &haltd.Standing{Agent: i.Agent, DeactivatedBy: &by, Incident: i.ID, Why: i.Sentence, At: i.Time}
	}
	return change
}

// verdict makes the evidence of an incident: a round a call for stall, the
// matching calls for similarity.
func verdict(k kind, i *haltd.Incident, call int, began time.Time) *haltd.Verdict {
	v := &haltd.Verdict{Version: haltd.VerdictVersion, Action: k.action, Check: i.Detector, Reason: k.reason, Level: haltd.LevelKill}
	s := k.signal
	s.Level, s.Session = haltd.LevelKill, i.Session
	switch s.Detector {
	case haltd.DetectorStall:
		s.Certainty, s.WarnAt, s.KillAt = 99, i.Settings.KillSwitch.WarnAt, i.Settings.KillSwitch.KillAt
		s.Reasons = []haltd.Contribution{{Name: "repeats", Family: s.Family, Text: "the same call got the same answer", Points: 99}}
		for r := range s.Count {
			tool := ""
			if len(s.Tools) > 0 {
				tool = s.Tools[r%len(s.Tools)]
			}
			s.Rounds = append(s.Rounds, haltd.RoundEvidence{Index: r, Letter: "A", Tool: tool, Outcome: s.Outcome,
				Act: fmt.Sprintf("%016x", r%3), Result: "00000000000000aa", Certainty: 99 * float64(r+1) / float64(s.Count), Family: s.Family})
		}
		v.Certainty = s.Certainty
		v.Basis = &haltd.Basis{Rounds: s.Count}
	case haltd.DetectorSimilarity:
		s.Threshold = i.Settings.KillSwitch.Threshold
		if s.Parts != nil {
			s.Score = s.Parts.Score()
			v.Parts = *s.Parts
			for m := range 4 {
				s.Matches = append(s.Matches, haltd.Match{Entry: uint64(m), Time: at(call-(4-m)*agents, began), PromptDistance: 0, ResponseDistance: -1, SameTools: true})
			}
		}
		v.Score = s.Score
		v.Basis = &haltd.Basis{Calls: s.Window}
	case "":
		v.Sentence = bound(k.kind, i)
		v.Check = map[haltd.IncidentKind]haltd.Check{haltd.IncidentSession: haltd.CheckSession}[k.kind]
		if v.Check == "" {
			v.Check = haltd.CheckBudget
		}
		v.Findings = []haltd.Finding{{Check: v.Check, Action: k.action, Reason: k.reason, Sentence: v.Sentence, Name: "day", Period: haltd.Daily,
			Spent: &haltd.Spending{Cost: 60 * haltd.Dollar, Tokens: 9_000_000}}}
		return v
	}
	v.Signals = []haltd.Signal{s}
	v.Sentence = s.Sentence(i.Agent)
	return v
}

func bound(k haltd.IncidentKind, i *haltd.Incident) string {
	switch k {
	case haltd.IncidentBudgetSoft:
		return i.Agent + " has reached its soft daily budget of $60.00."
	case haltd.IncidentBudgetHard:
		return i.Agent + " has reached its hard daily budget of $60.00."
	}
	return fmt.Sprintf("This session of %s has made 200 calls, and session.calls allows 200 calls.", i.Agent)
}

// zoneInTheEvening is a time zone in which it is between six and seven in the
// evening: what was raised in the last hours was raised today, so that no budget's
// period has ended since, whenever the crowd is made.
func zoneInTheEvening(now time.Time) string {
	const evening, east = 18, 14
	ahead := evening - now.UTC().Hour()
	if ahead > east {
		ahead -= 24
	}
	return fmt.Sprintf("Etc/GMT%+d", -ahead) // the sign of these names is the other way round
}
