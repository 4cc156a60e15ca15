package detect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// outcome is what a result says about success, read from structure first.
type outcome uint8

const (
	neutral      outcome = iota
	failed               // an error, a refusal, a non-zero exit
	empty                // nothing was found
	acknowledged         // nothing came back, and that is not a failure
)

// headBytes is how much of a result's beginning and end is searched for the
// signs of failure. Deeper inside, the word "error" is more often content
// (a source file, a log that was asked for) than an outcome.
const headBytes = 240

// outcomeOf reads the format's own error mark, exit codes, JSON error fields
// and HTTP status; words at the beginning only support.
func outcomeOf(text string, marked bool) outcome {
	if marked {
		return failed
	}
	t := strings.TrimSpace(text)
	if t == "" {
		return acknowledged
	}
	head := strings.ToLower(t[:min(len(t), headBytes)])
	if code, ok := exitCode(head, t); ok {
		if code != 0 {
			return failed
		}
		if bare(t) {
			return acknowledged
		}
		return neutral
	}
	if t[0] == '{' || t[0] == '[' {
		return jsonOutcome(t)
	}
	switch {
	case failureSigns.in(head):
		return failed
	case len(head) < headBytes/2 && silenceSigns.in(head):
		return acknowledged
	case len(t) <= headBytes && nothingSigns.in(head):
		return empty
	}
	if i := lastLine(t); i > 0 && len(t)-i < headBytes && failureSigns.in(strings.ToLower(t[i+1:])) {
		return failed
	}
	return neutral
}

// lastLine is where the line break before the last line of a text stands; -1
// where that line is longer than headBytes, or the only one.
func lastLine(text string) int {
	from := max(0, len(text)-headBytes)
	if i := strings.LastIndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return -1
}

// outcomeOfResults is the outcome of a whole round: the best of its results,
// because one success is progress.
func outcomeOfResults(rs []haltd.ToolResult) outcome {
	rank := [...]outcome{neutral, acknowledged, empty, failed}
	best := len(rank) - 1
	for i := range rs {
		out := outcomeOf(rs[i].Text, rs[i].Error)
		best = min(best, slices.Index(rank[:], out))
	}
	return rank[best]
}

// exitCode finds "exit code: 2", "<returncode>0</returncode>" and their like
// at the beginning and at the end of t. head is the beginning in small letters.
func exitCode(head, t string) (code int, ok bool) {
	if code, ok = exitCodeIn(head); ok || len(t) <= headBytes {
		return code, ok
	}
	return exitCodeIn(strings.ToLower(t[len(t)-headBytes:]))
}

var exitCodeKeys = [...]string{"exit code", "exitcode", "exit_code", "returncode", "return code", "exit status"}

var exitCodeSigns = signsOf(exitCodeKeys[:]...)

func exitCodeIn(low string) (code int, ok bool) {
	if !exitCodeSigns.in(low) {
		return 0, false
	}
	for _, key := range exitCodeKeys {
		i := strings.Index(low, key)
		if i < 0 {
			continue
		}
		rest := strings.TrimLeft(low[i+len(key):], "\"'>:=( \t")
		if rest == "" {
			continue
		}
		if rest[0] == '-' {
			return -1, true // killed by a signal
		}
		if n := runOf(rest, 0, isDigit); n > 0 {
			code, err := strconv.Atoi(rest[:n])
			if err != nil {
				code = -1 // too long for a code, and not zero
			}
			return code, true
		}
	}
	return 0, false
}

// bare reports a result that carries an exit code and nothing else.
func bare(t string) bool {
	words := 0
	s := scanner{text: t}
	for tok, ok := s.next(); ok; tok, ok = s.next() {
		if tok.class != mark {
			words++
		}
	}
	return words <= 5 // <returncode>0</returncode><output></output>
}

// jsonOutcome reads the usual fields by which JSON results say no.
func jsonOutcome(t string) outcome {
	compact := strings.Map(dropSpace, t[:min(len(t), 2*headBytes)])
	switch compact {
	case "[]", "{}", "null", `""`:
		return empty
	}
	low := strings.ToLower(compact)
	for _, sign := range [...]string{`"error":"`, `"error":{`, `"errors":[{`, `"errors":["`, `"error":true`, `"is_error":true`,
		`"success":false`, `"ok":false`, `"status":"error"`, `"status":"fail`, `"status":4`, `"status":5`, `"statuscode":4`, `"statuscode":5`,
		`"status_code":4`, `"status_code":5`} {
		if i := strings.Index(low, sign); i >= 0 && !strings.HasPrefix(low[i+len(sign):], `"`) {
			return failed
		}
	}
	if emptySigns.in(low) {
		return empty
	}
	return neutral
}

