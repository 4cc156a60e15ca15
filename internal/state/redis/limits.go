package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
	"github.com/redis/rueidis"
)

// headLength is how many fields of an answer come before the values.
const headLength = 6

// ask runs the script that answers all. l is nil where no lease is asked for.
func (s *State) ask(ctx context.Context, q state.Question, l *lease) (locked bool, answer []rueidis.RedisMessage, err error) {
	c := &q.Claim
	keys := make([]string, 0, 5+len(c.Draws)+len(c.Shadows)+len(c.Hits))
	args := append(make([]string, 0, 11+5*len(c.Draws)+5*len(c.Shadows)+len(c.Hits)), "0", "", "", "0",
		strconv.Itoa(len(c.Draws)), strconv.Itoa(len(c.Shadows)), strconv.Itoa(len(c.Hits)))
	if l != nil {
		args[0], args[1], args[2] = strconv.Itoa(len(l.values)), l.token, milliseconds(lockTime)
		keys = append(keys, l.lock())
		for i := range l.values {
			keys, args = append(keys, l.values[i].key), append(args, l.values[i].known.version)
		}
	}
	if q.Attempt != 0 {
		args[3] = "1"
		keys = append(keys, s.numberKey("a", q.Attempt))
	}
	for _, d := range c.Draws {
		keys, args = append(keys, s.key("b", d.Key)), appendTerms(args, d.Terms())
	}
	for _, d := range c.Shadows {
		keys, args = append(keys, s.key("bx", d.Key)), appendTerms(args, d.Terms())
	}
	for _, h := range c.Hits {
		keys, args = append(keys, s.key("h", h.Key)), append(args, milliseconds(h.Window))
	}
	r, err := s.run(ctx, openScript, keys, args)
	if err != nil {
		return false, nil, err
	}
	if answer, err = r.ToArray(); err != nil {
		return false, nil, unavailable(err)
	}
	if len(answer) < headLength {
		return false, nil, errAnswer
	}
	n, err := answer[5].AsInt64()
	return n == 1, answer, unavailable(err)
}

var errAnswer = haltd.Errorf(haltd.CodeUnavailable, "Redis answers something else than was asked for")

func appendTerms(args []string, t policy.Terms) []string {
	for _, n := range [...]int64{t.Units, t.CostUS, t.CostPart, t.RoomUS, t.RoomPart} {
		args = append(args, strconv.FormatInt(n, 10))
	}
	return args
}

// readAnswer reads what was answered to all but the lease.
func readAnswer(fields []rueidis.RedisMessage, q state.Question) (a state.Answer, err error) {
	var head [3]int64
	for i := range head {
		if head[i], err = fields[i].AsInt64(); err != nil {
			return a, unavailable(err)
		}
	}
	a.Attempt = attemptOf(int(head[0]))
	a.Limits.Refused, a.Limits.Wait = int(head[1]), time.Duration(head[2])*time.Microsecond
	if len(q.Claim.Shadows) > 0 {
		waits, err := fields[3].AsIntSlice()
		if err != nil || len(waits) != len(q.Claim.Shadows) {
			return a, errAnswer
		}
		for _, us := range waits {
			a.Limits.Shadows = append(a.Limits.Shadows, time.Duration(us)*time.Microsecond)
		}
	}
	if len(q.Claim.Hits) > 0 {
		counts, err := fields[4].AsIntSlice()
		if err != nil {
			return a, errAnswer
		}
		for _, n := range counts {
			a.Limits.Counts = append(a.Limits.Counts, int(n))
		}
	}
	return a, nil
}

// Charge implements the port.
func (s *State) Charge(ctx context.Context, draws []policy.Draw, _ time.Time) error {
	if len(draws) == 0 {
		return nil
	}
	keys, args := make([]string, 0, len(draws)), make([]string, 0, 4*len(draws))
	for _, d := range draws {
		t, back := d.Terms(), "0"
		if d.Cost < 0 {
			back = "1"
		}
		keys = append(keys, s.key("b", d.Key))
		args = append(args, strconv.FormatInt(t.Units, 10), strconv.FormatInt(t.CostUS, 10), strconv.FormatInt(t.CostPart, 10), back)
	}
	_, err := s.run(ctx, chargeScript, keys, args)
	return err
}
