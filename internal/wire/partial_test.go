package wire

import "testing"

func TestWhatEndsEarlyIsClosed(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                           `{"a":1}`,
		`{"a":{"b":[1,2],"c":3},"d":{"e":4`: `{"a":{"b":[1,2],"c":3}}`,
		`{"a":[{"text":"half of`:            `{"a":[{"text":"half of"}]}`,
		`{"text":"a \"quoted\" wo`:          `{"text":"a \"quoted\" wo"}`,
		`{"text":"cut \`:                    `{"text":"cut "}`,
		`{"text":"cut \u00`:                 `{"text":"cut "}`,
		`{"text":"kept \u00e9`:              `{"text":"kept \u00e9"}`,
		`{"a":1,"nam`:                       `{"a":1}`,
		`{"a":"x, } y","b"`:                 `{"a":"x, } y"}`,
		`{"nam`:                             `{"nam`,
		`}`:                                 `}`,
		``:                                  ``,
	} {
		if got := string(closed([]byte(text), false)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`[{"a":[1]},{"b":2}`:     `[{"a":[1]},{"b":2}]`,
		`[{"a":1},{"b":[2],"c":`: `[{"a":1}]`,
		`[{"a":1},{"b":"tw`:      `[{"a":1}]`,
		`[{"a":1`:                `[{"a":1`,
	} {
		if got := string(closed([]byte(text), true)); got != want {
			t.Errorf("documents %s: %s, want %s", text, got, want)
		}
	}
}