// saysNothing reports a JSON object that has an empty list and beside it
// nothing but what was asked: {"query":"…","hits":[],"total":0}.
func saysNothing(text, act string) bool {
	t := strings.TrimSpace(text)
	if len(t) > 2*headBytes || t == "" || t[0] != '{' || !strings.Contains(t, "[]") {
		return false
	}
	var fields map[string]any
	if json.Unmarshal([]byte(t), &fields) != nil {
		return false
	}
	lists := 0
	for _, v := range fields {
		switch v := v.(type) {
		case nil:
		case bool:
			if v {
				return false
			}
		case float64:
			if v != 0 {
				return false
			}
		case string:
			if !strings.Contains(act, v) {
				return false
			}
		case []any:
			if len(v) > 0 {
				return false
			}
			lists++
		case map[string]any:
			if len(v) > 0 {
				return false
			}
		}
	}
	return lists > 0
}

// emptySigns are the fields by which JSON results say that nothing was found.
var emptySigns = signsOf(`"results":[]`, `"matches":[]`, `"items":[]`, `"data":[]`, `"files":[]`, `"count":0,`, `"count":0}`, `"total":0}`)

func dropSpace(r rune) rune {
	if r <= ' ' {
		return -1
	}
	return r
}

// failureSigns are the words by which programs report failure, in English and
// in some languages that tools are translated to. They support the structural
// signs above; nothing is killed for a word alone.
var failureSigns = signsOf("error", "traceback (most recent", "exception", "failed", "failure", "not found", "no such ",
	"cannot ", "can't ", "could not", "unable to", "invalid", "denied", "refused", "rejected", "declined", "incorrect", "forbidden", "unauthorized",
	"unrecognized", "unknown ", "does not exist", "doesn't exist", "not allowed", "not permitted", "timed out", "usage: ", "illegal", "missing ",
	"fehler", "nicht gefunden", "fehlgeschlagen", "ungültig",
	"erreur", "introuvable", "échec", "échoué",
	"no encontrad", "no se encontr", "no existe", "não encontrad", "não existe", "erro:", "non trovat", "inválid",
	"ошибка", "не найден", "не удалось",
	"错误", "未找到", "找不到", "失败", "エラー", "見つかりません", "失敗", "오류", "찾을 수 없", "실패")

// silenceSigns stand in a result that says no more than that a command
// printed nothing, which is what most writes do.
var silenceSigns = signsOf("no output", "any output", "without output")

// nothingSigns are the ways to say that nothing was found.
var nothingSigns = signsOf("no output", "no match", "no result", "0 results", "0 matches", "nothing found", "did not produce any output",
	"without output", "not any", "none found", "empty")

// notThere is the exit code of a shell that does not find a command.
const notThere = 127

// saysMissing reports whether what failed is not there at all: the shell's
// exit code for it, or where there is none its words, or those by which a
// harness refuses the name of a tool that the model made up.
func saysMissing(text string) bool {
	head := strings.ToLower(text[:min(len(text), headBytes)])
	if code, ok := exitCode(head, text); ok {
		return code == notThere
	}
	return missingSigns.in(head)
}

var missingSigns = signsOf("command not found", "no such tool", "unknown tool")

// actHead is the beginning of an act, in small letters: what it says of itself.
func actHead(act string) string { return strings.ToLower(act[:min(len(act), headBytes)]) }

// saysWaiting looks for the words of polling, in the head of the act or in a
// short answer. They only make haltd more patient.
func saysWaiting(act, answer string, o outcome) bool {
	if pollSigns.in(act) {
		return true
	}
	if len(answer) > 2*headBytes {
		return false
	}
	low := strings.ToLower(answer)
	if o == neutral && low != "" && low[0] == '{' && (stateSigns.in(low) || unfinishedSigns.in(strings.Map(dropSpace, low))) {
		return true
	}
	if o == failed {
		return limitSigns.in(low)
	}
	return pendingSigns.in(low)
}

// saysResting looks for the words of an act that does nothing but let time
// pass.
func saysResting(act string) bool { return restSigns.in(act) }

// saysMoving looks for the words of an act that moves a view or a cursor.
func saysMoving(act string) bool { return moveSigns.in(act) }

var (
	moveSigns = signsOf("scroll", "swipe", "page_down", "page_up", "pagedown", "pageup", "press_key", "key_press", "keypress", "send_keys",
		"press [", `"action":"key"`)
	restSigns  = signsOf("sleep", "wait")
	pollSigns  = signsOf("sleep", "wait", "poll", "status", "tail ")
	stateSigns = signsOf(`"status":`, `"state":`, `"phase":`)
	// unfinishedSigns are the fields by which services say that a job has not
	// ended: a result that is not there, an end that has no time.
	unfinishedSigns = signsOf(`"done":false`, `"finished":false`, `"complete":false`, `"completed":false`, `"ready":false`,
		`"building":true`, `"result":null`, `"output":null`, `"conclusion":null`, `"end_time":null`, `"endtime":null`,
		`"ended_at":null`, `"endedat":null`, `"finished_at":null`, `"finishedat":null`, `"completed_at":null`, `"completedat":null`)
	limitSigns   = signsOf("429", "rate limit", "too many requests")
	pendingSigns = signsOf("pending", "running", "queued", "in progress", "in_progress", "processing", "waiting", "not ready", "starting",
		"creating", "initializing", "provisioning")
)
