package gateway

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

func TestIngestAnswersWithTheVerdict(t *testing.T) {
	f := startFixture(t, "agents: {grower: {rate_limits: {requests_per_minute: 4}}}\n")
	tokens := []int64{1000, 1400, 1960, 2744}
	var last haltd.IngestAnswer
	for i, n := range tokens {
		v, err := f.Ingest(t.Context(), haltd.Ingest{
			Agent: "grower", Session: "s", Provider: "openai", Model: "gpt-x", PromptTokens: n, CompletionTokens: 10,
			ResponseHash: fmt.Sprint("hash", i),
		})
		if err != nil {
			t.Fatal(err)
		}
		last = v
	}
	if last.Action != haltd.Warn || last.Reason != haltd.ReasonGrowth || !last.Active || last.Event == 0 {
		t.Errorf("the fourth report: %+v, want a warning of growth that names its event", last)
	}
	if v, _ := f.Ingest(t.Context(), haltd.Ingest{Agent: "grower", Session: "s", Provider: "openai", Model: "gpt-x"}); v.Reason != haltd.ReasonRate {
		t.Errorf("the fifth report within a minute: %+v, want the rate limit named", v)
	}
}

// What was spent counts, also when the agent should not have called.
func TestIngestIsChargedWhateverTheVerdict(t *testing.T) {
	f := startFixture(t, "agents: {spender: {budgets: {day: {hard_tokens: 100}}}}\n")
	for i := range 3 {
		v, err := f.Ingest(t.Context(), haltd.Ingest{Agent: "spender", Provider: "openai", Model: "gpt-x", PromptTokens: 60, CompletionTokens: 10})
		if err != nil {
			t.Fatal(err)
		}
		if stops := v.Action.Stops(); stops != (i == 2) {
			t.Errorf("report %d: %+v", i+1, v)
		}
	}
	spent, err := f.judge.Spending(t.Context(), "spender")
	if err != nil || spent[0].Spent.Tokens != 210 {
		t.Errorf("spent %+v, %v; want all 210 tokens", spent, err)
	}
}

func TestALoopThatIsReportedIsKilled(t *testing.T) {
	f := startFixture(t, "defaults: {kill_switch: {enabled: true}}\n")
	killed := 0
	for i := range 20 {
		v, err := f.Ingest(t.Context(), haltd.Ingest{
			Agent: "looper", Session: "s", Provider: "openai", Model: "gpt-x", PromptTokens: 50,
			ToolCalls: []haltd.ToolCall{{Name: "read_file", Arguments: `{"path":"x"}`}}, ResponseHash: "the same",
		})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Active {
			killed = i + 1
			if v.Incident == "" {
				t.Errorf("no incident in %+v", v)
			}
			break
		}
	}
	if killed == 0 || killed < 3 {
		t.Errorf("killed at report %d, want it after some repetition", killed)
	}
}
