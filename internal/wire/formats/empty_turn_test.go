package formats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

// An assistant that says nothing has had its turn all the same: a run of
// empty replies must show as one.
func TestEmptyRepliesAreRounds(t *testing.T) {
	want := []haltd.Round{
		{Inputs: []haltd.Message{{Text: "go on"}}},
		{Inputs: []haltd.Message{{Text: "go on"}}},
	}
	for name, body := range map[string]string{
		"openai-chat":        `{"messages":[{"role":"user","content":"start"},{"role":"assistant","content":""},{"role":"user","content":"go on"},{"role":"assistant","content":null},{"role":"user","content":"go on"}]}`,
		"openai-responses":   `{"input":[{"role":"user","content":"start"},{"role":"assistant","content":[]},{"role":"user","content":"go on"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]},{"role":"user","content":"go on"}]}`,
		"anthropic-messages": `{"messages":[{"role":"user","content":"start"},{"role":"assistant","content":[]},{"role":"user","content":"go on"},{"role":"assistant","content":""},{"role":"user","content":"go on"}]}`,
		"gemini-generate":    `{"contents":[{"role":"user","parts":[{"text":"start"}]},{"role":"model","parts":[]},{"role":"user","parts":[{"text":"go on"}]},{"role":"model","parts":[{"text":""}]},{"role":"user","parts":[{"text":"go on"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			call, err := formatOf(t, name).ReadCall(paths[name], []byte(body), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, call.Rounds); diff != "" {
				t.Errorf("rounds (-want +got):\n%s", diff)
			}
		})
	}
}
