package config

import (
	"strings"
	"testing"
)

func TestABrokenFileStillSaysWhereHaltdIs(t *testing.T) {
	t.Chdir(t.TempDir())
	usual := Place{Listen: "127.0.0.1:7071", DataDir: "./data"}
	own := Place{Listen: "127.0.0.1:9", Token: "token-of-the-operator", DataDir: "/d"}
	const good = "admin:\n  listen: 127.0.0.1:9\n  token: token-of-the-operator\ndata_dir: /d\n"
	for _, c := range []struct {
		name, text string
		want       Place
		valid      bool
	}{
		{"valid", good, own, true},
		{"a key that is none", good + "nonsense: 1\n", own, false},
		{"a key that is none beside them", strings.Replace(good, "  token", "  tokn: x\n  token", 1), own, false},
		{"no YAML before them", "gateway: {\n" + good, own, false},
		{"no YAML after them", good + "agents: [\n", own, false},
		{"no YAML in the section itself", strings.Replace(good, "data_dir", "  hosts: [a\ndata_dir", 1), own, false},
		{"an address that is none", "admin: {listen: nowhere}\n", usual, false},
		{"nothing but noise", "\x00\t: [", usual, false},
		{"a token that is too short, as an older haltd took it", "admin: {token: short}\n", Place{"127.0.0.1:7071", TLS{}, "short", "./data"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFile(t, "haltd.yaml", c.text, 0o600)
			got, err := Find("haltd.yaml", envOf(nil))
			if got != c.want || (err == nil) != c.valid {
				t.Errorf("%+v with token %q, %v", got, got.Token.Reveal(), err)
			}
		})
	}
	got, err := Find("gone.yaml", envOf(map[string]string{"HALTD_ADMIN_LISTEN": "127.0.0.1:8"}))
	if got != (Place{Listen: "127.0.0.1:8", DataDir: "./data"}) || err == nil {
		t.Errorf("without the file: %+v, %v", got, err)
	}
}
