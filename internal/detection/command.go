package detection

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// Agents without native tools write their calls as text, each harness in a
// way of its own: in fenced blocks, after "Action:", between tags, as JSON.

// trait is a set of signs that a command in a text is known by.
type trait uint8

const (
	fence trait = 1 << iota
	angle
	bracket
	brace
	colon
	newLine
	heading
)

var traits = [256]trait{'`': fence, '<': angle, '[': bracket, '{': brace, ':': colon, '\n': newLine, '#': heading, '*': heading}

// traitsIn are the signs that a text has: most have few, and are not searched for what
// takes others.
func traitsIn(text string) (all trait) {
	for i := range len(text) {
		all |= traits[text[i]]
	}
	return all
}

func (t trait) has(all trait) bool { return t&all == all }

// commandIn is the part of a text that acts.
func commandIn(text string) (command string, found bool) {
	has := traitsIn(text)
	if has.has(fence) {
		if s := fenced(text); s != "" {
			return s, true
		}
	}
	for _, form := range forms {
		if has.has(form.takes) {
			if s := form.in(text); s != "" {
				return s, true
			}
		}
	}
	return text, false
}

// forms are the other ways to write a command, and the signs that each takes.
var forms = []struct {
	takes trait
	in    func(string) string
}{
	{angle | newLine, replacement},
	{newLine, patch},
	{bracket | heading, inFields},
	{heading | newLine, underHeading},
	{colon, afterAction},
	{angle, betweenTags},
	{colon, labelled},
	{newLine, lastOrder},
	{newLine, behindPrompt},
	{newLine, lastCall},
	{newLine | brace, lastObject},
}

// afterAction is what stands behind the last "Action:", or behind one in small or capital
// letters at the beginning of a line.
func afterAction(text string) string {
	for _, label := range [...]string{"Action:", "\naction:", "\nACTION:"} {
		if i := strings.LastIndex(text, label); i >= 0 {
			return strings.TrimSpace(text[i+len(label):])
		}
	}
	return ""
}

// fenced are the blocks of a text that stand between fences.
func fenced(text string) string {
	var b strings.Builder
	var prose string
	rest := text
	for {
		i := strings.Index(rest, "```")
		if i < 0 {
			break
		}
		rest = rest[i+3:]
		if nl := strings.IndexByte(rest, '\n'); nl >= 0 && nl < 20 && !strings.ContainsAny(rest[:nl], " `") {
			rest = rest[nl+1:] // the language
		}
		end := strings.Index(rest, "```")
		if end < 0 {
			end = len(rest)
		}
		if block := rest[:end]; endsAsSentence(block) {
			prose = block // a thought that was fenced in, too
		} else {
			b.WriteString(block)
			b.WriteByte('\n')
		}
		rest = rest[min(end+3, len(rest)):]
	}
	if s := strings.TrimSpace(b.String()); s != "" {
		return s
	}
	return strings.TrimSpace(prose)
}

// behindPrompt is the last line of a text where it is typed behind a prompt, below what is
// said of it: "> open gate". Two such lines are a quotation.
func behindPrompt(text string) string {
	const longest = 80
	before := strings.LastIndexByte(text, '\n')
	line, typed := strings.CutPrefix(text[before+1:], "> ")
	if !typed || before < 0 || len(line) > longest || endsAsSentence(line) || strings.HasPrefix(text, "> ") || strings.Contains(text[:before+1], "\n> ") {
		return ""
	}
	return strings.TrimSpace(line)
}

// lastCall is the last line of a text where it is written as a call, below what is said
// of it: click(5), browser.goto("…").
func lastCall(text string) string {
	const longest = 160
	line := text[strings.LastIndexByte(text, '\n')+1:]
	name, _, called := strings.Cut(line, "(")
	if !called || len(line) == len(text) || len(line) > longest || line[len(line)-1] != ')' || name == "" ||
		runOf(name, 0, func(b byte) bool { return isWord[b] || b == '.' }) != len(name) || isDigit(name[0]) {
		return ""
	}
	return line
}

// lastObject is the JSON object with which a text ends, below what is said of it.
func lastObject(text string) string {
	at := strings.LastIndex(text, "\n{")
	if at < 0 || text[len(text)-1] != '}' || len(text)-at > maxRead || !json.Valid([]byte(text[at+1:])) {
		return ""
	}
	return text[at+1:]
}

// replacement is the part of a text that replaces parts of files, as a merge shows
// them: <<<<<<< SEARCH … ======= … >>>>>>> REPLACE.
func replacement(text string) string {
	from, to := strings.Index(text, "<<<<<<< "), strings.LastIndex(text, "\n>>>>>>> ")
	if from < 0 || to < from || !strings.Contains(text[from:to], "\n=======") || strings.Contains(betweenTags(text), "<<<<<<< ") {
		return ""
	}
	return text[from:to]
}

