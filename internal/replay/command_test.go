package replay

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
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
	if _, err := p.Parse([]string{"replay", "--labels", labels, "--labels", labels, "--verdicts", "out", "--preset", "similarity", steps, steps}); err != nil {
		t.Fatal(err)
	}
	want := Command{Steps: []string{steps, steps}, Labels: []string{labels, labels}, Verdicts: "out", Preset: "similarity"}
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

const oneStep = `{"run":"r","step":0,"messages_delta":[{"role":"user","content":"hello"}],"response_text":"hi"}` + "\n"

func TestStandardInput(t *testing.T) {
	packed, err := os.ReadFile(write(t, "s.gz", oneStep))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for name, in := range map[string]string{"plain": oneStep, "packed": string(packed)} {
		t.Run(name, func(t *testing.T) {
			if got := replayed(t, Command{Steps: []string{"-"}}, Env{Stdin: strings.NewReader(in)}); !strings.Contains(got, "1 runs, 1 calls") {
				t.Errorf("said %q", got)
			}
		})
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInputThatCannotBeReplayed(t *testing.T) {
	steps := write(t, "s.jsonl", oneStep)
	labels := write(t, "l.jsonl", `{"run":"r","label":"stuck"}`+"\n")
	cut := write(t, "cut.jsonl.gz", strings.Repeat(oneStep, 1000))
	if err := os.Truncate(cut, 100); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command Command
		say     string
	}{
		{"lines of something else", Command{Steps: []string{write(t, "x.jsonl", `{"run":"r","warn_step":null}`+"\n")}}, "neither a step of a trace"},
		{"a packed file that breaks off", Command{Steps: []string{cut}}, "cut.jsonl.gz: unexpected EOF"},
		{"verdicts over the steps", Command{Steps: []string{steps}, Verdicts: steps}, "would be written over"},
		{"verdicts over the labels", Command{Steps: []string{steps}, Labels: []string{labels}, Verdicts: labels}, "would be written over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.command.Replay(t.Context(), Env{Stdout: &bytes.Buffer{}})
			if err == nil || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want one that says %q", err, c.say)
			}
		})
	}
	if b, err := os.ReadFile(steps); err != nil || string(b) != oneStep {
		t.Errorf("the steps are now %q, %v", b, err)
	}
}

func TestTheReportForProgramsHasNamesOfItsOwn(t *testing.T) {
	if got := replayed(t, Command{Steps: []string{write(t, "s.jsonl", oneStep)}}, Env{JSON: true}); !strings.Contains(got, `"fired": []`) {
		t.Errorf("nothing fired: %s", got)
	}
	b, err := json.Marshal(Outcome{})
	if want := `{"run":"","warn_step":null,"warn_by":"","kill_step":null,"kill_by":"","reason":"","source":"","steps":0,"tokens":0,"tokens_saved":0}`; err != nil || string(b) != want {
		t.Errorf("an outcome is %s, %v; want %s", b, err, want)
	}
}
