package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/state/memory"
)

var start = time.Unix(1_800_000_000, 0)

// stuck is a conversation in which the same call failed n times.
func stuck(n int) *haltd.Call {
	c := &haltd.Call{Opening: []haltd.Message{{Text: "Read the settings."}}}
	for range n {
		c.Rounds = append(c.Rounds, haltd.Round{
			Calls:   []haltd.ToolCall{{ID: "c", Name: "read_file", Arguments: `{"path":"/etc/x"}`}},
			Results: []haltd.ToolResult{{CallID: "c", Text: "ENOENT: no such file or directory", Error: true}},
		})
	}
	return c
}

func newJudge() *judge.Judge {
	return judge.New(memory.NewDetectors(100, 1e6), detect.DefaultSettings())
}

func verdict(t *testing.T, j *judge.Judge, s judge.Subject, c *haltd.Call, at time.Time) *judge.Verdict {
	t.Helper()
	v, err := j.Judge(context.Background(), s, c, at)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEachLevelIsNewsOnce(t *testing.T) {
	j, s := newJudge(), judge.Subject{Agent: "bot", Session: "a"}
	var news []detect.Level
	for n := 1; n <= 12; n++ {
		if v := verdict(t, j, s, stuck(n), start.Add(time.Duration(n)*time.Second)); v.News {
			news = append(news, v.Level)
		}
	}
	if len(news) != 2 || news[0] != detect.Warn || news[1] != detect.Kill {
		t.Errorf("news of levels %v, want warn and kill once each", news)
	}
}

func TestVerdictSaysWhatHappened(t *testing.T) {
	j := newJudge()
	v := verdict(t, j, judge.Subject{Agent: "billing-bot", Session: "a"}, stuck(8), start)
	var full, brief judge.Record
	if err := json.Unmarshal(v.Full(), &full); err != nil {
		t.Fatal(err)
	}
	if full.Level != detect.Kill || !strings.Contains(full.Sentence, "billing-bot") || !strings.Contains(full.Sentence, "read_file") {
		t.Errorf("level %v, sentence %q; want a kill that names agent and tool", full.Level, full.Sentence)
	}
	if len(full.Signals) == 0 || len(full.Signals[0].Rounds) == 0 {
		t.Errorf("signals %+v, want rounds as evidence", full.Signals)
	}
	if err := json.Unmarshal(v.Brief(), &brief); err != nil || brief.Sentence != full.Sentence || brief.Signals != nil {
		t.Errorf("brief %s (%v), want the sentence without the evidence", v.Brief(), err)
	}
	if quiet := verdict(t, j, judge.Subject{Agent: "other", Session: "b"}, stuck(1), start); quiet.Brief() != nil {
		t.Errorf("a call that says nothing is recorded as %s", quiet.Brief())
	}
}

func TestGrowthIsReportedWithItsSession(t *testing.T) {
	j, s := newJudge(), judge.Subject{Agent: "bot", Session: "ses_8f2k9x3m"}
	var found []detect.Signal
	for i, tokens := range []int64{1000, 1400, 1960, 2744, 3842} {
		at := start.Add(time.Duration(i) * time.Minute)
		v := verdict(t, j, s, &haltd.Call{Model: "m", Opening: []haltd.Message{{Text: fmt.Sprint("page ", i)}}}, at)
		signals, err := v.Observe(context.Background(), &haltd.Reply{Text: fmt.Sprint("summary ", i), Counted: true, Usage: haltd.Usage{Input: tokens}}, at)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, signals...)
	}
	if len(found) != 1 || found[0].Detector != detect.Growth || found[0].Session != s.Session {
		t.Errorf("signals %+v, want growth once, with the session", found)
	}
}

var things = strings.Fields("invoice refund card charge receipt plan was is seems looks gets stays wrong double late missing unpaid unclear")

// Replies come back in any order; each belongs to its own request.
func TestRepliesFindTheirOwnRequest(t *testing.T) {
	j := newJudge()
	ticket := func(i int) (judge.Subject, *haltd.Call) {
		text := fmt.Sprintf("%s %s %s", things[i%6], things[(i/6)%6+6], things[(i*5)%6+12])
		return judge.Subject{Agent: "bot", Session: text}, &haltd.Call{Opening: []haltd.Message{{Text: text}}}
	}
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			s, c := ticket(i)
			v, err := j.Judge(context.Background(), s, c, start)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := v.Observe(context.Background(), &haltd.Reply{Text: "billing"}, start); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, c := ticket(31)
	v := verdict(t, j, s, c, start)
	if v.Parts.Responses != 18 {
		t.Errorf("%d similar responses in a window of 20, want 18: this call has none yet, and the newest is not counted against itself", v.Parts.Responses)
	}
	if v.Level == detect.Kill {
		t.Errorf("a classifier at work was killed: %s", v.Full())
	}
}

type broken struct{}

func (broken) With(context.Context, string, string, bool, time.Time, func(*detect.Window, *detect.Session, *detect.Level)) error {
	return errors.New("out of reach")
}

func TestStateThatCannotBeHadIsAnError(t *testing.T) {
	j := judge.New(broken{}, detect.DefaultSettings())
	if _, err := j.Judge(context.Background(), judge.Subject{}, stuck(1), start); err == nil {
		t.Error("no error")
	}
}

// Visitors who greet alike in sessions of their own are no loop; the same
// greetings from one session, or from sessions that nobody named, are.
func TestAlikeCallsOfDifferentSessions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		subject func(i int) judge.Subject
		want    detect.Level
	}{
		{"named sessions", func(i int) judge.Subject {
			return judge.Subject{Agent: "desk", Session: fmt.Sprint("visitor", i), Named: true}
		}, detect.Warn},
		{"one session", func(int) judge.Subject { return judge.Subject{Agent: "desk", Session: "a", Named: true} }, detect.Kill},
		{"guessed sessions", func(i int) judge.Subject { return judge.Subject{Agent: "desk", Session: fmt.Sprint("ses_", i)} }, detect.Kill},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := newJudge()
			highest := detect.Pass
			for i := range 12 {
				at := start.Add(time.Duration(i) * time.Second)
				call := &haltd.Call{Opening: []haltd.Message{{Text: fmt.Sprintf("Check order #%d, please.", 1000+i)}}}
				v := verdict(t, j, tc.subject(i), call, at)
				highest = max(highest, v.Level)
				if _, err := v.Observe(context.Background(), &haltd.Reply{Text: "I cannot find that order."}, at); err != nil {
					t.Fatal(err)
				}
			}
			if highest != tc.want {
				t.Errorf("highest level %v, want %v", highest, tc.want)
			}
		})
	}
}
