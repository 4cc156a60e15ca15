package replay

import (
	"encoding/json"
	"testing"
)

// A call that a trace lists beside a text was written in that text, unless neither its
// name nor all that it is called with stand there.
func TestCallsBesideAText(t *testing.T) {
	for _, tc := range []struct {
		text, name, arguments string
		counts                bool
	}{
		{"", "goto", `{"lat":47.7}`, true},
		{"One waypoint remains.", "goto", `{"lat":47.7}`, true},
		{"I fetch the third page.", "fetch", `{"url":"https://shop.test/3"}`, true},
		{"The goal is to the east, so moving right.", "move", `{"direction":"right"}`, true},
		{"I use Slash Fang again.", "choose", `{"move":"Slash Fang"}`, true},
		{"so moving right", "move", `{"direction":"right"}`, true},
		{"fetch(https://shop.test/3)", "fetch", `{"url":"https://shop.test/3"}`, false},
		{"Action: fetch the third page", "fetch", `{"url":"https://shop.test/3"}`, false},
		{"The door is locked.\nright", "move", `{"direction":"right"}`, false},
		{"```\ncat notes.txt\n```", "bash", `{"command":"cat notes.txt"}`, false},
		{"Only the thermostat is missing.", "call_service", `{"service":"climate.turn_on","data":{"temperature":22}}`, true},
		{"Ticket 44260 belongs to the network team.", "assign", `{"ticket":"44260","team":"Network","priority":"P2"}`, true},
		{"Think.", "", `"free text"`, false},
	} {
		var s Step
		s.Response = tc.text
		s.Calls = append(s.Calls, struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}{tc.name, json.RawMessage(tc.arguments)})
		if got := len((&conversation{}).reply(&s).Calls) == 1; got != tc.counts {
			t.Errorf("%s beside %q counts: %v", tc.name, tc.text, got)
		}
		if got := len((&conversation{native: true}).reply(&s).Calls); got != 1 {
			t.Errorf("%s beside %q among native calls: %d", tc.name, tc.text, got)
		}
	}
}
