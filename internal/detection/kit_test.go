package detection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rounds that several tests read are read once.
var testCache = NewCache(1 << 20)

func newState() State { return State{Window: &Window{}, Session: &Session{}} }

// judge reads a request and judges it, as the gateway does.
func judge(set Settings, st State, call *haltd.Call, now time.Time) Detection {
	return Judge(set, st, Read(testCache, call, st.Session.Pending()), now)
}

// answer admits a judged request and observes the reply to it.
func answer(set Settings, st State, v Detection, call *haltd.Call, reply *haltd.Reply, now time.Time) []haltd.Signal {
	return Observe(set, st, Admit(set, st, v, now), Source{call.Model, call.System}, ReadReply(reply, true), now)
}

func said(text string) *haltd.Reply { return &haltd.Reply{Text: text, Complete: true} }

func ran(name, arguments string) *haltd.Reply {
	return &haltd.Reply{Calls: []haltd.ToolCall{{Name: name, Arguments: arguments}}, Complete: true}
}

// userCall is a request with the given user messages.
func userCall(texts ...string) *haltd.Call {
	c := &haltd.Call{Model: "m"}
	for i, text := range texts {
		if i == 0 {
			c.Opening = []haltd.Message{{Text: text}}
			continue
		}
		c.Rounds = append(c.Rounds, haltd.Round{Text: fmt.Sprint("answer ", i), Inputs: []haltd.Message{{Text: text}}})
	}
	return c
}

// did is a round with one native call and its result, and what a person or a
// harness says after it.
func did(tool, arguments, result string, inputs ...string) haltd.Round {
	r := haltd.Round{Calls: []haltd.ToolCall{{Name: tool, Arguments: arguments}}, Results: []haltd.ToolResult{{Name: tool, Text: result}}}
	for _, text := range inputs {
		r.Inputs = append(r.Inputs, haltd.Message{Text: text})
	}
	return r
}

// relations are rounds as they compare with those before them. No two of them
// were sent twice: each has an id of its own.
func relations(opening string, rounds ...haltd.Round) []relation {
	for i := range rounds {
		for k := range rounds[i].Calls {
			id := fmt.Sprintf("call_%06d_%d", i, k)
			rounds[i].Calls[k].ID = id
			if k < len(rounds[i].Results) {
				rounds[i].Results[k].CallID = id
			}
		}
	}
	var s Session
	s.follow(Read(testCache, &haltd.Call{Opening: []haltd.Message{{Text: opening}}, Rounds: rounds}, nil), time.Time{})
	var all []relation
	s.compare(model, State{Window: &Window{}}, func(c *comparison) { all = slices.Clone(c.all) })
	return all
}

// plainModel knows one thing: how often the same call with the same result was
// seen. It warns at the fourth equal round and kills at the sixth. Tests of what
// is remembered use it, so that they stand whatever was fitted.
var plainModel = func() *Model {
	m, err := parseModel(fmt.Appendf(nil, `{"features_version":%d,"warn_at":0.5,"kill_at":0.9,"bias":-8,"weights":{"pairs_seen":8.2}}`, FeaturesVersion))
	if err != nil {
		panic(err)
	}
	return m
}()

// plainSettings judge by plainModel alone: similarity keeps out of it.
func plainSettings() Settings {
	set := DefaultSettings()
	set.Model, set.Threshold = plainModel, 1e6
	return set
}

// talk is a conversation that a test writes round by round. Each round is
// judged as the request that first shows it would be.
type talk struct {
	t      *testing.T
	call   haltd.Call
	set    Settings
	st     State
	now    time.Time
	pause  time.Duration // between a reply and the next request
	levels []haltd.Level // of each request
	last   Detection
	killed *Detection // the first that kills
	ids    int
}

func newTalk(t *testing.T, opening string) *talk { return newTalkWith(t, DefaultSettings(), opening) }

func newTalkWith(t *testing.T, set Settings, opening string) *talk {
	k := &talk{t: t, now: noon, pause: 2 * time.Second, set: set, st: newState()}
	k.call = haltd.Call{Model: "m", Opening: []haltd.Message{{Text: opening}}}
	k.judge(nil)
	return k
}

func (k *talk) judge(r *haltd.Round) {
	if r != nil {
		k.call.Rounds = append(k.call.Rounds, *r)
	}
	k.now = k.now.Add(k.pause)
	k.travel()
	k.last = judge(k.set, k.st, &k.call, k.now)
	checkReasons(k.t, k.last)
	k.levels = append(k.levels, k.last.Level)
	if k.last.Level == haltd.LevelKill && k.killed == nil {
		v := k.last
		k.killed = &v
	}
	k.now = k.now.Add(3 * time.Second)
}

