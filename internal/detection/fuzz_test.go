package detection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/haltd/haltd"
)

// FuzzJudge plays a session that bytes describe, as hostile or as careless
// clients might: rounds of any kind, histories that shrink, are cut, compacted
// or sent twice, requests without a history, and replies that never come.
func FuzzJudge(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(strings.Repeat("\x32\x00\x11\x02\x22", 40)))
	f.Add([]byte(strings.Repeat("\x01\x05\x03\x07\x0a\x0b\x02", 30)))
	f.Add([]byte("\x5a\x08\x20Error: no such file \x00\x7f\x09\x09\x09\xff\xfe\x03\xe2\x82\xac{\"a\":[1,2"))
	f.Add([]byte(strings.Repeat("\x63\x04\x02\x06\x01\x00\x0c\x0d\x0e", 20)))
	for i := range 8 {
		f.Add([]byte(prose(300, i+1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return // long sessions are slow and show nothing else
		}
		newPlay(t, data).run()
	})
}

func TestJudgeOfRandomSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := make([]byte, rapid.IntRange(0, 1200).Draw(t, "length"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		newPlay(t, data).run()
	})
}

// play reads a session off bytes.
type play struct {
	t     tester
	data  []byte
	set   Settings
	st    State
	call  haltd.Call
	now   time.Time
	bytes int // of all texts that were sent
}

func newPlay(t tester, data []byte) *play {
	p := &play{t: t, data: data, set: DefaultSettings(), st: newState(), now: noon}
	p.call.Opening = []haltd.Message{{Text: "Please press the button 3 times."}}
	p.set.WarnAt = []float64{1, 5, 20, 50, 80}[p.next()%5]
	p.set.KillAt = min(99.9, p.set.WarnAt+float64(p.next()%50))
	p.set.RequireCorroboration = p.next()%2 == 0
	return p
}

func (p *play) next() byte {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return b
}

// text is one that comes again, or raw bytes.
func (p *play) text() string {
	b := p.next()
	switch n := int(b % 12); n {
	case 0:
		return ""
	case 1:
		return "Error: permission denied"
	case 2:
		return fmt.Sprintf("%d %% done at 10:%02d:00", b, b%60)
	case 3:
		return `{"status":"pending","id":"` + fmt.Sprint(b) + `"}`
	case 4:
		return "```sh\nsleep " + fmt.Sprint(b%4) + " && make test\n```"
	case 5:
		return strings.Repeat(fresh(int(b)), 1+int(b)%7)
	case 6:
		return "<system-reminder>Step " + fmt.Sprint(b) + "</system-reminder>"
	case 7:
		return "Thank you, great work!"
	case 8:
		return "错误：未找到文件。" + fmt.Sprint(b%3)
	default:
		n = min(int(p.next()), len(p.data))
		raw := string(p.data[:n])
		p.data = p.data[n:]
		return raw
	}
}

func (p *play) arguments() string {
	switch b := p.next(); b % 6 {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(`{"page":%d}`, b)
	case 2:
		return fmt.Sprintf(`{"thought":%q,"x":%d,"request_id":"r%dk%dz%d"}`, fresh(int(b)), b%3, b, b%7, b%9)
	case 3:
		return `{"path":"a.go"}`
	case 4:
		return fmt.Sprintf(`{"text":%q}`, p.text())
	default:
		return p.text()
	}
}

func (p *play) round() haltd.Round {
	var r haltd.Round
	kind := p.next()
	if kind&1 == 1 {
		r.Text = p.text()
	}
	for i := range int(kind>>1) & 3 {
		id := fmt.Sprint("call_", len(p.call.Rounds), "_", i)
		if kind&64 != 0 {
			id = "" // some clients have none
		}
		name := topics[int(p.next())%4]
		r.Calls = append(r.Calls, haltd.ToolCall{ID: id, Name: name, Arguments: p.arguments()})
		if kind&32 == 0 {
			r.Results = append(r.Results, haltd.ToolResult{CallID: id, Name: name, Text: p.text(), Error: kind&16 != 0})
		}
	}
	if kind&8 != 0 || len(r.Calls) == 0 {
		r.Inputs = append(r.Inputs, haltd.Message{Role: haltd.Role(kind >> 7), Text: p.text()})
	}
	return r
}

