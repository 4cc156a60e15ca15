package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// sessionWidth shows enough of an id such as visitor-8f14e45f to tell it from
// others that begin alike.
const sessionWidth = 16

// The columns of an event line and their widths; negative ones are aligned
// to the right. Tools and flags have what remains.
var eventColumns = []struct {
	head  string
	width int
}{
	{"TIME", 8}, {"AGENT", 20}, {"SESSION", sessionWidth}, {"MODEL", 24}, {"STATUS", 6},
	{"TOKENS IN/OUT", -17}, {"COST", -9}, {"LATENCY", -8}, {"TOOLS", 16}, {"FLAGS", 0},
}

func eventHead() string {
	cells := make([]string, len(eventColumns))
	for i, c := range eventColumns {
		cells[i] = pad(c.head, c.width)
	}
	return strings.Join(cells, "  ")
}

// eventSentence is what an event says that is no request; "" for others.
func eventSentence(v *haltd.Event) string {
	switch v.Type {
	case haltd.EventCall, haltd.EventPass, haltd.EventBlocked, haltd.EventError:
		return ""
	}
	if a := v.Audit; a != nil {
		text := string(v.Type) + ": " + a.Change + " by " + a.By
		if a.Why != "" {
			text += ": " + a.Why
		}
		return text
	}
	if v.Verdict == nil || v.Verdict.Sentence == "" {
		return ""
	}
	return whatOf(v) + ": " + v.Verdict.Sentence
}

// whatOf is what was done to the agent, in the words of the dashboard.
func whatOf(v *haltd.Event) string {
	action, acted := map[haltd.EventType]haltd.Action{
		haltd.EventKillSwitch: haltd.Kill, haltd.EventHalt: haltd.Halt, haltd.EventSteer: haltd.Steer,
	}[v.Type]
	if v.Verdict.Level == haltd.LevelKill && v.Shadow {
		action, acted = haltd.Kill, true
	}
	if !acted {
		return string(v.Type)
	}
	return strings.ToLower(done(action, v.Shadow))
}

// eventLine is one event for people.
func (e *Env) eventLine(v *haltd.Event) string {
	if text := eventSentence(v); text != "" {
		who := pad(short(clean(dash(v.Agent)), 20), 20) + "  " + pad(short(clean(dash(v.Session)), sessionWidth), sessionWidth)
		tone := yellow
		if (v.Type == haltd.EventKillSwitch || v.Type == haltd.EventHalt) && !v.Shadow {
			tone = red
		}
		return v.Time.Local().Format(time.TimeOnly) + "  " + who + "  " + e.paint(clean(text), tone)
	}
	cells := []string{
		v.Time.Local().Format(time.TimeOnly),
		dash(v.Agent), dash(v.Session), dash(v.Model), statusText(v.Status),
		fmt.Sprintf("%s/%s tok", amount(v.Tokens.Input), amount(v.Tokens.Output)),
		cost(v.Cost), latency(v.Latency), dash(strings.Join(v.ToolCalls, ",")),
		strings.Join(flags(v), " "),
	}
	for i, c := range eventColumns {
		cells[i] = clean(cells[i])
		if c.width != 0 {
			cells[i] = pad(short(cells[i], max(c.width, -c.width)), c.width)
		}
	}
	const status, flagged = 4, 9
	if v.Failed() || v.Blocked {
		cells[status] = e.paint(cells[status], red)
	}
	if v.Blocked || v.Error != "" {
		cells[flagged] = e.paint(cells[flagged], red)
	} else {
		cells[flagged] = e.paint(cells[flagged], yellow)
	}
	return strings.TrimRight(strings.Join(cells, "  "), " ")
}

// flags are what is unusual about an event.
func flags(v *haltd.Event) []string {
	var f []string
	add := func(is bool, flag string) {
		if is {
			f = append(f, flag)
		}
	}
	switch v.Type {
	case haltd.EventCall, haltd.EventBlocked, haltd.EventError: // below
	default:
		f = append(f, string(v.Type))
	}
	add(v.Blocked && v.BlockReason == "", "blocked")
	add(v.BlockReason != "", "blocked:"+string(v.BlockReason))
	add(v.Shadow, "shadow")
	add(v.Retry, "retry")
	add(v.Estimated, "estimated")
	add(v.Unpriced, "default-price")
	add(v.Unread != "", "unread:"+v.Unread)
	add(v.Type == haltd.EventError && v.Error == "", "error")
	add(v.Error != "", "error:"+v.Error)
	return f
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func statusText(status int) string {
	if status == 0 {
		return "-"
	}
	return strconv.Itoa(status)
}

// amount is a number of tokens with three digits that count.
func amount(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

func cost(m haltd.Money) string {
	switch {
	case m == 0:
		return "$0"
	case m < haltd.Dollar/10_000:
		return "<$0.0001"
	case m < haltd.Dollar:
		return fmt.Sprintf("$%.4f", m.Dollars())
	}
	return fmt.Sprintf("$%.2f", m.Dollars())
}

func latency(d haltd.Duration) string {
	switch span := time.Duration(d); {
	case span < time.Second:
		return strconv.FormatInt(span.Milliseconds(), 10) + " ms"
	case span < time.Minute:
		return strconv.FormatFloat(span.Seconds(), 'f', 1, 64) + " s"
	default:
		return strconv.FormatFloat(span.Minutes(), 'f', 1, 64) + " min"
	}
}
