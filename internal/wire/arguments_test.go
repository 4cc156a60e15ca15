package wire

import "testing"

func TestCanonicalArguments(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"sorted, without white space", ` { "b" : 1, "a" : [ 1, {"d":2,"c":3} ] } `, `{"a":[1,{"c":3,"d":2}],"b":1}`},
		{"large integers keep every digit", `{"n": 12345678901234567890123}`, `{"n":12345678901234567890123}`},
		{"numbers as sent", `[1.0, 1e3, -0]`, `[1.0,1e3,-0]`},
		{"one spelling for strings", `{"m\u006fde":"\u00e9\/"}`, `{"mode":"é/"}`},
		{"empty object", `{}`, `{}`},
		{"nothing", "  ", ""},
		{"free text is trimmed", "\n ls -l {x}\n", "ls -l {x}"},
		{"broken JSON stays", ` {"a": `, `{"a":`},
		{"duplicate names stay", `{"a":1, "a":2}`, `{"a":1, "a":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := CanonicalArguments(tt.raw); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
