package replay

import (
	"encoding/json"
	"testing"
	"time"
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

// Who asked on sooner than a model writes had the answer by then, and has the next one
// as soon.
func TestWhenAReplyWasComplete(t *testing.T) {
	var c conversation
	at := func(t float64) *Step { return &Step{T: &t, CompletionTokens: 60} }
	for _, tc := range []struct {
		step *Step
		want time.Duration // after the first
	}{
		{at(0), 2 * time.Second},
		{at(10), 12 * time.Second},
		{at(10.4), 10*time.Second + 600*time.Millisecond},
		{at(10.8), 11 * time.Second},
		{at(20), 22 * time.Second},
	} {
		if got := c.answered(tc.step).Sub(epoch); (got - tc.want).Abs() > time.Microsecond {
			t.Errorf("the reply to the step at %v s was complete after %v, want %v", *tc.step.T, got, tc.want)
		}
	}
	if !c.answered(&Step{}).IsZero() {
		t.Error("a trace without times says when it was answered")
	}
}
