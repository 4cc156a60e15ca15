package detection

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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

// word is an outcome as sentences say it.
func (o outcome) word() string {
	switch o {
	case failed:
		return "error"
	case empty, acknowledged:
		return "empty result"
	}
	return "result"
}

// headBytes is how much of a result's beginning and end is read for exit
// codes and the fields of JSON.
const headBytes = 240

// soon is within how many words a short result says no.
const soon = 6

// atOnce is within how many words a result says what state something is in.
const atOnce = 3

// shortAnswer is the number of distinct words up to which a result is an
// acknowledgement ("File created successfully at: …") rather than data.
const shortAnswer = 12

// outcomeOf reads the format's own error mark, exit codes, JSON error fields
// and HTTP status; whole words at the beginning and in the last line only
// support. says is what the phrases at the beginning mean.
func outcomeOf(text string, marked bool) (o outcome, says meaning) {
	t := withoutWarnings(unlabelled(text))
	if t == "" || isNull(t) {
		if marked {
			return failed, 0
		}
		return acknowledged, 0
	}
	if !marked && isEmptyTag(t) {
		return empty, 0
	}
	if !marked && numbersLines(t) {
		return neutral, 0
	}
	says = meaningOf(withoutCode(t[:min(len(t), 2*headBytes)]), maxPhraseWords, anything) | constantSays(t)
	if marked || len(t) <= headBytes && hasCellError(t) || opensError(t) {
		return failed, says
	}
	if code, ok := exitCode(t); ok {
		return outcomeOfExit(code, t, says), says
	}
	if beginsJSON(t) {
		return jsonOutcome(t, says), says
	}
	switch {
	case says&failure != 0 && (says&mended != 0 || meaningOf(t[:min(len(t), headBytes)], atOnce, pending) != 0) && !endsInFailure(t) && !namesFailure(t):
		return neutral, says
	case says&failure != 0 && !(says&nothing != 0 && firstOf(t, nothing|failure) == nothing):
		return failed, says
	case says&nothing != 0 && says&fine == 0 && len(t) <= headBytes:
		return empty, says
	case says&unspoken != 0 && len(t) <= headBytes:
		return acknowledged, says
	}
	if len(t) <= headBytes && says&fine == 0 && meaningOf(t, soon, negation) != 0 {
		return empty, says
	}
	if endsInFailure(t) {
		return failed, says
	}
	if len(t) <= headBytes && blankValues(t) {
		return empty, says
	}
	return neutral, says
}

// numbersLines reports a part of a text with the number of each line before it, perhaps
// below a line that says what it is of, as tools show files: whatever stands in it is no
// outcome.
func numbersLines(t string) bool {
	const header, enough = 2, 3 // lines
	n, last, above := 0, 0, 0
	for line := range strings.Lines(t[:min(len(t), 8*headBytes)]) {
		switch number, ok := lineNumber(line); {
		case ok && (n == 0 || number == last+1):
			if n, last = n+1, number; n == enough {
				return true
			}
		case n > 0 || above == header || len(line) > headBytes || meaningOf(line, maxPhraseWords, failure|nothing) != 0:
			return false
		default:
			above++
		}
	}
	return false
}

// lineNumber is the number that a line begins with, before a tab, an arrow or a bar.
func lineNumber(line string) (n int, ok bool) {
	line = strings.TrimLeft(line, " ")
	end := endOfDigits(line, 0)
	rest := strings.TrimLeft(line[end:], " ")
	if end == 0 || end > 6 || !strings.HasPrefix(rest, "\t") && !strings.HasPrefix(rest, "→") && !strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, "│") {
		return 0, false
	}
	n, err := strconv.Atoi(line[:end])
	return n, err == nil
}

// isEmptyTag reports a tag with nothing in it: <results/>, <rows></rows>.
func isEmptyTag(t string) bool {
	if t[0] != '<' || len(t) > headBytes {
		return false
	}
	end := runOf(t, 1, func(b byte) bool { return isWord[b] || b == '-' || b == ':' })
	rest := strings.Join(strings.Fields(t[end:]), "")
	return end > 1 && (rest == "/>" || rest == "></"+t[1:end]+">")
}

