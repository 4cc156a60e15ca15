package replay

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestCommandLine(t *testing.T) {
	steps, labels := write(t, "s.jsonl", "{}\n"), write(t, "l.jsonl", "{}\n")
	var c struct {
		Replay Command `cmd:""`
	}
	p, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse([]string{"replay", "--labels", labels, "--labels", labels, "--verdicts", "out", "--preset", "agentgazer", steps, steps}); err != nil {
		t.Fatal(err)
	}
	want := Command{Steps: []string{steps, steps}, Labels: []string{labels, labels}, Verdicts: "out", Preset: "agentgazer"}
	if diff := cmp.Diff(want, c.Replay); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	if _, err := p.Parse([]string{"replay", "--preset", "other", steps}); err == nil {
		t.Error("an unknown preset is accepted")
	}
}

func TestLabelsAreKnownByWhatTheyHold(t *testing.T) {
	steps := write(t, "s.jsonl", `{"run":"r","step":0,"messages_delta":[]}`+"\n")
	rule := write(t, "rule.jsonl", `{"run":"r","label":"stuck"}`+"\n")
	read := write(t, "read.jsonl", `{"run":"r","verdict":"healthy"}`+"\n")
	c := Command{Labels: []string{rule}, Steps: []string{read, steps}}
	got, err := c.files()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(input{steps: []string{steps}, labels: []string{rule, read}}, got, cmp.AllowUnexported(input{})); diff != "" {
		t.Errorf("steps and labels (-want +got):\n%s", diff)
	}
	if _, err := (&Command{Steps: []string{rule}}).files(); err == nil {
		t.Error("labels without steps are accepted")
	}
}
