package detect

import "testing"

func TestCanonicalArguments(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"sorted, without white space", ` { "b" : 1, "a" : [ 1, {"d":2,"c":3} ] } `, `{"a":[1,{"c":3,"d":2}],"b":1}`},
		{"large integers keep every digit", `{"n": 12345678901234567890123}`, `{"n":12345678901234567890123}`},
		{"numbers as sent", `[1.0, 1e3, -0]`, `[1.0,1e3,-0]`},
		{"one spelling for strings", `{"m\u006fde":"\u00e9\/"}`, `{"mode":"é/"}`},
		{"empty object", `{}`, `{}`},
		{"nothing", "  ", ""},
		{"free text is trimmed", "\n ls -l {x}\n", "ls -l {x}"},
		{"broken JSON stays", ` {"a": `, `{"a":`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := CanonicalArguments(tc.raw); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