// patch is the part of a text that changes files, from the first file to the last line
// that is taken out, put in or stays.
func patch(text string) string {
	from := 0
	if !strings.HasPrefix(text, "--- ") {
		from = strings.Index(text, "\n--- ") + 1
	}
	rest, end := text[from:], 0
	if !strings.HasPrefix(rest, "--- ") || !strings.Contains(rest, "\n+++ ") || !strings.Contains(rest, "\n@@ ") {
		return ""
	}
	for line := range strings.Lines(rest) {
		if strings.IndexByte("+-@ \n", line[0]) < 0 && !strings.HasPrefix(line, "diff ") && !strings.HasPrefix(line, "index ") {
			break
		}
		end += len(line)
	}
	return strings.TrimSpace(rest[:end])
}

// underHeading is what stands under the heading of the act: ### Action ###, **Action:**.
func underHeading(text string) string {
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if mark := line[:1]; (mark == "#" || mark == "*") && strings.Trim(line, "#*: \r\n") == "Action" {
			rest := text[at:]
			if end := strings.Index(rest, "\n"+mark); end >= 0 {
				rest = rest[:end]
			}
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// inFields is the call that a reply of several fields has, each behind its name, as a
// name and its arguments: [[ ## next_tool_name ## ]] search [[ ## next_tool_args ## ]] {…}
func inFields(text string) string {
	const name, args, mark = "tool_name ## ]]", "tool_args ## ]]", "[[ ##"
	_, rest, named := strings.Cut(text, name)
	tool, rest, _ := strings.Cut(rest, mark)
	_, rest, given := strings.Cut(rest, args)
	with, _, _ := strings.Cut(rest, mark)
	if tool, with = strings.TrimSpace(tool), strings.TrimSpace(with); !named || !given || tool == "" || with == "" {
		return ""
	}
	return tool + " " + with
}

// lastOrder is the last line of a text where it tells a device what to do, in a word
// of capitals and what that is about: CLICK 844 403, GOTO lab 3. A line that is all
// in capitals is said aloud.
func lastOrder(text string) string {
	const longest = 80
	before := strings.LastIndexByte(text, '\n')
	line := text[before+1:]
	verb, rest, _ := strings.Cut(line, " ")
	if before < 0 || len(line) > longest || len(verb) < 2 || runOf(verb, 0, func(b byte) bool { return b >= 'A' && b <= 'Z' || b == '_' }) != len(verb) ||
		rest == strings.ToUpper(rest) && !strings.ContainsAny(rest, "0123456789") || strings.ContainsAny(line, ":?!") || strings.HasSuffix(line, ".") {
		return ""
	}
	return line
}

// labelled is what follows the last label of a text that stands before a call, or
// before a command where it is written in capitals: ACTION: query {…}, Acción 3:
// Buscar[…], BEFEHL: BESTELLUNG 4548. It is looked for in the last lines.
func labelled(text string) string {
	const lines = 64
	end := len(text)
	for range lines {
		start := strings.LastIndexByte(text[:end], '\n') + 1
		label, _, found := strings.Cut(text[start:min(end, start+longestLabel+1)], ":")
		if words := labelWords(label); found && words > 0 {
			rest := strings.TrimSpace(text[start+len(label)+1:])
			if isCall(rest) || words == 1 && rest != "" && label == strings.ToUpper(label) && keySays(label)&concludes == 0 && !endsAsSentence(rest) && !hasQuestion(cut(rest)) {
				return rest
			}
		}
		if start == 0 {
			break
		}
		end = start - 1
	}
	return ""
}

// longestLabel is how many bytes a label has at most.
const longestLabel = 16

// labelWords is how many words a label has, the first of which begins with a capital,
// perhaps with a number behind them: Action 2, Tool call. It is 0 of what is none. A
// single letter stands before what is asked and answered.
func labelWords(s string) (n int) {
	numbered := false
	for word := range strings.FieldsSeq(s) {
		switch {
		case numbered, n == 0 && (len(word) < 2 || !startsUpper(word)):
			return 0
		case n > 0 && endOfDigits(word, 0) == len(word):
			numbered = true
		case strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0:
			return 0
		default:
			n++
		}
	}
	return n
}

func startsUpper(s string) bool {
	for _, r := range s {
		return unicode.IsUpper(r)
	}
	return false
}

// isCall reports a name with what it is called with: Search[…], click(12), query {…}.
func isCall(s string) bool {
	end := strings.IndexAny(s, "[({")
	if end <= 0 {
		return false
	}
	closes := "])}"[strings.IndexByte("[({", s[end])]
	name := s[:end]
	if closes == '}' {
		name = strings.TrimSuffix(name, " ")
	}
	return s[len(s)-1] == closes && strings.IndexAny(name, " \n\t") < 0
}

// betweenTags is the part of a text from the tag on that its last tag closes:
// <shell><cmd>ls</cmd></shell>. What follows a thought is the command.
func betweenTags(text string) string {
	text = strings.TrimSpace(text)
	i := strings.LastIndex(text, "</")
	if i < 0 || !strings.HasSuffix(text, ">") {
		return ""
	}
	name := text[i+2 : len(text)-1]
	if name == "" || len(name) > 64 || runOf(name, 0, isTagByte) != len(name) {
		return ""
	}
	for start := 0; ; start++ {
		j := strings.Index(text[start:], "<"+name)
		if j < 0 {
			return ""
		}
		start += j
		if after := text[start+1+len(name)]; after == '>' || after <= ' ' {
			return text[start:]
		}
	}
}

func isTagByte(b byte) bool { return isWord[b] || b == '-' || b == ':' || b == '.' }

// listedCall reads a list of one call whose name is the key of its arguments:
// {"current_state":{…},"action":[{"click_element":{"index":7}}]}.
func listedCall(list json.RawMessage) (call haltd.ToolCall, ok bool) {
	var actions []map[string]json.RawMessage
	if json.Unmarshal(list, &actions) != nil || len(actions) != 1 || len(actions[0]) != 1 {
		return call, false
	}
	for name, args := range actions[0] {
		call.Name, call.Arguments = name, string(args)
	}
	return call, firstWord(call.Name) == call.Name
}

// writtenCall reads a call that is written as one JSON object: a field that
// names the tool, one with its arguments. What else it has is thinking aloud. Or
// the tool stands in a line of its own, and its input after that.
func writtenCall(command string) (call haltd.ToolCall, ok bool) {
	if name, input, cut := strings.Cut(command, "Action Input:"); cut {
		name, input = strings.TrimSpace(name), strings.TrimSpace(input)
		if name == "" || firstWord(name) != name || len(input) > maxRead {
			return call, false
		}
		if !json.Valid([]byte(input)) {
			text, err := json.Marshal(map[string]string{"input": input})
			if err != nil {
				return call, false
			}
			input = string(text)
		}
		return haltd.ToolCall{Name: name, Arguments: input}, true
	}
	if call, ok := taggedCall(command); ok {
		return call, true
	}
	tag := ""
	if inner, cut := strings.CutPrefix(command, "<"); cut { // <tool_call>{…}</tool_call>
		tag, inner, _ = strings.Cut(inner, ">")
		if i := strings.LastIndex(inner, "</"); i >= 0 {
			command = strings.TrimSpace(inner[:i])
		}
	}
	if name, args, cut := strings.Cut(command, "{"); cut && len(command) <= maxRead && isCall(command) && json.Valid([]byte("{"+args)) { // query {"sql":…}
		return haltd.ToolCall{Name: strings.TrimSpace(name), Arguments: "{" + args}, true
	}
	if len(command) < 2 || command[0] != '{' || command[len(command)-1] != '}' || len(command) > maxRead {
		return call, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(command), &fields) != nil {
		return call, false
	}
	if call, ok := listedCall(fields["action"]); ok {
		return call, true
	}
	for _, key := range [...]string{"command", "action", "tool", "function", "tool_call", "function_call"} { // {"thoughts":{…},"command":{"name":…,"args":{…}}}
		var inner map[string]json.RawMessage
		if json.Unmarshal(fields[key], &inner) == nil && inner != nil {
			fields = inner
			break
		}
	}
	for _, key := range [...]string{"tool", "tool_name", "function", "name", "action", "command"} {
		var name string
		if json.Unmarshal(fields[key], &name) == nil && name != "" && firstWord(name) == name {
			call.Name = name
			delete(fields, key)
			break
		}
	}
	if _, name, cut := strings.Cut(tag, `name="`); cut && call.Name == "" { // <tool name="set">{…}</tool>
		name, _, _ = strings.Cut(name, `"`)
		return haltd.ToolCall{Name: name, Arguments: command}, name != ""
	}
	if call.Name == "" {
		return call, false
	}
	for _, key := range [...]string{"args", "arguments", "parameters", "params", "input", "tool_input", "action_input"} {
		if args, has := fields[key]; has {
			call.Arguments = string(args)
			return call, true
		}
	}
	for key := range fields {
		if keySays(key)&narration != 0 {
			delete(fields, key)
		}
	}
	args, err := json.Marshal(fields)
	if err != nil {
		return call, false
	}
	call.Arguments = string(args)
	return call, true
}

// programIn digests which program a shell command runs: its first word, but
// for what only prepares it, and the subcommand after it.
func programIn(command string) uint64 {
	name, sub := programWords(withoutPreparation(command[:min(len(command), headBytes)]))
	if sub == "" {
		return xxhash.Sum64String(name)
	}
	return fold(xxhash.Sum64String(name), xxhash.Sum64String(sub))
}

// withoutPreparation is a command without the changes of directory before it.
func withoutPreparation(command string) string {
	for {
		step, rest, more := strings.Cut(command, "&&")
		if !more || !strings.HasPrefix(strings.TrimSpace(step), "cd ") {
			return command
		}
		command = rest
	}
}

// programWords are the name of a program and its subcommand, "" where it has none.
// A module that an interpreter runs is the program: python -m pytest.
func programWords(command string) (name, sub string) {
	module := false
	for word := range strings.FieldsSeq(command) {
		switch {
		case name != "" && word == "-m":
			name, module = "", true
		case module:
			name, module = word, false
		case name == "" && (strings.Contains(word, "=") || isDigit(word[0]) || keySays(word)&wrapper != 0):
		case opensShell(name) && isShellOption(word):
			name = "" // bash -lc 'go test'
		case name == "":
			word = strings.TrimLeft(word, `'"\`)
			name = word[strings.LastIndexByte(word, '/')+1:]
		case runOf(word, 0, func(b byte) bool { return b >= 'a' && b <= 'z' || b == '-' && word[0] != '-' }) == len(word):
			return name, word
		default:
			return name, ""
		}
	}
	return name, ""
}

// opensShell reports the name of a shell, or an option of one, of a command that is
// given as a list: ["bash", "-lc", "go test"].
func opensShell(word string) bool {
	switch word[strings.LastIndexByte(word, '/')+1:] {
	case "bash", "sh", "zsh", "dash", "pwsh", "powershell", "powershell.exe", "cmd", "cmd.exe":
		return true
	}
	return isShellOption(word)
}

// isShellOption reports the options after which a shell is given its command.
func isShellOption(word string) bool {
	switch word {
	case "-c", "-lc", "-ic", "-lic", "-Command", "/c":
		return true
	}
	return false
}

// looks reports a shell command that looks for something and does nothing else:
// grep -rn name src | head, git grep name. One that writes to a file or hands what
// it finds to another program may do more.
func looks(command string) bool {
	command = withoutPreparation(command[:min(len(command), headBytes)])
	name, sub := programWords(command)
	if keySays(name)&looksFor == 0 && (name != "git" || keySays(sub)&looksFor == 0) {
		return false
	}
	for _, more := range [...]string{"&&", ";", "||", "\n", `\n`, "-delete", "-exec", "xargs", "tee "} {
		if strings.Contains(command, more) {
			return false
		}
	}
	return !strings.Contains(strings.ReplaceAll(command, "2>", ""), ">")
}

// shapes reports a shell command that moves or makes files, or adds to one: mv, git mv,
// echo … >> list, sed -i, also where another program hands it their names. It prints nothing when that went well.
func shapes(command string) bool {
	command = withoutPreparation(command[:min(len(command), headBytes)])
	name, sub := programWords(command)
	if name == "git" {
		name = sub
	}
	return keySays(name)&makesFiles != 0 || strings.Contains(command, "sed -i") || strings.Contains(command, ">> ")
}

// commandStirs reports a command with a word at its beginning that says that it starts,
// stops or does something anew. The name of an argument says nothing.
func commandStirs(command string) bool {
	const within = 120
	s := scanner{text: command[:min(len(command), within)]}
	for s.next() {
		if s.class == word && opens(s.hash)&stirs != 0 && keySays(command[s.start:s.end])&stirs != 0 && !strings.HasPrefix(command[s.end:], `":`) && (s.start == 0 || strings.IndexByte("./-_", command[s.start-1]) < 0) {
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t\n("); i > 0 {
		s = s[:i]
	}
	if len(s) > 32 {
		s = s[:32]
	}
	return strings.ToValidUTF8(s, "")
}

// toolName is what a command is called by: its first word, but for a change of
// directory before it, or its tag.
func toolName(command string) string {
	if name, ok := strings.CutPrefix(command, "<"); ok {
		return firstWord(name[:runOf(name, 0, isTagByte)])
	}
	return firstWord(strings.TrimSpace(withoutPreparation(command)))
}
