package openai

import "github.com/haltd/haltd/internal/wire"

var (
	_ wire.Steerer = Chat{}
	_ wire.Steerer = Responses{}
)

// Steer adds the note at the end of the last tool message.
func (Chat) Steer(body []byte, note string) ([]byte, bool) {
	return steer(body, note, "messages", "role", "content", "text", func(role string) bool { return role == "tool" })
}

// Steer adds the note at the end of the last output. That of a hosted shell is
// a list of streams and exit codes, which has no place for one.
func (Responses) Steer(body []byte, note string) ([]byte, bool) {
	return steer(body, note, "input", "type", "output", "input_text", func(kind string) bool {
		switch kind {
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			return true
		}
		return false
	})
}

// steer adds a note to the text of the last item of a list, where that is a
// tool result.
func steer(body []byte, note, list, kind, text, part string, isResult func(string) bool) ([]byte, bool) {
	var at wire.Place
	result := false
	err := wire.ReadStrict(body, nil, func(r *wire.Reader) {
		for name := range r.Object() {
			if string(name) != list || r.Kind() != wire.KindArray {
				continue
			}
			for range r.Array() {
				at, result = wire.Place{}, false
				for name := range r.Object() {
					switch string(name) {
					case kind:
						result = isResult(r.Text())
					case text:
						at = r.Next()
					}
				}
			}
		}
	})
	switch {
	case err != nil || !result:
	case at.IsString():
		return at.AppendText(body, "\n\n"+note), true
	case at.IsArray():
		return at.AppendItem(body, `{"type":"`+part+`","text":`+wire.Quote(note)+`}`), true
	}
	return nil, false
}
