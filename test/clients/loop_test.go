package clients

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// stuck is a model that calls the same tool for ever.
var stuck = []fakellm.Rule{{Script: fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: toolName, Arguments: arguments}}, Usage: &usage}}}

// TestLoopingAgent has an agent of each SDK that does what its model says, and
// a model that says the same for ever. Its kill is one error and no further
// request. When a person resumes it, the loop in its history does not stop it
// again; when it goes on looping, it is killed again.
func TestLoopingAgent(t *testing.T) {
	for _, k := range sdks {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", k.name, stream), func(t *testing.T) {
				t.Parallel()
				s := newStand(t)
				l := &looper{t: t, stand: s, agent: "looper"}
				l.killSwitch(map[string]any{"enabled": true})
				s.script(stuck)
				got := k.talk(t.Context(), s.Gateway+"/agents/"+l.agent+k.agentPath, ask{
					model: model, key: "sk-client-key", prompt: "How is the weather in Lübeck?", tools: true, stream: stream, retry: true,
					header:    map[string]string{"X-Session-Id": "run"},
					onFailure: l.failed,
				})
				if got.Failed || got.Text != text || l.kills != 2 {
					t.Errorf("killed %d times, then %+v; want two kills and then the answer", l.kills, got)
				}
				l.recorded(haltd.EventCall, l.rounds+1)
				l.recorded(haltd.EventKillSwitch, 2)
				l.recorded(haltd.EventBlocked, 0)
				l.recorded(haltd.EventError, 0)
			})
		}
	}
}

// looper watches the looping agent of one SDK.
type looper struct {
	*stand
	t     *testing.T
	agent string

	kills  int
	rounds int // that reached the provider
}

// failed looks at a failure, resumes the agent and lets it go on; after the
// second one the model comes to its senses.
func (l *looper) failed(got outcome) bool {
	l.kills++
	said := got.Message + got.Body
	if got.Status != http.StatusBadRequest || !strings.Contains(said, "haltd agents resume "+l.agent) {
		l.t.Errorf("kill %d: status %d, %s; want 400 and how to resume", l.kills, got.Status, said)
	}
	fresh := len(l.upstream(l.t, 0)) - l.rounds
	if fresh < 3 || fresh > 12 {
		l.t.Errorf("kill %d came after %d rounds, want 3 to 12", l.kills, fresh)
	}
	l.rounds += fresh
	if by := l.deactivatedBy(); by != haltd.ByKillSwitch {
		l.t.Errorf("kill %d: the agent is deactivated by %q, want kill_switch", l.kills, by)
	}
	if l.kills == 2 {
		l.script([]fakellm.Rule{{Script: fakellm.Script{Text: text, Usage: &usage}}})
	}
	l.Must(l.t, http.MethodPost, "/v1/agents/"+l.agent+"/activate", nil, nil)
	return l.kills <= 2 && !l.t.Failed()
}

func (l *looper) killSwitch(settings map[string]any) {
	l.Must(l.t, http.MethodPatch, "/v1/agents/"+l.agent+"/kill-switch", settings, nil)
}

func (l *looper) deactivatedBy() haltd.DeactivatedBy {
	var agent haltd.Agent
	l.Must(l.t, http.MethodGet, "/v1/agents/"+l.agent, nil, &agent)
	if agent.DeactivatedBy == nil {
		return ""
	}
	return *agent.DeactivatedBy
}

// eventsOf are those of a type that are in the record now.
func (l *looper) eventsOf(kind haltd.EventType) []haltd.Event {
	l.t.Helper()
	events, _, err := l.EventPage(l.t.Context(), "limit=100&agent="+l.agent+"&type="+string(kind), "")
	if err != nil {
		l.t.Fatal(err)
	}
	return events
}

// recorded wants exactly n events of a type. Whoever asks for the calls first
// knows that what came before them is there, too.
func (l *looper) recorded(kind haltd.EventType, n int) {
	l.t.Helper()
	l.Eventually(l.t, fmt.Sprintf("showing %d events of type %s", n, kind), func() bool {
		events := l.eventsOf(kind)
		if len(events) > n {
			l.t.Fatalf("there are %d events of type %s, want %d: %+v", len(events), kind, n, events)
		}
		return len(events) == n
	})
}

// TestRejectedAgent has the same agents rejected instead, with the word that
// they may come again in a second. An SDK that waits as long as it is asked to
// gets through: its agent is slowed down and not stopped. One that does not
// wait gets the same answer until it gives up.
func TestRejectedAgent(t *testing.T) {
	for _, k := range sdks {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			l := &looper{t: t, stand: s, agent: "looper"}
			l.killSwitch(map[string]any{"enabled": true, "similarity": "reject", "stall": "reject", "retry_after_seconds": 1})
			atFirst := stuck[0]
			atFirst.Times = 8
			s.script([]fakellm.Rule{atFirst, {Script: fakellm.Script{Text: text, Usage: &usage}}})
			got := k.talk(t.Context(), s.Gateway+"/agents/"+l.agent+k.agentPath, ask{
				model: model, key: "sk-client-key", prompt: "How is the weather in Lübeck?", tools: true, retry: true,
			})
			l.recorded(haltd.EventCall, len(s.upstream(t, 0)))
			if k == &gemini {
				l.recorded(haltd.EventBlocked, 1+k.retries)
			}
			blocked := l.eventsOf(haltd.EventBlocked)
			for i, e := range blocked {
				if e.BlockReason != haltd.ReasonLoop || !e.Blocked || e.Status != http.StatusTooManyRequests {
					t.Errorf("event %d: %+v; want it blocked with 429 as loop_detected", i, e)
				}
			}
			switch {
			case k == &gemini && got.Status != http.StatusTooManyRequests:
				t.Errorf("%+v, want 429 after all tries", got)
			case k != &gemini && (got.Text != text || len(blocked) == 0):
				t.Errorf("blocked %d times, then %+v; want the answer after all", len(blocked), got)
			}
			if by := l.deactivatedBy(); by != "" {
				t.Errorf("the agent is deactivated by %q, want it active", by)
			}
		})
	}
}
