package anthropic

import "github.com/haltd/haltd/internal/wire"

var _ wire.Steerer = Messages{}

// Steer adds a text block after the tool results.
func (Messages) Steer(body []byte, note string) ([]byte, bool) {
	var content wire.Place
	results := false
	err := wire.ReadStrict(body, nil, func(r *wire.Reader) {
		for name := range r.Object() {
			if string(name) != "messages" {
				continue
			}
			for range r.Array() {
				content, results = readLast(r)
			}
		}
	})
	if err != nil || !results {
		return nil, false
	}
	return content.AppendItem(body, `{"type":"text","text":`+wire.Quote(note)+`}`), true
}

// readLast reads a message: where its content ends, and whether that holds a
// tool result.
func readLast(r *wire.Reader) (content wire.Place, results bool) {
	user := false
	for name := range r.Object() {
		switch string(name) {
		case "role":
			user = r.Text() == "user"
		case "content":
			if r.Kind() != wire.KindArray {
				continue
			}
			for range r.Array() {
				for name := range r.Object() {
					if string(name) == "type" && r.Text() == "tool_result" {
						results = true
					}
				}
			}
			content = r.Here(wire.KindArray)
		}
	}
	return content, results && user
}
