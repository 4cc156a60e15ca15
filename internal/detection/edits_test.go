package detection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/internal/xxhash"
)

func TestWhatAnEditIsAbout(t *testing.T) {
	read := func(args string) *round { return act("edit", args) }
	line := func(path, text string) []uint32 {
		e := edit{old: addLines(nil, text), new: addLines(nil, "another line")}
		about, _ := e.changed(xxhash.Sum64String(path))
		return about
	}
	want := line("a.go", "x := load(one)")
	for name, args := range map[string]string{
		"two arguments":                           `{"path":"a.go","old_string":"x := load(one)","new_string":"another line"}`,
		"two arguments, and lines that stay":      `{"path":"a.go","old_string":"func main() {\n\tx := load(one)\n}","new_string":"func main() {\n\tanother line\n}"}`,
		"a replacement":                           `{"path":"a.go","diff":"<<<<<<< SEARCH\nx := load(one)\n=======\nanother line\n>>>>>>> REPLACE"}`,
		"a patch":                                 `{"path":"a.go","patch":"@@ -3,3 +3,3 @@\n func main() {\n-\tx := load(one)\n+\tanother line\n }"}`,
		"the name of the file after the edit":     `{"old_text":"x := load(one)","new_text":"another line","filename":"a.go"}`,
		"an edit in a list":                       `{"path":"a.go","edits":[{"oldText":"x := load(one)","newText":"another line"}]}`,
		"a replacement with dashes for its marks": `{"path":"a.go","diff":"------- SEARCH\nx := load(one)\n=======\nanother line\n+++++++ REPLACE"}`,
	} {
		if got := read(args).changes; !slices.Equal(got, want) {
			t.Errorf("%s: about %x, want %x", name, got, want)
		}
	}
	for name, args := range map[string]string{
		"another file":       `{"path":"b.go","old_string":"x := load(one)","new_string":"another line"}`,
		"another line":       `{"path":"a.go","old_string":"x := load(two)","new_string":"another line"}`,
		"a text of no edit":  `{"path":"a.go","text":"x := load(one)"}`,
		"nothing to put in":  `{"path":"a.go","old_string":"x := load(one)"}`,
		"a rule of a table":  `{"path":"a.md","text":"=======\nx := load(one)"}`,
		"letters of no line": `{"path":"a.go","old_string":"}","new_string":"},"}`,
	} {
		if got := read(args).changes; slices.Equal(got, want) {
			t.Errorf("%s is taken for the same edit", name)
		}
	}
	r := read(`{"path":"a.go","old_string":"func main() {","new_string":"func main() {\n\tx := load(one)"}`)
	if len(r.changes) != 1 || len(r.leaves) != 1 {
		t.Errorf("lines put in: about %d lines, leaves %d; want the line beside them and the new one", len(r.changes), len(r.leaves))
	}
}

// A client acknowledges every edit alike. Edits of lines that no edit touched are work,
// those that change to and fro what they put in are none.
func TestEditsOfOtherLinesAreWork(t *testing.T) {
	words := strings.Fields("id name pool size user")
	line := func(i int) string {
		return fmt.Sprintf("log.Print(%s, %s, %s)", words[i%5], words[i/5%5], words[i/25%5])
	}
	healthy := map[string]func(k *talk, i int){
		"two arguments": func(k *talk, i int) {
			k.does("Edit", fmt.Sprintf(`{"file_path":"pool.go","old_string":%q,"new_string":%q}`, line(i), "slog."+line(i)[4:]), "The file pool.go has been updated.")
		},
		"replacements in a text": func(k *talk, i int) {
			k.says(fmt.Sprintf("The next one.\n\npool.go\n```go\n<<<<<<< SEARCH\n\t%s\n=======\n\tslog.%s\n>>>>>>> REPLACE\n```", line(i), line(i)[4:]), "Applied edit to pool.go")
		},
		"a patch given to a shell": func(k *talk, i int) {
			k.does("shell", fmt.Sprintf(`{"command":["apply_patch","*** Begin Patch\n*** Update File: pool.go\n@@\n-\t%s\n+\tslog.%s\n*** End Patch"]}`, line(i), line(i)[4:]), "Success. Updated the following files:\nM pool.go")
		},
	}
	healthy["a constant that is tried with other values, and measured"] = func(k *talk, i int) {
		value := func(n int) string { return fmt.Sprintf("0.%03d", 100+n*n*37%800) }
		if i%2 == 0 {
			k.does("replace_in_file", fmt.Sprintf(`{"path":"pid.cpp","diff":"------- SEARCH\nconstexpr float KD = %sf;\n=======\nconstexpr float KD = %sf;\n+++++++ REPLACE"}`, value(i/2), value(i/2+1)), "The content was successfully saved to pid.cpp.")
		} else {
			k.does("execute_command", `{"command":"./build/bench --benchmark_filter=step"}`, fmt.Sprintf("2026-03-01T12:%02d:30+00:00\nRun on (8 X 2445 MHz CPU s)\nLoad Average: %d.%02d\nBenchmark   Time   CPU   Iterations of the step, each with all of its parts, on this machine\nstep   %d ns   %d ns   %d", i, 1+i%3, i*37%100, 80000+i*7919%30000, 78000+i*7919%30000, 5000+i*331%4000))
		}
	}
	playAll(t, 40, healthy, false)
	stuck := map[string]func(k *talk, i int){
		"there and back": func(k *talk, i int) {
			a, b := "timeout := 30 * time.Second", "timeout := 45 * time.Second"
			if i%2 == 1 {
				a, b = b, a
			}
			k.does("Edit", fmt.Sprintf(`{"file_path":"pool.go","old_string":%q,"new_string":%q}`, a, b), "The file pool.go has been updated.")
		},
	}
	playAll(t, 40, stuck, true)
}

// What is shown by an editor with line numbers is a text: it neither fails nor writes.
func TestWhatAnEditorShowsIsNoWriting(t *testing.T) {
	lines := func(from, n int) (s string) {
		for i := from; i < from+n; i++ {
			s += fmt.Sprintf("%6d\t%s\n", i, fresh(i%40))
		}
		return s
	}
	playAll(t, 40, map[string]func(k *talk, i int){
		"parts of a file that are known": func(k *talk, i int) {
			from := 1 + i*7%8
			k.does("str_replace_editor", fmt.Sprintf(`{"command":"view","path":"/repo/pool.go","view_range":[%d,%d]}`, from, from+20), "Here's the result of running `cat -n` on /repo/pool.go:\n"+lines(from, 21))
		},
	}, true)
}
