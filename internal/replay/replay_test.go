package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// line is one line of a trace that a test writes.
func line(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

type object = map[string]any

// loop is a run that reads the same missing file again and again.
func loop(t *testing.T, run string, steps int) string {
	var b strings.Builder
	for i := range steps {
		s := object{"run": run, "source": "made", "model": "m", "step": i, "thread": "main", "prompt_tokens": 100, "completion_tokens": 10, "t": nil, "response_text": ""}
		if i == 0 {
			s["keep"], s["messages_delta"] = 0, []object{{"role": "user", "content": "Read the file."}}
		} else {
			id := fmt.Sprintf("call_%08d", i)
			s["keep"], s["messages_delta"] = 1+2*(i-1), []object{
				{"role": "assistant", "content": "", "tool_calls": []object{{"id": id, "function": object{"name": "read", "arguments": `{"path":"a"}`}}}},
				{"role": "tool", "tool_call_id": id, "content": "Error: no such file: a"},
			}
		}
		b.WriteString(line(t, s))
	}
	return b.String()
}

// work is a run in plain text whose every answer is new.
func work(t *testing.T, run string, steps int) string {
	var b strings.Builder
	for i := range steps {
		s := object{"run": run, "source": "made", "step": i, "thread": "main", "prompt_tokens": 50, "completion_tokens": 5, "t": float64(i), "response_text": part(i)}
		if i == 0 {
			s["keep"], s["messages_delta"] = 0, []object{{"role": "system", "content": "Use bash."}, {"role": "user", "content": "Read the book."}}
		} else {
			s["keep"], s["messages_delta"] = 2+2*(i-1), []object{
				{"role": "assistant", "content": part(i - 1)},
				{"role": "user", "content": strings.Repeat(string(rune('a'+i)), 5) + " tells of " + strings.Repeat(string(rune('a'+i)), 4)},
			}
		}
		b.WriteString(line(t, s))
	}
	return b.String()
}

func part(i int) string { return "```\ncat " + strings.Repeat(string(rune('z'-i)), 6) + "\n```" }

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	data := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replayed runs the command and returns what it printed.
func replayed(t *testing.T, c Command, env Env) string {
	t.Helper()
	var out bytes.Buffer
	env.Stdout, env.Stderr = &out, &out
	if env.Getenv == nil {
		env.Getenv = func(string) (string, bool) { return "", false }
	}
	if err := c.Replay(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// soonest is the round by which a call that fails again and again is stopped.
const soonest = 6

// verdictOf replays and returns the steps at which the first run was warned
// and killed, -1 for never, and all verdicts.
func verdictOf(t *testing.T, c Command, env Env) (warned, killed int, all string) {
	t.Helper()
	c.Verdicts = filepath.Join(t.TempDir(), "verdicts.jsonl")
	replayed(t, c, env)
	text, err := os.ReadFile(c.Verdicts)
	if err != nil {
		t.Fatal(err)
	}
	var v Firing
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	step := func(s *int) int {
		if s == nil {
			return -1
		}
		return *s
	}
	return step(v.WarnStep), step(v.KillStep), string(text)
}

func TestVerdicts(t *testing.T) {
	for _, name := range []string{"steps.jsonl", "steps.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			steps := write(t, name, loop(t, "looper", 12)+work(t, "worker", 20))
			warned, killed, got := verdictOf(t, Command{Steps: []string{steps}}, Env{})
			want := fmt.Sprintf(`{"run":"looper","warn_step":%d,"warn_by":"stall/repeat","kill_step":%d,"kill_by":"stall/repeat","reason":"looper called read %d times with the same arguments and got the same error."}
{"run":"worker","warn_step":null,"warn_by":"","kill_step":null,"kill_by":"","reason":""}
`, warned, killed, killed)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			if warned < 2 || killed <= warned || killed > soonest {
				t.Errorf("warned at step %d and killed at %d, want a warning first and a kill by step %d", warned, killed, soonest)
			}
		})
	}
}

func TestReport(t *testing.T) {
	steps := write(t, "steps.jsonl", loop(t, "looper", 12)+work(t, "worker", 20))
	_, killed, _ := verdictOf(t, Command{Steps: []string{steps}}, Env{})
	rules := write(t, "runs.jsonl", line(t, object{"run": "looper", "source": "made", "label": "stuck", "confirm": 3})+
		line(t, object{"run": "worker", "source": "made", "label": "stuck", "confirm": 3}))
	read := write(t, "read.jsonl", line(t, object{"run": "worker", "verdict": "healthy", "stop": nil}))
	var r Report
	text := replayed(t, Command{Steps: []string{steps}, Labels: []string{rules, read}}, Env{JSON: true})
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if saved := int64(12-killed) * 110; r.Runs != 2 || r.Steps != 32 || r.Killed != 1 || r.Saved != saved {
		t.Errorf("report %+v, want 2 runs, 32 steps, 1 killed, %d tokens saved: steps %d to 11", r, saved, killed)
	}
	want := map[string]Count{"stuck": {1, 1, 1}, "healthy": {1, 0, 0}}
	if diff := cmp.Diff(want, r.Quality.All.Groups); diff != "" {
		t.Errorf("groups, the reader's label winning (-want +got):\n%s", diff)
	}
	if r.Quality.All.Delay != float64(killed-3) || r.Quality.All.WarnedFirst != 1 {
		t.Errorf("delay %v, warned first %v; want %d and 1", r.Quality.All.Delay, r.Quality.All.WarnedFirst, killed-3)
	}
	table := replayed(t, Command{Steps: []string{steps}, Labels: []string{rules, read}}, Env{})
	for _, part := range []string{"stuck", "made", "− made", "1.000 (1.000) of 1"} {
		if !strings.Contains(table, part) {
			t.Errorf("the table lacks %q:\n%s", part, table)
		}
	}
}

func TestExplain(t *testing.T) {
	steps := write(t, "steps.jsonl", work(t, "worker", 3)+loop(t, "looper", 12))
	text := replayed(t, Command{Steps: []string{steps}, Explain: "looper"}, Env{})
	for _, part := range []string{"request 5", "A      4  read", " %  repeat", "WARN  the agent called read", "KILL  the agent called read", "\n       +"} {
		if !strings.Contains(text, part) {
			t.Errorf("the drawing lacks %q:\n%s", part, text)
		}
	}
	err := (&Command{Steps: []string{steps}, Explain: "nobody"}).Replay(t.Context(), Env{Stdout: &bytes.Buffer{}})
	if haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("error %v, want not_found", err)
	}
}

