package detection

import (
	"encoding/json"
	"strconv"
	"strings"
)

// envelope is what an MCP server wraps a result in. Some clients hand it on as
// it is.
type envelope struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	IsError bool `json:"isError"`
}

// unwrapped is the text inside of what a server or a client puts around it, and
// whether that says that the call failed. What has none is returned as it is.
func unwrapped(text string) (inner string, failed bool) {
	text = withoutTag(printed(withoutPreamble(withoutPostscript(withoutHeaders(withoutQuotedArguments(text))))))
	if inner, failed, ok := content(text); ok {
		return inner, failed
	}
	return withoutSurroundings(text, true), false
}

// content is the text inside an MCP server's envelope.
func content(text string) (inner string, failed, ok bool) {
	const head = 64 // within which the envelope says what it is
	t := unlabelled(text)
	if t == "" || t[0] != '{' || len(t) > maxRead || !strings.Contains(t[:min(len(t), head)], `"content"`) || !strings.Contains(t, `"text"`) {
		return "", false, false
	}
	var e envelope
	if json.Unmarshal([]byte(t), &e) != nil || len(e.Content) == 0 {
		return "", false, false
	}
	var b strings.Builder
	for i := range e.Content {
		if e.Content[i].Type != "text" {
			return "", false, false
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Content[i].Text)
	}
	return b.String(), e.IsError, true
}

// withoutTag is what stands in a pair of tags that say no more than that it is a
// result: <tool_result>…</tool_result>, <result tool="search">…</result>.
func withoutTag(text string) string {
	t := strings.TrimSpace(text)
	if len(t) < 2 || t[0] != '<' || t[len(t)-1] != '>' {
		return text
	}
	name := t[1:runOf(t, 1, func(b byte) bool { return plainWord[b] != 0 })]
	attributes, inner, opens := strings.Cut(t[1+len(name):], ">")
	opens = opens && (attributes == "" || attributes[0] == ' ' && !strings.Contains(attributes, "<"))
	inner, closes := strings.CutSuffix(inner, "</"+name+">")
	if !opens || !closes || nameSays(name)&labels == 0 || strings.TrimSpace(inner) == "" {
		return text
	}
	return strings.Trim(inner, "\r\n")
}

// withoutSurroundings is a JSON object without what a service or a client puts
// around every answer: how long it took, ids of the call, what is left of a limit.
// Of an object that has one output beside them, that is the answer, with what the
// command said went wrong and its exit code after it. open says that the body of an HTTP
// answer is looked into, too; not the body of a body, or each level would be read once
// more.
func withoutSurroundings(text string, open bool) string {
	t := unlabelled(text)
	if len(t) < 2 || t[0] != '{' || t[len(t)-1] != '}' || len(t) > maxRead {
		return text
	}
	var kept []string // the fields that are no surroundings
	var output, errors, exit string
	dropped := false
	for i := 1; ; {
		i = skipSpace(t, i)
		if i >= len(t) || t[i] != '"' {
			return text
		}
		start, end := i, endOfQuote(t, i)
		key := t[i+1 : end]
		if i = skipSpace(t, end+1); i >= len(t) || t[i] != ':' {
			return text
		}
		i = skipSpace(t, i+1)
		from := i
		i = endOfValue(t, i)
		value := t[from:i]
		says := keySays(key)
		code, coded := 0, false
		if value != "" && (value[0] == '{' || isDigit(value[0])) { // "metadata":{"exit_code":0,"duration_seconds":0.1}
			code, coded = exitCodeIn(key + ":" + value)
		}
		switch {
		case says&surrounds != 0:
			dropped = true
		case coded:
			kept, exit = append(kept, t[start:i]), "\nexit code: "+strconv.Itoa(code)
		case key == "stderr" && strings.HasPrefix(value, `"`):
			kept, errors, dropped = append(kept, t[start:i]), value, true
		default:
			field := t[start:i]
			if open && key == "body" {
				field = t[start:from] + withoutSurroundings(value, false)
			}
			kept, output = append(kept, field), ""
			if key == "data" || says&labels != 0 && says&verdicts == 0 {
				output = value
			}
		}
		if i = skipSpace(t, i); i == len(t)-1 {
			break
		}
		if i >= len(t) || t[i] != ',' {
			return text // more than one object, or none
		}
		i++
	}
	outputs := len(kept)
	if exit != "" {
		outputs--
	}
	if errors != "" {
		outputs--
	}
	var s, wrong string
	if errors != "" && json.Unmarshal([]byte(errors), &wrong) != nil {
		return text
	}
	switch {
	case !dropped && exit == "":
		return text
	case outputs == 1 && output != "" && output[0] == '"' && json.Unmarshal([]byte(output), &s) == nil:
		return printedBy(s, wrong) + exit
	case outputs == 0 && errors != "":
		return wrong + exit
	case outputs == 1 && output != "" && output[0] == '{' && exit == "":
		return output
	case len(kept) > 0:
		return "{" + strings.Join(kept, ",") + "}"
	}
	return text
}

// printedBy is what a command printed, and below it what it said went wrong.
func printedBy(out, wrong string) string {
	if wrong == "" {
		return out
	}
	return strings.TrimSuffix(out, "\n") + "\n" + wrong
}

func skipSpace(t string, i int) int {
	for i < len(t) && t[i] <= ' ' {
		i++
	}
	return i
}