// opensError reports a text that begins with a tag whose name says that it failed:
// <error_details>, <tool_use_error>.
func opensError(t string) bool {
	return t[0] == '<' && nameSays(t[1:runOf(t, 1, isTagByte)])&failure != 0
}

// isNull reports what languages call nothing.
func isNull(t string) bool {
	switch t {
	case "null", "NULL", "None", "nil", "undefined":
		return true
	}
	return false
}

// hasCellError reports the value of a spreadsheet's cell that could not be computed:
// #REF!, #DIV/0!, #NAME?, Err:522.
func hasCellError(t string) bool {
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '#':
			end := runOf(t, i+1, func(b byte) bool { return b >= 'A' && b <= 'Z' || b == '/' || b == '0' })
			if end > i+2 && (end < len(t) && (t[end] == '!' || t[end] == '?') || t[i:end] == "#N/A") {
				return true
			}
		case strings.HasPrefix(t[i:], "Err:5"):
			return endOfDigits(t, i+len("Err:")) == i+len("Err:522")
		}
	}
	return false
}

// withoutWarnings is a result without the lines before it in which a program warns:
// "bash: warning: setlocale: cannot change locale". What was asked for comes after.
func withoutWarnings(t string) string {
	for {
		line, rest, more := strings.Cut(t, "\n")
		if !more || strings.TrimSpace(rest) == "" || len(line) > headBytes || !warns(line) {
			return t
		}
		t = rest
	}
}