// travel writes the state and reads it back, as it is when the next call lands
// on another node: that must not change a verdict.
func (k *talk) travel() {
	w, s := WindowMemory{Window: *k.st.Window}, SessionMemory{Session: *k.st.Session}
	for _, m := range []memory{&w, &s} {
		b, err := m.AppendBinary(nil)
		if err == nil {
			err = m.UnmarshalBinary(b)
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
	*k.st.Window, *k.st.Session = w.Window, s.Session
}

// reply tells the judge what the provider answered to the newest request.
func (k *talk) reply(r haltd.Reply) { answer(k.set, k.st, k.last, &k.call, &r, k.now) }

// does is a round with one native tool call.
func (k *talk) does(tool, arguments, result string, inputs ...string) *talk {
	r := did(tool, arguments, result, inputs...)
	k.ids++
	id := fmt.Sprintf("call_%08d", k.ids)
	r.Calls[0].ID, r.Results[0].CallID = id, id
	k.reply(haltd.Reply{Calls: r.Calls, Complete: true})
	k.judge(&r)
	return k
}

// says is a round of plain text and what the other side answers.
func (k *talk) says(text, answer string) *talk {
	k.reply(haltd.Reply{Text: text, Complete: true})
	k.judge(&haltd.Round{Text: text, Inputs: []haltd.Message{{Text: answer}}})
	return k
}

// bash is a text command in a fenced block and its output.
func (k *talk) bash(command, output string) *talk {
	return k.says("Next step.\n```bash\n"+command+"\n```", output)
}

func (k *talk) highest() haltd.Level { return slices.Max(k.levels) }

// drawn is the conversation as stall sees it.
func drawn(k *talk) string {
	var b strings.Builder
	for _, r := range k.st.Session.Rounds(k.st.Mark) {
		fmt.Fprintf(&b, "%3d %-3s %-12.12s %-12s %5.1f %% %s\n", r.Index, r.Letter, r.Tool, r.Outcome, r.Certainty, r.Family)
	}
	return b.String()
}

// tester is what reports a broken promise: of testing, or of rapid.
type tester interface {
	Helper()
	Errorf(string, ...any)
}

// checkReasons holds what every signal of stall promises: a certainty within
// its bounds, and reasons that add up to it.
func checkReasons(t tester, v Detection) {
	t.Helper()
	if !(v.Certainty >= 0 && v.Certainty <= 100) {
		t.Errorf("certainty %v, want it from 0 to 100", v.Certainty)
	}
	for i := range v.Signals {
		s := &v.Signals[i]
		if s.Detector != haltd.DetectorStall {
			continue
		}
		sum := 0
		for _, r := range s.Reasons {
			sum += r.Points
		}
		// The certainty is told with one decimal, so that a half may have been
		// a little less.
		if off := float64(sum) - s.Certainty; off > .55 || off < -.55 {
			t.Errorf("reasons add up to %d, the certainty is %v: %+v", sum, s.Certainty, s.Reasons)
		}
	}
}

// topics gives each round of a long conversation words of its own.
var topics = strings.Fields(`amber badger cedar dolphin ember falcon garnet heron indigo jasper kestrel lotus maple nectar otter
	pebble quartz raven saffron thistle umber violet walnut xenon yarrow zephyr acorn birch cobalt drift elm fjord glade hazel`)

// fresh is a text that shares no content word with another of a different n.
func fresh(n int) string {
	a, b, c := topics[n%len(topics)], topics[(n*7+3)%len(topics)], topics[(n*11+5)%len(topics)]
	return fmt.Sprintf("%s%d_%s holds %s%d and returns %s_%d to the %s%d caller", a, n, b, c, n, b, n, a, n*3)
}

func ptr[T any](v T) *T { return &v }

// relationsAfter are the relations of rounds that came one by one, each after a
// pause of the client.
func relationsAfter(pause time.Duration, opening string, rounds ...haltd.Round) (all []relation) {
	var s Session
	now := noon
	for i := range rounds {
		s.replied = now
		now = now.Add(pause)
		s.follow(Read(testCache, &haltd.Call{Opening: []haltd.Message{{Text: opening}}, Rounds: rounds[:i+1]}, nil), now)
	}
	s.compare(model, State{Window: &Window{}}, func(c *comparison) { all = slices.Clone(c.all) })
	return all
}