// endOfValue is the end of the JSON value that begins at i.
func endOfValue(t string, i int) int {
	depth := 0
	for i < len(t) {
		switch t[i] {
		case '"':
			i = min(endOfQuote(t, i), len(t)-1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// withoutHeaders is the body of an HTTP answer that a tool hands on with its
// headers: they have a clock, ids and counters of their own. The status stays.
func withoutHeaders(text string) string {
	const fewest, longest = 2, 4 << 10
	rest, status := text, ""
	if strings.HasPrefix(rest, "HTTP/") {
		status, rest, _ = strings.Cut(rest, "\n")
		status += "\n"
	}
	for n := 0; len(text)-len(rest) <= longest; n++ {
		line, after, more := strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			if n < fewest || strings.TrimSpace(after) == "" {
				break
			}
			return status + after
		}
		name, _, ok := strings.Cut(line, ": ")
		if !ok || !more || !isHeader(name) {
			break
		}
		rest = after
	}
	return text
}

// withoutPreamble is what stands below lines that a client puts before every answer,
// the last of which says that the answer begins: "Wall time: 0.3 seconds", "Output:".
// The exit code goes after the answer.
func withoutPreamble(text string) string {
	const most, longest = 8, 80
	body, exit := unlabelled(text), ""
	rest := body
	for range most {
		line, after, _ := strings.Cut(rest, "\n")
		if len(line) > longest {
			break
		}
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			break
		}
		if value == "" {
			if len(rest) < len(body) && keySays(name)&labels != 0 {
				return strings.TrimPrefix(after+exit, "\n")
			}
			break
		}
		if code, coded := exitCodeIn(line); coded {
			exit = "\nexit code: " + strconv.Itoa(code)
		}
		rest = after
	}
	return text
}

// withoutQuotedArguments is a report that the arguments of a call are no JSON, without the
// arguments: each time others are quoted. It is that of the AI SDK, which clients hand on.
func withoutQuotedArguments(text string) string {
	const quotes = "JSON parsing failed: Text: "
	from := strings.Index(text[:min(len(text), headBytes)], quotes)
	if from < 0 {
		return text
	}
	to := strings.LastIndex(text, "\nError message:")
	if to < from+len(quotes) {
		return text
	}
	return text[:from] + "JSON parsing failed." + text[to:]
}

// withoutPostscript is what stands above lines in brackets that a client puts below every
// answer: "[Current working directory: /shop]", "[Python interpreter: …]", "[Command
// finished with exit code 0]". The exit code goes after the answer.
func withoutPostscript(text string) string {
	const longest = 160
	rest, exit := strings.TrimRight(text, " \n"), ""
	cut := false
	for strings.HasSuffix(rest, "]") {
		from := strings.LastIndexByte(rest, '\n') + 1
		line := rest[from:]
		if len(line) > longest || len(line) < 3 || line[0] != '[' || !isWord[line[1]] {
			break
		}
		name, _, named := strings.Cut(line[1:len(line)-1], ":")
		code, coded := exitCodeIn(line)
		switch {
		case coded:
			exit = "\nexit code: " + strconv.Itoa(code)
		case !named || keySays(name)&reported == 0 && meaningOf(name, atOnce, reported) == 0:
			return text
		}
		rest, cut = strings.TrimRight(rest[:from], "\n"), true
	}
	if !cut {
		return text
	}
	return strings.TrimPrefix(rest+exit, "\n")
}

// printed is what a command printed, of a client that reports on it in full:
// "Command: …", "Directory: (root)", "Stdout: …", "Stderr: (empty)", "Exit Code: 0",
// "Signal: (none)". The exit code goes after it.
func printed(text string) string {
	name, _, ok := strings.Cut(text[:min(len(text), labelBytes)], ":")
	if !ok || meaningOf(name, atOnce, reported) == 0 || strings.ContainsAny(name, "{\n") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	exit := ""
	fields, inside := 0, false // below what was printed first
	for line := range strings.Lines(text) {
		name, value, labelled := strings.Cut(line, ":")
		says := meaning(0)
		if labelled && len(name) < labelBytes {
			says = meaningOf(name, atOnce, reported|labels|failure)
		}
		if says&(reported|failure) == 0 {
			if inside {
				b.WriteString(line)
			}
			continue
		}
		fields++
		code, coded := exitCodeIn(line)
		prints := says&(labels|failure) != 0 || strings.EqualFold(strings.TrimSpace(name), "stderr")
		switch value = strings.TrimSpace(value); {
		case coded:
			exit = "exit code: " + strconv.Itoa(code)
		case !prints:
		case value == "(empty)" || value == "(none)":
			inside = true
		case says&failure != 0:
			b.WriteString(line)
			inside = true
		default:
			b.WriteString(value)
			b.WriteByte('\n')
			inside = true
		}
	}
	if !inside || fields < 2 {
		return text
	}
	return b.String() + exit
}

// isHeader reports the name of an HTTP header: parts of letters and digits, joined
// by dashes, or one of those that every server sends.
func isHeader(name string) bool {
	switch strings.ToLower(name) {
	case "date", "server", "connection", "vary", "etag", "expires", "age", "via", "pragma":
		return true
	}
	return strings.Contains(name, "-") && runOf(name, 0, func(b byte) bool { return b == '-' || plainWord[b] != 0 }) == len(name)
}