func TestConfigurationChangesTheThreshold(t *testing.T) {
	steps := write(t, "steps.jsonl", loop(t, "looper", 9))
	cfg := write(t, "haltd.yaml", "defaults:\n  kill_switch: {enabled: true, window_size: 20, threshold: 0.5}\n")
	out := replayed(t, Command{Steps: []string{steps}}, Env{ConfigPath: cfg})
	if !strings.Contains(out, "looper  2") {
		t.Errorf("with a threshold of 0.5 the run is not warned at step 2:\n%s", out)
	}
}

func TestConfigurationMovesTheLines(t *testing.T) {
	steps := Command{Steps: []string{write(t, "steps.jsonl", loop(t, "looper", 20))}}
	cfg := func(lines string) Env {
		return Env{ConfigPath: write(t, "haltd.yaml", "defaults:\n  kill_switch: {enabled: true, threshold: 1000, "+lines+"}\n")}
	}
	warned, killed, _ := verdictOf(t, steps, cfg("warn_at: 80, kill_at: 95"))
	if w, k, _ := verdictOf(t, steps, cfg("warn_at: 20, kill_at: 60")); w < 0 || k < 0 || w >= warned || k >= killed {
		t.Errorf("lower lines warn at step %d and kill at %d, those between at %d and %d; want them earlier", w, k, warned, killed)
	}
	if w, k, _ := verdictOf(t, steps, cfg("warn_at: 99.8, kill_at: 99.9")); w <= warned || k >= 0 && k <= killed {
		t.Errorf("higher lines warn at step %d and kill at %d, those between at %d and %d; want them later", w, k, warned, killed)
	}
}

func TestPresets(t *testing.T) {
	same := func(step int, at float64) object {
		return object{"run": "r", "source": "made", "step": step, "thread": "main", "keep": 0, "messages_delta": []object{{"role": "user", "content": "what now?"}},
			"response_text": "please wait", "prompt_tokens": 100, "t": at}
	}
	var identical strings.Builder
	for i := range 8 {
		identical.WriteString(line(t, same(i, float64(i))))
	}
	var growing strings.Builder
	for i, n := range []int{1000, 1500, 2250, 3375} {
		s := same(i, 0)
		s["prompt_tokens"] = n
		growing.WriteString(line(t, s))
	}
	for _, c := range []struct{ preset, trace, want string }{
		{"similarity", identical.String(), `"kill_step":5,"kill_by":"similarity"`},
		{"exact", identical.String(), `"kill_step":3,"kill_by":"exact"`},
		{"growth", growing.String(), `"warn_step":3,"warn_by":"growth","kill_step":null`},
	} {
		t.Run(c.preset, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "v")
			replayed(t, Command{Steps: []string{write(t, "s.jsonl", c.trace)}, Preset: c.preset, Verdicts: out}, Env{})
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), c.want) {
				t.Errorf("verdict %s, want %s in it", got, c.want)
			}
		})
	}
	if _, err := NewJudge("other", detection.DefaultSettings()); haltd.ErrorCode(err) != haltd.CodeInvalid {
		t.Errorf("error %v for an unknown preset, want invalid", err)
	}
}

func TestBadTraces(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"not JSON", "{\n"},
		{"keep beyond the request before", line(t, object{"run": "r", "step": 0, "keep": 3, "messages_delta": []object{}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := (&Command{Steps: []string{write(t, "s.jsonl", c.text)}}).Replay(t.Context(), Env{Stdout: &bytes.Buffer{}})
			if err == nil {
				t.Error("no error")
			}
		})
	}
}
