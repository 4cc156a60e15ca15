package gemini

import "github.com/haltd/haltd/internal/wire"

var _ wire.Steerer = Generate{}

// noteName is the member that carries a note beside what a function answered.
const noteName = "haltd_note"

// Steer adds a member to what the last function answered.
func (Generate) Steer(body []byte, note string) ([]byte, bool) {
	var at wire.Place
	err := wire.ReadStrict(body, nil, func(r *wire.Reader) {
		for name := range r.Object() {
			if string(name) != "contents" || r.Kind() != wire.KindArray {
				continue
			}
			for range r.Array() {
				at = wire.Place{}
				for name := range r.Object() {
					if string(name) != "parts" {
						continue
					}
					for range r.Array() {
						at = responseOf(r)
					}
				}
			}
		}
	})
	if err != nil || !at.IsObject() {
		return nil, false
	}
	return at.AppendItem(body, `"`+noteName+`":`+wire.Quote(note)), true
}

// responseOf reads a part: where the answer of a function ends; zero where the
// part is none, or has a note already.
func responseOf(r *wire.Reader) (at wire.Place) {
	for name := range r.Object() {
		if s := string(name); s != "functionResponse" && s != "function_response" {
			continue
		}
		for name := range r.Object() {
			if string(name) != "response" || r.Kind() != wire.KindObject {
				continue
			}
			noted := false
			for name := range r.Members() {
				noted = noted || string(name) == noteName
			}
			if !noted {
				at = r.Here(wire.KindObject)
			}
		}
	}
	return at
}