// withoutCode is the beginning of a text without its lines of code, which handle
// errors that did not happen. JSON has such lines, too, and tells of those that did.
func withoutCode(t string) string {
	if !strings.Contains(t, "{\n") && !strings.Contains(t, ";\n") || beginsJSON(t) {
		return t
	}
	var b strings.Builder
	for line := range strings.Lines(t) {
		if end := strings.TrimRight(line, "\r\n"); !strings.HasSuffix(end, "{") && !strings.HasSuffix(end, ";") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// warns reports a line whose first words, or those before its first colons, are a
// warning.
func warns(line string) bool {
	for range 2 {
		end := runOf(line, 0, func(b byte) bool { return b != ' ' && b != ':' })
		switch strings.ToLower(strings.Trim(line[:end], "[]()")) {
		case "warning", "warn", "deprecationwarning", "warnung", "avertissement":
			return true
		}
		if end == len(line) {
			break
		}
		line = strings.TrimLeft(line[end:], ": ")
	}
	return false
}

// endsInFailure reports a text of several lines whose last one says that it failed.
func endsInFailure(t string) bool {
	i := lastLine(t)
	return i > 0 && len(t)-i < headBytes && meaningOf(t[i+1:], maxPhraseWords, failure) != 0 || talliesFailures(t)
}

// talliesFailures reports a text that closes with how many tests failed and how many
// passed, whatever its last line says: "Tests: 4 failed, 42 passed, 46 total".
func talliesFailures(t string) bool {
	for line := range strings.Lines(t[max(0, len(t)-headBytes):]) {
		before, _, ok := strings.Cut(line, " failed")
		if ok && (strings.Contains(line, " passed") || strings.Contains(line, " total")) {
			digits := before[strings.LastIndexByte(before, ' ')+1:]
			if n, err := strconv.Atoi(digits); err == nil && n > 0 {
				return true
			}
		}
	}
	return false
}

// namesFailure reports a line that says after a label what went wrong, whatever was
// said before: "│ Error: creating S3 Bucket …", but not "Errors: 0".
func namesFailure(t string) bool {
	for line := range strings.Lines(t[:min(len(t), 2*headBytes)]) {
		line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		label, rest, _ := strings.Cut(line, ": ")
		if r, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) && keySays(label)&failure != 0 && meaningOf(rest, 1, none) == 0 {
			return true
		}
	}
	return false
}

// beginsJSON reports an object or a list, and not a text that begins with a name
// in brackets: [worker-7] I could not …. One that is nothing else says what is not
// there, such as [old result cleared], and is no result either.
func beginsJSON(t string) bool {
	if t[0] != '[' {
		return t[0] == '{'
	}
	if strings.IndexByte(t, ']') == len(t)-1 {
		return true
	}
	rest := strings.TrimLeft(t[1:], " \n\t\r-")
	i := endOfDigits(rest, 0)
	return rest == "" || strings.IndexByte(`{["]`, rest[0]) >= 0 || i > 0 && i < len(rest) && strings.IndexByte(",.] \n", rest[i]) >= 0 && !strings.HasPrefix(rest[i:], "] ")
}

// blankValues reports names and values, none of which says anything, and one of
// which is empty: text: "" confidence: 0.
func blankValues(t string) bool {
	blank, named := false, false
	for field := range strings.FieldsFuncSeq(t, func(r rune) bool { return r <= ' ' || r == ',' || r == ';' || r == '|' }) {
		value := field
		if isStamp(value) {
			continue
		}
		if i := strings.IndexAny(field, ":="); i > 0 {
			named = true
			if value = field[i+1:]; value == "" {
				continue // what follows is its value
			}
		}
		switch strings.ToLower(value) {
		case `""`, "''", "[]", "{}", "null", "none", "nil":
			blank = true
		case "0", "0.0", "0.00", "false", "-":
		default:
			return false
		}
	}
	return blank && named
}

// checksPending is the exit code of gh pr checks while some of them run.
const checksPending = 8

func outcomeOfExit(code int, t string, says meaning) outcome {
	switch {
	case code == checksPending && inCell(t, pending), code != 0 && says&pending != 0 && says&failure == 0 && pends(t[:min(len(t), 2*headBytes)]):
		return neutral // it waits for something
	case code == 1 && bare(t):
		return empty // grep found nothing, diff found a difference: a failure says why
	case code != 0:
		return failed
	case bare(t):
		return acknowledged
	case says&nothing != 0 && len(t) <= headBytes:
		return empty
	case says&unspoken != 0 && len(t) <= headBytes:
		return acknowledged
	}
	return neutral
}

// labelBytes is how long a label before a result is at most.
const labelBytes = 40

// unlabelled is a result without the label that a harness puts before it where
// tools are not native: "Observation:", "[click] Result:".
func unlabelled(text string) string {
	t := strings.TrimSpace(text)
	if line, _, _ := strings.Cut(t[:min(len(t), headBytes)], "\n"); line != "" && line[0] == '[' {
		if i := strings.Index(line, "] Result:"); i > 0 { // [edit_file for 'src/app.py'] Result:
			return strings.TrimSpace(t[i+len("] Result:"):])
		}
	}
	head := t[:min(len(t), labelBytes)]
	from := 0
	if head != "" && head[0] == '[' {
		i := strings.IndexByte(head, ']')
		if i > 1 && (isoDate(head, 1) > 0 || strings.Count(head[:i], ":") == 2) && runOf(head, 1, isStampByte) == i {
			return strings.TrimSpace(t[i+1:]) // when it was said
		}
		if i > 1 && strings.IndexFunc(head[1:i], notInName) < 0 {
			from = i + 1
		}
	}
	i := strings.IndexByte(head[from:], ':')
	if i < 0 {
		return t
	}
	label, rest := strings.TrimSpace(head[from:from+i]), strings.TrimSpace(t[from+i+1:])
	if label == "" || strings.Count(label, " ") >= atOnce || strings.ContainsAny(label, "{}\"<>()\n") {
		return t
	}
	if rest != "" && (opensObject(rest) || rest[0] == '[') || meaningOf(label, atOnce, labels) != 0 {
		return rest
	}
	return t
}

// opensObject reports a text that begins with an object, and not with a name in
// braces: {task} is missing.
func opensObject(t string) bool {
	rest := strings.TrimLeft(t[1:], " \n\t\r")
	return t[0] == '{' && (rest == "" || strings.IndexByte(`"'}`, rest[0]) >= 0)
}

// isStampByte reports what a date and a time are made of.
func isStampByte(b byte) bool { return isDigit(b) || strings.IndexByte("-:.,+TZ ", b) >= 0 }

func notInName(r rune) bool { return r != '_' && r != '-' && r != ' ' && !unicode.IsLetter(r) }

// lastLine is where the line break before the last line of a text stands; -1
// where that line is longer than headBytes, or the only one.
func lastLine(text string) int {
	from := max(0, len(text)-headBytes)
	if i := strings.LastIndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return -1
}

// readOutcome reads what an answer says of the act.
func (f *round) readOutcome(r *haltd.Round, answer, act string) {
	var says meaning
	answer = unlabelled(answer)
	if len(r.Results) > 0 && answer != "" {
		f.outcome, says = outcomeOfResults(r.Results)
	}
	if len(r.Results) == 0 || strings.TrimSpace(joinedResults(r.Results)) == "" {
		f.outcome, says = outcomeOf(f.withoutQuote(answer, act), false)
	}
	if f.outcome == failed && f.writes && !marked(r.Results) {
		// The rest shows what was written, whatever that is about.
		first, _, _ := strings.Cut(answer, "\n")
		if code, _ := exitCode(first); code == 0 {
			f.outcome, says = outcomeOf(first, false)
		}
	}
	if f.outcome == neutral && saysNothing(answer, act) {
		f.outcome = empty
	}
	if f.outcome == acknowledged && (f.looks || says&unspoken != 0 && !f.shapes) {
		f.outcome = empty // who looks for something is told of it when it is there
	}
	if f.outcome == empty && f.effects && answer == "[]" {
		f.outcome = acknowledged // nothing is left to tell of what was done
	}
	f.taken = f.outcome == neutral && isTaken(answer)
	f.missing = f.outcome == failed && isMissing(answer, says)
	f.thanked = f.polite && isPolite(answer) && !hasQuestion(answer)
	f.full = says&changes != 0 && f.told.names(&f.numbers)
	short := len(f.tells) <= 4*shortAnswer
	f.absent = short && f.outcome == failed && (says|readsAs(answer[:min(len(answer), headBytes)]))&absent != 0
	f.ended = short && says&ended != 0
	if f.outcome != failed && short {
		f.promised = promisedIn(answer)
	}
	f.lastPage = short && f.outcome == empty && saysEnded(answer)
	f.waiting = f.saysToWait(answer, says, short) && !f.setsPending(act)
	if (f.waiting || f.rests) && readsAs(answer[:min(len(answer), headBytes)])&away != 0 {
		f.waiting, f.rests = false, false // nobody will answer, however long one waits
	}
}

// marked reports whether a result says by the format's own mark that it failed.
func marked(rs []haltd.ToolResult) bool {
	return slices.ContainsFunc(rs, func(r haltd.ToolResult) bool { return r.Error })
}

// outcomeOfResults is the outcome of a whole round: the best of its results,
// because one success is progress.
func outcomeOfResults(rs []haltd.ToolResult) (best outcome, says meaning) {
	rank := [...]int{neutral: 0, acknowledged: 1, empty: 2, failed: 3}
	best = failed
	for i := range rs[:min(len(rs), manyResults)] {
		o, s := outcomeOf(rs[i].Text, rs[i].Error)
		says |= s
		if rank[o] < rank[best] {
			best = o
		}
	}
	return best, says
}

// manyResults bounds how many results of one reply are looked at one by one.
const manyResults = 64

// exitCode finds "exit code: 2", "<returncode>0</returncode>" and their like
// at the beginning and at the end of t.
func exitCode(t string) (code int, ok bool) {
	if code, ok = exitCodeIn(t[:min(len(t), headBytes)]); ok || len(t) <= headBytes {
		return code, ok
	}
	return exitCodeIn(t[len(t)-headBytes:])
}

var exitCodeKeys = [...]string{"exit code", "exitcode", "exit_code", "returncode", "return code", "exit status", `"exit"`}

func exitCodeIn(text string) (code int, ok bool) {
	if !mayHaveExitCode(text) {
		return 0, false
	}
	low := strings.ToLower(text)
	for _, key := range exitCodeKeys {
		i := strings.Index(low, key)
		if i < 0 || key == `"exit"` && !strings.Contains(low, `"std`) && !strings.Contains(low, `"output"`) {
			continue // of a motorway
		}
		rest := strings.TrimLeft(low[i+len(key):], "\"'>:=( \t")
		if rest == "" {
			continue
		}
		if rest[0] == '-' {
			return -1, true // killed by a signal
		}
		if n := endOfDigits(rest, 0); n > 0 {
			code, err := strconv.Atoi(rest[:n])
			if err != nil {
				code = -1 // too long for a code, and not zero
			}
			return code, true
		}
	}
	return 0, false
}

// mayHaveExitCode reports a text that may say "exit" or "return": few do. They are
// looked for by the rarest of their letters.
func mayHaveExitCode(text string) bool {
	return hasAround(text, "xit", 'x') || hasAround(text, "etu", 'u') || hasAround(text, "XIT", 'X') || hasAround(text, "ETU", 'U')
}

// hasAround is strings.Contains of a part with one letter that is rare in most texts.
func hasAround(text, part string, rare byte) bool {
	before := strings.IndexByte(part, rare)
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], rare)
		if n < 0 {
			return false
		}
		if i += n; i >= before && strings.HasPrefix(text[i-before:], part) {
			return true
		}
	}
}

