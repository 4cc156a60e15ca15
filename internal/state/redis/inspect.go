package redis

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
	"github.com/redis/rueidis"
)

// oldest is the oldest Redis that has all that is used.
var oldest = [2]int{6, 2}

// grant is what the user of haltd may do, as an operator writes it.
const grant = "ACL SETUSER <user> ~" + Prefix + "* +@read +@write +@scripting +@connection +info +time +ping"

// Inspect looks at the Redis that a URL names as haltd would use it: whether it
// answers, and how fast, its version, what the user may do, its clock, and what
// it does when its memory is full. It leaves nothing behind.
func Inspect(ctx context.Context, address string) []haltd.Diagnosis {
	i := &inspection{}
	s, err := New(address, []byte(haltd.NewName("doctor")))
	if err != nil {
		i.failed(err, "")
		return i.checks
	}
	defer s.Close()
	at := "Redis at " + placeOf(address)
	c, err := s.connect()
	if err == nil {
		err = c.Do(ctx, c.B().Ping().Build()).Error()
	}
	if err != nil {
		i.unreachable(at, err)
		return i.checks
	}
	i.latency(ctx, c, at)
	if info, err := c.Do(ctx, c.B().Info().Build()).ToString(); err != nil {
		i.notice("Let the user run INFO: "+grant, "%s does not say its version: %v", at, err)
	} else {
		i.server(fields(info))
	}
	i.permissions(ctx, s)
	i.clock(ctx, c)
	return i.checks
}

type inspection struct{ checks []haltd.Diagnosis }

func (i *inspection) add(outcome, fix, format string, args ...any) {
	i.checks = append(i.checks, haltd.Diagnosis{Outcome: outcome, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (i *inspection) ok(format string, args ...any) { i.add(haltd.DiagnosisOK, "", format, args...) }
func (i *inspection) notice(fix, format string, args ...any) {
	i.add(haltd.DiagnosisNotice, fix, format, args...)
}
func (i *inspection) problem(fix, format string, args ...any) {
	i.add(haltd.DiagnosisProblem, fix, format, args...)
}

func (i *inspection) failed(err error, fix string) {
	if e, ok := err.(*haltd.Error); ok {
		i.problem(e.Fix, "%s", e.Sentence())
		return
	}
	i.problem(fix, "%v", err)
}

// placeOf is where a URL leads, without what opens it.
func placeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "state.url"
	}
	return u.Host + u.Path
}

func (i *inspection) unreachable(at string, err error) {
	text := strings.TrimPrefix(messageOf(err), "Redis: ")
	switch {
	case strings.Contains(text, "NOAUTH"), strings.Contains(text, "WRONGPASS"), strings.Contains(text, "invalid username-password"):
		i.problem("Put its user and password into state.url: redis://user:password@host:6379/0.", "%s does not let haltd in: %s", at, text)
	case strings.Contains(text, "NOPERM"):
		i.problem(grant, "%s does not let haltd's user do what it needs: %s", at, text)
	default:
		i.problem("Start it, or set state.url to where it is; until then every node has windows and limits of its own.", "%s does not answer: %s", at, text)
	}
}

// latency is the fastest of a few answers: the others may have waited for this
// machine.
func (i *inspection) latency(ctx context.Context, c rueidis.Client, at string) {
	best := time.Hour
	for range 5 {
		began := time.Now()
		if err := c.Do(ctx, c.B().Ping().Build()).Error(); err != nil {
			i.unreachable(at, err)
			return
		}
		best = min(best, time.Since(began))
	}
	best = best.Round(10 * time.Microsecond)
	switch {
	case best > state.Patience/2:
		i.problem(fmt.Sprintf("Put it nearer to the nodes: after %v calls go on without it.", state.Patience), "%s answers after %v", at, best)
	case best > 5*time.Millisecond:
		i.notice("Put it nearer to the nodes: every call waits for one answer.", "%s answers after %v", at, best)
	default:
		i.ok("%s answers after %v", at, best)
	}
}

// fields are those of INFO.
func fields(info string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[name] = value
		}
	}
	return all
}

// server looks at what the server says of itself.
func (i *inspection) server(info map[string]string) {
	name, version := "Redis", info["redis_version"]
	if v := info["valkey_version"]; v != "" {
		name, version = "Valkey", v
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	if a < oldest[0] || a == oldest[0] && b < oldest[1] {
		i.problem(fmt.Sprintf("Use Redis %d.%d or newer, or Valkey.", oldest[0], oldest[1]), "%s %s is too old", name, version)
	} else {
		i.ok("%s has version %s", name, version)
	}
	if info["redis_mode"] == "cluster" {
		i.problem(noCluster, "%s runs as a cluster, over which the keys of one call would be spread", name)
	}
	if info["role"] == "slave" || info["role"] == "replica" {
		i.problem("Set state.url to the primary.", "%s is a replica, and takes no writes", name)
	}
	if full := info["maxmemory"]; full != "" && full != "0" && info["maxmemory_policy"] == "noeviction" {
		i.notice("Set maxmemory-policy to allkeys-lru: what haltd keeps there may be lost.", "%s takes no writes when its memory is full", name)
	}
	if evicted := info["evicted_keys"]; evicted != "" && evicted != "0" {
		i.notice("Give it more memory (maxmemory; docs/scaling.md says how much), or a Redis of haltd's own: windows and limits that are evicted start anew, and loops are stopped later.",
			"%s has evicted %s keys because its memory is full", name, evicted)
	}
}

// permissions does once what a call does.
func (i *inspection) permissions(ctx context.Context, s *State) {
	p := state.Place{Agent: "doctor", Session: "doctor"}
	a, err := s.Open(ctx, state.Question{Attempt: 1, Place: &p, Claim: policy.Claim{
		Draws: []policy.Draw{{Key: "doctor", Limit: policy.PerSecond(1000, 1), Cost: 1}},
		Hits:  []policy.Hit{{Key: "doctor", Window: time.Second}},
	}}, time.Now())
	if err == nil {
		err = a.Lease.Commit(ctx)
	}
	if err == nil {
		err = s.Ended(ctx, 1, haltd.EndedAnswered)
	}
	if c, ok := s.connected(); ok == nil && err == nil {
		l := s.newLease(p)
		err = c.Do(ctx, c.B().Del().Key(l.values[0].key, l.values[1].key, s.key("b", "doctor"), s.key("h", "doctor")).Build()).Error()
	}
	if err != nil {
		i.problem("Let the user run scripts and write keys that begin with "+Prefix+": "+grant, "What a call needs cannot be done: %s", strings.TrimPrefix(messageOf(err), "Redis: "))
		return
	}
	i.ok("haltd may run its scripts and write its keys")
}

func messageOf(err error) string {
	if e, ok := err.(*haltd.Error); ok {
		return e.Sentence()
	}
	return err.Error()
}

func (i *inspection) clock(ctx context.Context, c rueidis.Client) {
	asked := time.Now()
	parts, err := c.Do(ctx, c.B().Time().Build()).AsIntSlice()
	answered := time.Now()
	if err != nil || len(parts) != 2 {
		i.notice("Let the user run TIME: "+grant, "Redis does not say what time it is: %v", err)
		return
	}
	i.checks = append(i.checks, haltd.DiagnoseClock("Redis", time.Unix(parts[0], parts[1]*1000), asked, answered))
}
