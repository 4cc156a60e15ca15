package detect

import (
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
	if code, ok := exitCode(t); ok {
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
	head := strings.ToLower(t[:min(len(t), headBytes)])
	if saysFailure(head) {
		return failed
	}
	if saysSilence(head) {
		return acknowledged
	}
	if saysNothing(head, len(t)) {
		return empty
	}
	if i := strings.LastIndexByte(strings.TrimRight(t, "\n"), '\n'); i > 0 && len(t)-i < headBytes {
		if saysFailure(strings.ToLower(t[i+1:])) {
			return failed
		}
	}
	return neutral
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

// exitCode finds "exit code: 2", "<returncode>0</returncode>" and their like.
func exitCode(t string) (code int, ok bool) {
	parts := [...]string{t[:min(len(t), headBytes)], t[max(0, len(t)-headBytes):]}
	for i, part := range parts {
		if i > 0 && len(t) <= headBytes {
			break // the end was read with the beginning
		}
		low := strings.ToLower(part)
		if !strings.Contains(low, "exit") && !strings.Contains(low, "return") {
			continue
		}
		for _, key := range [...]string{"exit code", "exitcode", "exit_code", "returncode", "return code", "exit status"} {
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
	compact := t[:min(len(t), 2*headBytes)]
	switch strings.Map(dropSpace, compact) {
	case "[]", "{}", "null", `""`:
		return empty
	}
	low := strings.ToLower(strings.Map(dropSpace, compact))
	for _, sign := range [...]string{`"error":"`, `"error":{`, `"errors":[{`, `"errors":["`, `"error":true`, `"is_error":true`,
		`"success":false`, `"ok":false`, `"status":"error"`, `"status":"fail`, `"status":4`, `"status":5`, `"statuscode":4`, `"statuscode":5`,
		`"status_code":4`, `"status_code":5`} {
		if i := strings.Index(low, sign); i >= 0 && !strings.HasPrefix(low[i+len(sign):], `"`) {
			return failed
		}
	}
	for _, sign := range [...]string{`"results":[]`, `"matches":[]`, `"items":[]`, `"data":[]`, `"files":[]`, `"count":0,`, `"count":0}`, `"total":0}`} {
		if strings.Contains(low, sign) {
			return empty
		}
	}
	return neutral
}

func dropSpace(r rune) rune {
	if r <= ' ' {
		return -1
	}
	return r
}

// saysFailure looks for the words by which programs report failure. It
// supports the structural signs above; nothing is killed for a word alone.
func saysFailure(low string) bool {
	for _, sign := range [...]string{"error", "traceback (most recent", "exception", "failed", "failure", "not found", "no such ",
		"cannot ", "can't ", "could not", "unable to", "invalid", "denied", "refused", "rejected", "declined", "incorrect", "forbidden", "unauthorized",
		"unrecognized", "unknown ", "does not exist", "doesn't exist", "not allowed", "not permitted", "timed out", "usage: ", "illegal", "missing "} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}

// notThere is the exit code of a shell that does not find a command.
const notThere = 127

// saysMissing reports whether what failed is not there at all: the shell's
// exit code for it, or where there is none its words, or those by which a
// harness refuses the name of a tool that the model made up.
func saysMissing(text string) bool {
	if code, ok := exitCode(text); ok {
		return code == notThere
	}
	low := strings.ToLower(text[:min(len(text), headBytes)])
	return strings.Contains(low, "command not found") || strings.Contains(low, "no such tool") || strings.Contains(low, "unknown tool")
}

// saysSilence reports a result that says no more than that a command printed
// nothing, which is what most writes do.
func saysSilence(low string) bool {
	if len(low) >= headBytes/2 {
		return false
	}
	for _, sign := range [...]string{"no output", "any output", "without output"} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}

// saysNothing looks for the ways to say that nothing was found.
func saysNothing(low string, size int) bool {
	if size > headBytes {
		return false
	}
	for _, sign := range [...]string{"no output", "no match", "no result", "0 results", "0 matches", "nothing found", "did not produce any output",
		"without output", "not any", "none found", "empty"} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}

// saysWaiting looks for the words of polling, in the act or in a short
// answer. They only make haltd more patient.
func saysWaiting(act, answer string, o outcome) bool {
	a := strings.ToLower(act[:min(len(act), headBytes)])
	for _, sign := range [...]string{"sleep", "wait", "poll", "status", "tail "} {
		if strings.Contains(a, sign) {
			return true
		}
	}
	if len(answer) > 2*headBytes {
		return false
	}
	low := strings.ToLower(answer)
	if o == neutral && low != "" && low[0] == '{' {
		for _, field := range [...]string{`"status":`, `"state":`, `"phase":`} {
			if strings.Contains(low, field) {
				return true
			}
		}
	}
	if o == failed {
		return strings.Contains(low, "429") || strings.Contains(low, "rate limit") || strings.Contains(low, "too many requests")
	}
	for _, sign := range [...]string{"pending", "running", "queued", "in progress", "in_progress", "processing", "waiting", "not ready", "starting"} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}