// bare reports a result that carries an exit code and nothing else.
func bare(t string) bool {
	words := 0
	s := scanner{text: t}
	for words <= 5 && s.next() {
		if s.class != mark {
			words++
		}
	}
	return words <= 5 // <returncode>0</returncode><output></output>
}

// notThere is the exit code of a shell that does not find a command.
const notThere = 127

// isMissing reports whether what failed is not there at all.
func isMissing(text string, says meaning) bool {
	if code, ok := exitCode(text); ok {
		return code == notThere
	}
	return says&missing != 0
}

// saysEnded reports the fields by which services say that a list has no more
// pages.
func saysEnded(text string) bool {
	low := strings.ToLower(strings.Map(dropSpace, text[:min(len(text), 2*headBytes)]))
	for _, sign := range [...]string{`"has_more":false`, `"hasmore":false`, `"more":false`, `"next":null`, `"next_page":null`, `"nextpage":null`,
		`"next_cursor":null`, `"nextcursor":null`, `"next_page_token":null`, `"nextpagetoken":null`, `"last":true`, `"end":true`, `"eof":true`} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}

// unfinished reports the fields by which services say that a job has not
// ended: a result that is not there, an end that has no time.
func unfinished(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	if name := strings.Trim(first, `"`); len(name) <= labelBytes && runOf(name, 0, isConstantByte) == len(name) {
		return readsAs(name)&pending != 0 // "CREATE_IN_PROGRESS"
	}
	if len(text) > 2*headBytes || text == "" || text[0] != '{' {
		return false
	}
	low := strings.ToLower(strings.Map(dropSpace, text))
	for _, sign := range [...]string{`"done":false`, `"finished":false`, `"complete":false`, `"completed":false`, `"ready":false`,
		`"building":true`, `"running":true`, `"pending":true`, `"in_progress":true`, `"alive":true`, `"result":null`, `"output":null`, `"conclusion":null`, `"end_time":null`, `"endtime":null`,
		`"ended_at":null`, `"endedat":null`, `"finished_at":null`, `"finishedat":null`, `"completed_at":null`, `"completedat":null`} {
		if strings.Contains(low, sign) {
			return true
		}
	}
	return false
}
