package detection

import (
	"encoding/json"
	"strings"

	"github.com/haltd/haltd"
)

// taggedCall reads a call that is written in tags, one for each argument:
// <read_file><path>a.go</path></read_file>, <invoke name="find"><parameter
// name="query">…</parameter></invoke>, <function=find><parameter=query>…</parameter></function>.
func taggedCall(text string) (call haltd.ToolCall, ok bool) {
	const mostArguments, deepest = 32, 3
	if len(text) > maxRead {
		return call, false
	}
	tag, inner, rest, ok := element(text)
	if !ok || rest != "" {
		return call, false
	}
	for range deepest { // <function_calls><invoke …>
		next, within, after, is := element(inner)
		if !is || after != "" || next.named == "" || tag.named != "" || next.argues() {
			break
		}
		tag, inner = next, within
	}
	args := map[string]string{}
	for inner != "" {
		arg, value, after, is := element(inner)
		if !is || len(args) == mostArguments {
			return call, false
		}
		args[arg.title()] = value
		inner = after
	}
	call.Name = tag.title()
	if len(args) == 0 || firstWord(call.Name) != call.Name {
		return call, false
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // <<<<<<< is no word
	err := e.Encode(args)
	call.Arguments = strings.TrimSpace(b.String())
	return call, err == nil
}

// tag is the name of a tag, and what it says that it names.
type tag struct{ name, named string }

func (t *tag) title() string {
	if t.named != "" {
		return t.named
	}
	return t.name
}

// argues reports a tag that is one of an argument.
func (t *tag) argues() bool {
	return strings.HasPrefix(t.name, "param") || strings.HasPrefix(t.name, "arg")
}

// element cuts the first element off a text: its tag, what stands between, and the rest.
func element(text string) (t tag, inner, rest string, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.IndexByte(text, '>')
	if end < 2 || text[0] != '<' {
		return t, "", "", false
	}
	head := text[1:end]
	n := runOf(head, 0, isTagByte)
	if t.name = head[:n]; n == 0 {
		return t, "", "", false
	}
	switch attributes := head[n:]; {
	case attributes == "":
	case attributes[0] == '=': // <function=find>
		t.named = strings.Trim(attributes[1:], `"' `)
	case attributes[0] > ' ':
		return t, "", "", false
	default:
		for _, key := range [...]string{`name="`, `tool="`} {
			if _, value, is := strings.Cut(attributes, key); is {
				t.named, _, _ = strings.Cut(value, `"`)
				break
			}
		}
	}
	inner, rest, ok = strings.Cut(text[end+1:], "</"+t.name+">")
	return t, strings.TrimSpace(inner), strings.TrimSpace(rest), ok
}