func (p *play) run() {
	for len(p.data) > 0 {
		p.change()
		p.now = p.now.Add(time.Duration(p.next()) * time.Second / 2)
		now := p.now
		if p.set.KillAt > 99 {
			now = time.Time{} // the clock is unknown
		}
		for _, m := range p.call.Opening {
			p.bytes += len(m.Text)
		}
		v := Judge(p.set, p.st, Read(NewCache(1<<14), &p.call, p.st.Session.Pending()), now)
		p.check(v)
		if p.next()%8 != 7 {
			r := haltd.Reply{Text: "Next."}
			if n := len(p.call.Rounds); n > 0 {
				r.Text, r.Calls = p.call.Rounds[n-1].Text, p.call.Rounds[n-1].Calls
			}
			p.bytes += len(r.Text)
			answer(p.set, p.st, v, &p.call, &r, now)
		}
	}
}

// change is how the next request differs from the last.
func (p *play) change() {
	rounds := &p.call.Rounds
	n := len(*rounds)
	switch b := p.next(); b % 16 {
	case 8: // the oldest rounds are dropped
		*rounds = (*rounds)[n/2:]
	case 9: // old results are
		*rounds = slices.Clone(*rounds)
		for i := range n / 2 {
			(*rounds)[i].Results = []haltd.ToolResult{{Text: "[removed]"}}
		}
	case 10: // the history is compacted
		p.call.Opening = []haltd.Message{{Text: "Please press the button 3 times. So far: " + p.text()}}
		*rounds = nil
	case 11: // sent twice
		*rounds = append(slices.Clone(*rounds), *rounds...)
	case 12: // a request without a history
		p.call.Opening = append(slices.Clone(p.call.Opening), haltd.Message{Text: p.text()})
		*rounds = nil
	case 13: // a person resumes the agent
		p.st.Mark = p.st.Session.MarkHere(Read(testCache, &p.call, p.st.Session.Pending()), p.now)
	case 14: // another session of the same agent
		p.st.SessionID = uint64(b >> 4)
	case 15: // the same request again
	default:
		r := p.round()
		if ago := int(b >> 5); b&4 != 0 && ago < n { // one of the last rounds again
			r = (*rounds)[n-1-ago]
		}
		p.bytes += len(r.Text)
		for i := range r.Calls {
			p.bytes += len(r.Calls[i].Name) + len(r.Calls[i].Arguments)
		}
		for i := range r.Results {
			p.bytes += len(r.Results[i].Text)
		}
		for i := range r.Inputs {
			p.bytes += len(r.Inputs[i].Text)
		}
		*rounds = append(slices.Clone(*rounds), r)
	}
	*rounds = (*rounds)[max(0, len(*rounds)-64):]
}

// check holds what every verdict promises.
func (p *play) check(v Detection) {
	checkReasons(p.t, v)
	highest := haltd.LevelPass
	for i := range v.Signals {
		s := &v.Signals[i]
		highest = max(highest, s.Level)
		if s.Sentence("bot") == "" || math.IsNaN(s.Score) {
			p.t.Errorf("signal %+v says nothing", s)
		}
		if s.Detector != haltd.DetectorStall {
			continue
		}
		if s.Certainty+.05 < s.WarnAt || s.Level == haltd.LevelKill && s.Certainty+.05 < s.KillAt {
			p.t.Errorf("%v at a certainty of %v, the lines are %v and %v", s.Level, s.Certainty, s.WarnAt, s.KillAt)
		}
		if len(s.Rounds) > maxEvidence {
			p.t.Errorf("%d rounds are shown, want %d at most", len(s.Rounds), maxEvidence)
		}
		for _, r := range s.Rounds {
			if !(r.Certainty >= 0 && r.Certainty <= 100) || r.Letter == "" {
				p.t.Errorf("round %+v", r)
			}
		}
	}
	if v.Level != highest {
		p.t.Errorf("level %v, the strictest signal says %v", v.Level, highest)
	}
	// What is kept grows no faster than what is sent: a few lists with at most
	// a word for each byte, and a fixed share for each round.
	rounds := (mostStrands + 1) * (64 + carried)
	if w := p.st.Session.Weight(); w > 4*(mostStrands+1)*p.bytes+128*rounds {
		p.t.Errorf("the session weighs %d after %d bytes", w, p.bytes)
	}
	if n := len(p.st.Session.past); n > maxRounds {
		p.t.Errorf("the session holds %d rounds", n)
	}
	if n := len(p.st.Session.others); n >= mostStrands {
		p.t.Errorf("the session holds %d other conversations", n)
	}
}
