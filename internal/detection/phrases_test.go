package detection

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd"
)

// A word counts where it stands by itself: as part of a path, of a file's name
// or of a key it says nothing about what happened.
func TestPhrasesAreWholeWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want meaning
	}{
		{"please wait", pending | later | rests},
		{"wait, the queue is long", later | rests},
		{"read_file /var/status/x", 0},
		{"wait-for-it.sh", 0},
		{"scripts/wait-for-it.sh was copied", 0},
		{"the waiter brings it", 0},
		{"/srv/pending/list.txt", 0},
		{"pending.go", 0},
		{"pending.", pending},
		{"status: pending", pending | verdicts},
		{`{"status":"pending"}`, pending},
		{`{"pending":[1,2]}`, 0},
		{"in-progress", 0},
		{"in progress", pending},
		{"error_log", 0},
		{"/var/log/error.log", 0},
		{"Error: the disk is full", failure},
		{"- error in the second line", failure},
		{"terror", 0},
		{"404 not found", failure | negation | absent | present},
		{"not\nfound", failure | negation | absent | present},
		{"found, and not lost", negation | present},
		{"$missing", 0},
		{"run --missing=x", 0},
		{"die Datei wurde nicht gefunden", failure | negation | absent | present},
		{"文件未找到", failure | negation | absent},
	} {
		if got := meaningOf(c.text, maxPhraseWords, anything); got != c.want {
			t.Errorf("%q means %010b, want %010b", c.text, got, c.want)
		}
	}
}

// A path in an act or in a short answer makes no poll of it.
func TestPathsDoNotWait(t *testing.T) {
	for _, c := range []struct {
		tool, arguments, result string
		waiting, rests          bool
	}{
		{"read_file", `{"path":"/var/status/pending"}`, "/var/status/pending has 3 lines", false, false},
		{"bash", `{"command":"./wait-for-it.sh db:5432"}`, "wait-for-it.sh: db:5432 is up", false, false},
		{"bash", `{"command":"cat sleep.c"}`, "int main", false, false},
		{"bash", `{"command":"sleep 5 && cat log"}`, "", false, true},
		{"wait_for_job", `{"id":7}`, "job 7 is running", true, true},
		{"waiter_list", `{}`, "Anna, Bert", false, false},
		{"job", `{"id":7}`, "still queued", true, false},
		{"job", `{"id":7}`, `{"id":7,"done":false}`, true, false},
		{"job", `{"id":7}`, `{"id":7,"done":true}`, false, false},
		{"api", `{"path":"/v1"}`, "429 Too Many Requests", true, false},
	} {
		r := readRound(ptr(did(c.tool, c.arguments, c.result)), true)
		if r.waiting != c.waiting || r.rests != c.rests {
			t.Errorf("%s %s gives %q: waiting %v, rests %v; want %v and %v", c.tool, c.arguments, c.result, r.waiting, r.rests, c.waiting, c.rests)
		}
	}
}

// Every phrase of the file is found where it stands by itself.
func TestPhrasesAreFound(t *testing.T) {
	for name, languages := range phraseFile {
		for language, list := range languages {
			for i, text := range list {
				if name == tallies { // which are read before a number alone
					if !isTally(text+" 7") || isTally(text+" 7/9") || isTally("the "+text+" of 7") {
						t.Errorf("%s, %s: %q counts no attempts", name, language, text)
					}
					continue
				}
				if seconds := lasts[name]; seconds > 0 { // which are read in an interval alone
					if got := interval(" 30 " + text + "."); got != 30*seconds {
						t.Errorf("%s, %s: 30 %s are %v seconds", name, language, text, got)
					}
					continue
				}
				if name == numbers { // which are read in a task alone
					o := readOpening([]haltd.Message{{Role: haltd.RoleUser, Text: "do it " + text + " times"}})
					if len(o.counts) != 1 || o.counts[0] != float64(i+2) {
						t.Errorf("%s, %s: %q times is %v, want %d", name, language, text, o.counts, i+2)
					}
					continue
				}
				for _, form := range []string{"%s", "so: %s.", "(%s)"} {
					if got := meaningOf(fmt.Sprintf(form, text), maxPhraseWords, anything); got&meanings[name] == 0 {
						t.Errorf("%s, %s: %q is not found in %q", name, language, text, fmt.Sprintf(form, text))
					}
				}
			}
		}
	}
}

// isTally reports a text whose last token is masked.
func isTally(text string) bool {
	s := scanner{text: text}
	for s.next() {
	}
	return s.class == volatile
}

func TestWordsOfAName(t *testing.T) {
	for name, want := range map[string]bool{
		"sleep": true, "sleepSeconds": true, "wait_for_job": true, "mcp__shell__wait": true, "Pause": true,
		"asleep": false, "waiter": false, "read_file": false, "": false,
	} {
		if got := nameSays(name)&rests != 0; got != want {
			t.Errorf("the name %q says that time passes: %v, want %v", name, got, want)
		}
	}
}
